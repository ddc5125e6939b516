"""How good effect detection is on labelled actions, and which thresholds would suit them.

Precision and recall with Wilson intervals, recall by class, every error by name, and for each threshold the span of values
under which the labels are met best, the others as they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Any

from cuadata.effects import Thresholds
from cuadata.statistics.intervals import Rate, rate
from cuadata.types import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One labelled action and what was measured of it."""

    id: Annotated[str, "of the pair, or recording and step"]
    effect: Annotated[bool, "the label"]
    kind: Annotated[str, "class of the label"] = ""
    half: Annotated[str, "dev, test or empty"] = ""
    measured: Annotated[Effect, "what the product says"]
    similarity: Annotated[float, "lowest SSIM of a window"] = 1.0
    shift: Annotated[float, "largest difference of a window's mean, levels"] = 0.0
    block: Annotated[float, "largest difference of a block's mean, levels"] = 0.0
    noise: Annotated[bool, "judged by block means alone"] = False

    @property
    def right(self) -> bool:
        """Whether the measured effect is the labelled one; an unknown effect is right for neither."""
        return self.measured.happened is self.effect

    def under(self, limits: Thresholds) -> bool:
        """What these thresholds would say."""
        if self.measured.state:
            return True
        if self.block > limits.block:
            return True
        return not self.noise and (self.similarity < limits.similarity or self.shift > limits.shift)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A threshold and the values that suit the labels best."""

    name: Annotated[str, "field of Thresholds"]
    now: Annotated[float, "its value now"]
    proposed: Annotated[float, "the middle of the widest span without more errors than any other value gives"]
    low: Annotated[float, "lower end of that span"]
    high: Annotated[float, "upper end of that span"]
    errors: Annotated[int, "errors of the pictures' verdict inside the span"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What the labels say of effect detection."""

    n: Annotated[int, "labelled actions"]
    precision: Annotated[Rate, "share of measured effects that are labelled so"]
    recall: Annotated[Rate, "share of labelled effects that were measured"]
    specificity: Annotated[Rate, "share of actions labelled without effect that were measured so"]
    by_class: Annotated[dict[str, Rate], "share judged right, by class"]
    by_half: Annotated[dict[str, Rate], "share judged right, by half"]
    errors: Annotated[tuple[str, ...], "each wrong verdict: id, label, measured, reason"]
    proposals: Annotated[tuple[Proposal, ...], "thresholds that suit these labels"]


def calibrate(actions: Iterable[Judged], thresholds: Thresholds | None = None) -> Calibration:
    """Compare measured effects with labels."""
    held = list(actions)
    said = [one for one in held if one.measured.happened]
    did = [one for one in held if one.effect]
    did_not = [one for one in held if not one.effect]
    return Calibration(
        n=len(held),
        precision=rate([one.effect for one in said]),
        recall=rate([one.right for one in did]),
        specificity=rate([one.right for one in did_not]),
        by_class=_by([(one.kind or "all", one.right) for one in held]),
        by_half=_by([(one.half, one.right) for one in held if one.half]),
        errors=tuple(_words(one) for one in held if not one.right),
        proposals=tuple(propose(held, thresholds or Thresholds())),
    )


def _by(pairs: Sequence[tuple[str, bool]]) -> dict[str, Rate]:
    groups: dict[str, list[bool]] = defaultdict(list)
    for name, right in pairs:
        groups[name].append(right)
    return {name: rate(groups[name]) for name in sorted(groups)}


def _words(one: Judged) -> str:
    label = "an effect" if one.effect else "no effect"
    return f"{one.id}: labelled {label}, measured {one.measured.kind}: {one.measured.reason}"


def propose(actions: Sequence[Judged], limits: Thresholds) -> Iterable[Proposal]:
    """For each threshold on the pictures, the widest span of values with the fewest errors, the others as they are."""
    # What states or the focus decided says nothing of thresholds on pictures.
    seen = [one for one in actions if not one.measured.state and one.under(limits) is one.measured.happened]
    for name, ceiling in (("similarity", 1.0), ("shift", 64.0), ("block", 64.0)):
        values = {min(max(float(getattr(one, name)), 0.0), ceiling) for one in seen}
        edges = sorted({0.0, ceiling, *values})
        spans = [
            (
                sum(one.under(replace(limits, **_field(name, (low + high) / 2))) is not one.effect for one in seen),
                low,
                high,
            )
            for low, high in pairwise(edges)
        ]
        best = min((errors for errors, _, _ in spans), default=0)
        low, high = _widest([(low, high, errors == best) for errors, low, high in spans])
        now = float(getattr(limits, name))
        yield Proposal(name=name, now=now, proposed=(low + high) / 2, low=low, high=high, errors=best)


def _field(name: str, value: float) -> dict[str, Any]:
    return {name: value}


def _widest(spans: Sequence[tuple[float, float, bool]]) -> tuple[float, float]:
    """The widest run of neighbouring spans that are marked."""
    widest, start = (0.0, 0.0), None
    for low, high, marked in spans:
        start = (low if start is None else start) if marked else None
        if start is not None and high - start > widest[1] - widest[0]:
            widest = (start, high)
    return widest
