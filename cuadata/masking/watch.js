// Watches the fields for secrets of one document while a script acts in it, where nobody listens to a person. Runs after
// fields.js in the same isolated world: what is measured says which fields those are, and what is typed is known at once.
globalThis.cuadata.watched ??= (() => {
  const secrets = cuadata.secrets;
  const measure = cuadata.measure;
  cuadata.measure = (options = {}) => {
    const text = measure(options);
    return options.only ? text : `${text.slice(0, -1)},"secrets":${JSON.stringify(secrets.scan())}}`;
  };
  const typed = (event) => {
    const e = event.composedPath()[0];
    if (e instanceof Element) secrets.heard(e);
  };
  // What a script of the page puts into a field has no event of its own: at the latest it is read before it is sent.
  const sent = () => void secrets.scan();
  const ears = { input: typed, change: typed, focusin: typed, focusout: typed, submit: sent, formdata: sent, pagehide: sent };
  const arm = () => {
    for (const kind in ears) addEventListener(kind, ears[kind], { capture: true, passive: true });
  };
  arm();
  setInterval(arm, 120); // `document.open` takes every listener away; adding one that is there already does nothing
  return { arm };
})();
