"""Does the label still say what the page shows?"""

from __future__ import annotations

from cuadata.judging import claims
from cuadata.judging.clearing import clears
from cuadata.judging.judging import kept, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Target, Verdict
from cuadata.types import BBox, Element
from cuadata.wording import descriptions

_NAME = "stale"


@gates.add
def stale(candidate: Candidate, *, slack: float = 1.5) -> Verdict:
    """The picture is that of the evidence, the target is on the page, and boxes, roles and names are as the page shows them.

    `slack`: CSS px by which an edge may differ, for rounded data. Without a page, or without a locator, there is nothing
    to compare with.
    """
    example, reading = candidate.example, claims.read(candidate)
    shot = candidate.observation.screenshot if candidate.observation is not None else None
    if shot is not None and shot.sha256 != example.image.sha256:
        return rejected(_NAME, "screenshot_stale", {"row": example.image.sha256, "evidence": shot.sha256})
    if reading.page.observation is None:
        return kept(_NAME, {"not_checked": "the page is not known"})
    labels, elements = (example.target, *example.references), (reading.target, *reading.references)
    for place, (target, element) in enumerate(zip(labels, elements, strict=True)):
        if target is None or target.locator is None or not target.locator.css:
            continue
        part = "reference" if place else "target"
        if element is None:
            if part == "target":
                return rejected(_NAME, "target_missing", {"label": target, "locator": target.locator.css})
            continue
        differs = _differs(target, element, slack)
        if differs is not None:
            evidence = {"what": differs, "label": target, "page": element}
            return rejected(_NAME, f"{part}_stale", evidence)
    return kept(_NAME)


def _differs(target: Target, element: Element, slack: float) -> str | None:
    """What a label says otherwise than the page; None where they agree."""
    if target.bbox is not None and not _near(target.bbox, element.bbox, slack):
        return "bbox"
    if (target.role or "generic") != (element.role or "generic"):
        return "role"
    if target.name != element.name and descriptions.normal(target.name) != descriptions.normal(
        element.name or element.text
    ):
        return "name"
    return None


def _near(one: BBox, other: BBox | None, slack: float) -> bool:
    if one is other or one == other:
        return True
    if other is None:
        return False
    return (
        abs(one.x - other.x) <= slack
        and abs(one.y - other.y) <= slack
        and abs(one.right - other.right) <= slack
        and abs(one.bottom - other.bottom) <= slack
    )


@clears("stale")
def copied_from_the_page(candidate: Candidate) -> bool:
    """The picture is the page's, and every label holds what its element does: rows are cut from the page that judges them."""
    example, page = candidate.example, candidate.observation
    shot = page.screenshot if page is not None else None
    if shot is None or shot.sha256 != example.image.sha256:
        return False
    reading = claims.read(candidate)
    if not _copied(example.target, reading.target):
        return False
    return not example.references or all(map(_copied, example.references, reading.references))


def _copied(label: Target | None, element: Element | None) -> bool:
    if label is None or element is None:
        return False
    return label.bbox is element.bbox and label.name == element.name and label.role == element.role
