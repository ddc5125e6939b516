// Which points of an element must have one answer, since the same boxes lie at all of them: only one of them is hit tested.
globalThis.cuadata.alike ??= (() => {
  const { $, boxes, places, scene } = cuadata;
  const { ALL, NOWHERE, EDGE, place, rounded, roundness, sides, common, shrunk } = places;

  const VIEW = () => [0, 0, innerWidth, innerHeight];
  const holds = (box, x, y, by) => x > box[0] + by && x < box[2] - by && y > box[1] + by && y < box[3] - by;

  /**
   * {own: a region for each rect of an element, around: those of all that may lie over or under it, certain: whether a region of
   * its own tells whether it is there for a hit test}; null where boxes do not tell. A region is {outer, inner, plain, shapes}:
   * nothing of it lies beyond the first, all of the second is of it, and of what else lies in the third, the shapes tell.
   */
  const regionsOf = (work, acting) => {
    const { e, tag, rects, style } = work;
    const mapped = tag === "area" || $.has(e, "usemap");
    const subject = tag === "area" ? boxes.imageOf(e) : e;
    if (!subject || !scene.knows(subject) || UNLIKE.has(tag) || (tag === "select" && e.size > 1)) return null;
    const { turn, odd } = place(subject);
    // Of what is turned in the plane, points lie on its own shape where they were drawn on it.
    const drawn = e instanceof SVGElement && !(e instanceof SVGSVGElement);
    if (turn > (drawn || (rects.length === 1 && e.offsetWidth) ? 1 : 0)) return null;
    if (turn && !drawn && roundness(style) > 2) return null;
    const whole = rects.map(sides).reduce((a, b) => [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])]);
    // What lets the pointer through, and a row of a table, is hit where something in it is.
    const all = work.deaf || /^table-(row|column|header|footer)/.test(style.display);
    const around = scene.regionsOver(subject, common(shrunk(whole, -EDGE), VIEW()), acting, all);
    for (const v of work.veils) if (v.which) around.push({ outer: v.box ?? whole, inner: v.box ?? NOWHERE });
    const areas = mapped ? areaRegions(subject, e) : [];
    const own = rects.map((r, i) => ownShape(work, work.borrowed ? work.borrowed[i] : subject, sides(r), turn || drawn));
    if (areas === null || own.includes(null)) return null;
    const certain = !odd && !work.deaf && style.interactivity !== "inert" && !work.borrowed && tag !== "area";
    return { own, around: [...around, ...areas], certain };
  };
  /** Regions of the areas of an image other than `e`, and of the image where `e` is one of them; null where its coordinates are not px. */
  const areaRegions = (image, e) => {
    const r = boxes.bounds(image);
    if (boxes.context(image).matrix || roundness(boxes.styleOf(image)) > 2) return null;
    if (Math.abs(r.width - image.width) + Math.abs(r.height - image.height) > 1) return null;
    const map = [...document.getElementsByTagName("map")].find((m) => `#${m.name}` === $.attribute(image, "usemap"));
    const areas = [...(map?.areas ?? [])];
    if (areas.some((one) => boxes.imageOf(one) !== image)) return null;
    const regions = areas.filter((one) => one !== e).map(areaShape);
    return e === image ? regions : [...regions, { outer: sides(r), inner: sides(r) }];
  };
  //: What is not hit as its rect is: glyphs, the rim that a legend interrupts, the rows of a list.
  const UNLIKE = cuadata.words("text tspan textPath fieldset legend option optgroup");
  const ownShape = ({ e, tag, style, borrowed }, owner, box, drawn) => {
    const at = place(owner);
    if (tag === "area") {
      const shape = areaShape(e);
      const left = { outer: common(shape.outer, at.innerSure), inner: common(shape.inner, at.inner), shapes: shape.shapes };
      return { ...left, plain: shape.plain && common(shape.plain, at.inner) };
    }
    if (borrowed && (at.turn || !scene.knows(owner))) return null;
    if (borrowed && owner === e) return { outer: at.innerSure, inner: at.inner, plain: at.innerPlain, shapes: at.innerShapes };
    const known = { outer: at.sure, inner: at.clip, plain: at.plain, shapes: at.shapes };
    if (drawn) return known;
    const shown = borrowed ? boxes.styleOf(owner) : style;
    const round = roundness(shown);
    // What an element holds may reach into its round corners.
    const shapes = round < 1 ? at.shapes : [...at.shapes, owner.firstChild ? () => "" : rounded(owner, shown, box)];
    return { ...known, inner: common(at.clip, shrunk(box, round * 0.3)), plain: common(at.plain, box), shapes };
  };
  const areaShape = (area) => {
    const [r] = boxes.areaRects(area);
    if (!r) return { outer: NOWHERE, inner: NOWHERE };
    const box = sides(r), shape = ($.attribute(area, "shape") ?? "rect").toLowerCase();
    if (/^(|rect|default)$/.test(shape)) return { outer: box, inner: box };
    if (!shape.startsWith("poly")) return { outer: box, inner: NOWHERE };
    const at = $.attribute(area, "coords").split(",").map(Number);
    const frame = $.box(boxes.imageOf(area));
    const corners = Array.from({ length: at.length >> 1 }, (_, i) => [frame.left + at[2 * i], frame.top + at[2 * i + 1]]);
    return { outer: box, inner: NOWHERE, plain: ALL, shapes: [(x, y) => inPolygon(corners, x, y)] };
  };
  /** "1" for a point within a polygon, "0" outside, "" too near to an edge to tell. */
  const inPolygon = (corners, x, y) => {
    let odd = false;
    for (let i = 0; i < corners.length; i++) {
      const [ax, ay] = corners[i], [bx, by] = corners[(i + 1) % corners.length];
      const along = Math.max(0, Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1)));
      if (Math.hypot(ax + along * (bx - ax) - x, ay + along * (by - ay) - y) < EDGE) return "";
      if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) odd = !odd;
    }
    return odd ? "1" : "0";
  };

  /** "1" within a region, "0" outside; "" where that is not known. */
  const sideOf = ({ outer, inner, plain, shapes }, x, y) => {
    if (holds(inner, x, y, EDGE)) return "1";
    if (!holds(outer, x, y, -EDGE)) return "0";
    if (!plain || !shapes.length || !holds(plain, x, y, EDGE)) return "";
    const told = shapes.map((side) => side(x, y));
    return told.includes("0") ? "0" : told.includes("") ? "" : "1";
  };
  /** A text that says what lies at a point in a rect of an element; "" where it is to be asked. The first letter: is it there? */
  const keyAt = (work, acting, x, y, which) => {
    if (work.regions === undefined) work.regions = regionsOf(work, acting);
    const known = work.regions;
    if (!known || !holds(VIEW(), x, y, EDGE)) return "";
    let key = sideOf(known.own[Math.min(which, known.own.length - 1)], x, y);
    if (!key) return "";
    key += `${which}/`;
    for (const region of known.around) {
      const side = sideOf(region, x, y);
      if (!side) return "";
      key += side;
    }
    return key;
  };
  /** As `keyAt`, of the middle of a rect, which may lie outside the viewport and off what is drawn. */
  const middleKey = (work, acting, x, y, which) => {
    const drawn = work.e instanceof SVGElement && !(work.e instanceof SVGSVGElement);
    return drawn ? "" : keyAt(work, acting, x, y, which);
  };
  /** Whether an element is at a point that has a key: true, false, or undefined where only a hit test tells. */
  const isThere = (work, key) => (key && work.regions?.certain ? key[0] === "1" : undefined);

  return { keyAt, middleKey, isThere };
})();
