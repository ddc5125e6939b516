"""`cuadata observe`: one observation of a page, and what the gates say of a click on elements that the user names."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cuadata import browser, image, schema
from cuadata.errors import CallError
from cuadata.judging import target_verdict
from cuadata.rows import Verdict
from cuadata.types import Element, Observation, Size

#: Matches of one selector beyond this are counted only.
MOST_MATCHES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """What a selector found."""

    select: Annotated[str, "the selector as it was given"]
    matches: Annotated[int, "elements that match, through all frames and shadow roots"]
    element: Annotated[Element | None, "the first of them; None where nothing matches"]
    verdict: Annotated[Verdict, "of the gates, for a click on it"]
    others: Annotated[tuple[tuple[Element, Verdict], ...], "further matches with their verdicts"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One observation, and what the selectors found in it."""

    observation: Observation
    selects: tuple[Selected, ...] = ()
    browser: str = ""

    def as_json(self) -> str:
        """One JSON object; the picture's bytes are base64."""
        return json.dumps(
            {
                "observation": plain(self.observation),
                "selects": [_select_plain(one) for one in self.selects],
                "browser": self.browser,
            },
            ensure_ascii=False,
        )


def observe(
    page: str | Path,
    *,
    viewport: Size,
    device_pixel_ratio: float = 1.0,
    selectors: tuple[str, ...] = (),
    scroll: tuple[float, float] = (0.0, 0.0),
    **options: Any,
) -> Observed:
    """Open a page, observe it once, judge a click on whatever the selectors match; pixels settle what script cannot."""
    with browser.open(page, viewport=viewport, device_pixel_ratio=device_pixel_ratio, **options) as opened:
        if scroll != (0.0, 0.0):
            opened.evaluate(f"scrollTo({scroll[0]}, {scroll[1]})")
        observation, found = opened.select(*selectors)
        unsure = {i for elements in found for i in target_verdict.undecided(elements[:MOST_MATCHES], observation)}
        if unsure:
            observation = opened.pixels(sorted(unsure), observation)
        held = {e.id: e for e in observation.elements}
        selects = tuple(
            _selected(css, tuple(held[e.id] for e in elements), observation)
            for css, elements in zip(selectors, found, strict=True)
        )
        return Observed(observation=observation, selects=selects, browser=opened.browser)


def _selected(css: str, elements: tuple[Element, ...], observation: Observation) -> Selected:
    first = elements[0] if elements else None
    return Selected(
        select=css,
        matches=len(elements),
        element=first,
        verdict=target_verdict.verdict(first, observation),
        others=tuple((e, target_verdict.verdict(e, observation)) for e in elements[1:MOST_MATCHES]),
    )


def plain(value: Any) -> Any:
    """A record as JSON can hold it."""
    return json.loads(schema.to_json(value)) if not isinstance(value, Observation) else _observation_plain(value)


def _observation_plain(observation: Observation) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(schema.to_json(observation))
    picture = observation.screenshot
    if picture is not None and picture.data is not None:
        told["screenshot"] = {**told["screenshot"], "data": base64.b64encode(image.read(picture)).decode()}
    return told


def _select_plain(one: Selected) -> dict[str, Any]:
    told = {
        "select": one.select,
        "matches": one.matches,
        "element": None if one.element is None else plain(one.element),
        "verdict": _verdict_plain(one.verdict),
    }
    if one.others:
        told["others"] = [{"element": plain(e), "verdict": _verdict_plain(v)} for e, v in one.others]
    return told


def _verdict_plain(verdict: Verdict) -> dict[str, Any]:
    evidence = json.loads(verdict.evidence)
    return {"keep": verdict.keep, "reason": verdict.reason, "evidence": evidence, "gate": verdict.gate}


def size(text: str) -> Size:
    """A size written as 1280x720; CallError for anything else."""
    found = re.fullmatch(r"(\d{1,5})\s*[xX]\s*(\d{1,5})", text.strip())
    if found is None or not 1 <= int(found[1]) <= 10_000 or not 1 <= int(found[2]) <= 10_000:
        raise CallError(f"{text!r} is no viewport; wanted WIDTHxHEIGHT in CSS px, such as 1280x720")
    return Size(int(found[1]), int(found[2]))
