"""A page of hard cases: controls that look clickable and are not, and the other way round. Answers are known by construction.

Each case is a cell of 120x40 CSS px with one target. `seen` says whether a person sees at least a third of it, `clicks`
whether some point of it takes a real click; both are confirmed by real clicks and by hiding the target in the tests.
"""

from __future__ import annotations

import html
from dataclasses import dataclass

CELL_WIDTH, CELL_HEIGHT, COLUMNS = 126, 44, 10
STYLE = """
body{margin:0;background:#fff;font:13px sans-serif}
.cell{float:left;width:120px;height:40px;margin:2px 3px}
.holds{position:relative}
.b{display:block;box-sizing:border-box;width:100px;height:30px;background:#dde8ff;border:1px solid #335;color:#113;
padding:0;font:13px sans-serif;text-align:center;line-height:26px;border-radius:0;appearance:none;cursor:default;text-decoration:none}
.over{position:absolute;left:0;top:0;width:110px;height:36px;background:#9c6}
iframe{border:0;width:120px;height:40px;display:block}
"""


@dataclass(frozen=True)
class Case:
    """One target: its markup holds an element with `id` equal to `name`, or `css` names it inside `frames` and `shadow`."""

    name: str
    body: str
    seen: bool = True
    clicks: bool = True
    enabled: bool = True
    reasons: tuple[str, ...] = ()
    css: str = ""
    frames: tuple[str, ...] = ()
    shadow: tuple[str, ...] = ()
    script: str = ""

    @property
    def valid(self) -> bool:
        return self.seen and self.clicks and self.enabled


def good(name: str, body: str, **more: object) -> Case:
    return Case(name, body, **more)  # type: ignore[arg-type]


def unseen(name: str, body: str, *reasons: str, **more: object) -> Case:
    return Case(name, body, seen=False, reasons=reasons or ("target_hidden",), **more)  # type: ignore[arg-type]


def dead(name: str, body: str, *reasons: str, **more: object) -> Case:
    return Case(name, body, clicks=False, reasons=reasons or ("target_occluded",), **more)  # type: ignore[arg-type]


def both(name: str, body: str, *reasons: str, **more: object) -> Case:
    return Case(name, body, seen=False, clicks=False, reasons=reasons, **more)  # type: ignore[arg-type]


def off(name: str, body: str, **more: object) -> Case:
    return Case(name, body, enabled=False, clicks=False, reasons=("target_disabled",), **more)  # type: ignore[arg-type]


def b(name: str, style: str = "", text: str = "Send", tag: str = "button", more: str = "") -> str:
    return f'<{tag} id="{name}" class="b" style="{style}" {more}>{text}</{tag}>'


def framed(inner: str, style: str = "", attributes: str = "") -> str:
    """An iframe with a document of its own; `inner` may name its own styles."""
    document = (
        f"<!doctype html><meta charset=utf-8><style>{STYLE}</style><body>{inner}"
        "<script>for(const e of document.querySelectorAll('[id]'))e.addEventListener('click',v=>"
        "{if(v.isTrusted){v.stopPropagation();parent.postMessage(e.id,'*')}});"
        "addEventListener('message',m=>parent.postMessage(m.data,'*'))</script>"
    )
    return f'<iframe {attributes} style="{style}" srcdoc="{html.escape(document)}"></iframe>'


