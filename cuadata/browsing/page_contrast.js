// Whether an element paints anything that differs from its ground: text and boxes in the colour of what lies behind are not seen.
globalThis.cuadata.contrast ??= (() => {
  const { $, flatParent, shadowOf, boxes, places, generated, paint } = cuadata;
  const { colour, alpha, inks, backdrop, context, over, canvas } = boxes;
  const { inside, layersAt, imagePaint, canvasPaint, shapePaints } = paint;

  const SHOWN = null; // painted for sure, no figure: pictures, native controls
  /** Largest channel difference between what an element paints and its ground, 0-255; null where that is not measured. */
  const contrast = (work) => {
    const parts = [work.e, ...(work.tag === "select" ? [] : $.all(work.e, "*"))];
    if (parts.length > 80) return SHOWN;
    let most = 0;
    const grounds = groundsOf(work);
    for (const k of parts) {
      const style = boxes.styleOf(k);
      if (k !== work.e && (style.display === "none" || style.visibility !== "visible" || context(k).opacity < 0.1)) continue;
      if (shadowOf(k) || draws(k, style)) return SHOWN;
      most = Math.max(most, difference(k, style, grounds));
      if (most >= 64) break;
    }
    return Math.round(most);
  };
  /** Whether an element paints what has no single colour: a picture, a native control, a shadow, generated content. */
  const draws = (k, style) => {
    const name = $.name(k);
    if (name === "img") {
      const opaque = imagePaint(k);
      return opaque === null || opaque > 0.02;
    }
    if (name === "canvas") return canvasPaint(k) > 0.02;
    if (/^(video|audio|iframe|embed|object|meter|progress|use|image|area)$/.test(name)) return true;
    if (name === "select" && style.appearance !== "none") return true;
    if (name === "input" && style.appearance !== "none" && /^(checkbox|radio|range|color|file|date|time|month|week|datetime-local)$/.test(k.type)) return true;
    if (name === "input" && k.type === "image") return true;
    if (name === "input" && k.type === "file" && fileButton(k)) return true;
    if (backdrop(style) === "image" || inks(style.textShadow) || inks(style.boxShadow)) return true;
    return generated.may(k) && ["::before", "::after"].some((which) => {
      const own = getComputedStyle(k, which);
      if (own.content === "none" || own.content === "normal") return false;
      return own.content !== '""' || own.backgroundImage !== "none" || alpha(own.backgroundColor) > 0.1 || own.borderTopStyle !== "none";
    });
  };
  /** Whether the button of a file field is painted. Chromium computes `appearance: none` for the field itself. */
  const fileButton = (k) => {
    const own = getComputedStyle(k, "::file-selector-button");
    if (own.display === "none" || own.visibility !== "visible" || own.opacity < 0.1) return false;
    return own.appearance !== "none" || own.backgroundImage !== "none" || alpha(own.backgroundColor) > 0.1 || own.borderTopStyle !== "none";
  };
  /** Fields that show text though they have no value: "No file chosen", "Submit", "Reset", the parts of a date. */
  const UNASKED = /^(file|submit|reset|date|time|month|week|datetime-local)$/;
  const SIDES = ["Top", "Right", "Bottom", "Left"];
  const difference = (k, style, grounds) => {
    const own = backdrop(style); // no "image" comes here, see `draws`
    let most = 0;
    // What lies on an opaque box of its own needs no ground to differ from.
    const on = own[3] > 0.98 ? own : null;
    if (isShape(k)) return shapeDifference(k, style, grounds.behind(k));
    const says = textIn(k);
    if (says) {
      const ground = on ?? grounds.under(k, own);
      most = apart(textColour(k, style, says), ground);
      if (Number.parseFloat(style.webkitTextStrokeWidth) > 0) most = Math.max(most, apart(colour(style.webkitTextStrokeColor), ground));
    }
    if (most >= 12) return most;
    if (own[3] > 0.02) most = Math.max(most, apart(own, grounds.behind(k)));
    for (const side of SIDES)
      if (style[`border${side}Style`] !== "none" && Number.parseFloat(style[`border${side}Width`]) > 0)
        most = Math.max(most, apart(colour(style[`border${side}Color`]), grounds.behind(k)));
    if (style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) > 0)
      most = Math.max(most, style.outlineStyle === "auto" ? 255 : apart(colour(style.outlineColor), grounds.behind(k)));
    return most;
  };
  const isShape = (k) => k instanceof SVGGeometryElement || $.name(k) === "text";
  /** Of what a drawn shape paints; what is drawn over another shape is taken to differ from it. */
  const shapeDifference = (k, style, ground) => {
    if (!shapePaints(style)) return 0;
    const r = $.box(k);
    const under = [...(k.ownerSVGElement?.querySelectorAll("*") ?? [])].slice(0, 80).some((other) => {
      if (other === k || !isShape(other) || !(other.compareDocumentPosition(k) & Node.DOCUMENT_POSITION_FOLLOWING)) return false;
      const q = $.box(other);
      return q.left < r.right && q.right > r.left && q.top < r.bottom && q.bottom > r.top;
    });
    if (under) return 255;
    const paints = [[style.fill, style.fillOpacity], [style.stroke, style.strokeOpacity]].filter(([paint]) => paint !== "none");
    return Math.max(...paints.map(([paint, opacity]) => apart(paint.startsWith("url") ? [NaN, NaN, NaN, 1] : colour(paint), ground) * opacity));
  };
  /** "own" where an element has text of its own, "placeholder" where it shows one, else "". */
  const textIn = (k) => {
    const name = $.name(k);
    if (name === "input" && /^(checkbox|radio|range|color|image)$/.test(k.type)) return "";
    if (name === "input" && UNASKED.test(k.type) && !(k.value === "" && k.hasAttribute("value") && /^(submit|reset)$/.test(k.type))) return "own";
    if (name === "input" || name === "textarea") return k.value ? "own" : $.attribute(k, "placeholder") ? "placeholder" : "";
    if (name === "select") return k.selectedOptions?.length ? "own" : "";
    for (let node = $.child(k); node; node = $.sibling(node)) if (node.nodeType === 3 && /\S/.test(node.data)) return "own";
    return "";
  };
  const textColour = (k, style, says) => {
    if (Number.parseFloat(style.fontSize) < 1 || Math.abs(Number.parseFloat(style.textIndent)) > 900) return [0, 0, 0, 0];
    if (says === "placeholder") {
      const own = getComputedStyle(k, "::placeholder");
      const [red, green, blue, strength] = colour(own.webkitTextFillColor || own.color);
      return [red, green, blue, strength * own.opacity];
    }
    return colour(style.webkitTextFillColor || style.color);
  };
  /** Largest channel difference of a colour over a ground; 255 where one of them is no plain colour. */
  const apart = (own, ground) => {
    if (own[3] < 0.02) return 0;
    if (ground === "image" || ground === null || Number.isNaN(own[0]) || Number.isNaN(ground[0])) return 255;
    return Math.max(...[0, 1, 2].map((i) => Math.abs(own[i] - ground[i]) * own[3]));
  };
  /** The colours behind an element and its parts, looked up when first asked for. */
  const groundsOf = (work) => {
    let beneath;
    const base = () => (beneath ??= groundBeneath(work));
    const behind = (k) => {
      if (k === work.e) return base();
      const up = flatParent(k);
      const held = [];
      for (let e = up; e; e = flatParent(e)) {
        const style = boxes.styleOf(e);
        const own = backdrop(style);
        if (own === "image") return own;
        held.push(own);
        if (held[held.length - 1][3] > 0.98 || e === work.e) break;
      }
      const last = held[held.length - 1];
      let ground = last && last[3] > 0.98 ? held.pop() : base();
      if (ground === "image") return ground;
      while (held.length) ground = over(held.pop(), ground);
      return ground;
    };
    return { behind, under: (k, own) => (behind(k) === "image" ? "image" : over(own, behind(k))) };
  };
  /** What a hit test at a point of an element would list under it where nothing but its own ancestors lies there; null: ask. */
  const aroundAt = (work, x, y) => {
    if (!work.alone || work.roots.length > 1) return null;
    const list = [];
    for (let k = flatParent(work.e); k && k !== document.documentElement; k = flatParent(k)) {
      const style = boxes.styleOf(k);
      if (style.display === "inline" || k instanceof SVGElement || /^table-(row|column|header|footer)/.test(style.display)) return null;
      if (style.display === "contents" || style.pointerEvents === "none" || style.visibility !== "visible") continue;
      const inset = places.roundness(style) * 0.3, r = boxes.bounds(k);
      if (x < r.left - 1 || x > r.right + 1 || y < r.top - 1 || y > r.bottom + 1) continue;
      if (x < r.left + 1 + inset || x > r.right - 1 - inset || y < r.top + 1 + inset || y > r.bottom - 1 - inset) return null;
      list.push(k);
    }
    return [...list, document.documentElement];
  };
  /** The colour under an element: that of its ancestors, or of whatever lies there where it stands loose in the page. */
  const groundBeneath = (work) => {
    const up = context(flatParent(work.e));
    const place = context(work.e);
    if (!up.loose && !place.loose) return up.ground ?? canvas();
    const [x, y] = work.point ?? work.points[0] ?? [0, 0];
    const layers = [];
    for (const h of aroundAt(work, x, y) ?? layersAt(x, y)) {
      if (inside(h, work.e)) continue;
      const style = boxes.styleOf(h);
      const own = backdrop(style);
      if (own === "image" || /^(img|video|canvas|iframe)$/.test($.name(h))) return "image";
      if (own[3] > 0.02) layers.push(own);
      if (own[3] > 0.98) break;
    }
    let ground = layers.length && layers[layers.length - 1][3] > 0.98 ? layers.pop() : canvas();
    while (layers.length) ground = over(layers.pop(), ground);
    return ground;
  };

  return contrast;
})();
