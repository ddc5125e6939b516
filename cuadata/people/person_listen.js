// Hears what a person does in one document. Runs in the isolated world of page.js, armed before the page's own scripts, so
// that they can neither see nor forge it: only trusted input counts, and it is heard on the window, first of all.
// Messages go through a binding that exists in this world only. What is typed into a field for a secret is never said.
globalThis.cuadata.person ??= (() => {
  const { $, shadowOf, flatParent, serial, serials } = cuadata;
  const secrets = cuadata.secrets;
  const now = () => performance.timeOrigin + performance.now();
  const say = (message) => globalThis.cuadataHear?.(JSON.stringify(message));

  // --- what scripts did to the document --------------------------------------------------------------------------------
  let deeds = 0; // changes beyond looks: an attribute other than class and style, elements, text
  const counter = new MutationObserver((records) => {
    for (const r of records) if (r.type !== "attributes" || !/^(class|style)$/.test(r.attributeName)) deeds++;
  });
  counter.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const done = () => {
    if (counter.takeRecords().some((r) => r.type !== "attributes" || !/^(class|style)$/.test(r.attributeName))) deeds++;
    return deeds;
  };

  // --- what stands now, against what was observed last --------------------------------------------------------------
  const look = () => cuadata.look();
  const looks = new Map(); // number of a measuring -> the look at it
  let accepted = null; // the look at the observation that the recorder holds
  let latest = null; // the look at the last measuring
  let took = 0; // what that cost, ms
  let told = ""; // the look that was last said to have changed
  const measure = cuadata.measure;
  const whole = (options) => {
    const began = performance.now();
    const text = measure(options);
    looks.set(/"generation":(\d+)/.exec(text)[1], (latest = look()));
    if (looks.size > 8) looks.delete(looks.keys().next().value);
    took = performance.now() - began;
    // Before the pointer moves: at its first event the browser may have applied what hovering shows.
    if (!pointed.length) rendered = shownNow();
    return `${text.slice(0, -1)},"secrets":${JSON.stringify(secrets.scan())},"deeds":${done()}}`;
  };
  cuadata.measure = (options = {}) => (options.only ? measure(options) : whole(options));
  //: Measuring at the moment of an input must not be felt; slower pages are told by their target alone.
  const FELT = 120;
  /** What stands at the moment of an input, before the page has heard of it. */
  const moment = (chain) => {
    if (look() === accepted) return { same: true };
    const only = took > FELT;
    const text = only ? measure({ only: chain.map(([number]) => number) }) : whole({});
    return { same: false, only, told: JSON.parse(text) };
  };
  const changed = () => {
    if (latest === null) return;
    const current = look();
    if (current === latest || current === told) return;
    told = current;
    say({ kind: "changed" });
  };

  // --- what an event is about ------------------------------------------------------------------------------------------
  /** The innermost element of an event, through closed shadow roots too. */
  const innermost = (event) => {
    let e = event.composedPath()[0] ?? event.target;
    if (!(e instanceof Element)) e = e?.parentElement ?? document.activeElement ?? document.documentElement;
    for (let root = shadowOf(e); root; root = shadowOf(e)) {
      const inner = "clientX" in event ? root.elementFromPoint(event.clientX, event.clientY) : root.activeElement;
      if (!inner || $.root(inner) !== root) break;
      e = inner;
    }
    return e;
  };
  /** Numbers of an element and those around it that are told in observations, each with why it takes input. */
  const chainOf = (e) => {
    const chain = [];
    for (let k = e; k; k = flatParent(k))
      if (serials.has(k)) chain.push([serial(k), cuadata.takesInput(k, $.name(k), getComputedStyle(k))]);
    return chain;
  };
  const TEXTLESS = /^(button|submit|reset|checkbox|radio|image|file|color|range|hidden)$/;
  const TEXT_ROLES = /^(textbox|searchbox|combobox)$/;
  const editorOf = (e) => {
    for (let k = e; k; k = flatParent(k)) if (TEXT_ROLES.test($.attribute(k, "role") ?? "")) return k;
    return null;
  };
  /** What kind of field an element is. */
  const field = (e) => {
    const tag = $.name(e);
    const editable = tag === "textarea" || (tag === "input" && !TEXTLESS.test(e.type)) || e.isContentEditable || document.designMode === "on";
    return {
      editable: editable || editorOf(e) !== null,
      multiline: tag === "textarea" || e.isContentEditable || document.designMode === "on",
      select: tag === "select" && !e.multiple && e.size < 2,
      secret: secrets.kindOf(e),
    };
  };
  /** The field itself where an event is inside an editable region, and the list of an option that stands in the page. */
  const region = (e) => {
    let k = e;
    if ($.name(k) === "option") return k.closest("select") ?? k;
    while (k.isContentEditable && flatParent(k)?.isContentEditable) k = flatParent(k);
    return k;
  };
  /** Where the pointer is, in the document and on the screen: a press may begin in one document and end in another. */
  const placed = (event) => ({
    x: event.clientX ?? null, y: event.clientY ?? null, screen: event.screenX === undefined ? null : [event.screenX, event.screenY],
  });
  const MODIFIERS = ["Control", "Alt", "Shift", "Meta"];
  const about = (event, e) => {
    const chain = chainOf(e);
    return {
      time: (performance.timeOrigin + (event.timeStamp || performance.now())) / 1000,
      modifiers: event.getModifierState ? MODIFIERS.filter((m) => event.getModifierState(m)) : [],
      ...placed(event), ...field(e), field: serial(region(e)),
      moment: moment(chain), chain: chain.length ? chain : chainOf(e),
    };
  };
  /** As `about`, for an event that goes on with what has begun: what stood before it is known. */
  const briefly = (event, e) => ({
    time: (performance.timeOrigin + (event.timeStamp || performance.now())) / 1000,
    modifiers: event.getModifierState ? MODIFIERS.filter((m) => event.getModifierState(m)) : [],
    ...placed(event), ...field(e), field: serial(region(e)),
  });

  // --- pointer -----------------------------------------------------------------------------------------------------------
  let down = false;
  let pointed = []; // where the pointer has been since the last input: {x, y, e, shown: elements that appeared then}
  let rendered = null; // elements that were there before the pointer moved
  const ON_PAGE = 5000;
  const shownNow = () => {
    const found = new Set();
    if (document.getElementsByTagName("*").length < ON_PAGE) cuadata.walk(document, (e) => $.shown(e, { visibilityProperty: true }) && found.add(e));
    return found;
  };
  let checking = 0;
  /** After the pointer moved: which elements are there now that were not before, and where the pointer was then. */
  const check = () => {
    checking = 0;
    if (!pointed.length || down) return;
    const place = pointed[pointed.length - 1];
    for (const e of shownNow()) if (!rendered.has(e)) rendered.add(e), place.shown.add(e);
  };
  const point = (event) => {
    if (!event.isTrusted || down) return;
    const e = innermost(event);
    const last = pointed[pointed.length - 1];
    rendered ??= shownNow();
    if (last?.e !== e) {
      if (checking) clearTimeout(checking), check();
      pointed.push({ time: now() / 1000, x: event.clientX, y: event.clientY, e, chain: chainOf(e), shown: new Set() });
      if (pointed.length > 60) pointed.splice(0, 20);
    } else Object.assign(last, { x: event.clientX, y: event.clientY });
    checking ||= setTimeout(check, 30);
  };
  /** The places that the pointer had to rest at for an element to be there, in order. */
  const hovers = (e) => {
    if (checking) clearTimeout(checking), check();
    const needed = [];
    for (let i = pointed.length - 1, k = e; i >= 0; i--) {
      const place = pointed[i];
      const showing = [...place.shown].some((s) => cuadata.within(k, s));
      if (!showing || cuadata.within(place.e, k)) continue;
      needed.unshift({ time: place.time, x: place.x, y: place.y, chain: place.chain });
      k = place.e;
    }
    return needed;
  };
  const forget = () => ((pointed = []), (rendered = null));
  const pressed = (event) => {
    typing = null;
    lastTurn = -1000;
    const e = innermost(event);
    say({ kind: "down", button: event.button, hovers: hovers(e), ...about(event, e) });
    down = true;
  };
  const released = (kind) => (event) => {
    down = false;
    forget();
    say({ kind, button: event.button, ...briefly(event, innermost(event)) });
  };

  // --- keys and text -----------------------------------------------------------------------------------------------------
  const ALONE = new Set(["Control", "Alt", "Shift", "Meta", "AltGraph", "CapsLock", "NumLock", "ScrollLock", "Fn", "Process", "Unidentified", "Dead"]);
  let lastKey = -1000;
  let typing = null; // the field that the last input was typed into
  let keyedInto = null; // where the last key went; a page may lead its text elsewhere
  /** Text that comes without a key: composed, dictated, put in by the browser. */
  const entering = (event) => {
    if (event.inputType?.startsWith("delete")) return;
    const e = innermost(event);
    if (performance.now() - lastKey < 100 && keyedInto === region(e)) return;
    say({ kind: "entering", ...about(event, e) });
  };
  const keyed = (event) => {
    lastKey = performance.now();
    if (event.isComposing || ALONE.has(event.key)) return;
    const e = innermost(event);
    lastTurn = -1000;
    keyedInto = region(e);
    const kind = secrets.kindOf(e);
    const types = event.key.length === 1 && !event.metaKey && (event.getModifierState("AltGraph") || !(event.ctrlKey || event.altKey));
    const into = types && field(e).editable ? keyedInto : null; // elsewhere each key is an action of its own
    const on = into !== null && typing === into;
    typing = into;
    // A character typed into a secret's field stands here as a bullet.
    say({ kind: "key", key: types && kind ? "\u2022" : event.key, types, repeat: event.repeat, ...(on ? briefly : about)(event, e) });
    forget();
  };
  const labels = (e) => [...e.selectedOptions].map((o) => cuadata.fold(o.label));
  const put = (event) => {
    const e = innermost(event);
    const tag = $.name(e);
    const kind = secrets.heard(e);
    if (tag === "select") return say({ kind: "choose", value: e.value, label: labels(e).join(", "), ...about(event, e) });
    if (tag === "input" && e.type === "file") return say({ kind: "files", files: [...e.files].map((f) => f.name), ...about(event, e) });
    if (tag === "input" && /^(checkbox|radio)$/.test(e.type)) return;
    if (tag === "input" && !event.inputType) return say({ kind: "set", value: kind ? "" : e.value, type: e.type, ...about(event, e) });
    let data = event.data;
    if (data === null && event.dataTransfer) data = event.dataTransfer.getData("text/plain");
    say({ kind: "text", how: event.inputType, data: kind ? (data === null ? null : "\u2022") : data, ...briefly(event, e) });
  };
  let lastTurn = -1000;
  let lastWay = "";
  const turned = (event) => {
    const e = innermost(event);
    const held = MODIFIERS.filter((m) => event.getModifierState(m));
    const way = `${Math.sign(event.deltaX)} ${Math.sign(event.deltaY)} ${event.deltaMode} ${held}`;
    const on = event.timeStamp - lastTurn < 300 && way === lastWay;
    [lastTurn, lastWay] = [event.timeStamp, way];
    say({ kind: "wheel", right: event.deltaX, down: event.deltaY, mode: event.deltaMode, ...(on ? briefly : about)(event, e) });
  };

  const ears = {
    pointerdown: pressed,
    mousedown: (event) => {
      if (event.detail > 1 && event.detail % 2 === 0) say({ kind: "count", count: event.detail, time: (performance.timeOrigin + event.timeStamp) / 1000 });
    },
    pointerup: released("up"),
    pointercancel: released("cancel"),
    dragstart: (event) => say({ kind: "dragged", ...briefly(event, innermost(event)) }),
    dragend: released("dropped"),
    pointermove: point,
    keydown: keyed,
    beforeinput: entering,
    input: put,
    wheel: turned,
    focusin: (event) => secrets.kindOf(innermost(event)),
  };
  let paused = false;
  const hear = (event) => {
    if (event.isTrusted && !paused) ears[event.type](event);
  };
  // `document.open` takes every listener away; adding one that is there already does nothing.
  const arm = () => {
    for (const kind in ears) addEventListener(kind, hear, { capture: true, passive: true });
  };
  arm();
  setInterval(() => (arm(), paused || changed()), 120);

  /** Whether listeners run in this document at all: in a frame sandboxed without scripts they do not. */
  const hears = () => {
    let heard = false;
    const target = new EventTarget();
    target.addEventListener("heard", () => (heard = true));
    target.dispatchEvent(new Event("heard"));
    return heard;
  };
  return {
    arm, hears,
    /** The recorder holds the observation of this measuring now. */
    accept: (generation) => void (accepted = looks.get(String(generation)) ?? null),
    pause: (on) => void (paused = on), remember: (values) => secrets.remember(values),
  };
})();
