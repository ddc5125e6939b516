// Where everything on the screen lies, read once a round: what no other box crosses needs one hit test, and where boxes cross,
// their edges cut an element into cells of which each needs one. A hit test costs up to a hundred times as much as a box.
globalThis.cuadata.scene ??= (() => {
  const { $, flatParent, boxes, places, generated } = cuadata;
  const { ALL, NOWHERE, place, rounded, roundness, sides, common, shrunk } = places;

  let visited = null; // [element, style] of all that may be on the screen, in document order
  let bands = null; // what lies in each band of the viewport; built when first asked for
  let spans = new Map(); // element -> [its number in document order, that of the last element in it]

  // --- everything on the screen -----------------------------------------------------------------------------------------
  const BAND = 48; // px
  const bandsOf = (box, use) => {
    const last = Math.min(Math.floor(box[3] / BAND), bands.length - 1);
    for (let i = Math.max(Math.floor(box[1] / BAND), 0); i <= last; i++) use(bands[i]);
  };
  const onScreen = (box) => box[0] < innerWidth && box[1] < innerHeight && box[2] > 0 && box[3] > 0 && box[0] < box[2] && box[1] < box[3];
  /** Puts one rectangle into the bands. `part`: "box", "text" or "generated"; `open`: where it lies is not known. */
  const put = (e, part, box, open = false) => {
    if (onScreen(box)) bandsOf(box, ((entry) => (band) => band.push(entry))({ e, part, box, open, span: spans.get(e) }));
  };
  const build = () => {
    bands = Array.from({ length: Math.ceil(innerHeight / BAND) }, () => []);
    count();
    const range = document.createRange();
    for (const [e, style] of [[document.body, null], ...visited]) {
      if (!e) continue;
      const box = sides(boxes.bounds(e));
      if (style && style.display !== "contents")
        if (style.display === "inline") for (const r of boxes.lying(e)) put(e, "box", sides(r));
        else put(e, "box", box);
      // Text runs down and aside from where its box begins.
      if (box[1] < innerHeight + BAND) putTexts(e, style, box, range);
    }
    for (const one of generated.lying()) if (one.lies) put(one.e, "generated", one.box ?? ALL, one.box === null);
    // The pale sheet behind a modal dialog is nobody's box.
    for (const e of cuadata.modalsNow()) put(e, "generated", ALL);
  };
  /** Puts the text of an element that lies elsewhere than in its box, or over what it holds. */
  const putTexts = (e, style, box, range) => {
    const shadow = cuadata.shadowOf(e);
    const alone = !shadow && style && !$.first(e);
    if (alone && style.display === "inline") return;
    for (const held of shadow ? [e, shadow] : [e])
      for (let node = $.child(held); node; node = $.sibling(node)) {
        if (node.nodeType !== 3 || !/\S/.test(node.data)) continue;
        range.selectNodeContents(node);
        for (const r of range.getClientRects()) if (!alone || !holdsBox(box, sides(r))) put(e, "text", sides(r));
      }
  };
  /** What an entry shows at most, whether its rectangle is not its shape, and whether it is there at all; looked up when asked for. */
  const look = (entry) => {
    if (entry.shown) return entry;
    const { e, part, box, open } = entry;
    const around = place(e), style = boxes.styleOf(e);
    entry.shown = part === "generated" ? box : common(box, part === "text" ? around.innerSure : around.sure);
    if (part !== "generated" && style.visibility !== "visible") entry.shown = NOWHERE;
    entry.jagged = open || around.odd || (part === "box" && isJagged(e, style));
    return entry;
  };
  const isJagged = (e, style) => (e instanceof SVGElement && !(e instanceof SVGSVGElement)) || (style.borderRadius !== "0px" && roundness(style) > 6);
  /** Numbers the elements in document order, so that one look tells whether one holds another. */
  const count = () => {
    spans = new Map();
    visited.forEach(([e], i) => spans.set(e, [i, i]));
    for (let i = visited.length - 1; i >= 0; i--) {
      const [e] = visited[i];
      const parent = $.parent(e);
      const around = spans.get(parent instanceof ShadowRoot ? parent.host : parent);
      if (around) around[1] = Math.max(around[1], spans.get(e)[1]);
    }
  };

  // --- what crosses an element ------------------------------------------------------------------------------------------
  const crosses = (a, b) => a[0] < b[2] - 0.5 && a[2] > b[0] + 0.5 && a[1] < b[3] - 0.5 && a[3] > b[1] + 0.5;
  /** Entries that cross a rectangle of an element: those neither around it nor in it, and the boxes of controls in it. */
  const crossing = (e, box, acting) => {
    const [first, last] = spans.get(e);
    const foreign = new Set(), controls = new Set();
    bandsOf(box, (band) => {
      for (const k of band) {
        if (!crosses(k.box, box)) continue;
        const [from, to] = k.span ?? [-1, Infinity];
        const held = from >= first && from <= last;
        if (held ? k.e === e || k.part !== "box" || !acting.has(k.e) : k.part === "box" && from < first && to >= first) continue;
        if (crosses(look(k).shown, box)) (held ? controls : foreign).add(k);
      }
    });
    return { foreign, controls };
  };
  /** The regions of what may lie over a rectangle or under it. What an element holds counts where it is a control, or where `all` does. */
  const regionsOver = (e, box, acting, all) => {
    const found = new Set();
    const [first, last] = spans.get(e);
    bandsOf(box, (band) => {
      for (const k of band) {
        if (!crosses(k.box, box) || (k.e === e && k.part === "box")) continue;
        const [from, to] = k.span ?? [-1, Infinity];
        const held = from >= first && to <= last;
        if (k.e instanceof SVGElement && !DRAWN.has($.name(k.e))) continue;
        if ((!held || all || (k.part === "box" && acting.has(k.e))) && crosses(look(k).shown, box)) found.add(k);
      }
    });
    return [...found].map(regionOf).filter((k) => !holdsBox(shrunk(k.inner, 1.5), box));
  };
  /** Of SVG these are drawn; the others only hold and describe them. */
  const DRAWN = cuadata.words("circle ellipse foreignObject image line path polygon polyline rect text textPath tspan use svg");
  /** Where an entry lies: see `page_alike.js`. */
  const regionOf = ({ e, part, box, shown, open }) => {
    const around = place(e);
    if (open || around.turn || (e instanceof SVGElement && !(e instanceof SVGSVGElement))) return { outer: shown, inner: NOWHERE };
    if (part === "generated") return { outer: shown, inner: shown };
    if (part === "text")
      return { outer: shown, inner: common(shown, around.inner), plain: common(shown, around.innerPlain), shapes: around.innerShapes };
    const style = boxes.styleOf(e), round = roundness(style);
    if (style.display === "contents" || $.name(e) === "fieldset" || $.name(e) === "legend") return { outer: shown, inner: NOWHERE };
    return {
      outer: shown, inner: common(around.clip, shrunk(shown, round * 0.3)), plain: common(shown, around.plain),
      shapes: round ? [...around.shapes, rounded(e, style, box)] : around.shapes,
    };
  };
  /** An element is cut into at most this many cells, by so many boxes; what is cut finer is searched by a grid of points. */
  const MOST_CELLS = 400, MOST_BOXES = 14;
  /**
   * The parts of an element in each of which all points are alike, since the same boxes lie there: {parts: [{x, y, share, key,
   * cells}], alone: whether nothing crosses it, plain: whether it holds no control}. `x`, `y`: the middle of its largest cell;
   * `key`: a bit for each box that lies there, and one where a box around the element may clip it; `cells`: [[left, top, right,
   * bottom]]. The most crowded parts come first. Null where boxes do not tell.
   */
  const cut = (work, acting) => {
    const { e, style } = work;
    if (!visited || work.borrowed || (e instanceof SVGElement && !(e instanceof SVGSVGElement)) || work.tag === "area" || $.has(e, "usemap")) return null;
    if (!bands) build();
    if (!spans.get(e) || place(e).odd || style.interactivity === "inert") return null;
    const parts = new Map();
    let alone = true, plain = true, count = 0;
    for (const r of work.rects) {
      const box = common(sides(r), [0, 0, innerWidth, innerHeight]);
      if (box[0] >= box[2] || box[1] >= box[3]) continue;
      const { foreign, controls } = crossing(e, box, acting);
      const regions = regionsOf(foreign, controls).filter((k) => !holdsBox(k, box));
      const { clip, sure } = place(e);
      const clipped = !holdsBox(clip, box);
      if (clipped && !holdsBox(common(clip, box), common(sure, box))) return null;
      if ([...foreign].some((k) => k.jagged) || regions.length > 2 * MOST_BOXES) return null;
      plain &&= !controls.size;
      alone &&= !foreign.size && !clipped;
      if (!alone && isRound(work)) return null;
      count += collect(box, regions, clipped ? clip : ALL, work.total, parts);
      if (count > MOST_CELLS) return null;
    }
    return { parts: [...parts.values()].sort((a, b) => bits(b.key) - bits(a.key)), alone, plain };
  };
  /** The rectangles whose edges cut: where each box is at most, and where it is for certain. */
  const regionsOf = (foreign, controls) => {
    const found = [];
    for (const k of [...foreign, ...controls]) {
      found.push(k.shown);
      if (place(k.e).clip !== place(k.e).sure) found.push(common(k.shown, place(k.e).clip));
    }
    return found;
  };
  const holdsBox = (a, b) => a[0] <= b[0] + 0.5 && a[1] <= b[1] + 0.5 && a[2] >= b[2] - 0.5 && a[3] >= b[3] - 0.5;
  const bits = (key) => {
    let n = 0;
    for (let k = key; k; k &= k - 1) n++;
    return n;
  };
  const has = (k, x, y) => x > k[0] && x < k[2] && y > k[1] && y < k[3];
  /** Cuts a box along the edges of regions and adds its cells to the parts, by the regions that they lie in; how many. */
  const collect = (box, regions, clip, total, parts) => {
    if (!regions.length && clip === ALL) return add(box, 0, total, parts);
    const edges = [...regions, clip];
    const xs = stops(box[0], box[2], edges.flatMap((k) => [k[0], k[2]]));
    const ys = stops(box[1], box[3], edges.flatMap((k) => [k[1], k[3]]));
    for (let j = 1; j < ys.length; j++)
      for (let i = 1; i < xs.length; i++) {
        const cell = [xs[i - 1], ys[j - 1], xs[i], ys[j]];
        const x = (cell[0] + cell[2]) / 2, y = (cell[1] + cell[3]) / 2;
        const key = regions.reduce((sum, k, n) => (has(k, x, y) ? sum | (2 << n) : sum), +!has(clip, x, y));
        add(cell, key, total, parts, box);
      }
    return (xs.length - 1) * (ys.length - 1);
  };
  /** Adds one cell of a box to the part of its key. */
  const add = (cell, key, total, parts, box = cell) => {
    const name = `${box}/${key}`;
    let part = parts.get(name);
    if (!part) parts.set(name, (part = { x: 0, y: 0, key, share: 0, largest: 0, cells: [] }));
    const area = (cell[2] - cell[0]) * (cell[3] - cell[1]);
    part.share += area / total;
    part.cells.push(cell);
    if (area > part.largest) {
      part.x = (cell[0] + cell[2]) / 2;
      part.y = (cell[1] + cell[3]) / 2;
      part.largest = area;
    }
    return 1;
  };
  /** Where a side is cut: its ends and what lies between them, none nearer than a px to another. */
  const stops = (from, to, at) => {
    const found = [from];
    for (const k of at.sort((a, b) => a - b)) if (k - found[found.length - 1] >= 1 && to - k >= 1) found.push(k);
    found.push(to);
    return found;
  };
  /** Whether the corners of an element are so round that a good part of its box is not its own. */
  const isRound = ({ style, rects }) => style.borderRadius !== "0px" && roundness(style) > 0.35 * Math.min(rects[0].width, rects[0].height);
  /** Whether anything at all lies across the box of an element that it does not hold, generated boxes of its parents too. */
  const crossed = (e) => {
    if (!visited) return true;
    if (!bands) build();
    return !spans.get(e) || crossing(e, sides(boxes.bounds(e)), new Set()).foreign.size > 0;
  };

  return {
    cut, crossed, regionsOver,
    /** Whether it is known where an element lies among all others. */
    knows: (e) => {
      if (visited && !bands) build();
      return visited !== null && spans.has(e);
    },
    /** A new round; what a whole walk visited, null where none was made. */
    newRound: (found) => {
      visited = found;
      bands = null;
      places.newRound();
      generated.newRound(found);
    },
  };
})();
