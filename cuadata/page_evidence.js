// What a person sees of an element and what a click reaches: boxes, styles up the tree, and a grid of points that is hit
// twice, once as the pointer would and once with every box made to take the pointer, which shows what lies above.
globalThis.cuadata.measure ??= (() => {
  const { $, serial, flatParent, within, shadowOf, selector, locator, textOf, attributesOf } = cuadata;

  // --- colours --------------------------------------------------------------------------------------------------------
  const colours = new Map();
  /** [red, green, blue, alpha], channels 0-255 and alpha 0-1, of a computed colour; other colour spaces count as opaque. */
  const colour = (text) => {
    let held = colours.get(text);
    if (held) return held;
    const numbers = text.match(/-?[\d.]+(?:e-?\d+)?/g)?.map(Number) ?? [];
    if (text.startsWith("rgb")) held = [numbers[0], numbers[1], numbers[2], numbers[3] ?? 1];
    else if (text.startsWith("color(srgb ")) held = [...numbers.slice(0, 3).map((v) => v * 255), numbers[3] ?? 1];
    else held = [NaN, NaN, NaN, text.includes("/") ? numbers[numbers.length - 1] : 1];
    if (colours.size > 5000) colours.clear();
    colours.set(text, held);
    return held;
  };
  const alpha = (text) => colour(text)[3];

  // --- what an element inherits from the boxes around it ----------------------------------------------------------------
  let contexts = new Map();
  const ROOT = { opacity: 1, unsure: "", inert: false, matrix: null, dialog: 0, scroller: 0, disabled: false };
  /** Opacity, doubts, inertness, rotation and enclosing dialog and scroller of an element, its own style included. */
  const context = (e) => {
    if (!e) return ROOT;
    let held = contexts.get(e);
    if (held) return held;
    const up = context(flatParent(e));
    const style = getComputedStyle(e);
    held = { ...up, opacity: up.opacity * opacityOf(style), inert: up.inert || e.inert === true };
    held.unsure = up.unsure || doubt(style);
    held.matrix = turned(up.matrix, style);
    held.zoomed = style;
    if (cuadata.isDialog(e, $.name(e), style) && e !== document.body) held.dialog = serial(e);
    if (cuadata.isScroller(e, style) && e !== document.documentElement && e !== document.body) held.scroller = serial(e);
    contexts.set(e, held);
    return held;
  };
  const opacityOf = (style) => {
    let value = +style.opacity;
    if (style.filter !== "none") {
      const found = /opacity\(([\d.]+)(%?)\)/.exec(style.filter);
      if (found) value *= found[2] ? found[1] / 100 : +found[1];
    }
    return value;
  };
  /** Why script cannot tell what a person sees of an element in this style; empty where it can. */
  const doubt = (style) => {
    if (style.maskImage && style.maskImage !== "none") return "mask";
    if (style.maskBorderSource && style.maskBorderSource !== "none") return "mask";
    if (style.mixBlendMode !== "normal") return "blend";
    if (style.filter !== "none" && /blur|brightness|contrast|url/.test(style.filter)) return "filter";
    return "";
  };
  /** The linear part of all transforms so far, [a, b, c, d], or null where nothing is rotated or skewed. */
  const turned = (outer, style) => {
    if (style.transform === "none" && style.rotate === "none" && style.offsetPath === "none") return outer;
    let own = style.transform === "none" ? new DOMMatrix() : new DOMMatrix(style.transform);
    const angle = /^(-?[\d.]+)deg$/.exec(style.rotate);
    if (angle) own = new DOMMatrix().rotate(+angle[1]).multiply(own);
    const [a, b, c, d] = outer ?? [1, 0, 0, 1];
    const linear = [
      a * own.a + c * own.b, b * own.a + d * own.b,
      a * own.c + c * own.d, b * own.c + d * own.d,
    ];
    return linear;
  };

  // --- boxes ------------------------------------------------------------------------------------------------------------
  /** Rects of an element; those of what it holds where it has no box of its own: [rects, borrowed]. */
  const rectsOf = (e) => {
    const own = [];
    for (const r of $.rects(e)) if (r.width >= 0.5 && r.height >= 0.5) own.push(r);
    if (own.length) return [own, false];
    const held = [];
    for (const k of $.all(e, "*")) {
      if (held.length > 64) break;
      for (const r of $.rects(k)) if (r.width >= 2 && r.height >= 2) held.push(r);
    }
    if (!held.length && getComputedStyle(e).display === "contents") {
      const range = document.createRange();
      range.selectNodeContents(e);
      held.push(...range.getClientRects());
    }
    return [held, held.length > 0];
  };
  const areaOf = (r) => r.width * r.height;

  // --- the grid ---------------------------------------------------------------------------------------------------------
  /** Points over the visible part of the rects, each with its share of the whole area: [[x, y, weight]]. */
  const grid = (work, wanted) => {
    const { e, rects, total } = work;
    const points = [];
    const matrix = context(e).matrix;
    if (matrix && rects.length === 1 && e.offsetWidth && (Math.abs(matrix[1]) > 1e-3 || Math.abs(matrix[2]) > 1e-3))
      return slanted(work, matrix, wanted);
    const each = Math.max(1, Math.min(wanted, Math.ceil((wanted * 2) / rects.length)));
    for (const r of rects) {
      const left = Math.max(r.left, 0), right = Math.min(r.right, innerWidth);
      const top = Math.max(r.top, 0), bottom = Math.min(r.bottom, innerHeight);
      const width = right - left, height = bottom - top;
      if (width <= 0 || height <= 0) continue;
      const [across, down] = cells(width, height, each);
      const weight = (width * height) / total / across / down;
      for (let j = 0; j < down; j++)
        for (let i = 0; i < across; i++)
          points.push([left + ((i + 0.5) / across) * width, top + ((j + 0.5) / down) * height, weight]);
    }
    return points;
  };
  /** Columns and rows of a grid of about `wanted` nearly square cells, none under 2 px. */
  const cells = (width, height, wanted) => {
    const across = Math.sqrt((wanted * width) / height);
    const fit = (n, most) => Math.max(1, Math.min(Math.round(n), Math.floor(most / 2) || 1, wanted));
    const columns = fit(across, width);
    return [columns, fit(wanted / columns, height)];
  };
  /** A grid over a rotated or skewed box: the middle of its rect is the middle of the box. */
  const slanted = ({ e, rects }, [a, b, c, d], wanted) => {
    const r = rects[0];
    const x = r.left + r.width / 2, y = r.top + r.height / 2;
    const zoom = e.currentCSSZoom ?? 1;
    const width = e.offsetWidth * zoom, height = e.offsetHeight * zoom;
    const [across, down] = cells(width, height, wanted);
    const points = [];
    for (let j = 0; j < down; j++)
      for (let i = 0; i < across; i++) {
        const u = ((i + 0.5) / across - 0.5) * width, v = ((j + 0.5) / down - 0.5) * height;
        const px = x + a * u + c * v, py = y + b * u + d * v;
        if (px >= 0 && py >= 0 && px < innerWidth && py < innerHeight) points.push([px, py, 1 / across / down]);
      }
    return points;
  };

  // --- hitting ----------------------------------------------------------------------------------------------------------
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

  const paintOf = new Map();
  /** How much an element hides of what lies under it, 0 to 1. */
  const paint = (e) => {
    let held = paintOf.get(e);
    if (held !== undefined) return held;
    const style = getComputedStyle(e);
    const opacity = context(e).opacity;
    if (style.visibility !== "visible") held = 0;
    else if (/^(img|video|iframe|embed|object)$/.test($.name(e)) || e instanceof SVGGeometryElement) held = opacity;
    else if ($.name(e) === "canvas") held = opacity * canvasPaint(e);
    else held = opacity * Math.max(alpha(style.backgroundColor), style.backgroundImage === "none" ? 0 : 1);
    paintOf.set(e, held);
    return held;
  };
  /** Share of a canvas that is opaque; 1 where its pixels may not be read. */
  const canvasPaint = (e) => {
    try {
      const pen = e.getContext("2d");
      if (!pen) return 1;
      const data = pen.getImageData(0, 0, e.width, e.height).data;
      let opaque = 0, n = 0;
      for (let i = 3; i < data.length; i += 4 * 37) (n++, (opaque += data[i] > 127));
      return n ? opaque / n : 0;
    } catch {
      return 1;
    }
  };
  const pseudoPaint = (e) => {
    let most = 0;
    for (const which of ["::before", "::after"]) {
      const style = getComputedStyle(e, which);
      if (style.content === "none" || style.content === "normal") continue;
      most = Math.max(most, style.backgroundImage === "none" ? alpha(style.backgroundColor) : 1);
    }
    return most * context(e).opacity;
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
  /** What lies above an element at a point: [opacity of the cover, whether the element is there at all, who covers]. */
  const above = (work, x, y) => {
    let clear = 1, who = null, there = true;
    for (const [root, stands] of work.roots) {
      let found = false;
      for (const h of root.elementsFromPoint(x, y)) {
        if (h === stands || inside(h, stands)) {
          found = true;
          break;
        }
        const ancestor = inside(stands, h);
        const cover = ancestor ? pseudoPaint(h) : paint(h);
        if (cover > 0.02) {
          who ??= h;
          work.doubtAbove ||= veil(h);
        }
        clear *= 1 - cover;
      }
      if (!found && stands === work.e) there = false;
    }
    return [1 - clear, there, who];
  };
  const veil = (e) => {
    const style = getComputedStyle(e);
    if (style.mixBlendMode !== "normal") return "blend";
    if (style.backdropFilter && style.backdropFilter !== "none") return "backdrop";
    if (/gradient/.test(style.backgroundImage) && /transparent|rgba|\/ /.test(style.backgroundImage)) return "veil";
    return context(e).unsure;
  };

  // --- the two passes ---------------------------------------------------------------------------------------------------
  const FORCE = ":is(*,#\\9#\\9#\\9,:root),*::before,*::after{pointer-events:auto!important}";
  let forced = null;
  const forcing = (roots, then) => {
    if (!forced) (forced = new CSSStyleSheet()).replaceSync(FORCE);
    for (const root of roots) root.adoptedStyleSheets = [...root.adoptedStyleSheets, forced];
    try {
      then();
    } finally {
      for (const root of roots) root.adoptedStyleSheets = root.adoptedStyleSheets.filter((s) => s !== forced);
    }
  };
  const hitPass = (work) => {
    let hit = 0;
    for (const p of work.points) {
      const h = deepest(p[0], p[1]);
      p[3] = h !== null && inside(h, work.e);
      if (p[3]) {
        hit += p[2];
        p[5] = nestedControl(h, work);
      } else if (h && !work.stopper) work.stopper = h;
    }
    work.hit = hit;
  };
  /** Whether a click at `h` would first meet another control inside this one. */
  const nestedControl = (h, work) => {
    for (let e = h; e && e !== work.e; e = flatParent(e)) if (acting.has(e)) return true;
    return false;
  };
  let acting = new Set();
  const paintPass = (work) => {
    let seen = 0, covered = 0, clipped = 0;
    const who = new Map();
    for (const p of work.points) {
      const h = deepest(p[0], p[1]);
      p[4] = h !== null && inside(h, work.e);
      let cover = 0, there = true;
      if (!p[4]) {
        let name;
        [cover, there, name] = above(work, p[0], p[1]);
        if (cover >= 0.5 && name) who.set(name, (who.get(name) ?? 0) + p[2]);
        p[4] = there && cover < 0.5;
      }
      if (p[4]) seen += p[2];
      else if (!there) clipped += p[2];
      else covered += p[2];
    }
    Object.assign(work, { seen, covered, clipped });
    work.coverer = [...who].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
  };

  // --- does it paint anything? ------------------------------------------------------------------------------------------
  const boxed = (style) =>
    alpha(style.backgroundColor) > 0.05 || style.backgroundImage !== "none" || style.boxShadow !== "none" ||
    ["Top", "Right", "Bottom", "Left"].some(
      (s) => Number.parseFloat(style[`border${s}Width`]) > 0 && style[`border${s}Style`] !== "none" && alpha(style[`border${s}Color`]) > 0.1,
    );
  const REPLACED = /^(img|video|audio|canvas|iframe|embed|object|input|select|textarea|meter|progress|svg)$/;
  /** Largest channel difference of text and ground, for elements that have no box of their own to be seen by; else null. */
  const contrast = (work) => {
    const { e, style, tag } = work;
    if (REPLACED.test(tag) || e instanceof SVGElement || work.borrowed || boxed(style)) return null;
    if (e.querySelector("img,svg,canvas,video,input,select,textarea,iframe")) return null;
    for (const k of $.all(e, "*")) if (boxed(getComputedStyle(k)) || shadowOf(k)) return null;
    if (shadowOf(e) || hasPseudo(e)) return null;
    if (!/\S/.test($.text(e))) return 0;
    const ground = groundAt(work);
    let most = 0;
    for (const k of [e, ...$.all(e, "*")]) {
      const own = colour(getComputedStyle(k).webkitTextFillColor || getComputedStyle(k).color);
      if (own[3] < 0.1) continue;
      const far = Math.max(...[0, 1, 2].map((i) => Math.abs(own[i] - ground[i]) * own[3]));
      most = Math.max(most, Number.isNaN(far) ? 255 : far);
    }
    return most;
  };
  const hasPseudo = (e) =>
    ["::before", "::after"].some((w) => {
      const content = getComputedStyle(e, w).content;
      return content !== "none" && content !== "normal";
    });
  const groundAt = ({ e, point, rects }) => {
    const [x, y] = point ?? [rects[0].left + rects[0].width / 2, rects[0].top + rects[0].height / 2];
    for (const h of document.elementsFromPoint(x, y)) {
      if (h === e) continue;
      const own = colour(getComputedStyle(h).backgroundColor);
      if (own[3] > 0.5) return own;
    }
    return [255, 255, 255, 1];
  };

  // --- one element after the other --------------------------------------------------------------------------------------
  const prepare = (found) => {
    const { e, tag, style } = found;
    const [rects, borrowed] = rectsOf(e);
    const work = { ...found, rects, borrowed, points: [], roots: null, seen: 0, hit: 0, covered: 0, clipped: 0, visible: 0 };
    work.total = rects.reduce((sum, r) => sum + areaOf(r), 0);
    const shownOn = borrowed ? ($.first(e) ?? e) : e;
    work.rendered = rects.length > 0 && $.shown(shownOn, { visibilityProperty: true, contentVisibilityAuto: true });
    work.disabled = $.matches(e, ":disabled");
    work.inView = !work.total ? 0 : rects.reduce((sum, r) => {
      const width = Math.min(r.right, innerWidth) - Math.max(r.left, 0);
      const height = Math.min(r.bottom, innerHeight) - Math.max(r.top, 0);
      return sum + (width > 0 && height > 0 ? width * height : 0);
    }, 0) / work.total;
    return work;
  };
  const choose = (work) => {
    if (!work.rects.length) return;
    const big = work.rects.reduce((a, r) => (areaOf(r) > areaOf(a) ? r : a));
    const x = big.left + big.width / 2, y = big.top + big.height / 2;
    let best = null, least = Infinity;
    for (const p of work.points) {
      if (!p[3]) continue;
      const far = Math.hypot(p[0] - x, p[1] - y) + (p[4] ? 0 : 1e4) + (p[5] ? 1e5 : 0);
      if (far < least) (least = far), (best = p);
    }
    if (best) {
      const middle = deepest(x, y);
      const free = middle && inside(middle, work.e) && (!nestedControl(middle, work) || best[5]);
      work.point = free && (best[4] ? work.points.every((p) => p[4] || !p[3]) : true) ? [x, y] : [best[0], best[1]];
    }
  };

  const evidence = (works, wanted) => {
    const live = works.filter((w) => w.rendered && w.inView > 0);
    for (const w of live) {
      w.points = grid(w, wanted);
      w.roots = rootsOf(w.e);
      hitPass(w);
    }
    const roots = new Set(live.flatMap((w) => w.roots.map((r) => r[0])));
    if (live.length) forcing(roots, () => live.forEach(paintPass));
    for (const w of live) {
      choose(w);
      w.contrast = contrast(w);
    }
  };

  const round = (n) => Math.round(n * 100) / 100;
  const boxOf = (r) => [round(r.left), round(r.top), round(r.width), round(r.height)];
  const modal = () => {
    const found = [...document.querySelectorAll(":modal")];
    return found[found.length - 1] ?? null;
  };
  const row = (work, top) => {
    const { e, tag } = work;
    const up = context(e);
    const control = tag === "label" ? e.control : null;
    return {
      id: serial(e), tag, acts: work.acts, text: textOf(e, tag), attributes: attributesOf(e), locator: locator(e),
      box: boxOf($.box(e)), rects: work.rects.slice(0, 32).map(boxOf), point: work.point?.map(round) ?? null,
      seen: work.seen, hit: work.hit, inView: work.inView, clipped: work.clipped, covered: work.covered,
      opacity: round(up.opacity), rendered: work.rendered, inert: up.inert || (top !== null && !within(e, top)),
      disabled: work.disabled, receives: work.style.pointerEvents !== "none", contrast: work.contrast ?? null,
      coveredBy: work.coverer ? selector(work.coverer) : work.hit === 0 && work.stopper ? selector(work.stopper) : null,
      unsure: up.unsure || work.doubtAbove || null, control: control ? serial(control) : null,
      dialog: context(flatParent(e)).dialog, scroller: context(flatParent(e)).scroller,
      frame: tag === "iframe" || tag === "frame" ? frameBox(e, up) : null,
    };
  };
  /** Where a frame's own viewport lies: left, top, width, height, and whether it is turned. */
  const frameBox = (e, up) => {
    const r = $.box(e);
    const style = getComputedStyle(e);
    const px = (name) => Number.parseFloat(style[name]) || 0;
    const scaleX = e.offsetWidth ? r.width / e.offsetWidth : 1, scaleY = e.offsetHeight ? r.height / e.offsetHeight : 1;
    const left = e.clientLeft + px("paddingLeft"), top = e.clientTop + px("paddingTop");
    const width = e.clientWidth - px("paddingLeft") - px("paddingRight");
    const height = e.clientHeight - px("paddingTop") - px("paddingBottom");
    const slant = up.matrix ? Math.abs(up.matrix[1]) + Math.abs(up.matrix[2]) > 1e-3 : false;
    return { left: r.left + left * scaleX, top: r.top + top * scaleY, width: width * scaleX, height: height * scaleY, slant };
  };
  const link = (rows, works) => {
    const held = new Map(works.map((w, i) => [w.e, i]));
    works.forEach((w, i) => {
      for (let e = flatParent(w.e); e; e = flatParent(e)) {
        const k = held.get(e);
        if (k !== undefined) {
          rows[i].parent = rows[k].id;
          break;
        }
      }
    });
  };

  /** One observation of this document, as JSON text. */
  return (options = {}) => {
    const began = performance.now();
    contexts = new Map();
    paintOf.clear();
    cuadata.newRound();
    const found = cuadata.candidates(options.only);
    acting = new Set(found.filter((f) => f.acts && f.tag !== "label").map((f) => f.e));
    const works = found.map(prepare);
    evidence(works, options.points ?? 16);
    const top = modal();
    const rows = works.map((w) => row(w, top));
    link(rows, works);
    let focused = document.activeElement;
    while (focused && shadowOf(focused)?.activeElement) focused = shadowOf(focused).activeElement;
    return JSON.stringify({
      url: location.href, title: document.title, scroll: [scrollX, scrollY], width: innerWidth, height: innerHeight,
      ratio: devicePixelRatio, focused: focused && cuadata.serials.get(focused) ? serial(focused) : null,
      elements: rows, took: performance.now() - began, scale: visualViewport?.scale ?? 1,
    });
  };
})();
