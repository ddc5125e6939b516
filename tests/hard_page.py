"""A second page of hard cases, whose answers were written down by the rule of validity before any code was run on them.

A target is valid where a person sees at least a third of it, some point of it takes a real click, and it is enabled. Cells and
helpers are those of `torture`; no case of that page is here.
"""

from __future__ import annotations

from torture import OVER, SVG, Case, b, both, dead, framed, good, off, unseen

PICTURE = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='100' height='32'%3E"
    "%3Crect width='100' height='32' fill='teal'/%3E%3C/svg%3E"
)
CLEAR = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
FLIP = (
    '<div style="position:relative;width:100px;height:30px;transform-style:preserve-3d;transform:rotateY({}deg)">'
    '<button class="b" id="{}" style="position:absolute;backface-visibility:hidden">Front</button>'
    '<button class="b" id="{}" style="position:absolute;backface-visibility:hidden;transform:rotateY(180deg)">Back</button>'
    "</div>"
)

BOXES = [
    good("wrap_gap_taken", '<div style="width:110px;line-height:18px"><a href="#other" style="color:#080">Other words</a> '
         '<a id="wrap_gap_taken" href="#" style="color:#00c">wrap over</a></div>'),
    good("wrap_one_line_covered", '<div style="width:110px;line-height:18px;font:14px/18px monospace">'
         '<a id="wrap_one_line_covered" href="#" style="color:#00c">abcdefghij klmnopqrst</a></div>'
         + OVER.format("height:18px;width:100px")),
    both("zero_overflow_hidden", '<a id="zero_overflow_hidden" href="#" style="display:block;width:0;height:0;overflow:hidden">'
         '<span class="b">Cut</span></a>', "target_too_small", "target_hidden", "target_clipped"),
    good("zero_height_float", '<a id="zero_height_float" href="#" style="display:block;height:0">'
         '<span class="b" style="float:left">Floats</span></a>'),
    good("contents_text", '<button id="contents_text" style="display:contents">Bare words</button>'),
    both("contents_hidden_child", '<button id="contents_hidden_child" style="display:contents">'
         '<span class="b" style="visibility:hidden">Gone</span></button>', "target_hidden", "target_too_small"),
    both("contents_covered", '<button id="contents_covered" style="display:contents"><span class="b">Under</span></button>'
         + OVER.format(""), "target_occluded"),
    good("columns", '<div style="columns:2;column-gap:6px;width:114px;height:36px;font:11px/12px sans-serif">'
         '<a id="columns" href="#" style="color:#00c">One two three four five six seven</a></div>'),
    good("ellipsis", b("ellipsis", "overflow:hidden;text-overflow:ellipsis;white-space:nowrap;width:60px", "A long long name")),
    both("line_clamped", '<div style="display:-webkit-box;-webkit-line-clamp:1;-webkit-box-orient:vertical;overflow:hidden;'
         'width:110px;line-height:18px">First line of words<br><a id="line_clamped" href="#">second line</a></div>',
         "target_clipped", "target_occluded", "target_hidden"),
    both("input_hidden", '<input type="hidden" id="input_hidden">', "target_hidden", "target_missing", "target_too_small"),
    good("input_image", f'<input type="image" alt="go" id="input_image" src="{PICTURE}" style="width:90px;height:30px">'),
    good("input_colour", '<input type="color" id="input_colour" value="#cc0000">'),
    both("closed_option", '<select><option>One</option><option id="closed_option">Two</option></select>',
         "target_hidden", "target_missing", "target_too_small"),
    good("listed_option", '<select size="2" style="height:36px"><option>One</option><option id="listed_option">Two</option>'
         "</select>"),
]  # fmt: skip
FAINT = [
    good("opacity_chain_kept", f'<div style="opacity:.7"><div style="opacity:.7">{b("opacity_chain_kept", "opacity:.7")}</div></div>'),
    unseen("opacity_chain_lost", f'<div style="opacity:.3"><div style="opacity:.3">{b("opacity_chain_lost", "opacity:.3")}</div></div>'),
    unseen("animation_held", "<style>@keyframes gone{from{opacity:0}to{opacity:0}}</style>"
           + b("animation_held", "animation:gone 9s infinite paused")),
    unseen("filter_opacity_above", f'<div style="filter:opacity(0)">{b("filter_opacity_above")}</div>'),
    good("filter_invert", b("filter_invert", "filter:invert(1)")),
    good("filter_grey", b("filter_grey", "filter:contrast(0)")),
    good("filter_blur_a_little", b("filter_blur_a_little", "filter:blur(1px)")),
    unseen("filter_white", f'<div style="filter:brightness(0) invert(1)">{b("filter_white")}</div>'),
    unseen("mask_above", f'<div style="mask-image:linear-gradient(transparent,transparent)">{b("mask_above")}</div>'),
    good("mask_above_kept", f'<div style="mask-image:linear-gradient(#000,#000)">{b("mask_above_kept")}</div>'),
    unseen("mask_to_a_tenth", b("mask_to_a_tenth", "mask-image:linear-gradient(90deg,#000 10%,transparent 10%)")),
    unseen("svg_mask", SVG.format('<mask id="black"><rect width="100" height="36" fill="#000"/></mask><rect id="svg_mask" '
                                  'width="60" height="30" fill="#08c" mask="url(#black)" tabindex="0"/>')),
    good("svg_mask_kept", SVG.format('<mask id="white"><rect width="100" height="36" fill="#fff"/></mask><rect '
                                     'id="svg_mask_kept" width="60" height="30" fill="#08c" mask="url(#white)" tabindex="0"/>')),
    good("blend_difference", b("blend_difference", "mix-blend-mode:difference")),
    unseen("backdrop_black", b("backdrop_black") + OVER.format(
        "pointer-events:none;background:none;backdrop-filter:brightness(0)"), "target_hidden", "target_occluded"),
    unseen("text_rgba", '<a id="text_rgba" href="#" style="color:rgba(0,0,0,.02);text-decoration:none">Barely there</a>'),
    good("text_gradient", '<a id="text_gradient" href="#" style="color:transparent;text-decoration:none;'
         'background:linear-gradient(90deg,#c00,#00c);background-clip:text">Gradient</a>'),
    good("text_stroke", '<a id="text_stroke" href="#" style="color:#fff;text-decoration:none;-webkit-text-stroke:1px #000">'
         "Outlined</a>"),
    good("white_on_black_behind", '<div style="position:absolute;inset:0;background:#000"></div>'
         '<a id="white_on_black_behind" href="#" style="position:relative;color:#fff">White</a>'),
    unseen("black_on_black_behind", '<div style="position:absolute;inset:0;background:#000"></div>'
           '<a id="black_on_black_behind" href="#" style="position:relative;color:#000">Black</a>'),
    unseen("bare_placeholder", "<style>#bare_placeholder::placeholder{color:#fff;opacity:1}</style><input id='bare_placeholder' "
           "placeholder='Name' style='border:0;outline:0;background:none;width:90px'>"),
    good("outline_only", '<div id="outline_only" role="button" tabindex="0" style="width:90px;height:26px;margin:3px;'
         'outline:2px solid #000"></div>'),
    good("inset_shadow_only", '<div id="inset_shadow_only" role="button" tabindex="0" style="width:90px;height:26px;'
         'box-shadow:inset 0 0 0 3px #360"></div>'),
    good("border_image", '<div id="border_image" role="button" tabindex="0" style="width:80px;height:20px;'
         'border:5px solid;border-image:linear-gradient(#c0c,#0c0) 1"></div>'),
    unseen("svg_white", SVG.format('<rect id="svg_white" width="60" height="30" fill="#fff" tabindex="0"/>')),
    unseen("svg_opacity", SVG.format('<g opacity="0"><rect id="svg_opacity" width="60" height="30" fill="#08c" tabindex="0"/></g>')),
]  # fmt: skip
ABSENT = [
    both("row_collapsed", f'<table><tr style="visibility:collapse"><td>{b("row_collapsed")}</td></tr></table>', "target_hidden",
         "target_clipped", "target_too_small"),
    both("flex_collapsed", f'<div style="display:flex"><div style="visibility:collapse">{b("flex_collapsed")}</div></div>',
         "target_hidden"),
    good("content_visibility_auto", f'<div style="content-visibility:auto">{b("content_visibility_auto")}</div>'),
    good("content_visibility_own", b("content_visibility_own", "content-visibility:hidden")),
    good("details_open", f'<details open><summary style="display:none">s</summary>{b("details_open")}</details>'),
    good("button_in_summary", f'<details><summary>{b("button_in_summary", "display:inline-block;width:80px")}</summary>x</details>'),
    both("details_outer_closed", f'<details><summary>s</summary><details open><summary>t</summary>{b("details_outer_closed")}'
         "</details></details>", "target_hidden"),
    both("dialog_closed", f'<dialog>{b("dialog_closed")}</dialog>', "target_hidden"),
    both("popover_closed", f'<div popover>{b("popover_closed")}</div>', "target_hidden"),
    both("svg_in_defs", SVG.format('<defs><rect id="svg_in_defs" width="60" height="30" fill="#08c" tabindex="0"/></defs>'),
         "target_hidden", "target_missing", "target_too_small"),
    both("svg_hidden", SVG.format('<rect id="svg_hidden" width="60" height="30" fill="#08c" visibility="hidden" tabindex="0"/>'),
         "target_hidden"),
    good("aria_hidden", b("aria_hidden", more='aria-hidden="true"')),
    good("role_none", b("role_none", more='role="presentation"')),
    good("no_selection", b("no_selection", "user-select:none")),
    both("host_not_displayed", '<div id="hnd" style="display:none"></div>', "target_hidden", shadow=("#hnd",),
         script="hnd.attachShadow({mode:'open'}).innerHTML=part('host_not_displayed')"),
    good("slot_fallback", '<div id="sf"></div>', shadow=("#sf",),
         script="sf.attachShadow({mode:'open'}).innerHTML='<slot>'+part('slot_fallback')+'</slot>'"),
    both("slot_fallback_unused", '<div id="sfu"><i>given</i></div>', "target_hidden", shadow=("#sfu",),
         script="sfu.attachShadow({mode:'open'}).innerHTML='<slot>'+part('slot_fallback_unused')+'</slot>'"),
    unseen("adopted_style", '<div id="ads"></div>', shadow=("#ads",),
           script="{const r=ads.attachShadow({mode:'open'});r.innerHTML=part('adopted_style');const s=new CSSStyleSheet();"
                  "s.replaceSync('button{opacity:0}');r.adoptedStyleSheets=[s]}"),
    good("open_in_closed", '<div id="oic"></div>', shadow=("#oic", "#oii"),
         script="{const r=roots.oic=oic.attachShadow({mode:'closed'});r.innerHTML='<div id=oii></div>';const i=r.getElementById("
                "'oii').attachShadow({mode:'open'});roots.oii=i;i.innerHTML=part('open_in_closed')}"),
]  # fmt: skip
TAKEN = [
    dead("catcher_opacity_0", b("catcher_opacity_0") + OVER.format("opacity:0")),
    dead("catcher_image", b("catcher_image") + f'<img class="over" alt="" src="{CLEAR}" style="background:none">'),
    dead("catcher_letter", b("catcher_letter") + '<div class="over" style="background:none;font-size:30px">i</div>'),
    dead("catcher_video", b("catcher_video") + '<video class="over" style="background:none"></video>'),
    good("cover_hidden", b("cover_hidden") + OVER.format("visibility:hidden")),
    good("cover_clipped_away", b("cover_clipped_away") + OVER.format("clip-path:inset(100%)")),
    good("cover_scaled_away", b("cover_scaled_away") + OVER.format("scale:0")),
    good("cover_contents", b("cover_contents") + OVER.format("display:contents")),
    good("cover_round", b("cover_round") + OVER.format("left:30px;top:0;width:36px;border-radius:50%")),
    both("cover_content_visibility", b("cover_content_visibility") + OVER.format("content-visibility:hidden"), "target_occluded"),
    both("cover_before_of_sibling", "<style>#cbs::before{content:'';position:absolute;inset:0;background:#caa}</style>"
         + b("cover_before_of_sibling") + '<i id="cbs"></i>', "target_occluded"),
    good("own_after", "<style>#own_after::after{content:'';position:absolute;inset:0}</style>"
         + b("own_after", "position:relative")),
    both("cover_dialog_open", b("cover_dialog_open") + '<dialog open class="over" style="margin:0;border:0;padding:0"></dialog>',
         "target_occluded"),
    both("cover_anchored", b("cover_anchored", "anchor-name:--a") + '<div style="position:absolute;position-anchor:--a;'
         'top:anchor(top);left:anchor(left);width:anchor-size(width);height:anchor-size(height);background:#a9c"></div>',
         "target_occluded"),
    good("anchored", '<i style="anchor-name:--b;display:block;width:9px;height:9px"></i>'
         + b("anchored", "position:absolute;position-anchor:--b;top:anchor(bottom);left:anchor(left);height:24px;line-height:20px")),
    both("cover_in_front_3d", '<div style="transform-style:preserve-3d;position:relative;width:110px;height:36px">'
         '<div style="position:absolute;inset:0;background:#9ac;transform:translateZ(9px)"></div>'
         f'{b("cover_in_front_3d", "position:absolute")}</div>', "target_occluded"),
    unseen("covered_to_three_quarters", b("covered_to_three_quarters") + OVER.format("width:75px"), "target_occluded"),
    good("covered_to_three_fifths", b("covered_to_three_fifths") + OVER.format("width:60px")),
    unseen("covered_from_below", b("covered_from_below") + OVER.format("top:8px;height:30px"), "target_occluded"),
    good("covered_from_below_less", b("covered_from_below_less") + OVER.format("top:13px;height:20px")),
    unseen("striped", b("striped") + "".join(OVER.format(f"left:{20 * k}px;width:16px") for k in range(5)), "target_occluded"),
    dead("area_second", f'<img alt="" usemap="#m2" width="100" height="32" src="{PICTURE}"><map name="m2">'
         '<area shape="rect" coords="0,0,100,32" href="#" alt="one">'
         '<area id="area_second" shape="rect" coords="20,4,60,28" href="#" alt="two"></map>'),
    both("area_covered", f'<img alt="" usemap="#m3" width="100" height="32" src="{PICTURE}"><map name="m3">'
         '<area id="area_covered" shape="rect" coords="10,4,60,28" href="#" alt="a"></map>' + OVER.format(""), "target_occluded"),
    good("area_triangle", f'<img alt="" usemap="#m4" width="100" height="32" src="{PICTURE}"><map name="m4">'
         '<area id="area_triangle" shape="poly" coords="10,30,80,30,10,2" href="#" alt="a"></map>'),
    both("area_of_hidden", f'<img alt="" usemap="#m5" width="100" height="32" src="{PICTURE}" style="visibility:hidden">'
         '<map name="m5"><area id="area_of_hidden" shape="rect" coords="10,4,60,28" href="#" alt="a"></map>', "target_hidden"),
    good("svg_stroke_only", SVG.format('<rect id="svg_stroke_only" x="5" y="5" width="60" height="24" fill="#eef" stroke="#00a" '
                                       'stroke-width="6" pointer-events="stroke" tabindex="0"/>')),
    good("svg_use", SVG.format('<symbol id="sy"><rect width="40" height="30" fill="#a50"/></symbol><use id="svg_use" href="#sy" '
                               'width="40" height="30" tabindex="0"/>')),
    good("svg_foreign", SVG.format(f'<foreignObject width="100" height="36">{b("svg_foreign", "width:90px")}</foreignObject>')),
    good("svg_gradient", SVG.format('<linearGradient id="gr"><stop stop-color="#f00"/><stop offset="1" stop-color="#00f"/>'
                                    '</linearGradient><rect id="svg_gradient" width="60" height="30" fill="url(#gr)" tabindex="0"/>')),
]  # fmt: skip
CUT = [
    unseen("clip_path_dot", b("clip_path_dot", "clip-path:circle(8px at 50px 15px)"), "target_clipped"),
    both("clip_path_url", '<svg width="0" height="0" style="position:absolute"><clipPath id="nothing"></clipPath></svg>'
         + b("clip_path_url", "clip-path:url(#nothing)"), "target_clipped", "target_occluded"),
    good("clip_rect", b("clip_rect", "position:absolute;clip:rect(0,44px,30px,0)")),
    unseen("clip_path_above_strip", f'<div style="clip-path:inset(0 90px 0 0);width:110px">{b("clip_path_above_strip")}</div>',
         "target_clipped"),
    unseen("svg_clip", SVG.format('<clipPath id="tiny"><rect width="4" height="4"/></clipPath><rect id="svg_clip" width="60" '
                                'height="30" fill="#08c" clip-path="url(#tiny)" tabindex="0"/>'), "target_clipped"),
    both("overflow_clip", f'<div style="overflow:clip;height:4px"><div style="height:6px"></div>{b("overflow_clip")}</div>',
         "target_clipped"),
    good("overflow_clip_margin", '<div style="overflow:clip;overflow-clip-margin:40px;height:2px;width:110px">'
         f'{b("overflow_clip_margin")}</div>'),
    good("overflow_clip_one_axis", f'<div style="overflow-x:clip;height:2px;width:110px">{b("overflow_clip_one_axis")}</div>'),
    both("nested_scroll_clip", '<div style="width:110px;height:30px;overflow:hidden"><div style="height:34px"></div>'
         f'<div style="height:60px;overflow:auto">{b("nested_scroll_clip")}</div></div>', "target_clipped"),
    good("scrolled_in", '<div id="sci" style="width:110px;height:36px;overflow:auto;scrollbar-width:none"><div style="width:400px;'
         f'padding-left:250px">{b("scrolled_in")}</div></div>', script="sci.scrollLeft=245"),
    both("scrolled_past", '<div id="scp" style="width:110px;height:36px;overflow:auto"><div style="height:200px">'
         f'{b("scrolled_past")}</div></div>', "target_clipped", script="scp.scrollTop=90"),
    both("contain_content", f'<div style="contain:content;height:4px"><div style="height:6px"></div>{b("contain_content")}</div>',
         "target_clipped"),
    good("contain_size", f'<div style="contain:size;height:4px;width:110px">{b("contain_size")}</div>'),
    unseen("round_clip", f'<div style="overflow:hidden;border-radius:50%;width:30px;height:30px">{b("round_clip")}</div>',
         "target_clipped"),
    both("fixed_in_transformed", '<div style="transform:translate(0,0);overflow:hidden;height:3px;width:110px">'
         f'{b("fixed_in_transformed", "position:fixed;top:6px;left:0")}</div>', "target_clipped"),
    good("fixed_escapes", f'<div style="overflow:hidden;height:3px;width:110px">{b("fixed_escapes", "position:fixed")}</div>'),
    both("translated_off", b("translated_off", "transform:translate(-3000px,0)"), "target_offscreen"),
    both("offset_path_off", b("offset_path_off", "offset-path:path('M 0 9000 L 1 9000')"), "target_offscreen"),
    both("scale_flat", b("scale_flat", "scale:1 0"), "target_too_small", "target_hidden", "target_clipped"),
    good("mirrored", b("mirrored", "scale:-1 1")),
    good("tilted", f'<div style="perspective:300px;width:110px">{b("tilted", "transform:rotateX(40deg)")}</div>'),
    good("card_front", FLIP.format(0, "card_front", "card_back_")),
    both("card_back", FLIP.format(0, "card_front_", "card_back"), "target_hidden", "target_clipped", "target_occluded"),
    both("flipped_front", FLIP.format(180, "flipped_front", "flipped_back_"), "target_hidden", "target_clipped", "target_occluded"),
    good("flipped_back", FLIP.format(180, "flipped_front_", "flipped_back")),
    good("zoom_in_zoom", f'<div style="zoom:.8">{b("zoom_in_zoom", "zoom:.8")}</div>'),
    both("zoom_covered", f'<div style="zoom:.8">{b("zoom_covered")}</div>' + OVER.format(""), "target_occluded"),
]  # fmt: skip
STOPPED = [
    off("second_legend", '<fieldset disabled style="border:0;margin:0;padding:0"><legend style="display:none">a</legend><legend>'
        f'{b("second_legend")}</legend></fieldset>'),
    off("legend_of_inner", '<fieldset disabled style="border:0;margin:0;padding:0"><fieldset style="border:0;margin:0;padding:0">'
        f'<legend>{b("legend_of_inner")}</legend></fieldset></fieldset>'),
    good("link_in_fieldset", '<fieldset disabled style="border:0;margin:0;padding:0">'
         f'{b("link_in_fieldset", tag="a", more="href=#")}</fieldset>'),
    off("select_disabled", '<select id="select_disabled" disabled><option>One</option></select>'),
    good("div_disabled", b("div_disabled", tag="div", more="disabled role=button tabindex=0")),
    good("aria_disabled_false", b("aria_disabled_false", more='aria-disabled="false"')),
    Case("label_of_disabled", '<label id="label_of_disabled" class="b"><input type="checkbox" disabled style="margin:0"> Off</label>',
         enabled=False, reasons=("target_disabled",)),
    off("inert_host", '<div id="ih" inert></div>', shadow=("#ih",),
        script="ih.attachShadow({mode:'open'}).innerHTML=part('inert_host')"),
    off("interactivity_inert", f'<div style="interactivity:inert">{b("interactivity_inert")}</div>'),
    dead("pointer_none_important", b("pointer_none_important", "pointer-events:none!important"), "target_disabled",
         "target_occluded"),
    good("child_without_pointer", '<button class="b" id="child_without_pointer"><span style="pointer-events:none">In</span></button>'),
    good("label_of_hidden", '<input type="checkbox" id="loh" style="display:none"><label id="label_of_hidden" for="loh" class="b">'
         "Toggle</label>"),
    unseen("input_under_label", '<label class="b" style="position:relative"><input type="checkbox" id="input_under_label" '
           'style="position:absolute;inset:0;opacity:0;width:100px;height:30px">Fancy</label>'),
]  # fmt: skip
FRAMED = [
    both("frame_not_displayed", framed(b("frame_not_displayed"), "display:none"), "target_hidden", "target_missing",
         frames=("frame_not_displayed",)),
    both("frame_scrolled_away", '<div style="height:36px;overflow:auto"><div style="height:60px"></div>'
         f'{framed(b("frame_scrolled_away"))}</div>', "target_clipped", "target_offscreen", frames=("frame_scrolled_away",)),
    both("frame_fixed_header", framed("<div style='position:fixed;left:0;top:0;width:120px;height:40px;background:#db8'></div>"
         + b("frame_fixed_header")), "target_occluded", frames=("frame_fixed_header",)),
    good("frame_fixed_glass", framed("<div style='position:fixed;inset:0;pointer-events:none'></div>" + b("frame_fixed_glass")),
         frames=("frame_fixed_glass",)),
    both("frame_popover_on_top", framed(b("frame_popover_on_top", "position:relative;z-index:2147483647")
         + "<div popover=manual id=p style='inset:0;margin:0;width:118px;height:40px;border:0;padding:0;background:#8bd'></div>"
         "<script>p.showPopover()</script>"), "target_occluded", frames=("frame_popover_on_top",)),
    good("frame_in_popover", framed(f"<div popover=manual id=p style='inset:0;margin:0;border:0;padding:0'>{b('frame_in_popover')}"
         "</div><script>p.showPopover()</script>"), frames=("frame_in_popover",)),
    unseen("frame_in_faint_frame", framed(framed(b("frame_in_faint_frame")), "opacity:0"),
           frames=("frame_in_faint_frame", "frame_in_faint_frame")),
    off("frame_inert", f'<div inert>{framed(b("frame_inert"))}</div>', frames=("frame_inert",)),
    unseen("frame_masked", framed(b("frame_masked"), "mask-image:linear-gradient(transparent,transparent)"),
           frames=("frame_masked",)),
    good("frame_zoom_border", framed(b("frame_zoom_border"), "zoom:.9;border:3px solid #090;padding:2px;width:110px;height:34px"),
         frames=("frame_zoom_border",)),
    unseen("frame_clipped_to_a_strip", f'<div style="width:12px;overflow:hidden">{framed(b("frame_clipped_to_a_strip"))}</div>',
         "target_clipped", frames=("frame_clipped_to_a_strip",)),
    good("frame_sticky_half", framed("<div style='position:sticky;top:0;height:14px;background:#9c6;z-index:2'></div>"
         + b("frame_sticky_half", "margin-top:-14px")), frames=("frame_sticky_half",)),
]  # fmt: skip
#: Frames of another site: the same server by another name.
OTHER_SITE = [
    good("site_good", "", frames=("site_good",)),
    both("site_covered", OVER.format(""), "target_occluded", frames=("site_covered",)),
    dead("site_under_catcher", OVER.format("background:none"), frames=("site_under_catcher",)),
    off("site_disabled", "", frames=("site_disabled",)),
]  # fmt: skip

