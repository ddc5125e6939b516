"""What keeps a person from seeing an element, read off its evidence."""

from __future__ import annotations

from typing import Final

from cuadata.types import Element

#: A person sees nothing of what is fainter than this.
FAINT: Final = 0.1
#: Largest channel difference of text and ground that nobody reads.
PLAIN: Final = 12.0
#: No person makes out what is smaller, CSS px on its smaller side.
SPECK: Final = 3.0
#: Pages judge shares by a grid of points, so a third is met a little below it.
SLACK: Final = 0.005


def unseen(element: Element, *, min_seen: float = 1 / 3) -> str | None:
    """Why a person does not see an element: hidden, offscreen, clipped, occluded or too_small; None where they do.

    A person sees it where at least `min_seen` of its area is painted on the screen. Where the element was hidden and the
    pictures compared, that settles what a script cannot tell (masks, blends, veils). The cause named is the one that
    takes most of it away.
    """
    evidence = element.evidence
    if not evidence.rendered or evidence.opacity < FAINT:
        return "hidden"
    if evidence.contrast is not None and evidence.contrast < PLAIN:
        return "hidden"
    box = element.bbox
    if box is None or not (box.width > 0 and box.height > 0):
        return "too_small"
    share = element.seen if evidence.pixels is None or evidence.unsure is None else evidence.pixels
    if share >= min_seen - SLACK:
        return None if min(box.width, box.height) >= SPECK else "too_small"
    lost = {
        "offscreen": 1 - evidence.in_viewport,
        "clipped": evidence.clipped,
        "occluded": evidence.covered,
    }
    cause = max(lost, key=lambda word: lost[word])
    return cause if lost[cause] > 0 else "hidden"


def undecided(element: Element) -> str | None:
    """Why it cannot be told whether a person sees it; None where that is known."""
    return element.evidence.unsure if element.evidence.pixels is None else None
