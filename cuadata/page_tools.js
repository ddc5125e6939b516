// Acting and waiting: what stands at a point, whether anything changed, when the page stands still.
globalThis.cuadata.quiet ??= (() => {
  const { $, shadowOf, flatParent, serial, serials, closed, listening } = cuadata;

  // --- what changed -----------------------------------------------------------------------------------------------------
  let changes = 0;
  let lastChange = performance.now();
  const watched = new WeakSet();
  const note = () => {
    changes++;
    lastChange = performance.now();
  };
  const observer = new MutationObserver(note);
  const watch = (root) => {
    if (watched.has(root)) return;
    watched.add(root);
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    for (const kind of ["input", "change", "focusin", "focusout", "scroll", "toggle", "load", "animationend", "transitionend", "transitionrun"])
      root.addEventListener(kind, note, { capture: true, passive: true });
  };
  const watchAll = () => {
    watch(document);
    cuadata.walk(document, (e) => {
      const shadow = shadowOf(e);
      if (shadow) watch(shadow);
    });
  };
  /** A short text that differs where anything that an observation tells may differ. */
  const pulse = () => {
    let form = 0;
    const add = (text) => {
      for (let i = 0; i < text.length; i++) form = (form * 31 + text.charCodeAt(i)) | 0;
    };
    for (const e of document.querySelectorAll("input,select,textarea,details,dialog,option"))
      add(`${e.checked}${e.indeterminate}${e.value}${e.selectedIndex}${e.open}${e.disabled}`);
    for (const record of observer.takeRecords()) if (record) note();
    const focused = document.activeElement;
    return `${changes}/${form}/${scrollX},${scrollY}/${innerWidth}x${innerHeight}/${focused ? (serials.get(focused) ?? 0) : 0}`;
  };
  const frame = () => new Promise((done) => {
    const timer = setTimeout(done, 50);
    requestAnimationFrame(() => (clearTimeout(timer), done()));
  });
  const running = () =>
    document.getAnimations().some((a) => a.playState === "running" && Number.isFinite(a.effect?.getComputedTiming().endTime));
  /** Waits until nothing has changed for `still` ms; the waited ms, or -1 where `limit` ms were not enough. */
  const quiet = async (still, limit) => {
    watchAll();
    const began = performance.now();
    await frame();
    await frame();
    for (;;) {
      const now = performance.now();
      if (observer.takeRecords().length) note();
      const since = now - Math.max(lastChange, began);
      if (since >= still && document.readyState !== "loading" && !running()) return now - began;
      if (now - began > limit) return -1;
      await new Promise((done) => setTimeout(done, Math.max(4, Math.min(still, still - since))));
    }
  };

  /** The innermost element at a point and its ancestors as numbers, those that have one; negative marks a frame. */
  const at = (x, y) => {
    let e = document.elementFromPoint(x, y);
    for (let inner; e && (inner = shadowOf(e)?.elementFromPoint(x, y)) && inner !== e && $.root(inner) === shadowOf(e); ) e = inner;
    const chain = [];
    for (let k = e; k; k = flatParent(k)) if (serials.has(k)) chain.push(serial(k));
    return JSON.stringify({ chain, frame: e && /^i?frame$/.test($.name(e)) ? serial(e) : null });
  };

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
  const listenTo = (numbers) => {
    let news = 0;
    for (const number of numbers) {
      const e = cuadata.element(number);
      if (!e || listening.has(e)) continue;
      if (!cuadata.takesInput(e, $.name(e), getComputedStyle(e))) news++;
      listen(e);
    }
    return news;
  };
  /** Numbers of the elements that match, through open and closed shadow roots, in document order. */
  const find = (css) => {
    const found = [];
    const look = (root) => {
      const held = new Set(root.querySelectorAll(css));
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
      for (let e = walker.nextNode(); e; e = walker.nextNode()) {
        if (held.has(e)) found.push(serial(e));
        const shadow = shadowOf(e);
        if (shadow) look(shadow);
      }
    };
    look(document);
    return JSON.stringify(found);
  };

  Object.assign(cuadata, { pulse, at, adopt, listen, listenTo, find, watchAll });
  return quiet;
})();