CASES: tuple[Case, ...] = (*BOXES, *FAINT, *ABSENT, *TAKEN, *CUT, *STOPPED, *FRAMED, *OTHER_SITE)
#: A click on an option of a list or a label cannot be told apart by the page's own listeners.
SILENT = frozenset({"listed_option"})
#: Holds little paint in its box by its nature, so that hiding it changes little of it.
SPARSE = frozenset({
    "wrap_gap_taken", "wrap_one_line_covered", "contents_text", "columns", "text_gradient", "text_stroke", "white_on_black_behind",
    "outline_only", "inset_shadow_only", "border_image", "svg_stroke_only", "area_triangle", "label_of_hidden",
})  # fmt: skip


def files() -> dict[str, str]:
    """Documents of the frames of another site, by name."""
    listens = (
        "<script>for(const e of document.querySelectorAll('[id]'))e.addEventListener('click',v=>"
        "{if(v.isTrusted)parent.postMessage(e.id,'*')})</script>"
    )
    made = {}
    for case in OTHER_SITE:
        inner = b(case.name, more="disabled" if case.name == "site_disabled" else "")
        style = "body{margin:0}.b{display:block;width:100px;height:30px;background:#dde8ff;border:1px solid #335}"
        made[f"{case.name}.html"] = f"<!doctype html><meta charset=utf-8><style>{style}</style><body>{inner}{listens}"
    return made


def placed() -> tuple[Case, ...]:
    """The cases with the frames of another site put in; the page has to be served beside `files`."""
    from dataclasses import replace

    address = "`http://${location.hostname === 'localhost' ? '127.0.0.1' : 'localhost'}:${location.port}/%s.html`"
    others = [
        replace(
            case,
            body=f'<iframe id="f_{case.name}"></iframe>{case.body}',
            script=f"f_{case.name}.src={address % case.name}",
        )
        for case in OTHER_SITE
    ]
    return tuple(one for one in CASES if one not in OTHER_SITE) + tuple(others)
