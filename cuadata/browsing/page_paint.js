// What a person sees of an element and what a click reaches: a grid of points is hit twice, once as the pointer would, and
// once with every box made to take the pointer, which shows what lies above without taking clicks.
globalThis.cuadata.paint ??= (() => {
  const { $, flatParent, within, shadowOf, boxes, places, generated, alike } = cuadata;
  const { alpha, context } = boxes;

  /** The innermost element at a point, through open and closed shadow roots; null outside the viewport. */
  const deepest = (x, y) => {
    let e = document.elementFromPoint(x, y);
    while (e) {
      const shadow = shadowOf(e);
      const inner = shadow?.elementFromPoint(x, y);
      if (!inner || inner === e || $.root(inner) !== shadow) break;
      e = inner;
    }
    return e;
  };
  const inside = (h, e) => h === e || $.contains(e, h) || within(h, e);

  // --- how much an element hides of what lies under it ------------------------------------------------------------------
  let painted = new Map(); // element -> [0 to 1, why that is not sure]
  let modal = null; // a modal dialog of this document or of a shadow root in it
  const paintOf = (e) => {
    let held = painted.get(e);
    if (!held) painted.set(e, (held = measurePaint(e)));
    return held;
  };
  const measurePaint = (e) => {
    const style = boxes.styleOf(e);
    const { opacity, unsure } = context(e);
    if (style.visibility !== "visible" || opacity < 0.02) return [0, ""];
    const name = $.name(e);
    let doubt = unsure;
    if (style.backdropFilter && style.backdropFilter !== "none") doubt ||= "backdrop";
    if (name === "img") {
      const share = imagePaint(e);
      return share === null ? [0, "image"] : [opacity * Math.max(share, alpha(style.backgroundColor)), doubt];
    }
    if (/^(video|iframe|embed|object)$/.test(name) || (e instanceof SVGGeometryElement && shapePaints(style))) return [opacity, doubt];
    if (name === "canvas") return [opacity * Math.max(canvasPaint(e), alpha(style.backgroundColor)), doubt];
    const layer = layered(style);
    return [opacity * layer[0], layer[1] || doubt];
  };
  /** Opacity of a box's background: [alpha, doubt]. */
  const layered = (style) => {
    const own = alpha(style.backgroundColor);
    if (style.backgroundImage === "none" || own > 0.98) return [own, ""];
    if (!/gradient/.test(style.backgroundImage)) return [own, "image"];
    return /transparent|rgba|\/ /.test(style.backgroundImage) ? [own, "veil"] : [1, ""];
  };
  const shapePaints = (style) =>
    (style.fill !== "none" && alpha(style.fill) * style.fillOpacity > 0.1) || (style.stroke !== "none" && alpha(style.stroke) * style.strokeOpacity > 0.1);
  /** Share of an image that is opaque; null where its pixels may not be read. */
  const imagePaint = (e) => (e.complete && e.naturalWidth ? opaqueShare(e, 8) : e.alt ? 0.5 : 0);
  const canvasPaint = (e) => (e.width && e.height ? (opaqueShare(e, 16) ?? 1) : 0);
  let shares = new Map(); // picture -> the share of it that is opaque
  const easels = {}; // side in px -> what pictures are drawn on to be read
  /** Share of a picture that is opaque, as `side` px square; null where its pixels may not be read. */
  const opaqueShare = (picture, side) => {
    if (shares.has(picture)) return shares.get(picture);
    const small = (easels[side] ??= new OffscreenCanvas(side, side).getContext("2d", { willReadFrequently: true }));
    let share = null;
    try {
      small.clearRect(0, 0, side, side);
      small.drawImage(picture, 0, 0, side, side);
      const { data } = small.getImageData(0, 0, side, side);
      share = 0;
      for (let i = 3; i < data.length; i += 4) share += data[i] / 255;
      share /= side * side;
    } catch {
      delete easels[side]; // It is of another site's picture now, and never read again.
    }
    shares.set(picture, share);
    return share;
  };
  /** As `paintOf`, for the generated boxes of an element. */
  const pseudoPaint = (e) => {
    let most = 0, doubt = "";
    if (!generated.may(e)) return [0, ""];
    for (const which of ["::before", "::after"]) {
      const style = getComputedStyle(e, which);
      if (style.content === "none" || style.content === "normal" || style.visibility !== "visible") continue;
      const [own, why] = layered(style);
      most = Math.max(most, own * style.opacity);
      doubt ||= why;
    }
    return [most * context(e).opacity, doubt];
  };

  /** As `paintOf`, with what a generated box of the element paints at a point, which may lie outside of its own. */
  const paintAt = (h, x, y) => {
    const own = paintOf(h);
    const over = generated.lying().some((g) => g.e === h && g.lies && lies(g, x, y)) ? pseudoPaint(h) : [0, ""];
    return over[0] > own[0] ? over : own;
  };

  /** The roots from an element's own outwards, each with the element that stands for it there. */
  const rootsOf = (e) => {
    const chain = [];
    for (let root = $.root(e), stands = e; ; ) {
      chain.push([root, stands]);
      if (!(root instanceof ShadowRoot)) return chain;
      stands = root.host;
      root = $.root(stands);
    }
  };
  /** What lies above an element at a point: {cover: 0 to 1, there: is the element there at all, who, doubt}. */
  const above = (e, roots, x, y) => {
    let clear = 1, who = null, there = true, doubt = "";
    const counted = new Set();
    for (const [root, stands] of roots) {
      let found = false;
      for (const h of root === document ? layersAt(x, y) : root.elementsFromPoint(x, y)) {
        if (h === stands || inside(h, stands)) {
          found = true;
          break;
        }
        if (counted.has(h) || inside(h, e)) continue;
        counted.add(h);
        const [cover, why] = inside(stands, h) ? pseudoPaint(h) : paintAt(h, x, y);
        if (cover > 0.02 || why) who ??= h;
        doubt ||= why;
        clear *= 1 - cover;
      }
      if (!found && stands === e) there = false;
    }
    return { cover: 1 - clear, there, who, doubt };
  };

  // --- what paints takes the pointer --------------------------------------------------------------------------------------
  const TAKES = [{ pointerEvents: "auto" }, { pointerEvents: "auto" }];
  const INSISTS =
    "@layer{*,*::before,*::after{pointer-events:auto!important}}" +
    ":is(*,#\\9#\\9#\\9),:is(*,#\\9#\\9#\\9)::before,:is(*,#\\9#\\9#\\9)::after{pointer-events:auto!important}";
  let insisting = null;
  /**
   * Run with these elements, and what paints over them, taking the pointer. Nothing of it is left, nor seen by the page's
   * scripts. An animation of a few costs a twentieth of a style sheet for all, which only a page that insists needs.
   */
  const forcing = (works, then) => {
    const targets = new Map();
    for (const w of works) {
      if (w.deaf) targets.set(w.e, [w.e]);
      for (const v of w.veils) if (!v.stays) targets.set(v, [v.e, v.which]);
    }
    const held = [...targets.values()].map(([e, which]) => e.animate(TAKES, { duration: 1e9, fill: "both", pseudoElement: which }));
    const stubborn = [...targets.values()].filter(([e, which]) => getComputedStyle(e, which).pointerEvents === "none");
    const roots = new Set(stubborn.map(([e]) => $.root(e)));
    if (roots.size && !insisting) (insisting = new CSSStyleSheet()).replaceSync(INSISTS);
    for (const root of roots) root.adoptedStyleSheets = [...root.adoptedStyleSheets, insisting];
    forced = true;
    try {
      then();
    } finally {
      forced = false;
      for (const animation of held) animation.cancel();
      for (const root of roots) root.adoptedStyleSheets = root.adoptedStyleSheets.filter((s) => s !== insisting);
    }
  };
  /** Whether a click at `h` would first meet another control inside `e`. */
  const nestedControl = (h, e, acting) => {
    for (let k = h; k && k !== e; k = flatParent(k)) if (acting.has(k)) return true;
    return false;
  };
  // --- where the first pass does not tell all -----------------------------------------------------------------------------
  let veils = []; // {e, which, box, stays} of what paints and lets the pointer through; `box` null: it may lie anywhere
  const findVeils = () => {
    veils = [];
    modal = cuadata.modalsNow()[0] ?? null;
    for (const e of cuadata.deafNow()) {
      for (const k of e.inert ? [e, ...$.all(e, "*")].slice(0, 200) : [e]) {
        const r = $.box(k);
        if (!r.width || !r.height || r.right < 0 || r.bottom < 0 || r.left > innerWidth || r.top > innerHeight) continue;
        const [cover, doubt] = paintOf(k);
        // Nothing makes an inert box take the pointer, nor one whose own style insists.
        const stays = e.inert || k.style?.getPropertyPriority("pointer-events") === "important";
        if (cover > 0.02 || doubt) veils.push({ e: k, box: [r.left, r.top, r.right, r.bottom], stays });
      }
    }
    for (const { e, which, style, box } of generated.lying()) {
      const [cover, doubt] = layered(style);
      if (style.pointerEvents === "none" && (cover || doubt)) veils.push({ e, which, box, stays: false });
    }
  };
  /** The veils that may lie over an element: its own parts and the boxes around it do not, what is generated there may. */
  const veilsOver = ({ e, rects }) =>
    veils.filter((v) => rects.some((r) => v.box === null || meets(v.box, r)) && !inside(v.e, e) && (v.which || !inside(e, v.e)));
  const meets = (box, r) => box[0] <= r.right && box[2] >= r.left && box[1] <= r.bottom && box[3] >= r.top;
  const lies = (v, x, y) => v.box === null || (x >= v.box[0] && x < v.box[2] && y >= v.box[1] && y < v.box[3]);

  // --- the two passes ---------------------------------------------------------------------------------------------------
  /**
   * Points become [x, y, share, hit, seen, nested, settled, cells, key, what is hit, under a veil]. Points of one key have one
   * answer. `work.open`: what lies above must be looked at by force. `nests`: keys are the boxes that lie there, as bits: what
   * is hit and seen through all of these is so through some of them.
   */
  const hitPass = (work, acting, nests = false) => {
    work.hit = 0;
    work.open = work.deaf;
    work.veils ??= veilsOver(work);
    work.tested ??= new Map();
    for (const p of work.points) {
      if (!work.cut) p[8] = alike.keyAt(work, acting, p[0], p[1], p[8]);
      const [x, y, share, , , , , , key] = p;
      if (nests && work.points.some((q) => q[6] && (q[8] & key) === key)) {
        p[3] = p[4] = p[6] = true;
        p[5] = false;
        work.hit += share;
        continue;
      }
      const under = (p[10] = work.veils.some((v) => lies(v, x, y)));
      work.open ||= under;
      const h = (p[9] = hitAt(work, x, y, key));
      p[3] = h !== null && inside(h, work.e);
      p[5] = p[3] && nestedControl(h, work.e, acting);
      p[4] = p[6] = p[3] && !under;
      if (p[3]) work.hit += share;
      else if (h) work.stopper ??= h;
    }
  };
  /** What is hit at a point of an element, asked once for each key, and once for each place: what holds one thing has its middle. */
  const hitAt = (work, x, y, key) => {
    if (!key || work.cut) return hitOnce(x, y);
    let h = work.tested.get(key);
    if (h === undefined) work.tested.set(key, (h = hitOnce(x, y)));
    return h;
  };
  let hits = new Map(); // x -> y -> what is hit there in this round
  const hitOnce = (x, y) => once(hits, x, y, deepest);
  let forced = false; // whether elements take the pointer by force now
  let layers = new Map(); // x -> y -> what lies there in this round, from the top
  /** The elements of this document at a point, the uppermost first. */
  const layersAt = (x, y) => (forced ? document.elementsFromPoint(x, y) : once(layers, x, y, allAt));
  const allAt = (x, y) => document.elementsFromPoint(x, y);
  const once = (held, x, y, ask) => {
    let column = held.get(x);
    if (!column) held.set(x, (column = new Map()));
    let found = column.get(y);
    if (found === undefined) column.set(y, (found = ask(x, y)));
    return found;
  };
  const FREE = { cover: 0, there: true, who: null, doubt: "" };
  /** What lies above an element at a point, when every box takes the pointer; FREE where nothing does. */
  const lookAbove = (work, p) => {
    const [x, y] = p;
    // What takes the click before it does so too when every box takes the pointer.
    const h = p[3] || work.deaf ? deepest(x, y) : null;
    if (h !== null && inside(h, work.e)) return FREE;
    return hiddenBy(work, p) ?? above(work.e, work.roots, x, y);
  };
  /** As `above`, from what is hit alone: it hides all that lies under it, and where the element lies is known. */
  const hiddenBy = (work, p) => {
    const h = p[9];
    // Behind a modal dialog nothing is there for a hit test.
    if (p[3] || p[10] || work.deaf || !h || modal || work.roots.length > 1 || $.root(h) !== document || inside(work.e, h)) return null;
    const there = work.cut ? !(p[8] & 1) : alike.isThere(work, p[8]);
    if (there === undefined || boxes.styleOf(h).display === "contents" || paintAt(h, p[0], p[1])[0] < 0.98) return null;
    return { cover: 1, there, who: h, doubt: "" };
  };
  const paintPass = (work) => {
    const cutOut = places.isCut(work.style);
    let seen = 0, covered = 0, clipped = 0, doubted = 0;
    const who = new Map(), told = new Map();
    for (const p of work.points) {
      if (p[6]) {
        seen += p[2];
        continue;
      }
      // Where an element with a shape cut out of it is not hit, and a box around it is, it is not there.
      if (cutOut && !p[3] && !work.open && p[9] && inside(work.e, p[9])) {
        p[4] = false;
        clipped += p[2];
        continue;
      }
      const at = told.get(p[8] || p) ?? lookAbove(work, p);
      told.set(p[8] || p, at);
      p[4] = at === FREE || (at.there && at.cover < 0.5);
      if (p[4]) seen += p[2];
      // Of what an image shows, hit tests do not list an area that lies under another.
      else if (!at.there && (work.tag !== "area" || at.cover < 0.5)) clipped += p[2];
      else covered += p[2];
      if (at.who && !p[4]) who.set(at.who, (who.get(at.who) ?? 0) + p[2]);
      const doubt = p[4] && (at.doubt || inertVeil(p[0], p[1], work));
      if (doubt) (doubted += p[2]), (work.doubt = doubt);
    }
    Object.assign(work, { seen, covered, clipped });
    // A doubt counts where the verdict hangs on it: seen enough with the doubted part, and perhaps not without.
    if (doubted < 0.02 || seen - doubted > 0.5 || seen < 0.3) work.doubt = "";
    work.coverer = [...who].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
  };
  /** No hit test finds such a box, so whether it lies above is not known. */
  const inertVeil = (x, y, work) => (work.veils.some((v) => v.stays && lies(v, x, y)) ? "inert" : "");

  return {
    deepest, inside, above, layersAt, rootsOf, forcing, nestedControl, hitAt, hitPass, paintPass, imagePaint, canvasPaint, shapePaints,
    findVeils, veilsOver,
    newRound: () => {
      painted = new Map();
      shares = new Map();
      hits = new Map();
      layers = new Map();
    },
  };
})();