OVER = '<div class="over" style="{}"></div>'
SVG = '<svg width="100" height="36" style="display:block">{}</svg>'
PLAIN = [
    good("plain", b("plain")),
    good("link", b("link", tag="a", more='href="#"')),
    good("div_listener", b("div_listener", tag="div")),
    good("small_16", b("small_16", "width:16px;height:16px", "")),
    good("wide_thin", b("wide_thin", "width:118px;height:8px", "")),
    good("round", b("round", "border-radius:50%;width:30px;height:30px", "x")),
    good("wrapped_link",
         '<div style="width:110px;line-height:18px;text-indent:60px">'
         '<a id="wrapped_link" href="#" style="color:#00c">Terms and so on</a></div>'),
    good("nested_span", '<button class="b" id="nested_span"><span><i>Deep</i></span></button>'),
    good("contents", '<button id="contents" style="display:contents"><span class="b">Box of a child</span></button>'),
    good("zero_overflow",
         '<a id="zero_overflow" href="#" style="display:block;width:0;height:0">'
         '<span class="b" style="width:90px">Overflows</span></a>'),
    good("label_wrapping", '<label id="label_wrapping" class="b"><input type="checkbox" style="margin:0"> Agree</label>'),
    good("label_for",
         '<input type="checkbox" id="lf" style="position:absolute;width:0;height:0;opacity:0">'
         '<label id="label_for" for="lf" class="b">Remember</label>'),
    good("text_indent_icon",
         b("text_indent_icon", "text-indent:-9999px;overflow:hidden", "Icon")),
    good("font_size_zero", b("font_size_zero", "font-size:0")),
    good("native_checkbox", '<input type="checkbox" id="native_checkbox">'),
    good("native_radio", '<input type="radio" id="native_radio">'),
    good("text_field", '<input id="text_field" style="width:90px">'),
    good("range", '<input id="range" type="range" style="width:90px">'),
    good("summary", '<details><summary id="summary" class="b">More</summary>body</details>'),
    good("editable", '<div id="editable" class="b" contenteditable>Words</div>'),
    good("pseudo_box", '<style>#pseudo_box::before{content:"";position:absolute;inset:0;background:#fc9}</style>'
         '<a id="pseudo_box" href="#" style="position:absolute;width:100px;height:30px"></a>'),
    good("text_shadow", '<a id="text_shadow" href="#" style="color:transparent;text-shadow:0 0 1px #000">Shadowed</a>'),
    good("data_image",
         '<img id="data_image" alt="x" style="width:90px;height:30px" '
         "src=\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='9' height='3'%3E"
         "%3Crect width='9' height='3' fill='red'/%3E%3C/svg%3E\">"),
]  # fmt: skip
TRANSPARENT = [
    unseen("opacity_0", b("opacity_0", "opacity:0")),
    unseen("opacity_1_percent", b("opacity_1_percent", "opacity:.01")),
    unseen("opacity_product", f'<div style="opacity:.25">{b("opacity_product", "opacity:.25")}</div>'),
    good("opacity_half", b("opacity_half", "opacity:.5")),
    unseen("filter_opacity", b("filter_opacity", "filter:opacity(2%)")),
    both("visibility_hidden", b("visibility_hidden", "visibility:hidden"), "target_hidden"),
    both("visibility_collapse", b("visibility_collapse", "visibility:collapse"), "target_hidden"),
    good("visible_in_hidden", f'<div style="visibility:hidden">{b("visible_in_hidden", "visibility:visible")}</div>'),
    both("display_none", b("display_none", "display:none"), "target_hidden"),
    both("details_closed", f'<details><summary>s</summary>{b("details_closed")}</details>', "target_hidden"),
    both("content_visibility", f'<div style="content-visibility:hidden">{b("content_visibility")}</div>', "target_hidden"),
    both("hidden_until_found", f'<div hidden="until-found">{b("hidden_until_found")}</div>', "target_hidden"),
    unseen("text_colour_of_ground", '<a id="text_colour_of_ground" href="#" style="color:#fff">White on white</a>'),
    unseen("text_transparent", '<a id="text_transparent" href="#" style="color:transparent">No colour</a>'),
    unseen("text_fill_transparent",
           '<a id="text_fill_transparent" href="#" style="-webkit-text-fill-color:#ffffff">Filled</a>'),
    unseen("text_near_ground", '<div style="background:#404040;width:100px"><a id="text_near_ground" href="#" '
           'style="color:#434343;text-decoration:none">Grey on grey</a></div>'),
    good("text_grey_readable", '<a id="text_grey_readable" href="#" style="color:#999">Grey on white</a>'),
    unseen("box_colour_of_ground",
           b("box_colour_of_ground", "background:#fff;border-color:#fff;color:#fff")),
    good("white_with_border", b("white_with_border", "background:#fff;border-color:#ccc;color:#fff")),
    unseen("empty_catcher", '<div id="empty_catcher" style="width:100px;height:30px"></div>'),
    unseen("empty_anchor", '<a id="empty_anchor" href="#" style="display:block;width:100px;height:30px"></a>'),
    unseen("bare_field", '<input id="bare_field" style="border:0;outline:0;background:none;width:90px">'),
    unseen("bare_checkbox", '<input type="checkbox" id="bare_checkbox" style="appearance:none;width:20px;height:20px">'),
    unseen("transparent_image",
           '<img id="transparent_image" alt="" style="width:90px;height:30px" '
           'src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">'),
    unseen("blank_canvas", '<canvas id="blank_canvas" width="90" height="30"></canvas>'),
    good("drawn_canvas", '<canvas id="drawn_canvas" width="90" height="30"></canvas>',
         script="{const c=drawn_canvas.getContext('2d');c.fillStyle='#36c';c.fillRect(0,0,90,30)}"),
]  # fmt: skip
COVERED = [
    both("covered", b("covered") + OVER.format(""), "target_occluded"),
    dead("transparent_catcher", b("transparent_catcher") + OVER.format("background:none")),
    unseen("cover_without_pointer",
           b("cover_without_pointer") + OVER.format("pointer-events:none"), "target_occluded"),
    good("tint_15", b("tint_15") + OVER.format("pointer-events:none;background:rgba(0,0,0,.15)")),
    unseen("tint_90", b("tint_90") + OVER.format("pointer-events:none;background:rgba(0,0,0,.95)"), "target_occluded"),
    both("covered_by_image", b("covered_by_image") +
         '<img alt="" class="over" src="data:image/svg+xml,%3Csvg xmlns=\'http://www.w3.org/2000/svg\'/%3E" '
         'style="background:#9c6">', "target_occluded"),
    both("covered_by_frame", b("covered_by_frame") + '<iframe class="over" srcdoc="<body style=background:%23fc0>">'
         '</iframe>', "target_occluded"),
    unseen("covered_by_canvas", b("covered_by_canvas") + '<canvas id="cc" class="over" width="110" height="36" '
           'style="background:none;pointer-events:none"></canvas>', "target_occluded",
           script="{const c=cc.getContext('2d');c.fillStyle='#383';c.fillRect(0,0,110,36)}"),
    unseen("ancestor_after",
           "<style>#aa::after{content:'';position:absolute;inset:0;background:#ccc;pointer-events:none}</style>"
           f'<div id="aa" style="position:relative;width:110px;height:36px">{b("ancestor_after")}</div>',
           "target_occluded"),
    dead("ancestor_after_takes",
         "<style>#at::after{content:'';position:absolute;inset:0}</style>"
         f'<div id="at" style="position:relative;width:110px;height:36px">{b("ancestor_after_takes")}</div>'),
    good("half_covered", b("half_covered") + OVER.format("width:50px")),
    good("badge_on_the_centre", b("badge_on_the_centre") + OVER.format("left:35px;top:5px;width:30px;height:20px")),
    unseen("nine_tenths_covered", b("nine_tenths_covered") + OVER.format("width:92px"), "target_occluded", ),
    good("two_fifths_free", b("two_fifths_free") + OVER.format("width:58px")),
    good("under_hole", b("under_hole") + OVER.format("left:0;width:30px") + OVER.format("left:70px;width:30px")),
    dead("covered_by_sticky",
         '<div style="height:36px;width:110px;overflow:hidden"><div style="position:sticky;top:0;height:36px;'
         f'background:#fd8;z-index:2"></div><div style="margin-top:-33px">{b("covered_by_sticky")}</div></div>',
         seen=False),
    good("own_child_over", f'<div id="own_child_over" class="b">{OVER.format("position:static;height:28px;width:98px")}</div>'),
    good("negative_z_child",
         '<a id="negative_z_child" href="#" class="b" style="position:relative;z-index:0">Text'
         '<span style="position:absolute;inset:0;z-index:-1;background:#fcf"></span></a>'),
    dead("negative_z_behind",
         '<div style="position:relative;z-index:0;width:110px;height:36px"><div style="position:relative;z-index:-1">'
         f'{b("negative_z_behind")}</div><div style="position:absolute;inset:0;background:#eee"></div></div>', seen=False),
]  # fmt: skip
CLIPPED = [
    both("clipped_away", f'<div style="width:110px;height:12px;overflow:hidden"><div style="height:20px"></div>'
         f'{b("clipped_away")}</div>', "target_clipped"),
    good("clipped_half", f'<div style="width:50px;height:36px;overflow:hidden">{b("clipped_half")}</div>'),
    unseen("clipped_to_a_tenth", f'<div style="width:8px;height:36px;overflow:hidden">{b("clipped_to_a_tenth")}</div>',
         "target_clipped", ),
    both("clip_path_all", b("clip_path_all", "clip-path:inset(50%)"), "target_clipped"),
    good("clip_path_some", b("clip_path_some", "clip-path:inset(0 40% 0 0)")),
    both("clip_path_parent", f'<div style="clip-path:circle(5px at 2px 2px)">{b("clip_path_parent")}</div>',
         "target_clipped"),
    both("reader_only",
         '<button id="reader_only" style="position:absolute;width:1px;height:1px;padding:0;border:0;overflow:hidden;'
         'clip:rect(0,0,0,0)">Skip</button>', "target_too_small", "target_clipped"),
    both("scrolled_out", '<div style="width:110px;height:36px;overflow:auto"><div style="height:100px"></div>'
         f'{b("scrolled_out")}</div>', "target_clipped"),
    good("absolute_escapes_clip",
         '<div style="width:10px;height:5px;overflow:hidden"><div style="position:absolute">'
         f'{b("absolute_escapes_clip")}</div></div>'),
    both("contain_paint", '<div style="contain:paint;width:110px;height:5px"><div style="height:10px"></div>'
         f'{b("contain_paint")}</div>', "target_clipped"),
    both("off_left", b("off_left", "position:fixed;left:-300px;top:10px"), "target_offscreen"),
    both("off_below", b("off_below", "position:fixed;left:10px;top:5000px"), "target_offscreen"),
    both("zero_size", '<button id="zero_size" style="width:0;height:0;padding:0;border:0"></button>',
         "target_too_small"),
    unseen("two_px", '<button id="two_px" style="width:2px;height:2px;padding:0;border:0;background:#000"></button>',
         "target_too_small"),
]  # fmt: skip
TURNED = [
    good("rotated_45", b("rotated_45", "width:40px;height:24px;transform:rotate(45deg)")),
    good("skewed", b("skewed", "transform:skewX(20deg)")),
    good("scaled", b("scaled", "transform:scale(.6)")),
    good("rotate_property", b("rotate_property", "width:60px;height:20px;rotate:20deg")),
    good("zoomed", b("zoomed", "zoom:.7")),
    good("rotated_covered_corners", b("rotated_covered_corners", "width:60px;height:12px;transform:rotate(30deg)") +
         OVER.format("left:0;top:22px;width:20px;height:14px")),
    both("backface", b("backface", "transform:rotateY(180deg);backface-visibility:hidden"), "target_hidden",
         "target_clipped"),
    both("scale_zero", b("scale_zero", "transform:scale(0)"), "target_too_small", "target_hidden"),
    both("edge_on", b("edge_on", "transform:rotateY(90deg)"), "target_too_small", "target_hidden"),
    good("vertical", b("vertical", "writing-mode:vertical-rl;width:24px;height:36px")),
]  # fmt: skip
STOPPED = [
    off("disabled", b("disabled", more="disabled")),
    off("fieldset", f'<fieldset disabled style="border:0;margin:0;padding:0">{b("fieldset")}</fieldset>'),
    good("fieldset_legend",
         f'<fieldset disabled style="border:0;margin:0;padding:0"><legend>{b("fieldset_legend")}</legend></fieldset>'),
    off("inert", f'<div inert>{b("inert")}</div>'),
    Case("aria_disabled", b("aria_disabled", more='aria-disabled="true"'), enabled=False, reasons=("target_disabled",)),
    Case("pointer_none", b("pointer_none", "pointer-events:none"), clicks=False,
         reasons=("target_disabled", "target_occluded")),
    good("pointer_auto_in_none",
         f'<div style="pointer-events:none">{b("pointer_auto_in_none", "pointer-events:auto")}</div>'),
    Case("plain_text", '<p id="plain_text" style="margin:0">Only words</p>', enabled=False, clicks=True,
         reasons=("target_not_interactive",)),
]  # fmt: skip
DRAWN = [
    good("svg_ring", SVG.format('<circle id="svg_ring" cx="18" cy="18" r="14" fill="none" stroke="#00f" '
                                'stroke-width="4" tabindex="0"/>')),
    good("svg_line", SVG.format('<line id="svg_line" x1="2" y1="2" x2="90" y2="32" stroke="#060" stroke-width="4" '
                                'tabindex="0"/>')),
    good("svg_group", SVG.format('<g id="svg_group" tabindex="0"><circle cx="12" cy="18" r="8" fill="#a00"/>'
                                 '<circle cx="80" cy="18" r="8" fill="#a00"/></g>')),
    good("svg_link", SVG.format('<a id="svg_link" href="#"><text x="4" y="22">drawn</text></a>')),
    both("svg_covered", SVG.format('<rect id="svg_covered" width="60" height="30" fill="#bbf" tabindex="0"/>'
                                   '<rect width="80" height="34" fill="#dda"/>'), "target_occluded"),
    unseen("svg_no_paint", SVG.format('<rect id="svg_no_paint" width="60" height="30" fill="none" '
                                      'pointer-events="all" tabindex="0"/>')),
    unseen("svg_fill_transparent", SVG.format('<rect id="svg_fill_transparent" width="60" height="30" '
                                              'fill-opacity="0" tabindex="0"/>')),
    good("svg_button", f'<button id="svg_button" style="border:0;padding:0;background:none">'
         f'{SVG.format("<rect width=30 height=30 fill=#08f />")}</button>'),
    good("image_map", '<img alt="" usemap="#im" width="100" height="32" src="data:image/svg+xml,%3Csvg '
         "xmlns='http://www.w3.org/2000/svg' width='100' height='32'%3E%3Crect width='100' height='32' fill='teal'/"
         '%3E%3C/svg%3E"><map name="im"><area id="image_map" shape="rect" coords="10,4,60,28" href="#" alt="a"></map>'),
]  # fmt: skip
MASKED = [
    unseen("cover_pointer_none_important",
           b("cover_pointer_none_important") + OVER.format("pointer-events:none!important"), "target_hidden"),
    unseen("inert_cover", b("inert_cover") + '<div class="over" inert></div>', "target_hidden"),
    unseen("mask_all", b("mask_all", "mask-image:linear-gradient(transparent,transparent)")),
    good("mask_none", b("mask_none", "mask-image:linear-gradient(#000,#000)")),
    good("mask_half", b("mask_half", "mask-image:linear-gradient(90deg,#000 60%,transparent 60%)")),
    unseen("blend_away", b("blend_away", "mix-blend-mode:screen;background:#000;border-color:#000;color:#000")),
    good("blend_kept", b("blend_kept", "mix-blend-mode:multiply")),
    unseen("veil_gradient", b("veil_gradient") + OVER.format(
        "pointer-events:none;background:linear-gradient(rgba(255,255,255,.99),#fff)"), "target_hidden",
        "target_occluded"),
    good("veil_thin", b("veil_thin") + OVER.format(
        "pointer-events:none;background:linear-gradient(rgba(255,255,255,.1),rgba(255,255,255,.2))")),
    good("backdrop_over", b("backdrop_over") + OVER.format(
        "pointer-events:none;background:none;backdrop-filter:brightness(.9)")),
    unseen("brightness", b("brightness", "filter:brightness(9) grayscale(1);color:#fff;background:#eee;"
                           "border-color:#eee")),
]  # fmt: skip
SHADOWED = [
    good("open_shadow", '<div id="os"></div>', shadow=("#os",),
         script="os.attachShadow({mode:'open'}).innerHTML=part('open_shadow')"),
    good("closed_shadow", '<div id="cs"></div>', shadow=("#cs",),
         script="roots.cs=cs.attachShadow({mode:'closed'});roots.cs.innerHTML=part('closed_shadow')"),
    both("closed_shadow_covered", '<div id="csc"></div>' + OVER.format(""), "target_occluded", shadow=("#csc",),
         script="roots.csc=csc.attachShadow({mode:'closed'});roots.csc.innerHTML=part('closed_shadow_covered')"),
    good("slotted", '<div id="sl"><button class="b" id="slotted">Slotted</button></div>',
         script="sl.attachShadow({mode:'open'}).innerHTML='<slot></slot>'"),
    both("not_slotted", '<div id="ns"><button class="b" id="not_slotted">Lost</button></div>', "target_hidden",
         script="ns.attachShadow({mode:'open'}).innerHTML='<i>other</i>'"),
    unseen("slotted_veiled", '<div id="sv"><button class="b" id="slotted_veiled">Veiled</button></div>',
           script="sv.attachShadow({mode:'open'}).innerHTML='<div style=opacity:0><slot></slot></div>'"),
    both("shadow_cover", '<div id="sc"></div>', "target_occluded", shadow=("#sc",),
         script="sc.attachShadow({mode:'open'}).innerHTML=part('shadow_cover')+'<div style=\"position:absolute;"
                "left:0;top:0;width:110px;height:36px;background:#9c6\"></div>'"),
]  # fmt: skip
FRAMED = [
    good("in_frame", framed(b("in_frame")), frames=("in_frame",)),
    good("in_frame_border", framed(b("in_frame_border"), "border:2px solid #f00;padding:1px 3px;width:106px;height:33px"),
         frames=("in_frame_border",)),
    both("frame_covered", framed(b("frame_covered")) + OVER.format(""), "target_occluded", frames=("frame_covered",)),
    unseen("frame_covered_untouched", framed(b("frame_covered_untouched")) + OVER.format("pointer-events:none"),
           "target_occluded", frames=("frame_covered_untouched",)),
    dead("frame_under_catcher", framed(b("frame_under_catcher")) + OVER.format("background:none"),
         frames=("frame_under_catcher",)),
    unseen("frame_transparent", framed(b("frame_transparent"), "opacity:.03"), frames=("frame_transparent",)),
    both("frame_hidden", framed(b("frame_hidden"), "visibility:hidden"), "target_hidden", frames=("frame_hidden",)),
    dead("frame_pointer_none", framed(b("frame_pointer_none"), "pointer-events:none"), "target_disabled",
         "target_occluded", frames=("frame_pointer_none",)),
    both("frame_below_fold", framed(f'<div style="height:200px"></div>{b("frame_below_fold")}'), "target_clipped",
         "target_offscreen", frames=("frame_below_fold",)),
    good("frame_scaled", framed(b("frame_scaled"), "transform:scale(.7);transform-origin:0 0"),
         frames=("frame_scaled",)),
    good("frame_zoomed", framed(b("frame_zoomed"), "zoom:.8"), frames=("frame_zoomed",)),
    good("frame_rotated", framed(b("frame_rotated", "width:60px;height:20px"), "width:80px;rotate:15deg"),
         frames=("frame_rotated",)),
    good("frame_half_covered", framed(b("frame_half_covered")) + OVER.format("width:50px"),
         frames=("frame_half_covered",)),
    off("frame_modal", framed(b("frame_modal") + "<dialog id=d style='border:0;padding:0;width:9px;height:9px;"
        "margin:0'></dialog><script>d.showModal()</script>"), frames=("frame_modal",)),
    good("in_modal", framed(f"<dialog id=d style='border:0;padding:0;margin:0;max-height:none'>{b('in_modal')}</dialog>"
                            "<script>d.showModal()</script>"), frames=("in_modal",)),
    good("popover_beside", framed(b("popover_beside", "width:50px") + "<div popover id=p style='left:70px;top:0;margin:0;"
         "width:40px;height:30px;border:0'></div><script>p.showPopover()</script>"), frames=("popover_beside",)),
    both("popover_over", framed(b("popover_over") + "<div popover id=p style='left:0;top:0;margin:0;width:110px;"
         "height:36px;border:0;padding:0'></div><script>p.showPopover()</script>"), "target_occluded",
         frames=("popover_over",)),
    good("sandboxed", framed(b("sandboxed", tag="a", more='href="#x"'), attributes="sandbox"), frames=("sandboxed",)),
    good("frame_in_frame", framed(framed(b("frame_in_frame"), "margin:2px;width:110px;height:34px")),
         frames=("frame_in_frame", "frame_in_frame")),
]  # fmt: skip

