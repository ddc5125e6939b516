"""Effects from pictures and states: what a person would call a change, and nothing else."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from effect_steps import array, described, drawn, element, encoded, observation, page
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow
from PIL import ImageFont

from cuadata import effects
from cuadata.seeing.pixels import change
from cuadata.types import BBox, Dialog, Effect, PageInfo, Point, Size


def the_case(cases: Path, id: str) -> tuple[Path, dict[str, Any]]:
    folder = next((cases / "effect").glob(f"{id}-*"))
    return folder, json.loads((folder / "expected.json").read_text())["expect"]


def inside(inner: BBox, outer: list[float]) -> bool:
    x, y, width, height = outer
    return x <= inner.x and y <= inner.y and inner.right <= x + width and inner.bottom <= y + height


# --- the cases ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["B46", "B50", "B53", "B57"])
def test_pairs_of_pictures(cases: Path, id: str) -> None:
    folder, expect = the_case(cases, id)
    effect = effects.compare(folder / "before.png", folder / "after.png")
    assert effect.happened is expect["effect"]
    if "similarity" in expect:
        assert effect.similarity == expect["similarity"]
    if within := expect.get("changed_region_within"):
        assert effect.region is not None and inside(effect.region, within)
    if region := expect.get("changed_region"):
        assert effect.region == BBox(*region)


def test_crops_smaller_than_the_window(cases: Path) -> None:
    folder, expect = the_case(cases, "B48")
    for pair in expect["pairs"]:
        effect = effects.compare(folder / pair["before"], folder / pair["after"])
        assert effect.happened is pair["effect"], pair


def test_a_size_that_changed_is_no_effect(cases: Path) -> None:
    folder, _ = the_case(cases, "B49")
    effect = effects.compare(folder / "before.png", folder / "after.png")
    assert effect.size_changed and effect.happened is None and effect.similarity is None
    assert "320x240" in effect.reason and "320x200" in effect.reason


@pytest.mark.parametrize("before, other", [("before_0.png", "before_1.png"), ("before_1.png", "before_0.png")])
def test_a_spinner_is_no_effect(cases: Path, before: str, other: str) -> None:
    folder, expect = the_case(cases, "B52")
    effect = effects.compare(folder / before, folder / "after.png", ambient=[folder / other])
    assert effect.kind == "ambient" and effect.happened is False
    assert effect.region is not None and inside(effect.region, expect["self_changing_region"])


def test_a_late_effect_is_followed_until_it_settles(cases: Path) -> None:
    folder, expect = the_case(cases, "B56")
    given = json.loads((folder / "frames.json").read_text())
    frames = [(frame["ms"] / 1000, folder / frame["image"]) for frame in given["after"]]
    effect, rest = effects.follow(folder / given["before"], frames)
    assert effect.kind == "late" and effect.happened is expect["effect"]
    assert effect.settled == expect["settled_ms"] / 1000 == rest.time and rest.still
    assert frames[rest.index][1].name == expect["after_image_equals"]


# --- what is an effect -------------------------------------------------------------------------------------------------

_BIG = page(1280, 800)
_PAGE = page(640, 480)
EFFECTS: dict[str, Pillow.Image] = {
    "tick of 13 px": drawn(_BIG, lambda d: d.line((23, 227, 26, 231, 31, 222), fill=(0, 90, 200), width=2)),
    "focus ring": drawn(_BIG, lambda d: d.rectangle((18, 328, 122, 362), outline=(16, 16, 16))),
    "faint focus ring": drawn(_BIG, lambda d: d.rectangle((18, 328, 122, 362), outline=(180, 205, 245), width=2)),
    "caret": drawn(_BIG, lambda d: d.line((300, 62, 300, 76), fill="black")),
    "one glyph": drawn(
        _BIG, lambda d: (d.rectangle((60, 10, 68, 26), fill=(34, 51, 68)), d.text((60, 12), "4", fill="white"))
    ),
    "row selected": drawn(_BIG, lambda d: d.rectangle((400, 220, 700, 240), fill=(232, 240, 254))),
    "same brightness": drawn(_BIG, lambda d: d.rectangle((21, 331, 30, 340), fill=(146, 71, 51))),
    "toast": drawn(
        _BIG,
        lambda d: (d.rectangle((1180, 740, 1270, 783), fill=(51, 51, 51)), d.text((1190, 750), "Saved", fill="white")),
    ),
    "2 px at the corner": drawn(_BIG, lambda d: d.line((1278, 799, 1279, 799), fill="black")),
    "2 px at the left edge": drawn(_BIG, lambda d: d.line((0, 400, 0, 401), fill="black")),
    "veil": Pillow.blend(_BIG, Pillow.new("RGB", _BIG.size), 0.3),
    "dark theme": Pillow.eval(_BIG, lambda level: 255 - level),
    "scrolled by 3 px": Pillow.fromarray(np.vstack([array(_BIG)[3:], array(_BIG)[-3:]])),
    "gamma that a person sees": Pillow.eval(_BIG, lambda level: round(255 * (level / 255) ** 1.4)),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_effects(name: str) -> None:
    effect = effects.compare(array(_BIG), array(EFFECTS[name]))
    assert effect.happened is True, effect
    assert effect.region is not None and effect.share > 0
    wide = name in ("veil", "dark theme", "scrolled by 3 px", "gamma that a person sees")
    assert effect.kind == ("global" if wide else "local")


def decoded(data: bytes) -> Any:
    """A picture as others hand it on: decoded, its format forgotten."""
    return np.asarray(Pillow.open(io.BytesIO(data)).convert("RGB"))


@pytest.mark.parametrize("quality", [35, 75, 95])
@pytest.mark.parametrize("subsampling", [0, 2])
@pytest.mark.parametrize("name", ["tick of 13 px", "one glyph", "same brightness", "scrolled by 3 px"])
def test_effects_under_the_noise_of_jpeg(name: str, quality: int, subsampling: int) -> None:
    changed = EFFECTS[name].crop((0, 0, 640, 480))
    after = encoded(changed, "JPEG", quality=quality, subsampling=subsampling)
    assert effects.compare(encoded(_BIG.crop((0, 0, 640, 480))), after).happened is True
    assert effects.compare(array(_BIG.crop((0, 0, 640, 480))), decoded(after)).happened is True


@pytest.mark.parametrize("quality", [35, 60, 75, 90, 95])
@pytest.mark.parametrize("subsampling", [0, 2])
def test_a_picture_stored_again_as_jpeg_is_no_effect(quality: int, subsampling: int) -> None:
    after = encoded(_PAGE, "JPEG", quality=quality, subsampling=subsampling)
    assert effects.compare(encoded(_PAGE), after).kind == "none"
    again = encoded(Pillow.open(io.BytesIO(after)), "JPEG", quality=max(30, quality - 20))
    assert effects.compare(after, again).kind == "none"
    assert effects.compare(encoded(_PAGE), encoded(_PAGE, "WEBP", quality=quality)).kind == "none"
    assert effects.compare(array(_PAGE), decoded(after)).kind == "none"


@pytest.mark.parametrize("levels", [1, 2])
def test_noise_of_a_few_levels_is_no_effect(levels: int) -> None:
    noise = np.random.default_rng(levels).integers(-levels, levels + 1, (800, 1280, 3))
    after = np.clip(array(_BIG).astype(int) + noise, 0, 255).astype(np.uint8)
    effect = effects.compare(array(_BIG), after)
    assert effect.kind == "none" and effect.similarity is not None and effect.similarity < 1


def test_a_tick_is_seen_through_noise() -> None:
    noise = np.random.default_rng(1).integers(-1, 2, (800, 1280, 3))
    after = np.clip(array(EFFECTS["tick of 13 px"]).astype(int) + noise, 0, 255).astype(np.uint8)
    effect = effects.compare(array(_BIG), after)
    assert effect.kind == "local" and effect.region is not None and inside(effect.region, [20, 219, 14, 15])


@pytest.mark.parametrize("gamma", [0.99, 1.01])
def test_a_gamma_that_nobody_sees_is_no_effect(gamma: float) -> None:
    after = Pillow.eval(_BIG, lambda level: round(255 * (level / 255) ** gamma))
    assert effects.compare(array(_BIG), array(after)).kind == "none"


@pytest.mark.parametrize("colour", ["#333", "#999"])
@pytest.mark.parametrize("size", [11, 15, 24])
def test_text_drawn_again_an_eighth_of_a_pixel_aside_is_no_effect(size: int, colour: str) -> None:
    font = ImageFont.load_default(8 * size)

    def text(aside: int) -> Any:
        white = Pillow.new("RGB", (3200, 480), "white")
        large = drawn(white, lambda d: d.text((160 + aside, 120), "The order was sent to Kiel", colour, font))
        return array(large.resize((400, 60), Pillow.Resampling.BOX))

    assert text(0).tobytes() != text(1).tobytes()
    assert effects.compare(text(0), text(1)).kind == "none"
    assert effects.compare(text(0), text(8)).happened is True


def test_light_text_that_scrolls_by_a_pixel_is_no_noise() -> None:
    lines = drawn(
        Pillow.new("RGB", (640, 300), "white"),
        lambda d: [d.text((20, 20 * n), f"A line of light text, number {n}", "#999") for n in range(14)],
    )
    aside = Pillow.fromarray(np.roll(array(lines), 1, axis=0))
    assert effects.compare(array(lines), array(aside)).happened is True


# --- what moves by itself ----------------------------------------------------------------------------------------------


def spinner(turn: int, base: Pillow.Image = _BIG) -> Pillow.Image:
    return drawn(base, lambda d: d.arc((900, 300, 936, 336), turn, turn + 90, fill=(0, 102, 204), width=5))


def clock(second: int, base: Pillow.Image = _BIG) -> Pillow.Image:
    return drawn(base, lambda d: d.text((900, 14), f"12:00:{second:02d}", fill="white"))


def bar(length: int, base: Pillow.Image = _BIG) -> Pillow.Image:
    return drawn(base, lambda d: d.rectangle((700, 500, 700 + length, 512), fill=(0, 140, 60)))


def video(seed: int, base: Pillow.Image = _BIG) -> Pillow.Image:
    noise = np.random.default_rng(seed).integers(0, 256, (18, 32, 3)).astype(np.uint8)
    copy = base.copy()
    copy.paste(Pillow.fromarray(noise).resize((320, 180)), (800, 400))
    return copy


MOVING: dict[str, tuple[list[Pillow.Image], Pillow.Image]] = {
    "spinner": ([spinner(72 * n) for n in range(5)], spinner(30)),
    "clock": ([clock(57), clock(58)], clock(59)),
    "growing bar": ([bar(n) for n in range(20, 120, 20)], bar(140)),
    "video": ([video(n) for n in range(4)], video(9)),
    "caret": ([_BIG, EFFECTS["caret"]], _BIG),
}


@pytest.mark.parametrize("name", MOVING)
def test_what_moves_by_itself_is_no_effect(name: str) -> None:
    frames, after = MOVING[name]
    before = frames[-1]
    effect = effects.compare(array(before), array(after), ambient=[array(frame) for frame in frames[:-1]])
    assert effect.kind in ("ambient", "none"), effect
    assert effect.happened is False


@pytest.mark.parametrize("name", MOVING)
def test_a_tick_is_an_effect_while_something_moves(name: str) -> None:
    frames, after = MOVING[name]
    ticked = drawn(after, lambda d: d.line((23, 227, 26, 231, 31, 222), fill=(0, 90, 200), width=2))
    effect = effects.compare(array(frames[-1]), array(ticked), ambient=[array(frame) for frame in frames[:-1]])
    assert effect.kind == "local" and effect.region is not None and inside(effect.region, [20, 219, 14, 15])


def test_an_effect_inside_what_moves_shows_in_the_state_alone() -> None:
    frames, after = MOVING["clock"]
    boxed = BBox(895, 10, 60, 20)
    before = observation(element(1, "checkbox", "Live", boxed, checked="false"), viewport=Size(1280, 800))
    ticked = observation(element(1, "checkbox", "Live", boxed, checked="true"), viewport=Size(1280, 800))
    pictures = array(frames[-1]), array(after), [array(frames[0])]
    assert effects.compare(*pictures, state_before=before, state_after=before).kind == "ambient"
    effect = effects.compare(*pictures, state_before=before, state_after=ticked)
    assert effect.kind == "local" and effect.state == ("checkbox 'Live': checked false -> true",)
    assert effect.region == boxed


def test_the_words_of_a_clock_are_its_own_and_those_beside_it_are_not() -> None:
    frames, after = MOVING["clock"]
    ticking, counter = BBox(895, 10, 60, 20), BBox(850, 10, 20, 20)

    def state(time: str, count: str) -> Any:
        elements = element(1, "timer", time, ticking), element(2, "status", count, counter)
        return observation(*elements, viewport=Size(1280, 800))

    pictures = array(frames[-1]), array(after), [array(frames[0])]
    alone = effects.compare(*pictures, state_before=state("12:00:58", "3"), state_after=state("12:00:59", "3"))
    assert alone.kind == "ambient" and alone.state == ()
    counted = effects.compare(*pictures, state_before=state("12:00:58", "3"), state_after=state("12:00:59", "4"))
    assert counted.kind == "local" and counted.state == ("status '3': name -> '4'",)


def test_a_page_that_moved_in_its_states_before_is_told_by_its_states() -> None:
    titles = [observation(title=f"({n}) Inbox") for n in range(3)]
    effect = effects.compare(None, None, state_before=titles[1], state_after=titles[2], ambient_states=[titles[0]])
    assert effect.state == ()
    effect = effects.compare(None, None, state_before=titles[1], state_after=titles[2])
    assert effect.kind == "local" and effect.state == ("title: '(1) Inbox' -> '(2) Inbox'",)


def test_a_caret_that_blinks_unseen_before_is_told_by_the_focused_field() -> None:
    field = element(1, "textbox", "Name", BBox(290, 56, 200, 26), value="", focused=True)
    state = observation(field, focused=1, viewport=Size(1280, 800))
    pictures = array(_BIG), array(EFFECTS["caret"])
    assert effects.compare(*pictures, state_before=state, state_after=state).kind == "ambient"
    typed = observation(
        element(1, "textbox", "Name", BBox(290, 56, 200, 26), value="|", focused=True),
        focused=1,
        viewport=Size(1280, 800),
    )
    assert effects.compare(*pictures, state_before=state, state_after=typed).kind == "local"


# --- states ------------------------------------------------------------------------------------------------------------


def test_differences_of_state() -> None:
    held = observation(element(1, "button", "Menu", expanded=False), element(2, "textbox", "Name", value="a"))
    later = observation(
        element(1, "button", "Menu", expanded=True),
        element(2, "textbox", "Name", value="ab", focused=True),
        element(3, "menuitem", "Open"),
        url="http://localhost/#two",
        title="Two",
        scroll=Point(0, 30),
        pages=(PageInfo(index=0, title="", url="", active=True),),
        dialogs=(Dialog(type="alert", message="Sure?"),),
        focused=2,
    )
    assert effects.state_difference(held, held) == ()
    assert effects.state_difference(held, later) == (
        "url: http://localhost/ -> http://localhost/#two",
        "title: '' -> 'Two'",
        "alert dialog: 'Sure?'",
        "scroll: (0, 0) -> (0, 30)",
        "button 'Menu': expanded false -> true",
        "textbox 'Name': value 'a' -> 'ab'",
        "appeared: menuitem 'Open'",
        "focus: none -> textbox 'Name'",
    )
    assert "gone: menuitem 'Open'" in effects.state_difference(later, held)


def test_a_dead_link_and_the_focus_of_a_dead_button_are_no_effect() -> None:
    before = observation(element(1, "button", "Save", BBox(20, 330, 100, 30)))
    after = observation(
        element(1, "button", "Save", BBox(20, 330, 100, 30), focused=True), focused=1, url="http://localhost/#"
    )
    picture = array(page())
    pressed = effects.compare(picture, picture, point=Point(60, 340), state_before=before, state_after=after)
    assert pressed.kind == "none"
    by_key = effects.compare(picture, picture, state_before=before, state_after=after)
    assert by_key.kind == "local" and by_key.state == ("focus: none -> button 'Save'",)


def test_a_change_below_the_fold_shows_in_the_state() -> None:
    before = observation(element(1, "status", "not saved", BBox(20, 2500, 80, 20)))
    after = observation(element(1, "status", "saved", BBox(20, 2500, 80, 20)))
    effect = effects.compare(array(page()), array(page()), state_before=before, state_after=after)
    assert effect.kind == "local" and effect.similarity == 1.0 and "the picture is the same" in effect.reason


def test_a_page_that_was_left_is_global() -> None:
    effect = effects.compare(
        array(page()),
        array(page()),
        state_before=observation(),
        state_after=observation(url="http://localhost/next"),
    )
    assert effect.kind == "global"


def test_without_pictures_the_states_decide() -> None:
    state = observation(element(1, "checkbox", "A", checked="false"))
    other = observation(element(1, "checkbox", "A", checked="true"))
    assert effects.compare(None, None, state_before=state, state_after=state).kind == "none"
    assert effects.compare(None, None, state_before=state, state_after=other).kind == "local"
    assert effects.compare(None, None).kind == "unknown"
    assert effects.compare(None, None, state_before=observation(), state_after=observation()).kind == "unknown"


# --- pictures of every kind --------------------------------------------------------------------------------------------


def test_the_region_is_in_css_px() -> None:
    twice = _BIG.resize((2560, 1600), Pillow.Resampling.NEAREST)
    toast = EFFECTS["toast"].resize((2560, 1600), Pillow.Resampling.NEAREST)
    state = observation(viewport=Size(1280, 800))
    effect = effects.compare(array(twice), array(toast), state_before=state, state_after=state)
    assert effect.region == effects.compare(array(_BIG), array(EFFECTS["toast"])).region
    assert effects.compare(array(twice), array(toast), device_pixel_ratio=2).region == effect.region


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "I;16", "I", "F"])
def test_every_mode_has_a_verdict(mode: str, tmp_path: Path) -> None:
    base = page(160, 120)
    changed = drawn(base, lambda d: d.rectangle((60, 50, 90, 70), fill="black"))

    def as_mode(picture: Pillow.Image) -> bytes:
        if mode == "I;16":
            return encoded(Pillow.fromarray(np.asarray(picture.convert("L")).astype(np.uint16) * 257))
        if mode == "PA":
            return encoded(picture.convert("P").convert("PA"), "TIFF" if False else "PNG")
        kind = "TIFF" if mode in ("CMYK", "F", "I") else "PNG"
        return encoded(picture.convert(mode), kind)

    try:
        one, other = as_mode(base), as_mode(changed)
    except OSError:
        pytest.skip(f"this Pillow writes no {mode}")
    assert effects.compare(one, one).kind == "none"
    assert effects.compare(one, other).happened is True


def test_a_grey_picture_is_its_own_copy_in_colour() -> None:
    grey = page().convert("L")
    for mode in ("RGB", "RGBA", "LA"):
        effect = effects.compare(encoded(grey), encoded(grey.convert(mode)))
        assert effect.similarity == 1.0 and effect.kind == "none"
    deep = Pillow.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    assert effects.compare(encoded(grey), encoded(deep)).kind == "none"


def test_what_is_cut_out_of_a_picture_is_seen() -> None:
    whole = page().convert("RGBA")
    cut = whole.copy()
    cut.putalpha(Pillow.new("L", whole.size, 255))
    cut.paste((0, 102, 204, 0), (20, 330, 121, 361))
    effect = effects.compare(encoded(whole), encoded(cut))
    assert effect.kind == "local" and effect.region == BBox(20, 330, 101, 31)


@pytest.mark.parametrize("size", [(1, 1), (1, 300), (300, 1), (2, 9), (6, 6), (7, 7), (8, 3)])
def test_pictures_smaller_than_the_window(size: tuple[int, int]) -> None:
    white, black = Pillow.new("RGB", size, "white"), Pillow.new("RGB", size, "black")
    assert effects.compare(encoded(white), encoded(white)).similarity == 1.0
    assert effects.compare(encoded(white), encoded(black)).happened is True
    near = Pillow.new("RGB", size, (254, 255, 254))
    assert effects.compare(encoded(white), encoded(near)).kind == "none"


_PNG = encoded(page(64, 48))
BROKEN: dict[str, bytes] = {
    "empty": b"",
    "words": b"<html>404</html>",
    "cut off": _PNG[: len(_PNG) // 2],
    "end mark alone": _PNG[:200] + _PNG[-12:],
    "flipped bit": _PNG[:120] + bytes([_PNG[120] ^ 1]) + _PNG[121:],
    "huge": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x02" + _PNG[26:],
    "pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("order", ["before", "after", "both"])
def test_broken_pictures_are_unknown_with_a_reason(name: str, order: str) -> None:
    pair = {"before": (BROKEN[name], _PNG), "after": (_PNG, BROKEN[name]), "both": (BROKEN[name], BROKEN[name])}[order]
    effect = effects.compare(*pair)
    assert effect.kind == "unknown" and effect.similarity is None and effect.reason, effect
    seen = effects.compare(
        *pair,
        state_before=observation(element(1, "checkbox", "A", checked="false")),
        state_after=observation(element(1, "checkbox", "A", checked="true")),
    )
    assert seen.kind == "local" and "checked" in seen.reason


def test_a_file_that_is_not_there_is_unknown(tmp_path: Path) -> None:
    assert effects.compare(tmp_path / "no.png", _PNG).kind == "unknown"


def test_frames_that_cannot_be_used_are_left_out() -> None:
    frames = [BROKEN["cut off"], encoded(page(64, 49)), _PNG]
    assert effects.compare(_PNG, _PNG, ambient=frames).kind == "none"


def test_arrays_of_every_kind() -> None:
    grey = np.asarray(page(64, 48).convert("L"))
    same = [grey, grey[:, :, None], grey / 255.0, grey.astype(np.uint16) * 257, np.repeat(grey[:, :, None], 3, axis=2)]
    for one in same:
        for other in same:
            assert effects.compare(one, other).kind == "none"
    assert effects.compare(np.zeros((4, 4, 9), np.uint8), grey).kind == "unknown"
    assert effects.compare(np.full((48, 64), np.nan), grey).kind == "unknown"
    assert effects.compare(np.zeros((0, 4), np.uint8), grey).kind == "unknown"
    assert effects.compare(grey > 127, (grey > 127).astype(np.uint8) * 255).kind == "none"
    with pytest.raises(TypeError, match="Path or array"):
        effects.compare("before.png", grey)  # type: ignore[arg-type]


# --- the number --------------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.integers(8, 90), st.integers(8, 90), st.integers(1, 6))
def test_the_number_is_scikit_images(seed: int, height: int, width: int, patches: int) -> None:
    from skimage.metrics import structural_similarity

    random = np.random.default_rng(seed)
    before = random.integers(0, 256, (height, width, 3)).astype(np.uint8)
    after = before.copy()
    for _ in range(patches):
        top, left = int(random.integers(0, height)), int(random.integers(0, width))
        patch = after[top : top + int(random.integers(1, 9)), left : left + int(random.integers(1, 9))]
        patch[...] = random.integers(0, 256, patch.shape)
    values = structural_similarity(before, after, channel_axis=2, full=True)[1]
    similarity = effects.compare(before, after).similarity
    assert similarity == pytest.approx(min(1.0, values.min()), abs=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(8, 140), st.integers(8, 40), st.sampled_from((2, 256)))
def test_sums_are_those_of_whole_windows(seed: int, height: int, width: int, levels: int) -> None:
    from skimage.metrics import structural_similarity

    random = np.random.default_rng(seed)
    before, after = (
        random.integers(0, levels, (height, width, 3)).astype(np.uint8) * (255 // (levels - 1)) for _ in "12"
    )
    planes = np.pad(after.astype(int) - before, ((3, 3), (3, 3), (0, 0)), "symmetric")
    shifts = np.lib.stride_tricks.sliding_window_view(planes, (7, 7), (0, 1)).sum((-1, -2))
    seen = change(before, after)
    values = structural_similarity(before, after, channel_axis=2, full=True)[1]
    assert seen.shift == np.abs(shifts).max() / 49
    assert seen.similarity == pytest.approx(values.min(), abs=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 40))
def test_a_picture_is_like_itself(seed: int, height: int, width: int) -> None:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)
    assert effects.compare(pixels, pixels.copy()) == Effect(kind="none", similarity=1.0, reason="nothing changed")


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_the_pictures_does_not_matter(seed: int) -> None:
    random = np.random.default_rng(seed)
    before = random.integers(0, 256, (30, 40, 3)).astype(np.uint8)
    after = before.copy()
    after[5:9, 30:40] = random.integers(0, 256, (4, 10, 3))
    one, other = effects.compare(before, after), effects.compare(after, before)
    assert (one.kind, one.region, one.share) == (other.kind, other.region, other.share)
    assert one.similarity == pytest.approx(other.similarity, abs=1e-12)


# --- coming to rest ----------------------------------------------------------------------------------------------------


def test_a_page_that_never_rests_says_so() -> None:
    frames = [(float(n), array(bar(40 * n))) for n in range(1, 5)]
    effect, rest = effects.follow(array(_BIG), frames)
    assert not rest.still and effect.settled is None and effect.happened is True


def test_an_effect_that_is_there_at_once_is_not_late() -> None:
    toast = array(EFFECTS["toast"])
    effect, rest = effects.follow(array(_BIG), [(0.1, toast), (1.5, toast)])
    assert effect.kind == "local" and rest.time == 0.1 and effect.settled == 0.1


def test_a_spinner_does_not_keep_a_page_from_resting() -> None:
    ambient = [array(spinner(72 * n)) for n in range(5)]
    frames = [(0.2 * n, array(spinner(50 * n))) for n in range(1, 6)]
    effect, rest = effects.follow(ambient[-1], frames, ambient)
    assert rest.still and rest.index == 0 and effect.happened is False


def test_frames_out_of_order_are_a_wrong_call() -> None:
    with pytest.raises(ValueError, match="do not rise"):
        effects.settle([(1.0, _PNG), (0.5, _PNG)])
    with pytest.raises(ValueError, match="no frames"):
        effects.settle([])


def test_a_described_picture_is_read_from_memory_or_disk(tmp_path: Path) -> None:
    held = described(page(64, 48))
    assert effects.compare(held, held).kind == "none"
    (tmp_path / "a.png").write_bytes(held.data or b"")
    moved = type(held)(
        sha256=held.sha256, width=64, height=48, format="png", phash="", path=str(tmp_path / "a.png"), data=None
    )
    assert effects.compare(moved, _PNG).kind == "none"
    (tmp_path / "a.png").write_bytes(b"other")
    assert effects.compare(moved, _PNG).kind == "unknown"
