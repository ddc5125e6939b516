// What a person could perceive of a page, read off the DOM alone: the answer key of the effect pairs.
// digest() maps the path of every rendered element to two strings, its text, box and state, and its paint; "focus" is the
// path of the focused element, and "field" the same where it is one to type in. state() gives the elements that take
// input or hold text of their own, as an observation holds them. Elements below a
// [data-ambient] mark are the page's own movement and are left out of both.
(() => {
  const PAINT = ["color", "backgroundColor", "backgroundImage", "borderTopColor", "borderTopWidth", "borderBottomColor",
    "borderBottomWidth", "outlineStyle", "outlineColor", "outlineWidth", "opacity", "visibility", "transform", "boxShadow", "backgroundPosition", "content",
    "textDecorationLine", "fontWeight", "fontSize", "fill", "stroke"];
  const PSEUDO = ["content", "color", "backgroundColor", "backgroundImage", "opacity", "transform", "display"];
  const hash = text => { let h = 5381; for (let i = 0; i < text.length; i++) h = (h * 33 ^ text.charCodeAt(i)) >>> 0; return h; };
  const path = e => {
    const parts = [];
    for (; e && e.parentElement; e = e.parentElement) {
      const same = [...e.parentElement.children].filter(c => c.tagName === e.tagName);
      parts.unshift(e.tagName.toLowerCase() + (same.length > 1 ? `:nth-of-type(${same.indexOf(e) + 1})` : ""));
    }
    return ["html", ...parts].join(" > ");
  };
  const own = e => [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data.replace(/\s+/g, " ").trim()).join("|");
  const rendered = e => {
    if (e.closest("[data-ambient]") || /^(SCRIPT|STYLE|HEAD|META|LINK|TITLE|NOSCRIPT|TEMPLATE)$/.test(e.tagName)) return false;
    return e.getClientRects().length > 0 && e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  const box = e => { const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height].map(v => Math.round(v * 10) / 10); };
  const paint = e => {
    const s = getComputedStyle(e), parts = PAINT.map(k => s[k]);
    for (const which of ["::before", "::after"]) {
      const p = getComputedStyle(e, which);
      if (p.content !== "none") parts.push(...PSEUDO.map(k => p[k]));
    }
    return parts.join(";");
  };
  const held = e => {
    const parts = [own(e), box(e)];
    for (const k of ["value", "checked", "selectedIndex", "open", "disabled", "scrollTop", "scrollLeft", "indeterminate"])
      if (k in e) parts.push(`${k}=${e[k]}`);
    for (const k of ["d", "x", "y", "cx", "cy", "r", "points", "x1", "y1", "x2", "y2", "src", "href"])
      if (e.hasAttribute(k)) parts.push(`${k}=${e.getAttribute(k)}`);
    if (e.tagName === "CANVAS") { try { parts.push(hash(e.toDataURL())); } catch (x) { parts.push("tainted"); } }
    return parts.join(";");
  };
  const typed = e => e.isContentEditable || e.tagName === "TEXTAREA" || (e.tagName === "INPUT" && !/^(checkbox|radio|button|submit|range|color|file|reset|image)$/.test(e.type));
  window.digest = () => {
    const focus = document.activeElement, at = focus && focus !== document.body ? path(focus) : "";
    const out = { "": [[location.href.replace(/#$/, ""), document.title, scrollX, scrollY].join(";"), ""], focus: [at, ""],
      field: [at && typed(focus) ? at : "", ""] };
    for (const e of document.querySelectorAll("body, body *"))
      if (rendered(e)) out[path(e)] = [held(e), paint(e)];
    return JSON.stringify(out);
  };
  const ROLES = { A: "link", BUTTON: "button", SELECT: "combobox", TEXTAREA: "textbox", SUMMARY: "button", CANVAS: "canvas", LABEL: "LabelText",
    H1: "heading", H2: "heading", H3: "heading", TD: "cell", LI: "listitem", P: "paragraph", STRONG: "strong" };
  const role = e => e.getAttribute("role") || (e.isContentEditable && "textbox") || (e.tagName === "INPUT"
    ? { checkbox: "checkbox", radio: "radio", submit: "button", button: "button", range: "slider", number: "spinbutton", search: "searchbox" }[e.type] || "textbox"
    : ROLES[e.tagName] || e.tagName.toLowerCase());
  const name = e => (e.getAttribute("aria-label") || (e.labels && [...e.labels].map(l => l.innerText).join(" ")) || e.title || e.placeholder ||
    (/^(INPUT|SELECT|TEXTAREA)$/.test(e.tagName) ? "" : e.innerText) || "").replace(/\s+/g, " ").trim().slice(0, 80);
  const tri = v => v === null || v === undefined ? null : String(v);
  window.state = () => {
    const elements = [], focus = document.activeElement;
    let focused = null, id = 0;
    const told = "a,button,input,select,textarea,summary,canvas,label,h1,h2,h3,p,td,li,strong,[role],[tabindex],[onclick],[contenteditable]";
    for (const e of document.querySelectorAll("body *")) {
      if (!rendered(e) || !(e.matches(told) || /[^|]/.test(own(e)))) continue;
      const [x, y, width, height] = box(e), input = /^(INPUT|SELECT|TEXTAREA)$/.test(e.tagName);
      if (e === focus) focused = ++id; else ++id;
      elements.push({ id, role: role(e), name: name(e), text: input ? "" : e.innerText.replace(/\s+/g, " ").trim().slice(0, 80),
        tag: e.tagName.toLowerCase(), bbox: { x, y, width, height }, locator: { css: path(e) },
        states: { checked: e.type === "checkbox" || e.type === "radio" ? String(e.checked) : tri(e.getAttribute("aria-checked")),
          disabled: !!e.disabled, expanded: e.hasAttribute("aria-expanded") ? e.getAttribute("aria-expanded") === "true" : null,
          selected: e.hasAttribute("aria-selected") ? e.getAttribute("aria-selected") === "true" : null,
          pressed: tri(e.getAttribute("aria-pressed")), focused: e === focus,
          value: input && !/checkbox|radio|submit|button/.test(e.type) ? (e.tagName === "SELECT" ? (e.selectedOptions[0] || {}).text || "" : e.value) : null } });
    }
    return JSON.stringify({ viewport: { width: innerWidth, height: innerHeight }, url: location.pathname + location.search + location.hash,
      title: document.title, scroll: { x: scrollX, y: scrollY }, elements, focused });
  };
  return 1;
})();
