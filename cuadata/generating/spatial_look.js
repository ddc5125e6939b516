// Puts a script-free page in the place of this one and measures it, in one call. Fonts loaded before stay.
(html) => {
  const made = new DOMParser().parseFromString(html, "text/html");
  for (const name of ["lang", "dir"]) document.documentElement.setAttribute(name, made.documentElement.getAttribute(name) || "");
  for (const old of [...document.head.children]) if (!old.hasAttribute("data-font")) old.remove();
  document.head.append(...[...made.head.children].map((one) => document.adoptNode(one)));
  document.body.replaceWith(document.adoptNode(made.body));
  scrollTo(0, 0);
  const roles = { BUTTON: "button", A: "link", SELECT: "combobox", H1: "heading", H2: "heading", TH: "rowheader" };
  const inputs = { checkbox: "checkbox", radio: "radio", range: "slider", text: "textbox" };
  const role = (e) => e.getAttribute("role") || (e.tagName === "INPUT" ? inputs[e.type] : roles[e.tagName]) || "";
  const folded = (text) => (text || "").replace(/\s+/g, " ").trim();
  const told = [];
  for (const e of document.querySelectorAll("[id]")) {
    if (e.tagName === "LABEL" || !e.checkVisibility({ visibilityProperty: true })) continue;
    const r = e.getBoundingClientRect();
    const wide = Math.max(0, Math.min(r.right, innerWidth) - Math.max(r.left, 0));
    const tall = Math.max(0, Math.min(r.bottom, innerHeight) - Math.max(r.top, 0));
    let hits = 0, point = null;
    for (const [fx, fy] of [[.5, .5], [.5, .1], [.5, .9], [.1, .5], [.9, .5], [.1, .1], [.9, .1], [.1, .9], [.9, .9]]) {
      const x = r.left + r.width * fx, y = r.top + r.height * fy;
      const on = document.elementFromPoint(x, y);
      if (on && (on === e || e.contains(on))) { hits++; point = point || [x, y]; }
    }
    const text = e.tagName === "SELECT" || e.tagName === "INPUT" ? "" : folded(e.textContent);
    const name = e.getAttribute("aria-label") || (e.labels && e.labels[0] ? folded(e.labels[0].textContent) : text);
    told.push([e.id, e.tagName.toLowerCase(), role(e), name, text, r.left, r.top, r.width, r.height,
      r.width * r.height ? wide * tall / (r.width * r.height) : 0, hits / 9, point,
      e.getAttribute("data-look") || "", e.getAttribute("data-does") || "", e.matches("button,a,input,select,[tabindex]"),
      e.type === "checkbox" || e.type === "radio" ? String(e.checked) : null]);
  }
  return JSON.stringify(told);
}
