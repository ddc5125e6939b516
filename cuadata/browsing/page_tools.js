// Acting and waiting: whether anything changed, when the page stands still, what the picture must not show.
globalThis.cuadata.quiet ??= (() => {
  const { $, shadowOf, flatParent, serial, serials, closed, listening } = cuadata;

  // --- what changed -----------------------------------------------------------------------------------------------------
  let changes = 0; // of the document: nodes, attributes, text, what a person entered
  let moves = 0; // of the view only: scrolling, transitions, the focus, a field that is left after typing
  let scrolls = 0; // of anything
  let lastChange = performance.now();
  const watched = new WeakSet();
  let lastInput = 0;
  let alone = []; // when the document changed with no input shortly before
  const changed = () => {
    changes++;
    lastChange = performance.now();
    if (lastChange - lastInput > 1000 && document.readyState === "complete") alone = [...alone.slice(-9), lastChange];
  };
  for (const kind of ["pointerdown", "pointermove", "keydown", "wheel"])
    addEventListener(kind, () => (lastInput = performance.now()), { capture: true, passive: true });
  const moved = (event) => {
    moves++;
    if (event.type.startsWith("scroll")) scrolls++;
    lastChange = performance.now();
  };
  const observer = new MutationObserver(changed);
  const CHANGES = ["input", "toggle", "load", "error", "close", "slotchange"];
  const MOVES = ["scroll", "scrollend", "animationend", "transitionend", "transitionrun", "focusin", "focusout", "change"];
  const watch = (root) => {
    if (watched.has(root)) return;
    watched.add(root);
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    for (const kind of CHANGES) root.addEventListener(kind, changed, { capture: true, passive: true });
    for (const kind of MOVES) root.addEventListener(kind, moved, { capture: true, passive: true });
  };
  const roots = () => {
    const found = [document];
    cuadata.walk(document, (e) => {
      const shadow = shadowOf(e);
      if (shadow) found.push(shadow);
    });
    return found;
  };
  const watchAll = (found = roots()) => found.forEach(watch);
  const drain = () => {
    if (observer.takeRecords().length) changed();
  };
  /** What a person entered or chose, and where the focus is, as one number; scripts change these without any event. */
  const entered = () => {
    let sum = 0;
    const add = (text) => {
      for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) | 0;
    };
    for (const root of watchedRoots()) {
      for (const e of root.querySelectorAll("input,select,textarea")) {
        sum = (sum * 31 + (e.checked ? 1 : 0) + (e.indeterminate ? 2 : 0) + (e.disabled ? 4 : 0) + (e.selectedIndex ?? 0) * 8) | 0;
        if (e.type !== "checkbox" && e.type !== "radio") add(e.value);
      }
      for (const e of root.querySelectorAll("details,dialog,option:checked")) sum = (sum * 31 + (e.open ? 1 : 0) + (e.index ?? 0) * 2) | 0;
    }
    return sum;
  };
  let known = [document];
  const watchedRoots = () => (known = known.filter((r) => r === document || r.isConnected));
  const focusNow = () => {
    let e = document.activeElement;
    while (e && shadowOf(e)?.activeElement) e = shadowOf(e).activeElement;
    return e && e !== document.body ? (serials.get(e) ?? -1) : 0;
  };
  /** [document, focus, view]: texts that differ where what an observation tells may differ. */
  const pulse = () => {
    drain();
    const view = `${moves}/${scrolls},${Math.round(scrollX)},${Math.round(scrollY)}/${innerWidth}x${innerHeight}`;
    return [`${changes}/${entered()}`, `${focusNow()}`, view];
  };

  // --- standing still ---------------------------------------------------------------------------------------------------
  const PATIENCE = 5000; // ms: what goes on for longer is not waited for
  // A rate of 0 does not stop what the compositor moves (transforms, opacity): it stood in pictures where it happened to be.
  const STILL = 1e-9;
  const frame = () => new Promise((done) => {
    const timer = setTimeout(done, 50);
    requestAnimationFrame(() => (clearTimeout(timer), done()));
  });
  const all = () => watchedRoots().flatMap((root) => root.getAnimations());
  /** What moves of itself, in shadow roots too; what scrolling moves does not. */
  const animations = () => all().filter(movesOn);
  const movesOn = (a) => a.playState === "running" && Math.abs(a.playbackRate) > STILL && a.timeline instanceof DocumentTimeline;
  /** Whether an animation ends too late to be waited for, if at all. */
  const endless = (a) => !((a.effect?.getComputedTiming().endTime ?? Infinity) - a.currentTime <= PATIENCE);
  const running = () => animations().some((a) => !endless(a));
  const isOnScreen = (e) => {
    const r = $.box(e);
    return r.width > 0 && r.bottom > 0 && r.right > 0 && r.top < innerHeight && r.left < innerWidth;
  };
  const loading = () => document.readyState !== "complete" || pictures();
  /** Whether a picture in the viewport has not arrived yet. */
  const pictures = () => {
    for (const e of document.images) {
      if (e.complete || e.loading === "lazy") continue;
      if (isOnScreen(e)) return true;
    }
    return false;
  };
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  /**
   * Waits until nothing has changed for `still` ms: [waited ms, null or why the `limit` was reached]. What only goes on
   * changing is waited for `restless` ms; `patient`: wait for pictures and parts that are still to come.
   */
  const quiet = async (still, limit, restless, patient) => {
    if (stopped !== null) release();
    watchAll();
    const began = performance.now();
    await frame();
    for (;;) {
      drain();
      const now = performance.now();
      const why = running() ? "an animation runs" : patient && loading() ? "a part of it has not arrived" : "";
      const since = now - Math.max(lastChange, began);
      if (!why && since >= still) return JSON.stringify([now - began, null]);
      if (now - began > (why ? limit : Math.min(limit, restless))) return JSON.stringify([now - began, why || "it goes on changing"]);
      await pause(Math.max(4, Math.min(still, still - since)));
    }
  };
  /**
   * Waits for a frame (`paint`) and says where things stand: {pulse, busy, loading, alive: moves without telling (canvas, video),
   * restless: changed of itself within the last seconds, glows: what may look otherwise since the pointer came, and nothing tells so}.
   */
  const tick = async (paint) => {
    if (stopped !== null) release();
    watchAll(known);
    if (paint) await frame();
    return JSON.stringify(stand());
  };
  /**
   * As `tick`, after an action; `stopped`: everything was stopped for the look that follows, since the document or the view is
   * another than `before` ([document, view]) and nothing is on its way.
   */
  const tock = (before) => {
    if (stopped !== null) release();
    watchAll(known);
    const told = stand();
    const [now, , view] = told.pulse;
    const shows = before !== null && (now !== before[0] || view.slice(view.indexOf("/") + 1) !== before[1]);
    return JSON.stringify({ ...told, stopped: shows && !(told.busy || told.loading || told.alive || told.restless) && stop() });
  };
  const stand = () => {
    const restless = alone.some((t) => performance.now() - t < 5000);
    return { pulse: pulse(), busy: running(), loading: loading(), alive: alive(), restless, glows: glows(), moving: animations().length > 0 };
  };
  const alive = () => {
    const moved = animations().filter((a) => endless(a) && progress(a) !== null && !pinned(a)).map((a) => a.effect.target);
    return [...document.querySelectorAll("canvas,video"), ...moved].some((e) => isOnScreen(e) && !(e.paused === true));
  };
  /** Waits until the document's pulse is another than `from`, at most `limit` ms; whether it is. */
  const awake = async (from, limit) => {
    watchAll();
    const began = performance.now();
    while (pulse()[0] === from) {
      if (performance.now() - began > limit) return false;
      await pause(25);
    }
    return true;
  };

  // --- for the time of a picture -------------------------------------------------------------------------------------------
  let held = [];
  let caret = null;
  /** Endless animations of at most this length stand at their beginning in every picture; longer ones where they are. */
  const SHORT = 2500;
  const progress = (a) => a.effect?.getComputedTiming().progress ?? null;
  const pinned = (a) => progress(a) !== null && a.effect.getComputedTiming().duration <= SHORT && endless(a);
  let stopped = null; // the pulse when everything was stopped ahead of the measuring, until that begins
  let strayed = false; // whether the document changed between the two
  /** As `hold`, for a picture that is asked for before the measuring, which is then held to find all as it was; true. */
  const stop = () => {
    hold();
    stopped = JSON.stringify(pulse());
    return true;
  };
  /** Stop what moves still, as in shadow roots that were not known before; how many things are stopped. */
  const holdMore = () => {
    for (const a of animations()) {
      const pin = pinned(a);
      held.push([a, a.playbackRate, pin ? a.currentTime : null, !endless(a)]);
      // The rate and not pause(): a page that sets animation-play-state later must still be obeyed.
      a.playbackRate = STILL;
      if (pin) a.currentTime = a.effect.getComputedTiming().delay;
    }
    return held.length;
  };
  /** Stop animations and hide the caret; how many things were stopped. */
  const hold = () => {
    if (stopped !== null) {
      strayed = stopped !== JSON.stringify(pulse()) || animations().length > 0;
      stopped = null;
      if (!strayed) return held.length;
    }
    letGo();
    holdMore();
    let e = document.activeElement;
    while (e && shadowOf(e)?.activeElement) e = shadowOf(e).activeElement;
    if (e && (e.isContentEditable || /^(input|textarea)$/.test($.name(e)))) {
      if (!caret) (caret = new CSSStyleSheet()).replaceSync(":focus,:focus *{caret-color:transparent!important}");
      const root = $.root(e);
      root.adoptedStyleSheets = [...root.adoptedStyleSheets, caret];
      held.push([root]);
    }
    return held.length;
  };
  const letGo = () => {
    for (const [what, rate, time] of held) {
      if (what instanceof Animation) {
        if (time !== null) what.currentTime = time;
        what.playbackRate = rate;
      } else what.adoptedStyleSheets = what.adoptedStyleSheets.filter((s) => s !== caret);
    }
    held = [];
  };
  /** Let go of what `hold` and `stop` stopped; the pulse, nothing where the document changed between `stop` and the measuring. */
  const release = () => {
    letGo();
    const told = strayed ? [] : pulse();
    stopped = null;
    strayed = false;
    return JSON.stringify(told);
  };

  // --- hovering -----------------------------------------------------------------------------------------------------------
  const hoverRules = new WeakMap(); // sheet -> [rules, selectors with :hover]
  const selectorsOf = (rules) => {
    const found = [];
    for (const rule of rules) {
      if (rule.cssRules?.length) found.push(...selectorsOf(rule.cssRules));
      if (rule.selectorText?.includes(":hover")) found.push(rule.selectorText.replace(/::?(before|after)/g, ""));
    }
    return found;
  };
  /** What is styled by hovering now: differs where the pointer's way to another place changes how the page looks. */
  const hovered = () => {
    const told = [];
    for (const root of watchedRoots())
      for (const sheet of [...root.styleSheets, ...root.adoptedStyleSheets]) {
        try {
          let known = hoverRules.get(sheet);
          if (known?.[0] !== sheet.cssRules.length) hoverRules.set(sheet, (known = [sheet.cssRules.length, selectorsOf(sheet.cssRules)]));
          for (const selector of known[1]) for (const e of root.querySelectorAll(selector)) told.push(identity(e));
        } catch {
          told.push(`?${identity(document.querySelector(":hover:not(:has(:hover))"))}`);
        }
      }
    return told.join();
  };
  const numbers = new WeakMap();
  let nextNumber = 0;
  const identity = (e) => {
    if (!e) return 0;
    if (!numbers.has(e)) numbers.set(e, ++nextNumber);
    return numbers.get(e);
  };
  const look = () => JSON.stringify([...pulse(), hovered()]);
  let left = null; // what the pointer was on before it came where it is
  /** As `look`, before the pointer goes elsewhere. */
  const depart = () => {
    left = underPointer();
    return look();
  };
  /** As `depart` where the pointer is `going` to another place, as `tick` where it stays: [look or null, tick or null]. */
  const setOut = (going) => {
    watchAll(known);
    return JSON.stringify(going ? [depart(), null] : [null, stand()]);
  };
  /** As `look` and `tick`, once the pointer has come to a place: what lies there may learn of it only with the next frame. */
  const arrive = async (x, y) => {
    for (let n = 0; n < 3 && !(cuadata.paint.deepest(x, y) ?? document.documentElement).matches(HOVERED); n++) await frame();
    return JSON.stringify([look(), stand()]);
  };
  const underPointer = () => watchedRoots().flatMap((root) => [...root.querySelectorAll(HOVERED)]);
  //: In a page without a doctype `:hover` alone is for links only.
  const HOVERED = ":not(nothing):hover";
  /**
   * What the pointer is on, or was on before, that is drawn otherwise under it by the browser or by itself: true where that may be
   * anywhere, else the controls that the browser draws, each as [what it is, is it under the pointer now, box].
   */
  const glows = () => {
    const now = underPointer();
    if (left === null || all().length > 0 || [...left, ...now].some(movesAlone)) return true;
    const controls = [...new Set([...left, ...now])].filter(isDrawn).map((e) => [e, $.box(e)]);
    return controls.map(([e, r]) => [`${$.name(e)} ${e.type}`, now.includes(e), r.left, r.top, r.width, r.height]);
  };
  const isDrawn = (e) => {
    const tag = $.name(e);
    if (!/^(button|input|select|textarea)$/.test(tag)) return false;
    const style = getComputedStyle(e);
    // The browser draws no button to which its page gave a border.
    return style.appearance !== "none" && !(/^(button|submit|reset)$/.test(e.type) && style.borderTopStyle !== "outset");
  };
  const movesAlone = (e) => {
    const tag = $.name(e);
    if (/^(iframe|frame|canvas|object|embed|video|audio)$/.test(tag)) return true;
    if (/^(button|input|select|textarea)$/.test(tag)) return false;
    const style = getComputedStyle(e);
    const beside = e === document.documentElement ? innerWidth - e.clientWidth : e.clientWidth && e.offsetWidth - e.clientWidth;
    const below = e === document.documentElement ? innerHeight - e.clientHeight : e.clientHeight && e.offsetHeight - e.clientHeight;
    const px = (...names) => names.reduce((sum, name) => sum + Number.parseFloat(style[name]), 0);
    return beside > px("borderLeftWidth", "borderRightWidth") + 1 || below > px("borderTopWidth", "borderBottomWidth") + 1; // Scroll bars.
  };

  // --- what the browser tells us ---------------------------------------------------------------------------------------------
  const adopt = (root) => {
    // The browser's own controls have closed roots too (a number field's arrows); those are no part of the page.
    if (!(root instanceof ShadowRoot) || !cuadata.canHost($.name(root.host))) return false;
    closed.set(root.host, root);
    return true;
  };
  const listen = (...nodes) => {
    let marked = 0;
    for (const e of nodes)
      if (e instanceof Element && e !== document.body && e !== document.documentElement && !listening.has(e)) {
        listening.add(e);
        marked++;
      }
    return marked;
  };
  /** As `listen`, for elements by their numbers; how many of them take input by nothing else. */
  const listenTo = (given) => {
    let news = 0;
    for (const number of given) {
      const e = cuadata.element(number);
      if (!e || listening.has(e)) continue;
      if (!cuadata.takesInput(e, $.name(e), getComputedStyle(e))) news++;
      listen(e);
    }
    return news;
  };

  /** What a click at a point meets: numbers from the innermost element outwards, and the frame that it lies in. */
  const at = (x, y) => {
    const chain = [];
    const e = cuadata.paint.deepest(x, y);
    for (let k = e; k; k = flatParent(k)) if (serials.has(k)) chain.push(serial(k));
    return JSON.stringify({ chain, frame: e && /^(i?frame|object|embed)$/.test($.name(e)) ? serial(e) : null });
  };

  // --- acting on an element ------------------------------------------------------------------------------------------------
  /** Choose options of a select by value, else by label; [values, labels] chosen, or why not. */
  const choose = (number, wanted) => {
    const e = cuadata.element(number);
    if (!(e instanceof HTMLSelectElement)) return JSON.stringify({ error: "it is no select" });
    const fold = (text) => cuadata.fold(text).toLowerCase();
    const options = [...e.options].filter((o) => !o.disabled && !o.closest("optgroup")?.disabled);
    const found =
      options.find((o) => wanted.value !== null && o.value === wanted.value) ??
      options.find((o) => wanted.text !== null && fold(o.label) === fold(wanted.text)) ??
      options.find((o) => wanted.value !== null && fold(o.label) === fold(wanted.value));
    if (!found) return JSON.stringify({ error: `there is no such option; there are: ${options.slice(0, 20).map((o) => o.label).join(", ")}` });
    e.focus({ preventScroll: true });
    if (e.multiple) found.selected = true;
    else e.selectedIndex = found.index;
    e.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    e.dispatchEvent(new Event("change", { bubbles: true }));
    return JSON.stringify({ value: found.value, label: found.label });
  };
  /** Take elements out of the picture, or flood them with one colour; `restore` takes that back. */
  let shown = [];
  const LOOKS = {
    hide: { opacity: 0, visibility: "hidden" },
    black: { backgroundColor: "rgb(0,0,0)", backgroundImage: "none", filter: "brightness(0)" },
    white: { backgroundColor: "rgb(255,255,255)", backgroundImage: "none", filter: "brightness(0) invert(1)" },
  };
  const paintAs = (given, look) => {
    restore();
    for (const number of given) {
      const e = cuadata.element(number);
      if (!e) continue;
      // An area paints nothing: its image does. A box-less element is painted by what it holds.
      const target = $.name(e) === "area" ? cuadata.boxes.imageOf(e) : e;
      for (const one of getComputedStyle(e).display === "contents" ? e.children : [target]) {
        const animation = one.animate([LOOKS[look], LOOKS[look]], { duration: 1e9, fill: "both" });
        animation.playbackRate = 0;
        shown.push(animation);
      }
    }
  };
  const restore = () => {
    for (const animation of shown) animation.cancel();
    shown = [];
  };

  cuadata.stateFrom(() => changes);
  Object.assign(cuadata, {
    pulse, look, depart, arrive, at, quiet, tick, tock, setOut, awake, hold, stop, release, adopt, listen, listenTo, choose, paintAs, restore,
    holdMore, unfinished: () => held.some((one) => one[3]), knowRoots: (found) => {
      known = found;
      watchAll(found);
    },
  });
  return quiet;
})();
