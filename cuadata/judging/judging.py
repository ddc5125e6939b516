"""How a gate says what it found, and how an example is put before several gates."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from cuadata import reasons
from cuadata.registry import gates as registered
from cuadata.rows import Candidate, Target, Verdict
from cuadata.types import BBox, Element, Keep, Locator, Observation, Point

#: Texts in evidence are cut here: a name of a megabyte is a fault of the page, not something to publish.
LONGEST: Final = 200


#: Verdicts that say no more than that a gate keeps: one a gate, since most verdicts are such.
_KEPT: dict[str, Verdict] = {}


def kept(gate: str, evidence: Mapping[str, object] | None = None, /, **more: object) -> Verdict:
    """The gate has nothing against the example; the evidence says what it measured, or what it could not check."""
    if not evidence and not more:
        found = _KEPT.get(gate)
        if found is None:
            found = _KEPT[gate] = Verdict(gate=gate)
        return found
    return Verdict(gate=gate, evidence=as_json({**(evidence or {}), **more}))


def rejected(
    gate: str,
    reason: str,
    evidence: Mapping[str, object] | None = None,
    /,
    *,
    keep: Keep = "no",
    configs: tuple[str, ...] = (),
    **more: object,
) -> Verdict:
    """The gate rejects, or cannot tell (`keep="unsure"`). ValueError for a reason that is not in the vocabulary."""
    text = as_json({**(evidence or {}), **more})
    return Verdict(gate=gate, keep=keep, reason=reasons.check(reason), evidence=text, configs=configs)


def as_json(evidence: Mapping[str, object]) -> str:
    """Evidence as JSON text of ASCII alone; what JSON has no word for is put into words, and long texts are cut."""
    held = {name: plain(value) for name, value in evidence.items()}
    try:
        text = msgspec.json.encode(held).decode()
    except UnicodeError:  # half of a surrogate pair, which is no text
        return json.dumps(held)
    return text if text.isascii() else json.dumps(held)


def plain(value: Any) -> Any:
    """A value as JSON can hold it: boxes as [x, y, width, height], points as [x, y], elements by what a person reads."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"{value[:LONGEST]}... ({len(value)} characters)"
    if value is None or isinstance(value, (bool, int)):
        # Beyond 64 bits readers of JSON differ.
        return value if value is None or -(2**63) <= value < 2**63 else str(value)[:LONGEST]
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else str(value)
    if isinstance(value, BBox):
        return [plain(value.x), plain(value.y), plain(value.width), plain(value.height)]
    if isinstance(value, Point):
        return [plain(value.x), plain(value.y)]
    if isinstance(value, (Element, Target)):
        return {"role": plain(value.role), "name": plain(value.name or value.text), "bbox": plain(value.bbox)}
    if isinstance(value, Mapping):
        return {str(name)[:LONGEST]: plain(one) for name, one in value.items()}
    if isinstance(value, Iterable):
        return [plain(one) for one in value]
    return plain(str(value))


def judge(candidate: Candidate, names: Iterable[str] | None = None) -> list[Verdict]:
    """What every gate says, or those named, in their order."""
    return [verdict(name, registered[name](candidate)) for name in (names if names is not None else registered.names())]


def verdict(gate: str, said: object) -> Verdict:
    """What a gate said. TypeError that names the gate where it is no verdict, as where its function ends without a return."""
    if not isinstance(said, Verdict):
        raise TypeError(
            f"gate {gate} returned {said!r:.60}, wanted a Verdict: kept('{gate}') or rejected('{gate}', reason), also on the "
            "way out at the end of its function"
        )
    return said


def against(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The first verdict that does not keep; None where all do."""
    return next((verdict for verdict in verdicts if verdict.keep != "yes"), None)


def page_of(candidate: Candidate) -> Observation | None:
    """The page that the example was measured on; None where only its boxes are known, as in imported sets."""
    page = candidate.observation
    return page if page is not None and page.elements else None


def element_of(target: Target | None, page: Observation | None) -> Element | None:
    """The element of this page that a row's target is: by its locator, else by role, name and box; None if there is none."""
    if target is None or page is None:
        return None
    if target.locator is not None:
        return _by_locator(target.locator, page)
    for one in page.elements:
        if one.role == target.role and one.name == target.name and one.bbox == target.bbox:
            return one
    return None


def _by_locator(locator: Locator, page: Observation) -> Element | None:
    css = locator.css
    for one in page.elements:
        if one.locator.css == css and one.locator == locator:
            return one
    return None


def provenance(candidate: Candidate, name: str) -> Any:
    """One entry of the row's provenance; None where it has none or the text is no JSON object."""
    text = candidate.example.provenance
    return _entries(text).get(name) if f'"{name}"' in text else None


@functools.lru_cache(maxsize=16)
def _entries(text: str) -> Mapping[str, Any]:
    """What a JSON object holds; kept for a while, since several gates ask for entries of one text."""
    try:
        held = json.loads(text)
    except ValueError:
        return {}
    return held if isinstance(held, dict) else {}


def nothing_told(candidate: Candidate) -> bool:
    """Whether no note stands beside the page, so that nothing is `told` of the example."""
    return candidate.observation is None or not candidate.observation.notes


def told(candidate: Candidate, reason: str) -> str | None:
    """What a source found when it read the set: the note of the observation that begins with this reason; None for none."""
    if candidate.observation is None:
        return None
    for note in candidate.observation.notes:
        if note.startswith(reason):
            return note[len(reason) :].lstrip(": ")
    return None
