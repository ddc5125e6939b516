// Generated boxes (::before and ::after): which elements have some, where they lie. To ask each element for its own costs as much
// as a hit test, so only those are asked that a rule with `content` may be for.
globalThis.cuadata.generated ??= (() => {
  const { $, flatParent, boxes, places } = cuadata;
  const { sides } = places;

  let visited = null; // [element, style] of all that may be on the screen; null where only some elements are measured
  let found = null; // the generated boxes of these, once they were asked for
  let makers = null; // the elements that rules may be for; null where that may be any
  const told = new WeakMap(); // sheet -> [how many rules it has, the selectors of those for generated boxes, null: not known]

  /** Selectors of the elements whose generated boxes a sheet gives content; null where they cannot be told so. */
  const selectorsIn = (sheet) => {
    let rules;
    try {
      rules = sheet.cssRules;
    } catch {
      return null; // Of another site: it may hold anything.
    }
    const held = told.get(sheet);
    if (held?.[0] === rules.length) return held[1];
    const selectors = [];
    const known = [...rules].every((rule) => collect(rule, selectors)) ? selectors : null;
    told.set(sheet, [rules.length, known]);
    return known;
  };
  const collect = (rule, into) => {
    const text = rule.selectorText ?? "";
    if (/:(before|after)\b/i.test(text) && rule.style?.content) {
      // What is said from a host, a slot, a part or a rule around it is for elements that a query of this root does not find.
      const own = text.replace(/::?(before|after)\b/gi, "");
      if (/&|:host|::|:scope/i.test(own)) return false;
      into.push(own);
    }
    const inner = rule instanceof CSSImportRule ? rule.styleSheet && selectorsIn(rule.styleSheet) : [];
    if (inner === null && rule instanceof CSSImportRule && rule.styleSheet) return false;
    into.push(...(inner ?? []));
    return [...(rule.cssRules ?? [])].every((one) => collect(one, into));
  };
  /** More selectors than this cost more to look for than to ask all elements. */
  const MOST_SELECTORS = 40;
  const findMakers = () => {
    const made = new Set();
    for (const root of cuadata.rootsNow()) {
      const held = [...root.styleSheets, ...root.adoptedStyleSheets].map(selectorsIn);
      if (held.includes(null) || held.flat().length > MOST_SELECTORS) return null;
      try {
        for (const css of held.flat()) for (const e of root.querySelectorAll(css)) made.add(e);
      } catch {
        return null;
      }
    }
    return made;
  };
  /** Whether an element may have generated boxes; quotes have some by the browser's own style. */
  const may = (e) => {
    if (!visited) return true;
    if (makers === undefined) makers = findMakers();
    return makers === null || makers.has(e) || $.name(e) === "q";
  };
  /** [{e, which, style, box: where it lies, null where that is not known, lies: whether it may lie outside its element}]. */
  const lying = () => {
    if (found) return found;
    found = [];
    for (const [e] of visited ?? []) {
      if (!may(e)) continue;
      for (const which of ["::before", "::after"]) {
        const style = getComputedStyle(e, which);
        if (style.content === "none" || style.content === "normal" || style.visibility !== "visible") continue;
        const lies = style.position !== "static" || style.transform !== "none" || style.float !== "none" || /-/.test(style.margin);
        found.push({ e, which, style, lies, box: generatedBox(e, style) });
      }
    }
    return found;
  };
  /** [left, top, right, bottom] of a generated box: used values lie in the box that holds it; null where that is not known. */
  const generatedBox = (host, style) => {
    if (style.transform !== "none" || style.position === "fixed") return null;
    if (style.position !== "absolute") return style.float === "none" && !/-/.test(style.margin) ? sides(boxes.bounds(host)) : null;
    let holder = host;
    while (holder && !holds(boxes.styleOf(holder))) holder = flatParent(holder);
    const px = (...names) => names.reduce((sum, name) => sum + Number.parseFloat(style[name]), 0);
    const whole = style.boxSizing === "border-box";
    const wide = px("width", ...(whole ? [] : ["paddingLeft", "paddingRight", "borderLeftWidth", "borderRightWidth"]));
    const high = px("height", ...(whole ? [] : ["paddingTop", "paddingBottom", "borderTopWidth", "borderBottomWidth"]));
    if (!holder?.offsetWidth || Number.isNaN(wide + high + px("left", "top", "marginLeft", "marginTop"))) return null;
    const r = boxes.bounds(holder);
    const scale = r.width / holder.offsetWidth;
    const left = r.left + scale * (holder.clientLeft + px("left", "marginLeft"));
    const top = r.top + scale * (holder.clientTop + px("top", "marginTop"));
    return [left, top, left + scale * wide, top + scale * high];
  };
  const holds = (style) => style.position !== "static" || style.transform !== "none" || style.filter !== "none" || style.contain !== "none";

  return {
    lying, may,
    newRound: (all) => {
      visited = all;
      found = null;
      makers = undefined;
    },
  };
})();
