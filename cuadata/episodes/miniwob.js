// Reads a MiniWoB++ page: what stands in it, how its episode goes. Installed once a page; `miniwob.py` asks it by evaluate.
globalThis.cuadataMiniwob ??= (() => {
  "use strict";
  if (!("computedName" in Element.prototype)) throw new Error("this browser was started without ComputedAccessibilityInfo");
  const OWN = new Set(["reward-display", "sync-task-cover", "click-canvas", "attention-canvas", "query"]);
  const NEVER = new Set(["SCRIPT", "STYLE", "BR", "HR", "TEMPLATE", "defs", "clipPath", "title", "g"]);
  const INPUTS = new Set(["INPUT", "BUTTON", "SELECT", "TEXTAREA", "A", "OPTION", "SUMMARY", "LABEL"]);
  // Written by the page's own click marker, never by the task.
  const MARKS = new Set(["data-tampered", "data-wob_ref", "data-wob_eps"]);

  let serials = new WeakMap(); // element -> number in this episode
  let last = 0;
  let version = 0; // grows with every change that a role, a name or a place could depend on
  let known = new WeakMap(); // element -> [version, what does not change until the version does]
  let began = false;
  let told = []; // elements of the last look, in order

  const observer = new MutationObserver((records) => note(records));
  const note = (records) => {
    if (records.some((r) => !(r.type === "attributes" && MARKS.has(r.attributeName)) && !own(r.target))) {
      version += 1;
      globalThis.cuadataStir?.();
    }
  };
  const own = (node) => {
    for (let e = node; e; e = e.parentElement) if (OWN.has(e.id) && e.id !== "query") return true;
    return false;
  };
  // A line for every episode's end, which nobody reads, would go through Playwright's process.
  console.log = () => {};
  // The click marker is no part of the task, and drawing it costs more than the click.
  document.body.removeEventListener("click", core.canvasDrawClick);
  core.canvasClear = () => {};
  observer.observe(document.documentElement, { subtree: true, childList: true, characterData: true, attributes: true });

  const shape = (e) => e instanceof SVGElement && !(e instanceof SVGSVGElement);
  const ownText = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && /\S/.test(n.data));
  const boxed = (e) => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0; };
  const worth = (e) =>
    !(e instanceof HTMLLabelElement && e.control && boxed(e.control)) && (INPUTS.has(e.tagName) || shape(e) || e.hasAttribute("role") || e.hasAttribute("tabindex") || e.onclick || e.draggable ||
    globalThis.cuadataListening?.has(e) || e instanceof HTMLCanvasElement || e instanceof HTMLImageElement || e.isContentEditable || ownText(e) ||
    (!e.firstElementChild && (e.id || e.className)));

  const serial = (e) => {
    let number = serials.get(e);
    if (number === undefined) serials.set(e, (number = ++last));
    return number;
  };
  const inside = (hit, e) => hit === e || e.contains(hit) || (hit?.closest?.("label") && hit.closest("label").control === e);
  /** A point of the box that a click on the element reaches, the middle first; null where there is none. */
  const reach = (e, r) => {
    for (const [fx, fy] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.2], [0.5, 0.8], [0.1, 0.1], [0.9, 0.9]]) {
      const x = r.left + r.width * fx, y = r.top + r.height * fy;
      if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
      if (inside(document.elementFromPoint(x, y), e)) return [x, y];
    }
    return null;
  };
  const flag = (e, name) => (e.hasAttribute(name) ? e.getAttribute(name) : null);
  const box = (e) => e instanceof HTMLInputElement && (e.type === "checkbox" || e.type === "radio");
  /** States that no change of the document tells: ticks, values, selections; then those that attributes hold. */
  const stateOf = (e) => ({
    checked: box(e) ? (e.indeterminate ? "mixed" : String(e.checked)) : flag(e, "aria-checked"),
    value: e instanceof HTMLSelectElement ? (listed(e) ? null : (e.selectedOptions[0]?.label ?? null))
      : e instanceof HTMLTextAreaElement || (e instanceof HTMLInputElement && !box(e) && !PRESSED.has(e.type)) ? e.value || null : null,
    selected: e instanceof HTMLOptionElement ? String(e.selected) : flag(e, "aria-selected"),
    expanded: e instanceof HTMLSelectElement && !listed(e) ? "false" : flag(e, "aria-expanded"),
    pressed: flag(e, "aria-pressed"),
    disabled: e.matches(":disabled") || e.closest("[aria-disabled=true]") !== null,
    readonly: "readOnly" in e && e.readOnly && !box(e) && !PRESSED.has(e.type),
    required: e.required === true || flag(e, "aria-required") === "true",
    invalid: ![null, "false", ""].includes(flag(e, "aria-invalid")),
  });
  const PRESSED = new Set(["button", "submit", "reset", "image", "color", "file"]);
  const listed = (e) => e instanceof HTMLSelectElement && (e.multiple || e.size > 1);
  // Roles of the accessibility tree that `computedRole` leaves empty.
  const UNTOLD = { label: "LabelText", svg: "SvgRoot", canvas: "Canvas", legend: "Legend", date: "Date", time: "InputTime",
    color: "ColorWell", video: "Video", audio: "Audio", embed: "EmbeddedObject", object: "PluginObject" };
  const role = (e) => e.closest("[aria-hidden=true]") ? "none" : e.computedRole || UNTOLD[e instanceof HTMLInputElement ? e.type : e.localName] || "";
  /** Chromium's own role and name of an element, its tag, its place in the document, and whether it takes input. */
  const about = (e) => {
    const held = known.get(e);
    if (held && held[0] === version) return held[1];
    const told = [role(e), e.computedName, e.localName, held ? held[1][3] : locate(e), e.getAttribute("fill"), acts(e)];
    known.set(e, [version, told]);
    return told;
  };
  const row = (e) => {
    const r = e.getBoundingClientRect();
    awaited ||= unsized(e, r);
    if (!(r.width > 0 || r.height > 0)) return null;
    const style = getComputedStyle(e);
    if (style.visibility === "hidden" || style.opacity === "0") return null;
    const text = textOf(e);
    return [serial(e), [r.left, r.top, r.width, r.height], reach(e, r), stateOf(e), about(e), text];
  };
  const chosenIn = (list) => [...list.selectedOptions].map((o) => o.label).join(", ");
  /** Of a drop-down its choice, in what holds it too: its options are elements of their own. */
  const textOf = (e) => {
    if (e instanceof HTMLSelectElement) return chosenIn(e).slice(0, 200);
    let [read, rest] = ["", e.textContent ?? ""];
    for (const list of e.querySelectorAll?.("select") ?? []) {
      const at = rest.indexOf(list.textContent);
      if (!list.textContent || at < 0) continue;
      read += `${rest.slice(0, at)} ${chosenIn(list)} `;
      rest = rest.slice(at + list.textContent.length);
    }
    return (read + rest).trim().slice(0, 200);
  };
  /** Options of a closed list: they have no box of their own. */
  const unfold = (list, rows) => {
    for (const e of list.options) {
      rows.push([serial(e), null, null, stateOf(e), about(e), textOf(e)]);
      told.push(e);
    }
  };
  let scrolls = false; // the last walk met something that scrolls
  const scrollable = (e) => (e.scrollHeight > e.clientHeight || e.scrollWidth > e.clientWidth) && e.clientHeight > 0 &&
    (e === document.scrollingElement || !/visible|clip/.test(getComputedStyle(e).overflow));
  const walk = (root, rows) => {
    for (const e of root.children) {
      scrolls ||= e instanceof HTMLIFrameElement || scrollable(e);
      if (OWN.has(e.id) || NEVER.has(e.tagName)) { if (e.tagName === "g") walk(e, rows); continue; }
      if (worth(e)) {
        const held = row(e);
        if (held) { rows.push(held); told.push(e); }
        if (held && e instanceof HTMLSelectElement && !listed(e)) unfold(e, rows);
      }
      if (!(e instanceof HTMLSelectElement) || listed(e)) walk(e, rows);
    }
  };
  const locate = (e) => {
    if (e.id && document.querySelectorAll(`#${CSS.escape(e.id)}`).length === 1) return `#${CSS.escape(e.id)}`;
    const parent = e.parentElement;
    if (!parent) return e.localName;
    return `${locate(parent)} > ${e.localName}:nth-child(${[...parent.children].indexOf(e) + 1})`;
  };
  const acts = (e) =>
    INPUTS.has(e.tagName) || shape(e) || !!e.onclick || globalThis.cuadataListening?.has(e) ||
    (getComputedStyle(e).cursor === "pointer" && getComputedStyle(e.parentElement).cursor !== "pointer");
  let patient = true; // pictures are waited for
  let awaited = false; // the last walk met one that a style sheet names and that has not come
  /** Whether a picture that was just put in has not come yet: it has no size until then. */
  const loading = () => {
    if (!patient) return false;
    for (const one of document.images) if (!one.complete) return true;
    return awaited;
  };
  const unsized = (e, r) =>
    (r.width === 0 || r.height === 0) && e.getClientRects().length > 0 && getComputedStyle(e).content.startsWith("url(");
  const look = (after) => {
    note(observer.takeRecords());
    const rows = [];
    told = [];
    awaited = false;
    scrolls = scrollable(document.scrollingElement);
    if (!WOB_DONE_GLOBAL) walk(document.body, rows);
    const active = document.activeElement;
    return JSON.stringify({
      done: WOB_DONE_GLOBAL, raw: WOB_RAW_REWARD_GLOBAL, decayed: WOB_REWARD_GLOBAL, reason: WOB_REWARD_REASON ?? null,
      ready: WOB_TASK_READY, loading: loading(), list: listed(active), moves: globalThis.cuadataMoves?.() ?? null, scrolls, rows,
      focused: serials.get(active) ?? null,
      utterance: after ? core.getUtterance() : null, url: location.href, title: document.title,
      x: scrollX, y: scrollY, width: innerWidth, height: innerHeight,
    });
  };

  return {
    /** Begin the episode of a seed. A number and its text are different seeds; Selenium's and BrowserGym's are numbers. */
    begin(seed, limit, mode) {
      core.endEpisode(0);
      // What the last episode still fades or slides would stand in this one.
      if (globalThis.jQuery?.timers?.length) jQuery(":animated").finish();
      if (document.activeElement && document.activeElement !== document.body) document.activeElement.blur();
      if (limit !== null) core.EPISODE_MAX_TIME = limit;
      Math.seedrandom(seed);
      core.setDataMode?.(mode);
      core.startEpisodeReal();
      serials = new WeakMap();
      last = 0;
      version += 1;
      began = true;
      return look(true);
    },
    look: () => look(false),
    /** Look once the browser's own tasks have run: a list scrolls to the option that was chosen in one of them. */
    later: () => new Promise((resolve) => setTimeout(() => resolve(look(false)))),
    /** Wait for no picture of this page any more, and look: one of them does not come. */
    hurry() {
      patient = false;
      return look(false);
    },
    /** The elements of the last look, for tests that compare them with the accessibility tree. */
    list: () => told,
    ready: () => began && WOB_TASK_READY,
    own: core.EPISODE_MAX_TIME,
  };
})();
