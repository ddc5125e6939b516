"""Does every published label still hold? Each row is put before the gates again, with the evidence that can be had for it.

Evidence comes from the recording that a row was cut from, or from its page, rendered again from family and seed. Where
neither is at hand, only the row itself is judged, and the count says so. A relation is computed from the boxes each time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

from cuadata import edit, image, recording, split
from cuadata.building import manifest
from cuadata.errors import CallError, DataError
from cuadata.judging import gating, importing
from cuadata.judging.gating import Chosen
from cuadata.judging.judging import rejected
from cuadata.proving import drawing, inject, pairs
from cuadata.proving.measuring import Measured, Meter
from cuadata.proving.rendering import Renderer, candidate_of, evidence_for, page_of
from cuadata.publishing import published
from cuadata.reasons import REASONS
from cuadata.registry import families
from cuadata.registry import gates as registered
from cuadata.rows import CONFIGS, Candidate, Example, Pair, Verdict
from cuadata.statistics import intervals
from cuadata.types import BBox, Size

#: Gates that judge a row by other rows, or by what models did with it.
OF_OTHERS: Final = ("duplicate", "difficulty")
#: Configs whose rows are one label each, and the one whose rows are two: as they stand, and under the change that they state.
LABELS: Final = ("actions", "grounding", "point_only")
PAIRS: Final = "pairs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A published label that does not hold."""

    config: str
    id: str
    gate: str
    reason: str
    evidence: Annotated[str, "JSON text: the values that decided"]
    picture: Annotated[str | None, "file with the row drawn, in the folder for failures; None where none was asked for"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What became of the labels."""

    rows: Annotated[int, "labels looked at"]
    holds: Annotated[intervals.Rate, "labels that no gate rejects"]
    unsure: Annotated[int, "labels of which some gate cannot tell, and none rejects"]
    evidence: Annotated[
        dict[str, int],
        "labels by where their evidence came from: recording, rendered, picture (its change made again), row",
    ]
    gates: Annotated[dict[str, int], "labels that each gate rejects first"]
    reasons: Annotated[dict[str, int], "the same by reason"]
    failures: tuple[Failure, ...]
    injected: Annotated[Measured | None, "what the gates catch of known faults; None where it was not asked for"] = None


def chosen() -> tuple[Chosen, ...]:
    """The gates that judge one row by its own evidence, in their order."""
    return gating.choose(None, without=[name for name in OF_OTHERS if name in registered.names()])


def dataset(
    folder: Path,
    *,
    recordings: Path | None = None,
    render: bool = True,
    faults: bool = False,
    each: int | None = None,
    limit: int | None = None,
    out: Path | None = None,
) -> Verification:
    """Verify the labels of a dataset, at most `limit` of each config.

    `recordings` is the folder that it was built from; without it, rows that name a task are rendered again where `render`
    allows. `faults`: known faults are put into the labels that hold, and counted; `each` limits those that change a
    page to so many a label. `out` takes the failures as pictures.
    DataError where the folder is no dataset, lacks a file that its manifest lists, holds no label, or a shard is broken.
    """
    _check_files(folder)
    with ExitStack() as stack:
        finder = _Finder(recordings, stack.enter_context(Renderer()) if render else None)
        found = _verified(_of_dataset(folder, finder, limit), finder, faults=faults, each=each, out=out)
    if not found.rows:
        raise DataError(
            "it holds no label, so nothing was proved; `cuadata stats` says what is in it", place=str(folder)
        )
    return found


def family(
    name: str, seeds: Iterable[int], *, faults: bool = False, each: int | None = None, out: Path | None = None
) -> Verification:
    """Verify the labels that a family's own pages give: every gate must keep them.

    CallError where no family is called so; DataError where none of its tasks points at an element.
    """
    if name not in families:
        raise CallError(f"no family is named '{name}'; there are: {', '.join(families.names()) or 'none'}")
    with Renderer() as renderer:
        finder = _Finder(None, renderer)
        found = _verified(_of_family(name, seeds, renderer), finder, faults=faults, each=each, out=out)
    if not found.rows:
        raise DataError("no task of these seeds points at an element, so nothing was proved", place=name)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Label:
    """A row on its way through."""

    config: str
    candidate: Candidate
    source: Annotated[str, "recording, rendered, picture or row"]
    found: Annotated[Verdict | None, "what was found of a changed picture; None: the gates judge"] = None


class _Finder:
    """Finds the evidence of a published row."""

    def __init__(self, recordings: Path | None, renderer: Renderer | None) -> None:
        self.paths = edit.index(recordings) if recordings is not None else {}
        self.renderer = renderer
        self._trajectory: tuple[str, dict[str, Candidate]] = ("", {})

    def find(self, config: str, row: Example) -> _Label:
        held = self._recorded(row)
        if held is not None:
            return _Label(config=config, candidate=replace(held, example=row), source="recording")
        made = page_of(row) if self.renderer is not None and row.step_index == 0 else None
        if made is not None and self.renderer is not None:
            task, asks = made
            held = evidence_for(row, task if asks else None, self.renderer.show(task))
            return _Label(config=config, candidate=held, source="rendered")
        return _Label(config=config, candidate=Candidate(example=row), source="row")

    def changed(self, row: Pair) -> _Label:
        """The second label of a pair: where its target is under the change that the row states."""
        if "affine" in pairs.stated(row):
            return _Label(
                config=PAIRS, candidate=Candidate(example=row), source="picture", found=pairs.of_the_picture(row)
            )
        label = self.find(PAIRS, pairs.elsewhere(row))
        return replace(label, candidate=pairs.with_references_of_its_page(label.candidate))

    def _recorded(self, row: Example) -> Candidate | None:
        path = self.paths.get(row.trajectory_id)
        if path is None:
            return None
        if self._trajectory[0] != row.trajectory_id:
            cut = split.examples(recording.read(path))
            self._trajectory = row.trajectory_id, {one.example.id: one for one in cut}
        return self._trajectory[1].get(row.id)


def _check_files(folder: Path) -> None:
    """DataError where a file that the dataset's manifest lists is not there: what is left would pass for the whole."""
    listed = folder / manifest.NAME
    if not listed.is_file():
        return
    missing = [file["path"] for file in manifest.read(folder)["files"] if not (folder / file["path"]).is_file()]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise DataError(
            f"{manifest.NAME} lists {', '.join(missing[:3])}{more}, which is not there; build the dataset again, or fetch "
            "it whole",
            place=str(folder),
        )


def _of_dataset(folder: Path, finder: _Finder, limit: int | None) -> Iterator[_Label]:
    held = [name for name in published.configs(folder) if name in (*LABELS, PAIRS)]
    if not held:
        raise DataError(f"it has none of the configs {', '.join((*LABELS, PAIRS))}", place=str(folder))
    for config in held:
        rows: Iterator[Example] = published.rows(folder, config, CONFIGS[config])
        ids: set[str] = set()
        for place, row in enumerate(rows):
            if limit is not None and place >= limit:
                break
            label = finder.find(config, row)
            # An id that stands twice names neither row, whatever each of them says.
            again = rejected("duplicate", "duplicate", id=row.id) if row.id in ids else None
            ids.add(row.id)
            yield label if again is None else replace(label, found=again)
            if isinstance(row, Pair):
                yield finder.changed(row)


def _of_family(name: str, seeds: Iterable[int], renderer: Renderer) -> Iterator[_Label]:
    for seed in seeds:
        task = families[name](seed)
        candidate = candidate_of(task, renderer.show(task))
        if candidate is not None:
            yield _Label(config="grounding", candidate=candidate, source="rendered")


def _verified(
    labels: Iterable[_Label], finder: _Finder, *, faults: bool, each: int | None, out: Path | None
) -> Verification:
    gates = chosen()
    meter = Meter(gates) if faults else None
    failures: list[Failure] = []
    sources: Counter[str] = Counter()
    unsure = 0
    for label in labels:
        sources[label.source] += 1
        verdicts = gating.verdicts(label.candidate, gates) if label.found is None else [label.found]
        against = gating.against(verdicts, label.config, keep_unsure=True)
        if against is not None:
            failures.append(_failure(label, against, out))
        elif gating.against(verdicts, label.config) is not None:
            unsure += 1
        measured = label.source != "row" and label.config != PAIRS
        if meter is not None and measured and meter.example(label.candidate, label.config):
            _put_faults(meter, label, finder, each)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(_as_line(one)) for one in failures)
        (out / "failures.jsonl").write_text("".join(f"{line}\n" for line in lines))
    total = sum(sources.values())
    return Verification(
        rows=total,
        holds=intervals.counted(total - len(failures), total),
        unsure=unsure,
        evidence=dict(sources),
        gates=dict(Counter(one.gate for one in failures).most_common()),
        reasons=dict(Counter(one.reason for one in failures).most_common()),
        failures=tuple(failures),
        injected=None if meter is None else meter.result(),
    )


