"""One verdict from two pictures and two states: whether an action did anything.

An effect is a change of the picture outside what the page moves by itself, or a change of state. The picture before is
taken after the pointer has arrived and before it presses, so that a hover style is no effect; several frames taken then
show what moves by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from cuadata.geometry import contains, grown, intersection, union
from cuadata.image import BadImage, header
from cuadata.seeing.ambient import Ambient, moving
from cuadata.seeing.differences import Difference, differences, focused, focused_field, label, match
from cuadata.seeing.pictures import Picture, check_png, encoded, is_jpeg, like_jpeg, load, lossy
from cuadata.seeing.pixels import Change, Thresholds, change
from cuadata.seeing.ssim import Crop
from cuadata.types import BBox, Effect, EffectKind, Observation, Point

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Share of what the picture holds that must change for an effect to be global.
GLOBAL = 0.5
#: How far a ring or a glow of the focus reaches beyond its element, CSS px.
RING = 6.0
#: Phrases of state kept on an effect; the rest is counted.
MOST_PHRASES = 20


def compare(
    before: Picture | None,
    after: Picture | None,
    ambient: Sequence[Picture] = (),
    point: Point | None = None,
    *,
    state_before: Observation | None = None,
    state_after: Observation | None = None,
    ambient_states: Sequence[Observation] = (),
    device_pixel_ratio: float | None = None,
    thresholds: Thresholds | None = None,
    seen: Look | None = None,
) -> Effect:
    """The effect of an action, from the pictures before and after it and, where recorded, the states.

    A picture is encoded bytes, an `Image`, a `Path` or an array; None where none was taken. `ambient` are pictures taken
    without acting, shortly before, oldest first, with the pointer where it then pressed; `ambient_states` are observations
    of such moments. `point` is where the pointer pressed, CSS px. The region is in CSS px by the viewport of
    `state_before`, else by `device_pixel_ratio`, else image px. `seen`: what `look` said of the same pictures. Pictures that cannot be compared give a verdict, never an
    exception: `unknown` with the reason, or what the states say.
    """
    if seen is None:
        seen = look(before, after, ambient, thresholds or Thresholds())
    scale = _scale(seen.width, state_before, device_pixel_ratio)
    state: tuple[Difference, ...] = ()
    if state_before is not None and state_after is not None:
        moves = None if seen.ambient is None else partial(_moves, seen.ambient, scale)
        state = differences(state_before, state_after, still=ambient_states, moves=moves, point=point)
    if seen.change is None:
        described = state_before is not None and bool(state_before.elements) and state_after is not None
        return _by_state(seen, state, described)
    trifle = None if state else _trifle(seen.change, scale, state_before, state_after, point)
    return _by_both(seen.change, seen.ambient, state, scale, trifle)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the pictures gave: a change, or why there is none."""

    change: Change | None = None
    ambient: Ambient | None = None
    width: int = 0
    size_changed: bool = False
    absent: bool = False
    problem: str = ""


def look(before: Picture | None, after: Picture | None, ambient: Sequence[Picture], limits: Thresholds) -> Look:
    """What the pictures say, without the states.

    Equal bytes are equal pictures and are not decoded. Where one of the two is a JPEG, the other is compared after the same
    loss, and the similarity is that of what was compared.
    """
    if before is None or after is None:
        which = " and ".join(name for name, one in (("before", before), ("after", after)) if one is None)
        return Look(absent=True, problem=f"there is no picture {which} the action")
    try:
        one, one_lossy, one_bytes = _decoder(before, "before")
        other, other_lossy, other_bytes = _decoder(after, "after")
        if one_bytes is not None and one_bytes == other_bytes:
            check_png(one_bytes)
            return Look(change=Change(changed=False), width=header(one_bytes)[1])
        first, second = one(), other()
    except BadImage as error:
        return Look(problem=str(error))
    if first.shape != second.shape:
        sizes = [f"{pixels.shape[1]}x{pixels.shape[0]}" for pixels in (first, second)]
        words = f"the picture's size changed from {sizes[0]} to {sizes[1]} px"
        return Look(size_changed=True, problem=words, width=first.shape[1])
    moved = _ambient(first, ambient, limits)
    # One of two was stored as JPEG: the other takes the same loss, which leaves what really differs.
    if other_bytes is not None and is_jpeg(other_bytes) and not one_lossy:
        first = like_jpeg(first, other_bytes)
    elif one_bytes is not None and is_jpeg(one_bytes) and not other_lossy:
        second = like_jpeg(second, one_bytes)
    seen = change(first, second, moved, limits, lossy=one_lossy or other_lossy)
    return Look(change=seen, ambient=moved, width=first.shape[1])


def _decoder(picture: Picture, which: str) -> tuple[Callable[[], NDArray[np.uint8]], bool, bytes | None]:
    """A call that decodes a picture, whether it was stored with loss, and its bytes. BadImage, from the call as well."""

    def failed(error: Exception) -> BadImage:
        return BadImage(f"the picture {which} the action cannot be read: {error}")

    try:
        data = encoded(picture)
    except (OSError, ValueError) as error:
        raise failed(error) from error

    def decode() -> NDArray[np.uint8]:
        try:
            return load(picture if data is None else data)
        except ValueError as error:
            raise failed(error) from error

    return decode, lossy(data), data


