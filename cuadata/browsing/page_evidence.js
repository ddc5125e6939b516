// One observation of this document: a row for every element worth telling, with the evidence that gates judge it by.
globalThis.cuadata.measure ??= (() => {
  const { $, serial, flatParent, within, shadowOf, selector, locator, textOf, attributesOf, boxes, scene, alike, paint, contrast } = cuadata;
  const { context, areaOf, rectsOf, grid, slants } = boxes;
  const { deepest, inside, rootsOf, forcing, nestedControl, hitAt, hitPass, paintPass } = paint;

  let acting = new Set();
  const prepare = (found) => {
    const { e, tag, style } = found;
    if (found.away) return { ...found, rects: [$.box(e)], rendered: $.shown(e, { visibilityProperty: true }), inView: 0 };
    const [rects, borrowed] = rectsOf(e, tag, style);
    const work = { ...found, rects, borrowed, points: [], seen: 0, hit: 0, covered: 0, clipped: 0, doubt: "" };
    work.total = rects.reduce((sum, r) => sum + areaOf(r), 0);
    work.rendered = borrowed && style.display === "contents" ? showsWithoutBox(e, style) : shows(tag === "area" ? boxes.imageOf(e) : e);
    work.inView = work.total && rects.reduce((sum, r) => sum + visibleArea(r), 0) / work.total;
    return work;
  };
  const shows = (e) => e !== null && $.shown(e, { visibilityProperty: true, contentVisibilityAuto: true });
  /** Whether something that an element without a box holds is rendered: an element, or its own text. */
  const showsWithoutBox = (e, style) => {
    for (const k of $.all(e, "*")) if (shows(k)) return true;
    let up = flatParent(e);
    while (up && boxes.styleOf(up).display === "contents") up = flatParent(up);
    const says = [...$.children(e)].some((node) => node.nodeType === 3 && /\S/.test(node.data));
    return says && style.visibility === "visible" && shows(up);
  };
  const visibleArea = (r) => {
    const width = Math.min(r.right, innerWidth) - Math.max(r.left, 0);
    const height = Math.min(r.bottom, innerHeight) - Math.max(r.top, 0);
    return width > 0 && height > 0 ? width * height : 0;
  };

  /** The point that a click should aim at: hit, seen, on no other control, nearest to the middle. */
  const choose = (work) => {
    const points = work.exact ? work.points.flatMap(everyCell) : work.points;
    const big = work.rects.reduce((a, r) => (areaOf(r) > areaOf(a) ? r : a));
    const x = big.left + big.width / 2, y = big.top + big.height / 2;
    const missed = points.filter((p) => !p[3]);
    let best = null, least = Infinity;
    for (const p of points) {
      if (!p[3]) continue;
      const far = Math.hypot(p[0] - x, p[1] - y) + 4 * tight(p, missed) + (p[4] ? 0 : 1e4) + (p[5] ? 1e5 : 0);
      if (far < least) (least = far), (best = p);
    }
    if (!best) return;
    work.point = [best[0], best[1]];
    if (best[0] === x && best[1] === y) return;
    if (work.exact) {
      const there = partAt(work, x, y);
      if (there?.[3] && there[4] >= best[4] && there[5] <= best[5]) work.point = [x, y];
      return;
    }
    if (work.points.some((p) => p[3] && !p[4])) return;
    const middle = hitAt(work, x, y, alike.middleKey(work, acting, x, y, work.rects.indexOf(big)));
    if (middle && inside(middle, work.e) && (best[5] || !nestedControl(middle, work.e, acting))) work.point = [x, y];
  };
  /** The point of a part, as one in the middle of each of its cells. */
  const everyCell = (p) => p[7].map((c) => [(c[0] + c[2]) / 2, (c[1] + c[3]) / 2, p[2], p[3], p[4], p[5]]);
  /** The point that stands for the part of an element in which a place lies. */
  const partAt = (work, x, y) => work.points.find((p) => p[7].some((c) => x >= c[0] && x <= c[2] && y >= c[1] && y <= c[3]));
  /** By how many px a point is nearer to one that is missed than anybody should aim: 0 from 6 px on. */
  const tight = ([x, y], missed) => missed.reduce((most, p) => Math.max(most, 6 - Math.hypot(p[0] - x, p[1] - y)), 0);
  /** Whether some points are reached or seen and others are not, or what stops them all may not lie over the whole. */
  const mixed = (work, which) => {
    const n = work.points.length;
    let yes = 0;
    for (const p of work.points) yes += p[which];
    if (yes > 0 && yes < n) return true;
    if (yes > 0 || which !== 3 || n < 3 || !work.stopper) return false;
    const r = $.box(work.stopper), box = work.rects[0];
    return r.left > box.left || r.top > box.top || r.right < box.right || r.bottom < box.bottom;
  };

  /**
   * How many points an element gets at first: fewer where very many are in view on a large page, since a hit test costs by
   * the page's size. Where they do not agree, it gets a closer look, and where about a third is seen, a third one.
   */
  const CLOSE = 34, CLOSEST = 144;
  const paintAll = (list) => {
    const open = list.filter((w) => w.open);
    for (const w of list) if (!w.open) paintPass(w);
    if (open.length) forcing(open, () => open.forEach(paintPass));
  };
  const hitByGrid = (work, points) => {
    work.points = grid(work, points);
    work.cut = false;
    hitPass(work, acting);
  };
  /** Tests each part into which other boxes cut an element; false where boxes do not tell what is hit. */
  const hitByCells = (work) => {
    const found = scene.cut(work, acting);
    if (!found) return false;
    work.points = found.parts.map(({ x, y, share, key, cells }) => [x, y, share, , , , , cells, key]);
    work.cut = true;
    hitPass(work, acting, found.plain);
    work.alone = found.alone;
    // Nothing lies across it and yet it is not hit: boxes do not tell all here.
    work.exact = !found.alone || work.deaf || work.points.every((p) => p[3]);
    return work.exact;
  };
  const measureAll = (works) => {
    const live = works.filter((w) => w.rendered && w.inView > 0);
    const budget = Math.max(500, Math.min(8000, 6e6 / Math.max(cuadata.totalNow(), 1)));
    const wanted = Math.max(2, Math.min(5, Math.floor(budget / Math.max(live.length, 1))));
    paint.findVeils();
    let left = budget;
    const closer = (w, points = CLOSE) => {
      if ((left -= points) >= 0) hitByGrid(w, points);
    };
    for (const w of live) {
      w.roots = rootsOf(w.e);
      w.deaf = w.style.pointerEvents === "none";
      hitByCells(w) || hitByGrid(w, wanted);
      if (!w.exact && mixed(w, 3)) closer(w);
    }
    paintAll(live);
    const rough = live.filter((w) => !w.exact);
    const again = rough.filter((w) => w.points.length <= wanted && mixed(w, 4));
    again.forEach((w) => closer(w));
    paintAll(again);
    const near = rough.filter((w) => w.points.length > wanted && Math.abs(w.seen - 1 / 3) < 0.15);
    near.forEach((w) => closer(w, CLOSEST));
    paintAll(near);
    for (const w of live) {
      choose(w);
      w.contrast = contrast(w);
    }
    return live.length * wanted;
  };

  // --- rows -------------------------------------------------------------------------------------------------------------
  const round = (n) => Math.round(n * 100) / 100;
  const boxOf = (r) => [round(r.left), round(r.top), round(r.width), round(r.height)];
  /** The dialogs to which the rest of the document is inert: of several the one in front, which alone is met anywhere. */
  const modals = () => {
    const open = cuadata.modalsNow().filter((m) => $.name(m) === "dialog");
    if (open.length < 2) return open;
    const middles = open.map((m) => $.box(m)).map((r) => [r.left + r.width / 2, r.top + r.height / 2]);
    const met = [[1, 1], ...middles].map(([x, y]) => deepest(x, y)).filter((h) => h && open.some((m) => within(h, m)));
    const around = open.filter((m) => met.every((h) => within(h, m)));
    return met.length && around.length ? [around.reduce((a, b) => (within(b, a) ? b : a))] : open;
  };
  /** What a person entered into a field or ticked, as [value, checked]; null where the browser's own tree alone can tell. */
  const enteredIn = (e, tag) => {
    if (tag === "input" && /^(checkbox|radio)$/.test(e.type)) return [null, e.indeterminate ? "mixed" : `${e.checked}`];
    if (tag === "input" && e.type === "range") return [e.value, null];
    if ($.attribute(e, "role") === "slider") {
      const now = Number.parseFloat($.attribute(e, "aria-valuenow"));
      return Number.isFinite(now) ? [`${now}`, null] : null;
    }
    if (tag === "textarea" || (tag === "input" && /^(text|search|email|tel|url|number)$/.test(e.type))) return [e.value.slice(0, 2000), null];
    return null;
  };
  const row = (work, open) => {
    const { e, tag } = work;
    const seen = work.inView > 0;
    const up = seen ? context(tag === "area" ? (boxes.imageOf(e) ?? e) : e) : null;
    const around = aroundOf(flatParent(e));
    const control = tag === "label" ? e.control : null;
    const stopper = work.coverer ?? (work.hit === 0 ? work.stopper : null);
    return {
      id: serial(e), tag, acts: work.acts, text: textOf(e, tag, work.style), attributes: attributesOf(e), locator: locator(e),
      entered: enteredIn(e, tag),
      box: boxOf(tag === "area" && work.rects.length ? work.rects[0] : work.borrowed ? unionOf(work.rects) : boxes.bounds(e)),
      boxed: work.rects.length > 0 || boxes.lying(e).length > 0,
      rects: work.rects.slice(0, 32).map(boxOf), point: work.point?.map(round) ?? null,
      seen: round(work.seen ?? 0), hit: round(work.hit ?? 0), inView: round(work.inView),
      clipped: round(work.clipped ?? 0), covered: round(work.covered ?? 0),
      opacity: up ? round(up.opacity) : 1, rendered: work.rendered,
      inert: up ? up.inert || work.style?.interactivity === "inert" || (open.length > 0 && !open.some((m) => within(e, m))) : false, disabled: $.matches(e, ":disabled"),
      receives: work.style?.pointerEvents !== "none", contrast: work.contrast ?? null,
      coveredBy: stopper ? selector(stopper) : null, unsure: up?.unsure || work.doubt || null,
      control: control ? serial(control) : null, dialog: around.dialog, scroller: around.scroller,
      frame: seen && /^(iframe|frame|object|embed)$/.test(tag) ? frameBox(e, up, work) : null,
    };
  };
  let surroundings = new Map();
  let known = new Map();
  const NOTHING = { dialog: 0, scroller: 0 };
  /** Numbers of the nearest dialog and scroller from an element outwards; all of them are told themselves. */
  const aroundOf = (e) => {
    if (!e) return NOTHING;
    let held = surroundings.get(e);
    if (held) return held;
    held = aroundOf(flatParent(e));
    const own = known.get(e);
    if (own?.dialog || own?.scroller)
      held = { dialog: own.dialog ? serial(e) : held.dialog, scroller: own.scroller ? serial(e) : held.scroller };
    surroundings.set(e, held);
    return held;
  };
  const unionOf = (rects) => {
    const left = Math.min(...rects.map((r) => r.left)), top = Math.min(...rects.map((r) => r.top));
    return new DOMRect(left, top, Math.max(...rects.map((r) => r.right)) - left, Math.max(...rects.map((r) => r.bottom)) - top);
  };
  /** Where a frame's own viewport lies, as the images of its corners, and whether anything may lie over it. */
  const frameBox = (e, up, work) => {
    const r = $.box(e);
    const style = work.style;
    const px = (name) => Number.parseFloat(style[name]) || 0;
    const zoom = e.currentCSSZoom ?? 1;
    const [a, b, c, d] = up.matrix ?? [1, 0, 0, 1];
    // Padding comes in px of the page, client sizes in px before zoom; both are carried through zoom and transforms.
    const left = (e.clientLeft + px("paddingLeft")) * zoom, top = (e.clientTop + px("paddingTop")) * zoom;
    const width = (e.clientWidth - px("paddingLeft") - px("paddingRight")) * zoom;
    const height = (e.clientHeight - px("paddingTop") - px("paddingBottom")) * zoom;
    const half = [(e.offsetWidth * zoom) / 2, (e.offsetHeight * zoom) / 2];
    const middle = [r.left + r.width / 2, r.top + r.height / 2];
    const at = (x, y) => [middle[0] + a * (x - half[0]) + c * (y - half[1]), middle[1] + b * (x - half[0]) + d * (y - half[1])];
    return {
      origin: at(left, top), across: [a, b], down: [c, d], width, height,
      clear: work.hit > 0.999 && work.seen > 0.999 && !work.doubt && work.inView > 0.999 && !scene.crossed(e) && !slants(up.matrix),
    };
  };
  /** For points over a frame: whether a click there reaches it, and whether what lies above lets it be seen. */
  const through = (number, points) => {
    const e = cuadata.element(number);
    if (!e) return JSON.stringify(points.map(() => [0, 0, ""]));
    const roots = rootsOf(e);
    const told = points.map(([x, y]) => {
      const h = deepest(x, y);
      return [+(h !== null && inside(h, e)), 0, ""];
    });
    forcing([{ e, deaf: getComputedStyle(e).pointerEvents === "none", veils: paint.veilsOver({ e, rects: [$.box(e)] }) }], () =>
      points.forEach(([x, y], i) => {
        const h = deepest(x, y);
        const at = h !== null && inside(h, e) ? null : paint.above(e, roots, x, y);
        told[i][1] = +(at === null || (at.there && at.cover < 0.5));
        told[i][2] = at?.doubt ?? "";
        told[i][3] = at && !at.there ? 1 : 0;
      }),
    );
    return JSON.stringify(told);
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
  const focusedNow = () => {
    let e = document.activeElement;
    while (e && shadowOf(e)?.activeElement) e = shadowOf(e).activeElement;
    return e && e !== document.body && cuadata.serials.has(e) ? serial(e) : null;
  };

  let generation = 0;
  let sent = new Map(); // number -> the row that was told last, as text
  /** The rows as JSON, each as its number alone where it is as it was told in the round that the asker holds. */
  const tell = (rows, options) => {
    const same = !options.only && options.base === generation;
    const next = new Map();
    const texts = rows.map((r) => {
      const text = JSON.stringify(r);
      next.set(r.id, text);
      return same && sent.get(r.id) === text ? r.id : text;
    });
    if (!options.only) (generation++, (sent = next));
    return texts.join();
  };
  /** A number that differs where other elements are told, or others of them are rendered. */
  const shapeOf = (works) => {
    let sum = works.length;
    for (const w of works) sum = (sum * 31 + serial(w.e) * 2 + w.rendered) | 0;
    return sum;
  };
  let lastWorks = [];
  /** Points of every element that the last observation tried, by number: {number: [[x, y, share, hit, seen, nested]]}. */
  const grids = () => {
    const tried = lastWorks.filter((w) => w.points?.length);
    return JSON.stringify(
      Object.fromEntries(tried.map((w) => [serial(w.e), spreadOf(w).map((p) => [round(p[0]), round(p[1]), p[2], +p[3], +p[4], +p[5]])])),
    );
  };
  /** The points of an element; of one that was cut into cells a grid that is finer than those, each point as its cell is. */
  const spreadOf = (work) => {
    if (!work.exact) return work.points;
    return grid(work, work.points.length > work.rects.length ? CLOSE : 5).flatMap((q) => {
      const p = partAt(work, q[0], q[1]);
      return p ? [[q[0], q[1], q[2], p[3], p[4], p[5]]] : [];
    });
  };

  Object.assign(cuadata, { through, grids });
  /**
   * One observation of this document, as JSON text. `only`: the elements of these numbers. `hold`: stop animations and the
   * caret first; `cuadata.release()` lets them go on. `base`: the generation that the asker holds the rows of.
   */
  const observe = (options) => {
    const began = performance.now();
    let held = options.hold ? cuadata.hold() : 0;
    cuadata.newRound();
    paint.newRound();
    const found = cuadata.candidates(options.only);
    surroundings = new Map();
    if (!options.only) known = new Map(found.map((f) => [f.e, f]));
    boxes.newRound(new Map(cuadata.visitedNow()));
    scene.newRound(cuadata.visitedNow());
    if (!options.only) {
      acting = new Set(found.filter((f) => f.acts && f.tag !== "label").map((f) => f.e));
      cuadata.knowRoots(cuadata.rootsNow());
      if (options.hold) held = cuadata.holdMore();
    }
    const works = (lastWorks = found.map(prepare));
    measureAll(works);
    const open = modals();
    const rows = works.map((w) => row(w, open));
    if (!options.only) link(rows, works);
    const elements = tell(rows, options);
    const told = JSON.stringify({
      url: location.href, title: document.title, scroll: [scrollX, scrollY], width: innerWidth, height: innerHeight,
      focused: focusedNow(), generation, fresh: cuadata.freshSerials(), picked: cuadata.picked(), held, unfinished: cuadata.unfinished(), pulse: cuadata.pulse(), shape: shapeOf(works),
      font: document.fonts.status === "loading", took: performance.now() - began, scale: visualViewport?.scale ?? 1,
      total: cuadata.totalNow(), untold: cuadata.untoldNow(), custom: works.some((w) => w.acts && w.tag.includes("-")),
    });
    return `${told.slice(0, -1)},"elements":[${elements}]}`;
  };
  return (options = {}) => cuadata.still(() => observe(options));
})();
