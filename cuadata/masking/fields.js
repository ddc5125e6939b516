// Which fields of a document are for secrets, what was ever typed into them, and where the page shows it again.
// Runs before watch.js (a script acts) or person_listen.js (a person does) in the same isolated world. Values leave it only for the recorder's memory, to be masked.
globalThis.cuadata.secrets ??= (() => {
  const { $, flatParent, serial } = cuadata;
  const say = (message) => globalThis.cuadataHear?.(JSON.stringify(message));
  const ever = new WeakMap(); // element -> what kind of secret it was ever for
  const filled = new WeakSet(); // secret fields that ever held something
  const known = new Map(); // secret -> its kind
  const MOST = 400;

  const TEXTLESS = /^(button|submit|reset|checkbox|radio|image|file|color|range|hidden|search)$/;
  const PASSWORD = /pass ?(?:word|code|phrase|wort)|passwd|\bpwd\b|\bpw\b|\bpin\b|\bsecret\b|kennwort|contrase|mot de passe|\bsenha\b|security (?:answer|question)/i;
  const CODE = /one time|\botp\b|\b[2m]fa\b|totp|authenticator|(?:verification|confirmation|security|auth\w*|sms|login|sign in|access|backup|recovery) (?:pass)?code/i;
  const CARD = /(?:card|cc) ?(?:number|num\b|no\b|csc)|credit card|debit card|\bcv[vc]2?\b|\bcsc\b|\biban\b|\bssn\b|social security/i;
  const BY_AUTOCOMPLETE = {
    "current-password": "password", "new-password": "password", "one-time-code": "one_time_code", "cc-number": "card_number",
    "cc-csc": "card_number", "cc-exp": "card_number", "cc-exp-month": "card_number", "cc-exp-year": "card_number",
  };
  const plain = (text) => text.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_\-.:[\]]+/g, " ");
  const words = (e) => {
    const told = ["name", "id", "aria-label", "placeholder", "title", "data-testid"].map((n) => $.attribute(e, n));
    for (const label of e.labels ?? []) told.push($.text(label).slice(0, 200));
    for (const id of ($.attribute(e, "aria-labelledby") ?? "").split(/\s+/)) {
      const label = id && $.root(e).getElementById?.(id);
      if (label) told.push($.text(label).slice(0, 200));
    }
    return told.map((t) => plain(t ?? "")).join(" | ");
  };
  const takesText = (e) => {
    const tag = $.name(e);
    return tag === "textarea" || (tag === "input" && !TEXTLESS.test(e.type)) || e.isContentEditable || /^(textbox|combobox)$/.test($.attribute(e, "role") ?? "");
  };
  /** Fields of one character each, side by side, are where codes go. */
  const ofOneCharacter = (e) => {
    if ($.name(e) !== "input" || e.maxLength !== 1) return false;
    let around = flatParent(e);
    for (let i = 0; around && i < 3; i++, around = flatParent(around))
      if (around.querySelectorAll('input[maxlength="1"]').length >= 4) return true;
    return false;
  };
  const judged = (e) => {
    if ($.name(e) === "input" && e.type === "password") return "password";
    if (!takesText(e)) return null;
    for (const token of ($.attribute(e, "autocomplete") ?? "").toLowerCase().split(/\s+/)) if (BY_AUTOCOMPLETE[token]) return BY_AUTOCOMPLETE[token];
    const told = words(e);
    if (CODE.test(told) || ofOneCharacter(e)) return "one_time_code";
    if (PASSWORD.test(told)) return "password";
    if (CARD.test(told)) return "card_number";
    if (getComputedStyle(e).webkitTextSecurity !== "none") return "password";
    return repeats(valueOf(e));
  };
  const valueOf = (e) => ("value" in e && typeof e.value === "string" ? e.value : takesText(e) ? $.text(e) : "");
  /** The kind of a known secret that a value repeats. */
  const repeats = (value) => {
    if (value.length < 4) return null;
    for (const [secret, kind] of known) if (secret.length >= 4 && (value.includes(secret) || (value.length >= 6 && secret.includes(value)))) return kind;
    return null;
  };
  /** What kind of secret a field is for, or was ever for; null for others. */
  const kindOf = (e) => {
    let kind = ever.get(e) ?? null;
    if (kind === null && (kind = judged(e)) !== null) ever.set(e, kind);
    if (kind === null && e.isContentEditable && flatParent(e)?.isContentEditable) return kindOf(flatParent(e));
    return kind;
  };
  const learn = (value, kind) => {
    if (!value.trim() || known.has(value)) return;
    if (known.size >= MOST) known.delete(known.keys().next().value);
    known.set(value, kind);
    say({ kind: "secret", value, of: kind });
  };
  /** A field was typed into: its kind, and its value is known from now on. */
  const heard = (e) => {
    const kind = kindOf(e);
    if (kind === null) return null;
    filled.add(e);
    learn(valueOf(e), kind);
    return kind;
  };

  // --- what was ever a password's field, also between two looks --------------------------------------------------------
  const observer = new MutationObserver((records) => {
    for (const { target, oldValue } of records) if (oldValue?.toLowerCase() === "password") ever.set(target, "password");
  });
  const watched = new WeakSet();
  const watch = (root) => {
    if (watched.has(root)) return;
    watched.add(root);
    observer.observe(root, { subtree: true, attributes: true, attributeFilter: ["type"], attributeOldValue: true });
  };
  watch(document);

  // --- where the page shows a secret -----------------------------------------------------------------------------------
  const squeeze = (text) => text.replace(/\s+/g, "");
  const box = (r) => [r.left, r.top, r.width, r.height];
  /** Boxes of text that spells a secret, however it is cut into nodes. */
  const spelt = (root, needles) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const parts = [];
    let all = "";
    for (let n = walker.nextNode(); n; n = walker.nextNode()) {
      const text = squeeze(n.data);
      if (!text || /^(script|style)$/.test(n.parentElement ? $.name(n.parentElement) : "")) continue;
      parts.push([all.length, all.length + text.length, n]);
      all += text;
      if (all.length > 2e6) break;
    }
    const found = [];
    for (const needle of needles)
      for (let at = all.indexOf(needle); at >= 0 && found.length < 200; at = all.indexOf(needle, at + 1))
        for (const [start, end, node] of parts) {
          if (end <= at || start >= at + needle.length) continue;
          const range = document.createRange();
          range.selectNodeContents(node);
          found.push(...[...range.getClientRects()].map(box));
        }
    return found;
  };
  /** {fields: [number, kind, whether it ever held something, box], shown: boxes of what repeats a secret}. */
  const scan = () => {
    const fields = [];
    const canvases = [];
    for (const root of cuadata.rootsNow()) {
      watch(root);
      for (const e of root.querySelectorAll("input,textarea,[contenteditable],[role=textbox],[role=combobox]")) {
        const kind = kindOf(e);
        if (kind === null) continue;
        const value = valueOf(e);
        if (value) filled.add(e), learn(value, kind);
        fields.push([serial(e), kind, filled.has(e), box($.box(e))]);
      }
      // What is painted on a canvas cannot be read: once a secret is known, none of them is shown.
      if (known.size) canvases.push(...[...root.querySelectorAll("canvas")].map((e) => box($.box(e))));
    }
    const needles = [...new Set([...known.keys()].map(squeeze).filter((s) => s.length >= 4))];
    return { fields, shown: needles.length ? [...canvases, ...cuadata.rootsNow().flatMap((root) => spelt(root, needles))] : canvases };
  };
  return { kindOf, heard, scan, remember: (values) => values.forEach(([value, kind]) => known.has(value) || known.set(value, kind)) };
})();
