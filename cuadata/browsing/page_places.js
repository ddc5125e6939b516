// What the boxes around an element do to it: where they clip it, whether they turn it, and what its round corners leave.
globalThis.cuadata.places ??= (() => {
  const { flatParent, boxes } = cuadata;

  let places = new Map();
  const ALL = [-Infinity, -Infinity, Infinity, Infinity], NOWHERE = [0, 0, 0, 0];
  const EDGE = 1; // px: nearer to an edge than this it is not said on which side of it a point lies
  const OUTSIDE = { clip: ALL, sure: ALL, inner: ALL, innerSure: ALL, odd: false, turn: 0, plain: ALL, shapes: [], innerPlain: ALL, innerShapes: [] };
  /**
   * {clip: where an element can be seen at most, were it clipped by every box around it; sure: where by those that clip it for
   * certain; inner, innerSure: the same for what it holds; odd: whether boxes do not tell where it is hit; turn: 0 where its
   * shape is that of its box, 1 where that is turned or skewed in the plane, 2 where it is not known; plain: as `clip`, were
   * the corners of all these boxes square; shapes: what tells whether a point in `plain` is outside of none of their corners;
   * innerPlain, innerShapes: the same for what it holds}.
   */
  const place = (e) => {
    if (!e) return OUTSIDE;
    let held = places.get(e);
    if (held) return held;
    const up = place(flatParent(e));
    const style = boxes.styleOf(e);
    held = { clip: up.inner, sure: clipOf(e, style, up), odd: up.odd || e.inert === true || bends(style) };
    held.turn = Math.max(up.turn, held.odd ? turnOf(style) : 0);
    if (held.turn > up.turn && style.display === "inline") held.turn = 2; // What is not turned in spite of its style.
    // What a clip leaves is told from the corner of the box, which turning and mirroring put elsewhere.
    const upright = !isCut(style) || (!held.turn && (boxes.context(e).matrix ?? [1, 0, 0, 1]).every((v, i) => (i % 3 ? v === 0 : v > 0)));
    const left = isCut(style) ? (upright ? leftOver(e, style) : null) : ALL;
    held.odd ||= left === null;
    const dot = left === null ? upright && circle(e, style) : [left, left];
    if (!dot) held.turn = 2;
    held.clip = common(held.clip, dot ? dot[1] : ALL);
    held.sure = common(held.sure, dot ? dot[0] : ALL);
    held.plain = common(up.innerPlain, dot ? dot[0] : ALL);
    held.shapes = dot?.[2] ? [...up.innerShapes, dot[2]] : up.innerShapes;
    held.inner = held.clip;
    held.innerSure = held.sure;
    held.innerPlain = held.plain;
    held.innerShapes = held.shapes;
    if (style.overflow !== "visible" || /paint|strict|content/.test(style.contain)) {
      const inner = paddingBox(e);
      const round = roundness(style);
      // What borders and padding an SVG element leaves is not told.
      const lost = held.turn || (e instanceof SVGSVGElement && Math.abs(e.clientWidth - boxes.bounds(e).width) > 1);
      held.inner = lost ? NOWHERE : common(held.clip, shrunk(inner, round * 0.3));
      held.innerPlain = lost ? NOWHERE : common(held.plain, inner);
      if (round) held.innerShapes = [...held.innerShapes, rounded(e, style, inner)];
      // A box that may hand its clipping on to the viewport, or that is no block, clips nothing for certain.
      if (e !== document.body && e !== document.documentElement && /^(block|flex|grid|flow-root)$/.test(style.display))
        held.innerSure = common(held.sure, held.turn ? sides(boxes.bounds(e)) : inner);
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
  /** How far a style takes a box from being an upright rectangle; see `turn`. */
  const turnOf = (style) => {
    // What lies under its parents lies under their lines of text too, which no box tells.
    if (style.offsetPath !== "none" || / /.test(style.rotate) || Number.parseInt(style.zIndex) < 0) return 2;
    if (style.rotate !== "none") return 1;
    if (style.transform === "none") return 0;
    const at = style.transform.slice(style.transform.indexOf("(") + 1).split(",").map(Number.parseFloat);
    const apart = (...places) => places.some((i) => Math.abs(at[i]) > 1e-6);
    if (at.length === 6) return +apart(1, 2);
    return apart(1, 2, 3, 4, 6, 7, 8, 9) ? 2 : 0;
  };
  const isCut = (style) => style.clipPath !== "none" || style.clip !== "auto";
  /** What `clip` or an inset `clip-path` without round corners leaves of a box; null for other shapes. */
  const leftOver = (e, style) => {
    const r = boxes.bounds(e);
    const scale = e.offsetWidth ? r.width / e.offsetWidth : 0;
    const inset = style.clipPath.match(/^inset\(([^()]*)\)$/)?.[1];
    if (style.clipPath !== "none" && (!inset || /round/.test(inset)) || !scale) return null;
    let left = ALL;
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
  /** The boxes around and inside of what a `clip-path` of a circle leaves; null for other shapes. */
  const circle = (e, style) => {
    const at = style.clip === "auto" && /^circle\(([\d.]+)px at (-?[\d.]+)px (-?[\d.]+)px\)$/.exec(style.clipPath);
    if (!at || !e.offsetWidth) return null;
    const r = boxes.bounds(e), scale = r.width / e.offsetWidth;
    const [radius, x, y] = at.slice(1).map((text) => Number.parseFloat(text) * scale);
    const box = [r.left + x - radius, r.top + y - radius, r.left + x + radius, r.top + y + radius];
    return [box, shrunk(box, radius * 0.3), inCorners(box, radius, radius)];
  };
  /** What tells on which side of the round corners of a box (`within`: of its edge, or of the edge of its padding) a point lies. */
  const rounded = (e, style, within) => {
    const r = boxes.bounds(e);
    const one = /^([\d.]+)(px|%)$/.exec(style.borderRadius);
    if (!one) return () => "";
    const scale = e.offsetWidth ? r.width / e.offsetWidth : 1;
    const [across, down] = [r.width, r.height].map((side) => one[1] * (one[2] === "%" ? side / 100 : scale));
    const most = Math.min(1, r.width / (2 * across), r.height / (2 * down));
    return inCorners(within, across * most - (within[0] - r.left), down * most - (within[1] - r.top));
  };
  /** "1" for a point within a box with round corners, "0" outside, "" too near to tell. */
  const inCorners = (box, across, down) => (x, y) => {
    const aside = Math.max(box[0] + across - x, x - box[2] + across), over = Math.max(box[1] + down - y, y - box[3] + down);
    if (aside <= 0 || over <= 0 || across <= 0 || down <= 0) return "1";
    const far = Math.hypot(aside / across, over / down), near = EDGE / Math.min(across, down);
    return far < 1 - near ? "1" : far > 1 + near ? "0" : "";
  };
  const shrunk = (box, by) => [box[0] + by, box[1] + by, box[2] - by, box[3] - by];
  const sides = (r) => [r.left, r.top, r.right, r.bottom];
  const common = (a, b) => [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
  /** Where a box shows what it holds. */
  const paddingBox = (e) => {
    const r = boxes.bounds(e);
    if (e instanceof SVGElement) return sides(r);
    const scale = e.offsetWidth ? r.width / e.offsetWidth : 1;
    const left = r.left + e.clientLeft * scale, top = r.top + e.clientTop * scale;
    return [left, top, left + e.clientWidth * scale, top + e.clientHeight * scale];
  };
  /** The largest radius of the corners of a style, px; percentages as if of 100 px. */
  const roundness = (style) => style.borderRadius === "0px" ? 0 : Math.max(...style.borderRadius.match(/[\d.]+/g).map(Number));

  return {
    ALL, NOWHERE, EDGE, place, isCut, rounded, roundness, sides, common, shrunk, newRound: () => void (places = new Map()),
  };
})();