def _ambient(before: NDArray[np.uint8], frames: Sequence[Picture], limits: Thresholds) -> Ambient | None:
    """What moves by itself; frames of another size or that do not decode say nothing and are left out."""
    held = []
    for frame in frames:
        try:
            pixels = load(frame)
        except (OSError, ValueError):
            continue
        if pixels.shape == before.shape:
            held.append(pixels)
    return moving(before, held, levels=limits.levels)


def _scale(width: int, state: Observation | None, device_pixel_ratio: float | None) -> float:
    """Image px for one CSS px."""
    if state is not None and state.viewport.width > 0 and width:
        return width / state.viewport.width
    return device_pixel_ratio or 1.0


def _moves(ambient: Ambient, scale: float, box: BBox) -> bool:
    """Whether the picture was seen to change by itself inside a box in CSS px."""
    rows = slice(max(0, int(box.y * scale)), max(0, int(box.bottom * scale) + 1))
    columns = slice(max(0, int(box.x * scale)), max(0, int(box.right * scale) + 1))
    return bool(ambient.core[rows, columns].any())


def _trifle(
    seen: Change, scale: float, before: Observation | None, after: Observation | None, point: Point | None
) -> tuple[EffectKind, str] | None:
    """What the picture shows and the states know to be nothing: a caret that blinks, a ring that left with the focus."""
    if seen.region is None or before is None or after is None:
        return None
    box, was, now = _css(seen.region, scale), focused(before), focused(after)
    if was is None or was.bbox is None:
        return None
    if now is not None and match([was], [now])[0]:
        blinked = focused_field(before) is not None and _is_caret(box, was.bbox)
        return ("ambient", "only the caret of the focused field blinked") if blinked else None
    pressed_elsewhere = point is not None and not contains(was.bbox, point)
    if pressed_elsewhere and focused_field(after) is None and intersection(grown(was.bbox, RING), box) == box:
        return "none", f"only the focus left {label(was)}"
    return None


def _is_caret(box: BBox, field: BBox, *, width: float = 2.5) -> bool:
    """A thin upright line inside a field."""
    return intersection(field, box) == box and box.width <= width and box.height >= 2 * box.width


def _css(crop: Crop, scale: float) -> BBox:
    width, height = (crop.right - crop.left) / scale, (crop.bottom - crop.top) / scale
    return BBox(crop.left / scale, crop.top / scale, width, height)


def _phrases(state: Sequence[Difference]) -> tuple[str, ...]:
    texts = tuple(difference.text for difference in state[:MOST_PHRASES])
    return texts if len(state) <= MOST_PHRASES else (*texts, f"and {len(state) - MOST_PHRASES} more")


def _extent(state: Sequence[Difference]) -> EffectKind:
    """How far an effect goes that only the state shows."""
    return "global" if any(difference.kind in ("url", "pages") for difference in state) else "local"


def _by_state(look: Look, state: tuple[Difference, ...], described: bool) -> Effect:
    """The verdict where the pictures say nothing."""
    if state:
        kind, reason = _extent(state), f"the state changed: {state[0].text}; {look.problem}"
    elif look.absent and described:
        kind, reason = "none", f"the state is the same; {look.problem}"
    else:
        kind, reason = "unknown", look.problem
    return Effect(kind=kind, state=_phrases(state), size_changed=look.size_changed, reason=reason)


def _by_both(
    seen: Change,
    ambient: Ambient | None,
    state: tuple[Difference, ...],
    scale: float,
    trifle: tuple[EffectKind, str] | None,
) -> Effect:
    kind: EffectKind
    region = _css(seen.region, scale) if seen.region else None
    if trifle is not None:
        kind, reason = trifle
    elif seen.changed:
        far = seen.coverage >= GLOBAL or _extent(state) == "global"
        kind, reason = ("global" if far else "local"), _changed_words(seen, state)
    elif state:
        kind, reason = _extent(state), f"the picture is the same and the state is not: {state[0].text}"
        region = union(box for difference in state if (box := difference.bbox))
    elif seen.masked and ambient is not None:
        kind, reason = "ambient", "only what the page moves by itself changed"
        region = _css(ambient.box, scale)
    elif seen.similarity < 1.0:
        noise = "a lossy codec's noise" if seen.noise else "noise"
        kind, reason = "none", f"the pictures differ by no more than {noise}"
    else:
        kind, reason = "none", "nothing changed"
    return Effect(
        kind=kind,
        similarity=seen.similarity,
        region=region,
        share=seen.share,
        state=_phrases(state),
        reason=reason,
    )


def _changed_words(seen: Change, state: Sequence[Difference]) -> str:
    words = f"the picture changed: lowest local SSIM {seen.similarity:.3f}, mean shift {seen.shift:.0f} levels"
    return f"{words}; {state[0].text}" if state else words
