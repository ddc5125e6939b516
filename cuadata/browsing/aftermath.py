"""What an action changed: the observations before and after it compared, their pictures as soon as the second is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cuadata.types import Action, Effect, Observation

if TYPE_CHECKING:
    from cuadata.browsing.tab import Tab
    from cuadata.seeing.comparison import Look


def compare_ahead(tab: Tab, before: Any, ambient: Sequence[Observation]) -> None:
    """From now on compare every picture of the tab with the one before in another thread, while the rest is asked for."""
    from cuadata import effects

    moving = _pictures(ambient)
    tab.ready = partial(_compare, effects.look, before, moving)


def _compare(look: Any, before: Any, ambient: Sequence[Any], after: Any) -> Look:
    return look(before, after, ambient)  # type: ignore[no-any-return]


async def compared(tab: Tab | None, after: Observation | None) -> Look | None:
    """What the pictures say, where that of `after` is one which `compare_ahead` began with; else None."""
    from cuadata.seeing.comparison import Look

    if tab is None or tab.readied is None or after is None or tab.readied[0] is not after.screenshot:
        return None
    found = await tab.readied[1]
    return found if isinstance(found, Look) else None


def _pictures(ambient: Sequence[Observation]) -> list[Any]:
    return [frame.screenshot for frame in ambient if frame.screenshot is not None]


def effect_between(
    before: Observation,
    after: Observation,
    action: Action,
    ambient: Sequence[Observation] = (),
    waited: float | None = None,
    *,
    picture: Any = None,
    look: Look | None = None,
) -> Effect:
    """What changed between two observations. Another page, or one that is closed now, is an effect of its own.

    `picture`: what was seen before, where that is another picture than that of the observation; `look`: what the pictures
    say, where that is known.
    """
    from cuadata import effects

    if [p.index for p in before.pages if p.active] != [p.index for p in after.pages if p.active]:
        opened = [p for p in after.pages if p.index not in {q.index for q in before.pages}]
        closed = [p for p in before.pages if p.index not in {q.index for q in after.pages}]
        words = [f"page opened: {p.url}" for p in opened] + [f"page closed: {p.url}" for p in closed]
        state = tuple(words or ["another page is active"])
        return Effect(kind="global", state=state, share=1.0, reason=f"the action led to another page: {state[0]}")
    found = effects.compare(
        before.screenshot if picture is None else picture,
        after.screenshot,
        _pictures(ambient),
        action.point,
        state_before=before,
        state_after=after,
        ambient_states=ambient,
        seen=look,
    )
    if waited is not None and waited > 1.0 and found.kind in ("local", "global"):
        late = f"first seen {waited:.2f} s after the action; {found.reason}"
        return replace(found, kind="late", settled=waited, reason=late)
    return found