def _put_faults(meter: Meter, label: _Label, finder: _Finder, each: int | None) -> None:
    """Faults in the live page where it is shown, else in the evidence that was recorded of it."""
    renderer = finder.renderer if label.source == "rendered" else None
    for fault in (
        renderer.faults(label.candidate, most=each) if renderer is not None else inject.faults(label.candidate)
    ):
        meter.fault(fault, label.config)


def _failure(label: _Label, verdict: Verdict, out: Path | None) -> Failure:
    example = label.candidate.example
    name = None
    if out is not None:
        name = importing.safe_name(f"{label.config}-{example.id}".replace("/", "-"))[:120] + ".png"
        out.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(drawn(label.candidate, verdict))
    return Failure(
        config=label.config,
        id=example.id,
        gate=verdict.gate,
        reason=verdict.reason or "",
        evidence=verdict.evidence,
        picture=name,
    )


def _as_line(one: Failure) -> dict[str, Any]:
    return {
        "config": one.config,
        "id": one.id,
        "gate": one.gate,
        "reason": one.reason,
        "evidence": json.loads(one.evidence),
        "picture": one.picture,
    }


def drawn(candidate: Candidate, verdict: Verdict) -> bytes:
    """A PNG of an example with what a verdict says of it: target, references, rivals, point and reason."""
    example = candidate.example
    try:
        picture = image.read(example.image) if example.image.sha256 else None
    except (OSError, ValueError):
        picture = None
    evidence = json.loads(verdict.evidence)
    return drawing.marked(
        picture,
        Size(example.viewport_width, example.viewport_height),
        target=example.target.bbox if example.target is not None else None,
        point=example.action.point,
        references=[one.bbox for one in example.references if one.bbox is not None],
        rivals=list(_rivals(evidence)),
        words=(example.instruction, _sentence(verdict), drawing.told(evidence)),
    )


def _sentence(verdict: Verdict) -> str:
    """Gate and reason, and what the reason means."""
    if verdict.reason is None:
        return f"kept: {verdict.gate} has nothing against it"
    return f"{verdict.keep}: {verdict.gate}, {verdict.reason}. {REASONS.get(verdict.reason, '')}"


def _rivals(evidence: dict[str, Any]) -> Iterator[BBox]:
    """Boxes of other elements that a verdict's evidence names."""
    for name in ("others", "fits", "runner_up", "page"):
        held = evidence.get(name)
        for one in held if isinstance(held, Sequence) and not isinstance(held, str) else [held]:
            box = one.get("bbox") if isinstance(one, dict) else None
            if isinstance(box, list) and len(box) == 4 and all(isinstance(number, (int, float)) for number in box):
                yield BBox(*map(float, box))
