// What the pages of these families do. Everything is found by data attributes, so that one script serves every markup.
(() => {
  "use strict";
  const all = (root, css) => [...root.querySelectorAll(css)];

  // Shadow roots of the "shadow" markup: a host's template becomes its open root.
  const grow = (root) => all(root, "[data-host]:has(> template)").forEach((host) => {
    const template = host.querySelector("template");
    const style = document.querySelector("style").cloneNode(true);
    host.attachShadow({ mode: "open" }).append(style, template.content.cloneNode(true));
    template.remove();
    listen(host.shadowRoot);
  });

  const up = (node, css) => {
    for (let at = node; at; at = at.parentElement || at.getRootNode().host) if (at.matches?.(css)) return at;
    return null;
  };

  // Overlays: the real control removes the layer and brings up the one that waits for it; others only talk.
  const dismiss = (layer) => {
    layer.remove();
    if (layer.dataset.then) document.getElementById(layer.dataset.then).hidden = false;
    document.dispatchEvent(new CustomEvent("progress"));
  };
  const scold = (control) => { up(control, "[data-layer]").querySelector(".scold").textContent = control.dataset.scold; };

  // A dialog with options: chosen by native radio or by aria-checked, sent by its submit control.
  const radios = (dialog) => all(dialog, "[data-option]");
  const checked = (radio) => (radio instanceof HTMLInputElement ? radio.checked : radio.ariaChecked === "true");
  const choose = (radio) => {
    if (radio instanceof HTMLInputElement) return;
    radios(up(radio, "[data-choice]")).forEach((other) => {
      other.ariaChecked = String(other === radio);
      if ("state" in other.dataset) other.dataset.state = other === radio ? "checked" : "unchecked";
    });
  };
  const send = (dialog) => {
    const chosen = radios(dialog).find(checked);
    const alert = dialog.querySelector("[role=alert]");
    if (!chosen) { alert.textContent = "Choose one of the options first."; return; }
    if (dialog.dataset.right && chosen.dataset.option !== dialog.dataset.right) {
      alert.textContent = "That is not the one that was asked for.";
      return;
    }
    document.getElementById(dialog.dataset.result).textContent = `${dialog.dataset.label}: ${chosen.dataset.option}`;
    shut(dialog, true);
  };
  const shut = (dialog, saved) => {
    up(dialog, "[data-layer]").hidden = true;
    document.getElementById(dialog.dataset.again).hidden = false;
    if (saved) document.dispatchEvent(new CustomEvent("progress"));
  };

  // A code: shown in its place once, however it was earned; then typed and compared.
  const reveal = (place) => {
    if (place.dataset.shown) return;
    place.dataset.shown = "yes";
    const heading = document.createElement("h3");
    heading.className = "code";
    heading.textContent = `Code: ${atob(place.dataset.code)}`;
    place.replaceChildren(heading);
    document.dispatchEvent(new CustomEvent("progress"));
  };
  const placeOf = (node) => document.getElementById(node.dataset.place);
  const enter = (form) => {
    const given = form.querySelector("input[type=text]").value.trim().toUpperCase();
    const alert = form.querySelector("[role=alert]");
    if (!given) alert.textContent = "Enter the code first.";
    else if (given !== atob(form.dataset.code)) alert.textContent = "That code is not right.";
    else if (form.dataset.next) document.dispatchEvent(new CustomEvent("accepted", { detail: form }));
    else { form.closest("[data-card]").replaceChildren(document.getElementById(form.dataset.done).content.cloneNode(true)); }
  };

  // A plain task: its result takes the place of the page's lead once what it asks for is there.
  const finish = (form) => {
    const box = form.querySelector("[data-needs=checked]"), field = form.querySelector("[data-needs=text]");
    const wrong = (box && !checked(box)) || (field && field.value.trim().toLowerCase() !== field.dataset.text.toLowerCase());
    if (wrong) form.querySelector("[role=alert]").textContent = "Something is still missing.";
    else document.querySelector("[data-lead]").replaceChildren(document.getElementById(form.dataset.done).content.cloneNode(true));
  };

  const acts = {
    dismiss: (c) => dismiss(up(c, "[data-layer]")),
    scold,
    choose,
    send: (c) => send(up(c, "[data-choice]")),
    shut: (c) => shut(up(c, "[data-choice]"), false),
    again: (c) => {
      document.getElementById(c.dataset.opens).hidden = false;
      c.closest(".row").hidden = true;
    },
    reveal: (c) => reveal(placeOf(c)),
    wait: (c) => {
      placeOf(c).textContent = "Your code is on its way. It takes a few seconds.";
      setTimeout(() => reveal(placeOf(c)), Number(c.dataset.delay));
    },
    enter: (c) => enter(c.closest("form")),
    finish: (c) => finish(c.closest("form")),
    tick: (c) => { c.ariaChecked = String(c.ariaChecked !== "true"); },
    stay: () => {},
  };
  // Guarded submit controls: disabled until an option is chosen, or something stands in the field.
  const unguard = (event) => {
    const around = event.composedPath().find((node) => node.matches?.("[data-choice], form"));
    const ready = around?.matches("form") ? around.querySelector("input[type=text]")?.value.trim() : around && radios(around).some(checked);
    if (ready) all(around, "[data-guard]").forEach((control) => {
      control.disabled = false;
      control.removeAttribute("aria-disabled");
    });
  };
  const act = (event) => {
    const form = event.type === "submit";
    const control = event.composedPath().find((node) => node.dataset?.act && node instanceof HTMLFormElement === form);
    if (!control || control.ariaDisabled === "true") return;
    if (form || !(control instanceof HTMLInputElement && control.type === "radio")) event.preventDefault();
    acts[control.dataset.act](control);
  };
  const key = (event) => {
    const control = event.composedPath()[0];
    if (control.role && control.dataset?.act && !(control instanceof HTMLButtonElement) && [" ", "Enter"].includes(event.key)) {
      event.preventDefault();
      acts[control.dataset.act](control);
    }
  };

  function listen(root) {
    all(root, "[data-hover]").forEach((spot) => spot.addEventListener("pointerenter", () => reveal(placeOf(spot))));
    all(root, "[data-scroll]").forEach((box) => box.addEventListener("scroll", () => {
      if (box.scrollTop + box.clientHeight >= box.scrollHeight - 8) reveal(placeOf(box));
    }));
    all(root, "[data-seen]").forEach((mark) => new IntersectionObserver(([entry]) => {
      if (entry.isIntersecting) reveal(placeOf(mark));
    }, { threshold: 0.9 }).observe(mark));
    all(root, "[data-drag]").forEach(drag);
  }
  function drag(tile) {
    let from = null;
    tile.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; tile.setPointerCapture(event.pointerId); });
    tile.addEventListener("pointermove", (event) => {
      if (from) tile.style.transform = `translate(${event.clientX - from[0]}px, ${event.clientY - from[1]}px)`;
    });
    tile.addEventListener("pointerup", () => {
      if (!from) return;
      from = null;
      const a = tile.getBoundingClientRect(), b = tile.parentElement.querySelector(".slot").getBoundingClientRect();
      const x = a.x + a.width / 2, y = a.y + a.height / 2;
      if (x > b.left && x < b.right && y > b.top && y < b.bottom) reveal(placeOf(tile));
      else tile.style.transform = "";
    });
  }

  // Rooms of the gauntlet: one after the other out of their templates; the step counter follows what was done.
  const stage = document.querySelector("[data-stage]");
  let room = 0, steps = 0;
  const count = (by) => {
    steps += by;
    const total = Number(stage.dataset.steps);
    document.querySelector("[data-steps]").textContent = `Step ${Math.min(steps + 1, total)} of ${total}`;
  };
  const open = () => {
    const template = document.getElementById(`room-${room + 1}`);
    all(document, "[data-room-layer]").forEach((layer) => layer.remove());
    scrollTo(0, 0);
    if (!template) {
      stage.closest("main").classList.remove("fixed");
      stage.replaceChildren(document.getElementById("finished").content.cloneNode(true));
      document.querySelector("[data-steps]").textContent = `${steps} of ${steps} steps done`;
      return;
    }
    room += 1;
    stage.replaceChildren(template.content.cloneNode(true));
    stage.closest("main").classList.toggle("fixed", "fixed" in template.dataset);
    all(stage, ".layer").forEach((layer) => { layer.dataset.roomLayer = ""; document.body.append(layer); });
    grow(document);
    listen(document);
  };
  if (stage) {
    document.addEventListener("progress", () => count(1));
    document.addEventListener("accepted", () => { count(1); open(); });
    open();
  } else {
    grow(document);
    listen(document);
  }
  document.addEventListener("click", act);
  document.addEventListener("click", unguard);
  document.addEventListener("input", unguard);
  document.addEventListener("submit", act);
  document.addEventListener("keydown", key);
  document.addEventListener("keydown", unguard);
})();
