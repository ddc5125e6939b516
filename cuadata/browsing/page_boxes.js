// Boxes and the points that stand for them; styles that an element inherits from the boxes around it.
globalThis.cuadata.boxes ??= (() => {
  const { $, Style, flatParent } = cuadata;

  // --- colours ----------------------------------------------------------------------------------------------------------
  const colours = new Map();
  /** [red, green, blue, alpha], channels 0-255 and alpha 0-1, of a computed colour; other colour spaces: channels NaN. */
  const colour = (text) => {
    let held = colours.get(text);
    if (held) return held;
    const numbers = text.match(/-?[\d.]+(?:e-?\d+)?/g)?.map(Number) ?? [];
    if (text.startsWith("rgb")) held = [numbers[0], numbers[1], numbers[2], numbers[3] ?? 1];
    else if (text.startsWith("color(srgb ")) held = [...numbers.slice(0, 3).map((v) => v * 255), numbers[3] ?? 1];
    else if (text === "none" || text === "") held = [0, 0, 0, 0];
    else held = [NaN, NaN, NaN, text.includes("/") ? numbers[numbers.length - 1] : 1];
    if (colours.size > 5000) colours.clear();
    colours.set(text, held);
    return held;
  };
  const alpha = (text) => colour(text)[3];
  const COLOUR = /\b(?:rgba?|color|color-mix|hsla?|hwb|lab|lch|oklab|oklch)\([^()]*\)/g;
  /** Whether any colour that a computed shadow or gradient names is strong enough to be painted: `0 0 #0000` is none. */
  const inks = (text) => text !== "none" && (text.match(COLOUR) ?? [""]).some((one) => !one || alpha(one) >= 0.02);
  /** The colour of an element's own background: "image" where a picture or a gradient gives it more than one. */
  const backdrop = (style) => {
    const own = colour(style.backgroundColor), image = style.backgroundImage;
    if (image === "none") return own;
    if (!/^[a-z-]*gradient\(/.test(image) || /url\(|image-set|element\(|paint\(/.test(image)) return "image";
    if (!inks(image)) return own;
    const [first, ...others] = (image.match(COLOUR) ?? []).map(colour);
    const even = others.length && [first, ...others].every((one) => one[3] > 0.98 && [0, 1, 2].every((i) => Math.abs(one[i] - first[i]) < 3));
    return even && /^(auto|100% 100%|cover)$/.test(style.backgroundSize) ? first : "image";
  };

  // --- what an element inherits -----------------------------------------------------------------------------------------
  let contexts = new Map();
  let styles = new Map(); // element -> its style; the walk has learnt most of them
  const styleOf = (e) => {
    let held = styles.get(e);
    if (!held) styles.set(e, (held = new Style(e)));
    return held;
  };
  const ROOT = { opacity: 1, unsure: "", inert: false, matrix: null, ground: null, loose: false };
  /** Opacity, doubts, inertness, rotation and ground colour, of an element and all around it. */
  const context = (e) => {
    if (!e) return ROOT;
    let held = contexts.get(e);
    if (held) return held;
    const up = context(flatParent(e));
    const style = styleOf(e);
    held = { ...up };
    held.opacity = up.opacity * opacityOf(style);
    if (e.inert === true) held.inert = true;
    held.unsure = up.unsure || doubt(style);
    held.matrix = turned(up.matrix, style);
    groundOf(held, style);
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
    if (style.maskImage !== "none") return "mask";
    if (style.mixBlendMode !== "normal") return "blend";
    if (style.filter !== "none" && /blur|brightness|contrast|url|invert|saturate/.test(style.filter)) return "filter";
    return "";
  };
  /** The colour that lies behind the text of an element, and whether it may lie elsewhere than its ancestors' boxes. */
  const groundOf = (held, style) => {
    const own = backdrop(style);
    if (own === "image") {
      held.ground = "image";
      held.loose = false;
      return;
    }
    if (own[3] > 0.98) {
      held.ground = own;
      held.loose = false;
      return;
    }
    held.loose ||= style.position !== "static" || style.transform !== "none" || style.float !== "none";
    if (!(own[3] < 0.02)) held.ground = held.ground === "image" ? "image" : over(own, held.ground ?? canvas());
  };
  /** One colour painted over an opaque one. */
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  /** The colour of the page where nothing is painted. */
  const canvas = () => (sheet ??= /^(only )?dark/.test(getComputedStyle(document.documentElement).colorScheme) ? [18, 18, 18, 1] : [255, 255, 255, 1]);
  let sheet = null;
  /** The linear part of all transforms so far, [a, b, c, d], or null where there are none. */
  const turned = (outer, style) => {
    if (style.transform === "none" && style.rotate === "none" && style.scale === "none") return outer;
    let own = style.transform === "none" ? new DOMMatrix() : new DOMMatrix(style.transform);
    const size = style.scale === "none" ? null : style.scale.split(" ").map(Number);
    if (size) own = new DOMMatrix().scale(size[0], size[1] ?? size[0]).multiply(own);
    const angle = /^(-?[\d.]+)deg$/.exec(style.rotate);
    if (angle) own = new DOMMatrix().rotate(+angle[1]).multiply(own);
    const [a, b, c, d] = outer ?? [1, 0, 0, 1];
    return [a * own.a + c * own.b, b * own.a + d * own.b, a * own.c + c * own.d, b * own.c + d * own.d];
  };
  const slants = (matrix) => matrix !== null && Math.abs(matrix[1]) + Math.abs(matrix[2]) > 1e-3;

  // --- boxes ------------------------------------------------------------------------------------------------------------
  const areaOf = (r) => r.width * r.height;
  let read = new Map(); // element -> its client rects, read once a round
  const lying = (e) => {
    let held = read.get(e);
    if (!held) read.set(e, (held = $.rects(e)));
    return held;
  };
  /** The box around all rects of an element. */
  const bounds = (e) => {
    let held = framed.get(e);
    if (!held) {
      const rects = read.get(e);
      framed.set(e, (held = rects?.length === 1 ? rects[0] : $.box(e)));
    }
    return held;
  };
  let framed = new Map(); // element -> the box around all its rects
  /** Rects of an element; those of what it holds where it has no box of its own: [rects, null or whose each of them is]. */
  const rectsOf = (e, tag, style) => {
    const own = [];
    for (const r of lying(e)) if (r.width >= 0.5 && r.height >= 0.5) own.push(r);
    if (own.length) return [own, null];
    if (tag === "area") return [areaRects(e), null];
    const held = [], owners = [];
    for (const k of $.all(e, "*")) {
      if (held.length > 64) break;
      if (!$.shown(k, { visibilityProperty: true })) continue;
      for (const r of $.rects(k)) if (r.width >= 2 && r.height >= 2) (held.push(r), owners.push(k));
    }
    if (!held.length && (style.display === "contents" || style.overflow === "visible")) {
      const range = document.createRange();
      range.selectNodeContents(e);
      for (const r of range.getClientRects()) if (areaOf(r) >= 4) (held.push(r), owners.push(e));
    }
    return [held, held.length ? owners : null];
  };
  /** The box around an area of an image map; its coordinates are CSS px of the image's content box. */
  const areaRects = (e) => {
    const image = imageOf(e);
    const at = ($.attribute(e, "coords") ?? "").split(",").map(Number);
    if (!image || at.some(Number.isNaN)) return [];
    const frame = $.box(image);
    const shape = ($.attribute(e, "shape") ?? "rect").toLowerCase();
    let [left, top, right, bottom] = at;
    if (shape.startsWith("circ")) [left, top, right, bottom] = [at[0] - at[2], at[1] - at[2], at[0] + at[2], at[1] + at[2]];
    if (shape.startsWith("poly")) {
      const xs = at.filter((_, i) => i % 2 === 0), ys = at.filter((_, i) => i % 2 === 1);
      [left, top, right, bottom] = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    }
    if (shape === "default") return [frame];
    return [new DOMRect(frame.left + left, frame.top + top, right - left, bottom - top)];
  };
  const imageOf = (area) => {
    const name = area.closest("map")?.getAttribute("name");
    return name ? document.querySelector(`img[usemap="#${CSS.escape(name)}"]`) : null;
  };

  // --- the grid ---------------------------------------------------------------------------------------------------------
  /** Columns and rows of a grid of about `wanted` nearly square cells, none under 2 px. */
  const cells = (width, height, wanted) => {
    const fit = (n, most) => Math.max(1, Math.min(Math.round(n), Math.floor(most / 2) || 1, wanted));
    const columns = fit(Math.sqrt((wanted * width) / height), width);
    return [columns, fit(wanted / columns, height)];
  };
  /**
   * Points over the part of an element that is in the viewport, each with its share of the whole area, and at 8 the number of
   * the rect or the drawn shape that it lies in: [[x, y, share, ...]].
   * A first look is a zigzag of five along the longer side, the middle among them; a closer one spreads `wanted` of them so
   * that no two share a row or a column.
   */
  const grid = (work, wanted) => {
    const { e, rects, total } = work;
    if (e instanceof SVGElement && !(e instanceof SVGSVGElement)) {
      const drawn = drawnPoints(e, wanted);
      if (drawn.length) return onScreen(drawn, 1 / drawn.length);
    }
    const matrix = context(e).matrix;
    if (slants(matrix) && rects.length === 1 && e.offsetWidth) return slanted(e, rects[0], matrix, wanted);
    const points = [];
    const each = rects.length === 1 ? wanted : Math.max(2, Math.ceil((wanted * 1.5) / rects.length));
    for (const r of rects) {
      const left = Math.max(r.left, 0), top = Math.max(r.top, 0);
      const width = Math.min(r.right, innerWidth) - left, height = Math.min(r.bottom, innerHeight) - top;
      if (width <= 0 || height <= 0) continue;
      const places = spread(width, height, each);
      const share = (width * height) / total / places.length;
      for (const [u, v] of places) points.push([left + u * width, top + v * height, share, , , , , , rects.indexOf(r)]);
    }
    return points;
  };
  /** Where the points of a box lie, in fractions of its sides. */
  const spread = (width, height, wanted) => {
    // Multiples of the golden section: an edge that lies across or along the box is found to about 1 / `wanted` of its side.
    if (wanted > 5) return Array.from({ length: wanted }, (_, k) => [(k + 0.5) / wanted, (k * 0.6180339887498949 + 0.5) % 1]);
    const long = Math.max(width, height), short = Math.min(width, height);
    const n = Math.max(1, Math.min(wanted, Math.floor(long / 2)));
    return Array.from({ length: n }, (_, k) => {
      const along = (k + 0.5) / n;
      const aside = n < 3 || short < 4 || 2 * k + 1 === n ? 0.5 : k % 2 ? 0.8 : 0.2;
      return width >= height ? [along, aside] : [aside, along];
    });
  };
  const onScreen = (points, share) =>
    points.filter(([x, y]) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight).map(([x, y, n = 0]) => [x, y, share, , , , , , n]);
  /** A grid over a rotated or skewed box: the middle of its rect is the middle of the box. */
  const slanted = (e, r, [a, b, c, d], wanted) => {
    const x = r.left + r.width / 2, y = r.top + r.height / 2;
    const zoom = e.currentCSSZoom ?? 1;
    const width = e.offsetWidth * zoom, height = e.offsetHeight * zoom;
    const points = spread(width, height, wanted).map(([i, j]) => {
      const u = (i - 0.5) * width, v = (j - 0.5) * height;
      return [x + a * u + c * v, y + b * u + d * v];
    });
    return onScreen(points, 1 / points.length);
  };
  /** Points on what an SVG element paints: along its stroke where it has no fill, inside its fill else. */
  const drawnPoints = (e, wanted) => {
    const shapes = e instanceof SVGGeometryElement ? [e] : [...e.querySelectorAll("*")].filter((k) => k instanceof SVGGeometryElement);
    const points = [];
    for (const [n, shape] of shapes.slice(0, 16).entries()) {
      const matrix = shape.getScreenCTM();
      if (!matrix) continue;
      const most = Math.max(4, Math.ceil(wanted / shapes.length));
      for (const [x, y] of fills(shape) ? fillPoints(shape, matrix, most) : strokePoints(shape, matrix, most)) points.push([x, y, n]);
    }
    return points;
  };
  const fills = (shape) => {
    const style = getComputedStyle(shape);
    return style.fill !== "none" && shape.localName !== "line" && !/stroke$/i.test(style.pointerEvents);
  };
  const strokePoints = (shape, matrix, wanted) => {
    const length = shape.getTotalLength();
    return Array.from({ length: wanted }, (_, i) => {
      const p = shape.getPointAtLength(((i + 0.5) / wanted) * length).matrixTransform(matrix);
      return [p.x, p.y];
    });
  };
  const fillPoints = (shape, matrix, wanted) => {
    const box = shape.getBBox();
    const [across, down] = cells(box.width || 1, box.height || 1, wanted * 2);
    const points = [];
    for (let j = 0; j < down; j++)
      for (let i = 0; i < across; i++) {
        const p = new DOMPoint(box.x + ((i + 0.5) / across) * box.width, box.y + ((j + 0.5) / down) * box.height);
        if (!shape.isPointInFill(p)) continue;
        const q = p.matrixTransform(matrix);
        points.push([q.x, q.y]);
      }
    return points;
  };

  return {
    styleOf, colour, alpha, inks, backdrop, context, over, canvas, slants, areaOf, lying, bounds, rectsOf, areaRects, imageOf, grid, fills, doubt,
    newRound: (known) => {
      contexts = new Map();
      read = new Map();
      framed = new Map();
      sheet = null;
      styles = known;
    },
  };
})();
