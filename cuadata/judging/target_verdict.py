"""What the gates say of a click on an element that was just observed, without a recording around it."""

from __future__ import annotations

from collections.abc import Sequence

from cuadata.judging import judging
from cuadata.rows import Candidate, Example, Target, Verdict
from cuadata.types import Action, Element, Image, Observation

#: The gates that judge a click's target, the plainest cause first.
GATES = (
    "target_missing",
    "target_disabled",
    "target_too_small",
    "target_hidden",
    "target_offscreen",
    "target_clipped",
    "target_occluded",
    "target_not_interactive",
    "point_outside_target",
)


def verdict(element: Element | None, observation: Observation) -> Verdict:
    """The first gate that does not keep a click on this element; where all keep, what they looked at.

    An element that is not there is `target_missing`. "no" comes before "unsure".
    """
    if element is None:
        return judging.rejected("target_missing", "target_missing", matches=0)
    candidate = Candidate(example=_example(element, observation), observation=observation)
    verdicts = judging.judge(candidate, GATES)
    for keep in ("no", "unsure"):
        found = next((v for v in verdicts if v.keep == keep), None)
        if found is not None:
            return found
    evidence = element.evidence
    return judging.kept(
        "target",
        seen=element.seen,
        hit=element.hit,
        point=element.point,
        in_viewport=evidence.in_viewport,
        opacity=evidence.opacity,
        contrast=evidence.contrast,
        pixels=evidence.pixels,
    )


def undecided(elements: Sequence[Element], observation: Observation) -> list[int]:
    """Ids of the elements whose verdict waits for pixels."""
    return [e.id for e in elements if verdict(e, observation).keep == "unsure"]


def _example(element: Element, observation: Observation) -> Example:
    picture = observation.screenshot or Image(sha256="", width=0, height=0, format="", phash="")
    return Example(
        id="observed",
        trajectory_id="observed",
        step_index=0,
        image=picture,
        image_width=picture.width,
        image_height=picture.height,
        viewport_width=observation.viewport.width,
        viewport_height=observation.viewport.height,
        device_pixel_ratio=observation.device_pixel_ratio,
        instruction="",
        action=Action(type="click", element=element.id, point=element.point),
        target=Target(
            role=element.role,
            name=element.name,
            text=element.text,
            bbox=element.bbox,
            point=element.point,
            seen=element.seen,
            hit=element.hit,
            locator=element.locator,
        ),
    )
