// Where everything on the screen lies, read once a round: what no other box crosses needs one hit test, and where boxes cross,
// their edges cut an element into cells of which each needs one. A hit test costs up to a hundred times as much as a box.
globalThis.cuadata.scene ??= (() => {
  const { $, flatParent, boxes } = cuadata;

  let visited = null; // [element, style] of all that may be on the screen, in document order
  let bands = null; // what lies in each band of the viewport; built when first asked for
  let spans = new Map(); // element -> [its number in document order, that of the last element in it]
  let generated = null; // the generated boxes on the screen
  let places = new Map();

  // --- what the boxes around an element do to it ------------------------------------------------------------------------
  const ALL = [-Infinity, -Infinity, Infinity, Infinity];
  const OUTSIDE = { clip: ALL, sure: ALL, inner: ALL, innerSure: ALL, odd: false };
  /**
   * {clip: where an element can be seen at most, were it clipped by every box around it; sure: where by those that clip it for
   * certain; inner, innerSure: the same for what it holds; odd: whether boxes do not tell where it is hit}.
   */
  const place = (e) => {
    if (!e) return OUTSIDE;
    let held = places.get(e);
    if (held) return held;
    const up = place(flatParent(e));
    const style = boxes.styleOf(e);
    held = { clip: up.inner, sure: clipOf(e, style, up), odd: up.odd || e.inert === true || bends(style) };
    const left = isCut(style) ? leftOver(e, style) : ALL;
    held.odd ||= left === null;
    held.clip = common(held.clip, left ?? ALL);
    held.sure = common(held.sure, left ?? ALL);
    held.inner = held.clip;
    held.innerSure = held.sure;
    if (style.overflowX !== "visible" || style.overflowY !== "visible" || /paint|strict|content/.test(style.contain)) {
      const inner = paddingBox(e), inset = roundness(style) * 0.3;
      held.inner = common(held.clip, [inner[0] + inset, inner[1] + inset, inner[2] - inset, inner[3] - inset]);
      // A box that may hand its clipping on to the viewport, or that is no block, clips nothing for certain.
      if (e !== document.body && e !== document.documentElement && /^(block|flex|grid|flow-root)$/.test(style.display))
        held.innerSure = common(held.sure, inner);
    }
    places.set(e, held);
    return held;
  };
  /** What the boxes around an element leave of it for certain: one that is positioned is clipped by its holder and what holds that. */
  const clipOf = (e, style, up) => {
    if (style.position === "fixed") return ALL;
    if (style.position !== "absolute") return up.innerSure;
    let holder = flatParent(e);
    while (holder && boxes.styleOf(holder).position === "static") holder = flatParent(holder);
    return place(holder).innerSure;
  };
  /** Whether a style turns or cuts a box so that its rectangle does not tell where it is hit, or puts it under its parents. */
  const bends = (style) => {
    if (style.rotate !== "none" || style.offsetPath !== "none") return true;
    if (style.perspective !== "none" || style.transformStyle === "preserve-3d" || Number.parseInt(style.zIndex) < 0) return true;
    if (style.transform === "none") return false;
    const at = style.transform.match(/^matrix\(([^,]+), ([^,]+), ([^,]+), /);
    return !at || Math.abs(at[2]) > 1e-6 || Math.abs(at[3]) > 1e-6;
  };
  const isCut = (style) => style.clipPath !== "none" || style.clip !== "auto";
  /** What `clip` or an inset `clip-path` without round corners leaves of a box; null for other shapes. */
  const leftOver = (e, style) => {
    const r = boxes.bounds(e);
    const scale = e.offsetWidth ? r.width / e.offsetWidth : 0;
    const inset = style.clipPath.match(/^inset\(([^()]*)\)$/)?.[1];
    if (style.clipPath !== "none" && (!inset || /round/.test(inset)) || !scale) return null;
    let left = sides(r);
    if (inset) {
      const [top, right = top, bottom = top, far = right] = inset.split(" ");
      const px = (text, whole) => (text.endsWith("%") ? (Number.parseFloat(text) / 100) * whole : Number.parseFloat(text) * scale);
      left = [r.left + px(far, r.width), r.top + px(top, r.height), r.right - px(right, r.width), r.bottom - px(bottom, r.height)];
    }
    const rect = style.clip.match(/^rect\((.*)\)$/)?.[1].split(/, ?| /);
    if (!rect || !/absolute|fixed/.test(style.position)) return left;
    const at = rect.map((text, i) => (text === "auto" ? [-Infinity, Infinity, Infinity, -Infinity][i] : Number.parseFloat(text) * scale));
    return common(left, [r.left + at[3], r.top + at[0], r.left + at[1], r.top + at[2]]);
  };
  const sides = (r) => [r.left, r.top, r.right, r.bottom];
  const common = (a, b) => [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
  /** Where a box shows what it holds. */
  const paddingBox = (e) => {
    const r = boxes.bounds(e);
    const scale = e.offsetWidth ? r.width / e.offsetWidth : 1;
    const left = r.left + e.clientLeft * scale, top = r.top + e.clientTop * scale;
    return [left, top, left + e.clientWidth * scale, top + e.clientHeight * scale];
  };
  /** The largest radius of the corners of a style, px; percentages as if of 100 px. */
  const roundness = (style) => style.borderRadius === "0px" ? 0 : Math.max(...style.borderRadius.match(/[\d.]+/g).map(Number));

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
    for (const one of generatedBoxes()) if (one.lies) put(one.e, "generated", one.box ?? ALL, one.box === null);
    // The pale sheet behind a modal dialog is nobody's box.
    for (const e of document.querySelectorAll(":modal")) put(e, "generated", ALL);
  };
  /** Puts the text of an element that lies elsewhere than in its box, or over what it holds. */
  const putTexts = (e, style, box, range) => {
    const shadow = cuadata.shadowOf(e);
    const alone = !shadow && style && !$.first(e);
    if (alone && style.display === "inline") return;
    for (const held of shadow ? [e, shadow] : [e])
      for (const node of $.children(held)) {
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
  const NOWHERE = [0, 0, 0, 0];
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

  // --- generated boxes --------------------------------------------------------------------------------------------------
  const told = new WeakMap(); // sheet -> [how many rules it has, whether one of them is for generated boxes]
  /** Whether a style sheet of a root may make generated boxes: asking each element for its own costs as much as a hit test. */
  const generates = (root) => [...root.styleSheets, ...root.adoptedStyleSheets].some(sheetGenerates);
  const sheetGenerates = (sheet) => {
    let rules;
    try {
      rules = sheet.cssRules;
    } catch {
      return true; // Of another site: it may hold anything.
    }
    const held = told.get(sheet);
    if (held?.[0] === rules.length) return held[1];
    const found = [...rules].some(ruleGenerates);
    told.set(sheet, [rules.length, found]);
    return found;
  };
  const ruleGenerates = (rule) =>
    /:(before|after)\b/i.test(rule.selectorText ?? "") ||
    [...(rule.cssRules ?? [])].some(ruleGenerates) ||
    (rule instanceof CSSImportRule && rule.styleSheet !== null && sheetGenerates(rule.styleSheet));
  /** [{e, which, style, box: where it lies, null where that is not known, lies: whether it may lie outside its element}]. */
  const generatedBoxes = () => {
    if (generated) return generated;
    generated = [];
    for (const [e] of visited && cuadata.rootsNow().some(generates) ? visited : [])
      for (const which of ["::before", "::after"]) {
        const style = getComputedStyle(e, which);
        if (style.content === "none" || style.content === "normal" || style.visibility !== "visible") continue;
        const lies = style.position !== "static" || style.transform !== "none" || style.float !== "none" || /-/.test(style.margin);
        generated.push({ e, which, style, lies, box: generatedBox(e, style) });
      }
    return generated;
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
    const edges = [...regions, clip];
    const xs = stops(box[0], box[2], edges.flatMap((k) => [k[0], k[2]]));
    const ys = stops(box[1], box[3], edges.flatMap((k) => [k[1], k[3]]));
    for (let j = 1; j < ys.length; j++)
      for (let i = 1; i < xs.length; i++) {
        const cell = [xs[i - 1], ys[j - 1], xs[i], ys[j]];
        const x = (cell[0] + cell[2]) / 2, y = (cell[1] + cell[3]) / 2;
        const area = (cell[2] - cell[0]) * (cell[3] - cell[1]);
        const key = regions.reduce((sum, k, n) => (has(k, x, y) ? sum | (2 << n) : sum), +!has(clip, x, y));
        const name = `${box}/${key}`;
        let part = parts.get(name);
        if (!part) parts.set(name, (part = { key, share: 0, largest: 0, cells: [] }));
        part.share += area / total;
        part.cells.push(cell);
        if (area > part.largest) Object.assign(part, { x, y, largest: area });
      }
    return (xs.length - 1) * (ys.length - 1);
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
    cut, crossed, isCut, generatedBoxes,
    /** A new round; what a whole walk visited, null where none was made. */
    newRound: (found) => {
      visited = found;
      bands = generated = null;
      places = new Map();
    },
  };
})();