#: Cases whose answer needs pixels: what script can see of them is marked unsure.
BY_PIXELS = frozenset(case.name for case in MASKED)
#: Cases that cannot tell of a click: their frame runs no scripts.
SILENT = frozenset({"sandboxed"})
#: Cases whose box holds little paint by their nature (a ring, a line), so that pixels show little of it.
SPARSE = frozenset({"svg_ring", "svg_line", "svg_group", "svg_link"})
CASES: tuple[Case, ...] = (
    *PLAIN, *TRANSPARENT, *COVERED, *CLIPPED, *TURNED, *STOPPED, *DRAWN, *MASKED, *SHADOWED, *FRAMED,
)  # fmt: skip
HEIGHT = (len(CASES) + COLUMNS - 1) // COLUMNS * CELL_HEIGHT + 4
WIDTH = COLUMNS * CELL_WIDTH + 4


def page(cases: tuple[Case, ...] = CASES) -> str:
    """The page; `hits` counts trusted clicks that reach each target."""
    cells = []
    for case in cases:
        holds = " holds" if "over" in case.body or "absolute" in case.body + case.script else ""
        cells.append(f'<div class="cell{holds}">{case.body}</div>')
    names = [case.name for case in cases]
    return (
        f"<!doctype html><meta charset=utf-8><title>Torture</title><style>{STYLE}</style><body>{''.join(cells)}"
        f"<script>const hits={{}}, roots={{}}; const names=new Set({names});"
        "const part=n=>`<style>.b{display:block;width:100px;height:30px;background:#dde8ff;border:1px solid #335}</style>"
        '<button class="b" id="${n}">Send</button>`;'
        "const hit=n=>hits[n]=(hits[n]||0)+1;"
        "addEventListener('message',m=>{if(names.has(m.data)){if(parent===window)hit(m.data);else parent.postMessage(m.data,'*')}});"
        f"{';'.join(c.script for c in cases)};"
        "const listen=r=>{for(const e of r.querySelectorAll('[id]'))if(names.has(e.id))e.addEventListener('click',v=>"
        "{if(v.isTrusted)hit(e.id);if(!/INPUT/.test(e.tagName)&&!e.control)v.preventDefault()});"
        "for(const e of r.querySelectorAll('*'))if(e.shadowRoot)listen(e.shadowRoot)};"
        "listen(document);for(const r of Object.values(roots))listen(r);document.querySelector('#plain_text')?.replaceWith("
        "document.querySelector('#plain_text').cloneNode(true));</script>"
    )
