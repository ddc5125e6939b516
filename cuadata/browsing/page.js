// Walks one document and says what stands in it. Runs in an isolated world, so that a page's own scripts cannot lie to it.
// `page_evidence.js` adds what a person sees and what a click reaches; `page_tools.js` what acting and waiting need.
// Lengths are CSS px of this document's own viewport; `measure.py` carries them into the top-level viewport.
globalThis.cuadata ??= (() => {
  // A form's named fields hide its properties (`<input name=id>`), so properties are read through their prototypes.
  const property = (name, proto = Element.prototype) => {
    const found = Object.getOwnPropertyDescriptor(proto, name);
    return Function.prototype.call.bind(found.get ?? found.value);
  };
  const $ = {
    parent: property("parentNode", Node.prototype),
    root: property("getRootNode", Node.prototype),
    connected: property("isConnected", Node.prototype),
    children: property("childNodes", Node.prototype),
    child: property("firstChild", Node.prototype),
    sibling: property("nextSibling", Node.prototype),
    text: property("textContent", Node.prototype),
    contains: property("contains", Node.prototype),
    shadow: property("shadowRoot"),
    slot: property("assignedSlot"),
    name: property("localName"),
    id: property("id"),
    attribute: property("getAttribute"),
    has: property("hasAttribute"),
    names: property("getAttributeNames"),
    matches: property("matches"),
    all: property("querySelectorAll"),
    rects: property("getClientRects"),
    box: property("getBoundingClientRect"),
    shown: property("checkVisibility"),
    first: property("firstElementChild"),
    next: property("nextElementSibling"),
    count: property("childElementCount"),
  };

  /** A computed style that the browser is asked once for each property: most are looked at by several parts of a round. */
  class Style {
    constructor(e) {
      this.of = getComputedStyle(e);
      this.held = [];
    }
  }
  const STYLED = (
    "appearance backdropFilter backgroundColor backgroundImage backgroundSize borderRadius boxShadow clip clipPath color contain cursor display fill " +
    "fillOpacity filter float fontSize interactivity maskImage mixBlendMode offsetPath opacity outlineColor outlineStyle outlineWidth " +
    "overflow perspective pointerEvents position rotate scale stroke strokeOpacity textIndent textShadow textTransform " +
    "transform transformStyle visibility webkitTextFillColor webkitTextStrokeColor webkitTextStrokeWidth zIndex " +
    "borderTopColor borderRightColor borderBottomColor borderLeftColor borderTopStyle borderRightStyle borderBottomStyle borderLeftStyle " +
    "borderTopWidth borderRightWidth borderBottomWidth borderLeftWidth paddingTop paddingRight paddingBottom paddingLeft"
  ).split(" ");
  STYLED.forEach((name, i) =>
    Object.defineProperty(Style.prototype, name, {
      get() {
        return (this.held[i] ??= this.of[name]);
      },
    }),
  );

  const serials = new WeakMap(); // element -> number, never given twice in this document
  const elements = new Map(); // number -> WeakRef(element)
  const closed = new WeakMap(); // host -> its closed shadow root, once the browser has handed it over
  const asked = new WeakMap(); // possible host -> the state of the document in which it was looked at
  const listening = new WeakSet(); // elements with pointer or key listeners, as the debugger knows them
  let last = 0;
  let deaf = []; // elements of the last walk that let the pointer through
  let total = 0; // elements of the last walk
  let visited = null; // [element, style] of all that the last walk met and that may be on the screen
  let fresh = new Set(); // elements whose node number the browser has not told yet

  const serial = (e) => {
    let number = serials.get(e);
    if (number === undefined) {
      serials.set(e, (number = ++last));
      elements.set(number, new WeakRef(e));
      fresh.add(e);
    }
    return number;
  };
  const element = (number) => {
    const found = elements.get(number)?.deref();
    return found && $.connected(found) ? found : null;
  };
  const shadowOf = (e) => $.shadow(e) ?? closed.get(e) ?? null;
  let parents = null; // element -> its parent in the flat tree, for as long as the document holds still
  const flatParent = (e) => {
    if (parents === null) return findParent(e);
    let held = parents.get(e);
    if (held === undefined) parents.set(e, (held = findParent(e)));
    return held;
  };
  const findParent = (e) => {
    const slot = $.slot(e);
    if (slot) return slot;
    const parent = $.parent(e);
    return parent instanceof ShadowRoot ? parent.host : parent instanceof Element ? parent : null;
  };
  /** Whether `inner` is `outer` or inside it, across slots and shadow roots. */
  const within = (inner, outer) => {
    for (let e = inner; e; e = flatParent(e)) if (e === outer) return true;
    return false;
  };

  // --- which elements are worth telling -------------------------------------------------------------------------------
  const words = (text) => new Set(text.split(" "));
  const ACTS = words("button input select textarea summary label area video audio embed object option");
  const ACTING_ROLES = words(
    "button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio option radio scrollbar " +
      "searchbox slider spinbutton switch tab textbox treeitem",
  );
  const NAMES = words(
    "h1 h2 h3 h4 h5 h6 img svg canvas picture legend caption figcaption th dt dialog iframe frame fieldset form nav main " +
      "table meter progress output",
  );
  const NEVER = words("script style template noscript head meta link title base param source track br wbr html body");
  const CLICKS = words("click mousedown mouseup pointerdown pointerup touchstart touchend dblclick contextmenu");

  const ownText = (e) => {
    for (let node = $.child(e); node; node = $.sibling(node)) if (node.nodeType === 3 && /\S/.test(node.data)) return true;
    return false;
  };
  const focusable = (e) => $.has(e, "tabindex") && Number.parseInt($.attribute(e, "tabindex")) >= -1;
  const editable = (e) => {
    // The page of an editor may be its whole document.
    if (e === document.body && document.designMode === "on") return true;
    const value = $.attribute(e, "contenteditable");
    return value !== null && value !== "false";
  };

  /** Why an element takes input: tag, role, tabindex, editable, listener, pointer; empty where it does not. */
  const takesInput = (e, tag, style) => {
    if (tag === "a") return $.has(e, "href") || listening.has(e) || style?.cursor === "pointer" ? "tag" : "";
    if (tag === "input" && $.attribute(e, "type") === "hidden") return "";
    if (tag === "video" || tag === "audio") return $.has(e, "controls") ? "tag" : listening.has(e) ? "listener" : "";
    if (tag === "label") return e.control || listening.has(e) ? "tag" : "";
    if (ACTS.has(tag)) return "tag";
    const role = ($.attribute(e, "role") ?? "").trim().split(/\s+/)[0].toLowerCase();
    if (ACTING_ROLES.has(role)) return "role";
    if (focusable(e) && tag !== "dialog" && role !== "dialog") return "tabindex";
    if (editable(e)) return "editable";
    if (listening.has(e)) return "listener";
    if (style?.cursor === "pointer") {
      const parent = flatParent(e);
      if (!parent || getComputedStyle(parent).cursor !== "pointer") return "pointer";
    }
    return "";
  };
  const isDialog = (e, tag, style) => {
    const role = $.attribute(e, "role");
    if (tag === "dialog" || role === "dialog" || role === "alertdialog") return true;
    if ($.has(e, "aria-modal") || ($.has(e, "popover") && $.matches(e, ":popover-open"))) return true;
    if (style.position === "fixed") return true;
    return style.position === "absolute" && Number.parseInt(style.zIndex) > 0 && covers(e, 0.04);
  };
  const covers = (e, share) => {
    const box = $.box(e);
    return box.width * box.height > share * innerWidth * innerHeight;
  };
  const isScroller = (e, style) =>
    /auto|scroll/.test(style.overflow) &&
    (e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1);

  /** Visits every element of a root, then of the shadow roots inside it, in document order. */
  const walk = (root, visit) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let e = walker.nextNode(); e; e = walker.nextNode()) {
      visit(e, root);
      const shadow = shadowOf(e);
      if (shadow) walk(shadow, visit);
    }
  };

  /** Everything worth telling, in document order: [{e, tag, style, acts, dialog, scroller, root}]. */
  const candidates = (only) => {
    const found = [];
    visited = only ? null : [];
    if (only) {
      // Asked for a few elements only: what else is on the page is as the last whole round left it.
      for (const number of only) {
        const e = element(number);
        if (!e) continue;
        const tag = $.name(e);
        const style = new Style(e);
        found.push({ e, tag, style, acts: takesInput(e, tag, style), root: $.root(e) });
      }
      return found;
    }
    const hosts = [];
    deaf = [];
    total = 0;
    roots = [document];
    chosen = wanted.map(() => []);
    ids = new WeakMap();
    places = new WeakMap();
    const large = document.getElementsByTagName("*").length > LARGE;
    away = untold = 0;
    walk(document, (e, root) => {
      if (root !== roots[roots.length - 1] && !roots.includes(root)) roots.push(root);
      const tag = $.name(e);
      const id = $.id(e);
      if (id) countId(root, id);
      total++;
      const asked = wanted.length > 0 && pick(e);
      if (NEVER.has(tag) && !asked && !(e === document.body && editable(e))) return;
      if (large && !asked && isAway(e)) {
        const acts = takesInput(e, tag, null);
        if (acts && ++away <= MOST_AWAY) found.push({ e, tag, acts, root, away: true });
        else untold++;
        return;
      }
      const style = new Style(e);
      visited.push([e, style]);
      if (style.pointerEvents === "none" || e.inert === true) deaf.push(e);
      if (mayHost(e, tag)) hosts.push(e);
      const acts = takesInput(e, tag, style);
      const dialog = isDialog(e, tag, style);
      const scroller = isScroller(e, style);
      if (!asked && !acts && !dialog && !scroller && !NAMES.has(tag) && !$.has(e, "role") && !$.has(e, "aria-label") && !ownText(e)) return;
      if (!asked && e instanceof SVGElement && tag !== "svg" && !acts && !$.has(e, "role")) return;
      found.push({ e, tag, style, acts, dialog, scroller, root });
    });
    for (const host of hosts) fresh.add(host);
    return found;
  };
  //: A page of more elements than this is told in full only where it is on the screen; beyond, this many that take input.
  const LARGE = 5000, MOST_AWAY = 1500;
  let away = 0, untold = 0;
  /** Whether an element of a large page is not on the screen, or not rendered. */
  const isAway = (e) => {
    const r = $.box(e);
    if (r.width || r.height) return r.right <= 0 || r.bottom <= 0 || r.left >= innerWidth || r.top >= innerHeight;
    return !$.shown(e) || r.right <= 0 || r.bottom <= 0 || r.left >= innerWidth || r.top >= innerHeight;
  };
  let roots = [document]; // the document and the shadow roots of the last walk
  let wanted = []; // selectors of elements that are told whatever they are
  let chosen = []; // numbers of the elements that match each of them
  const pick = (e) => {
    let any = false;
    wanted.forEach((css, i) => {
      if ($.matches(e, css)) {
        chosen[i].push(serial(e));
        any = true;
      }
    });
    return any;
  };
  const HOSTS = words("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span");
  /** Whether an element could hold a closed shadow root that nobody has asked the browser about. */
  const mayHost = (e, tag) => {
    const own = tag.includes("-");
    // Looked at once for each state of the document: a root is attached when its host is made, or comes with other changes.
    if (!(own || HOSTS.has(tag)) || shadowOf(e) || asked.get(e) === state()) return false;
    asked.set(e, state());
    if (!own) {
      // A host's own children have no boxes unless they are slotted; an empty one with a size may be a host too.
      // One that hangs on the page or on a root may have none: what widgets put there is often placed by itself.
      const child = $.first(e);
      const flat = () => !$.box(e).height && $.parent(e) !== document.body && !($.parent(e) instanceof ShadowRoot);
      if (child ? $.shown(child) || flat() : ownText(e) ? hasTextBox(e) : flat()) return false;
    }
    return true;
  };
  let state = () => 0;
  const hasTextBox = (e) => {
    const range = document.createRange();
    range.selectNodeContents(e);
    return range.getClientRects().length > 0;
  };

  // --- the way to an element ------------------------------------------------------------------------------------------
  let ids = new WeakMap(); // root -> Map(id -> how many)
  let places = new WeakMap(); // element -> its selector
  const countId = (root, id) => {
    let table = ids.get(root);
    if (!table) ids.set(root, (table = new Map()));
    table.set(id, (table.get(id) ?? 0) + 1);
  };
  const selector = (e) => {
    let held = places.get(e);
    if (held !== undefined) return held;
    const root = $.root(e);
    const id = $.id(e);
    if (id && (ids.get(root)?.get(id) ?? $.all0(root, `#${CSS.escape(id)}`).length) === 1) held = `#${CSS.escape(id)}`;
    else {
      const parent = $.parent(e);
      const own = `${CSS.escape($.name(e))}`;
      if (parent instanceof Element) held = `${selector(parent)} > ${own}:nth-child(${position(e)})`;
      else held = parent instanceof ShadowRoot ? `:host > ${own}:nth-child(${position(e)})` : own;
    }
    places.set(e, held);
    return held;
  };
  $.all0 = (root, css) => root.querySelectorAll(css);
  const positions = new WeakMap(); // parent -> {first, last, count, table}
  const position = (e) => {
    const parent = $.parent(e);
    const first = parent instanceof Element ? $.first(parent) : parent.firstElementChild;
    let held = positions.get(parent);
    if (!held || held.stamp !== stamp) {
      const table = new Map();
      let n = 0;
      for (let k = first; k; k = $.next(k)) table.set(k, ++n);
      positions.set(parent, (held = { stamp, table }));
    }
    return held.table.get(e);
  };
  let stamp = 0;
  /** {shadow: [selectors of hosts, outermost first], css}. */
  const locator = (e) => {
    const shadow = [];
    for (let root = $.root(e); root instanceof ShadowRoot; root = $.root(root.host)) shadow.unshift(selector(root.host));
    return { shadow, css: selector(e) };
  };

  // --- what an element says -------------------------------------------------------------------------------------------
  const fold = (text) => text.replace(/\s+/g, " ").trim();
  const SECRET = "\u2022";
  const textOf = (e, tag, style) => {
    if (tag === "input") {
      const type = e.type;
      if (type === "password") return SECRET.repeat(Math.min(e.value.length, 32));
      return /^(checkbox|radio|image|file|color|range)$/.test(type) ? "" : fold(e.value).slice(0, 200);
    }
    if (tag === "textarea") return fold(e.value).slice(0, 200);
    if (tag === "select") return fold(chosenIn(e)).slice(0, 200);
    const raw = $.text(e);
    if (raw.length > 2000 || !raw) return "";
    // What is rendered may differ from what is written, in case and by hidden parts; that costs a layout to ask.
    const plain = !(e instanceof HTMLElement) || (!$.count(e) && (!style || style.textTransform === "none"));
    return fold(plain ? raw : withChoices(e, e.innerText)).slice(0, 200);
  };
  const chosenIn = (list) => [...list.selectedOptions].map((o) => o.label).join(", ");
  /** What a person reads around a drop-down is its choice; the engine's text of what holds it is all of its options. */
  const withChoices = (e, text) => {
    let [read, rest] = ["", text];
    for (const list of $.count(e) ? $.all(e, "select") : []) {
      const all = list.innerText;
      const at = all ? rest.indexOf(all) : -1;
      if (at < 0) continue;
      read += `${rest.slice(0, at)} ${chosenIn(list)} `;
      rest = rest.slice(at + all.length);
    }
    return read + rest;
  };
  const TOLD = new Set(["type", "placeholder", "title", "alt", "aria-label", "href", "name", "role", "data-state", "contenteditable"]);
  const attributesOf = (e) => {
    const told = [];
    for (const name of $.names(e)) if (TOLD.has(name)) told.push([name, $.attribute(e, name).slice(0, 300)]);
    return told;
  };

  return {
    $, Style, serial, element, elements, serials, closed, asked, listening, CLICKS, shadowOf, flatParent, within, takesInput,
    candidates, walk, selector, locator, textOf, attributesOf, fold, isDialog, isScroller, words,
    canHost: (tag) => tag.includes("-") || HOSTS.has(tag),
    /** From now on tell every element that matches one of these selectors, in its own root. */
    also: (selectors) => {
      for (const css of selectors) document.querySelector(css);
      wanted = selectors;
    },
    stateFrom: (given) => void (state = given),
    picked: () => chosen,
    rootsNow: () => roots,
    modalsNow: () => roots.flatMap((root) => [...root.querySelectorAll(":modal")]),
    deafNow: () => deaf,
    visitedNow: () => visited,
    totalNow: () => total,
    untoldNow: () => untold,
    newRound: () => void stamp++,
    /** What `then` gives; nothing in it changes the document, so what is found of its tree is looked up once. */
    still: (then) => {
      parents = new Map();
      try {
        return then();
      } finally {
        parents = null;
      }
    },
    /** Elements that the browser has not numbered yet; asked for with deep serialisation, which tells their numbers. */
    fresh: () => {
      const told = [...fresh];
      fresh = new Set();
      return told;
    },
    /** Our numbers of the elements that `fresh` will give; 0 for those that are only asked for their shadow root. */
    freshSerials: () => Array.from(fresh, (e) => serials.get(e) ?? 0),
  };
})();
