"""The first half of a build, a piece of input at a time: read, check, cut, judge, and write down what came out."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cuadata import __version__, geometry, schema, split
from cuadata.building import inputs, packing
from cuadata.building.inputs import Part
from cuadata.building.journal import Damage, Entry, Journal, Summary
from cuadata.judging import gating, judging
from cuadata.judging.gating import Chosen
from cuadata.rows import Candidate, Chunk, Example, Target, TaskRow, Transition, Verdict
from cuadata.speaking import prompts
from cuadata.splitting.examples import SEED_BLOCK
from cuadata.types import SCHEMA_VERSION, Action, Point, Size, Trajectory

E = TypeVar("E", bound=Example)
H = TypeVar("H", Example, Target, Action)
_NOT_INPUT = frozenset({"reason", "done", "infeasible"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is asked of every piece."""

    gates: Annotated[tuple[Chosen, ...], "gates in their order"]
    configs: Annotated[tuple[str, ...], "configs to write"]
    keys: Annotated[tuple[str, ...], "columns that keep rows together in splits"]
    history: Annotated[int, "how many earlier actions an example tells"] = 5
    keep_unsure: Annotated[bool, "keep what a gate is not sure of"] = False
    elements: Annotated[bool, "rows keep the page's elements, for models that read it"] = False

    def fingerprint(self) -> str:
        """Changes where anything changes that decides what comes out of a piece."""
        parts = (__version__, SCHEMA_VERSION, self.configs, self.keys, self.history, self.keep_unsure, self.elements)
        return hashlib.sha256(f"{parts} {gating.code_hash(self.gates)}".encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of work for a worker."""

    part: Part
    settings: Settings
    fingerprint: Annotated[str, "of the settings"]
    folder: Annotated[str, "the folder of the build in progress"]


def cut(job: Job) -> tuple[Summary, bool]:
    """Do a piece, or find that an earlier build did: the summary of what is in the journal then, and whether it did."""
    journal = Journal(Path(job.folder))
    sha256 = inputs.sha256(Path(job.part.path))
    fingerprint = f"{job.fingerprint} {inputs.code_hash(job.part.source)} {job.part.source} {sha256} {job.part.name} {job.part.path}"
    held = journal.summary(job.part.number)
    # What was damaged is read again: a picture put back changes no byte that the fingerprint is taken from.
    if held is not None and held.fingerprint == fingerprint and not held.damage:
        return held, True
    cutter = _Cutter(job, journal)
    return journal.write(job.part.number, cutter.entries(), lambda: cutter.summary(fingerprint, sha256)), False


@dataclass(slots=True)
class _Cutter:
    job: Job
    journal: Journal
    ids: dict[str, None] = field(default_factory=dict)
    browsers: set[str] = field(default_factory=set)
    viewports: set[str] = field(default_factory=set)
    damage: list[Damage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: int = 0
    steps: int = 0
    count: int = 0

    def summary(self, fingerprint: str, sha256: str) -> Summary:
        return Summary(
            fingerprint=fingerprint,
            sha256=sha256,
            trajectories=tuple(self.ids),
            failed=self.failed,
            steps=self.steps,
            entries=self.count,
            browsers=tuple(sorted(self.browsers)),
            viewports=tuple(sorted(self.viewports)),
            damage=tuple(self.damage),
            notes=tuple(self.notes),
        )

    def entries(self) -> Iterator[Entry]:
        """The rows to be of every trajectory of the piece."""
        for trajectory in self._trajectories():
            for entry in _Trajectory(trajectory, self).entries():
                self.count += 1
                yield entry

    def _trajectories(self) -> Iterator[Trajectory]:
        """What the source yields; what it cannot read becomes damage, and ends the piece."""
        part = self.job.part
        held = iter(inputs.reader(part.source)(Path(part.path)))
        while True:
            try:
                trajectory = next(held)
            except StopIteration:
                return
            except (ValueError, OSError) as error:
                place = getattr(error, "place", "")
                self.damage.append(Damage(place=_place(place, part), message=str(error).removeprefix(f"{place}: ")))
                return
            if self._accepts(trajectory):
                yield trajectory

    def _accepts(self, trajectory: Trajectory) -> bool:
        place = self.place(trajectory)
        self.notes += [f"{place}: {note}" for note in trajectory.notes]
        if trajectory.outcome.ended in ("running", "discarded"):
            self.notes.append(f"{place}: left out, it is {trajectory.outcome.ended}")
            return False
        if trajectory.id in self.ids:
            self.damage.append(Damage(place=place, message=f"a second trajectory has the id '{trajectory.id}'"))
            return False
        if not trajectory.steps:
            self.damage.append(Damage(place=place, message="it holds no step"))
            return False
        self.ids[trajectory.id] = None
        self.failed += trajectory.outcome.success is False
        self.browsers.add(trajectory.browser)
        return True

    def place(self, trajectory: Trajectory) -> str:
        """Where a trajectory is, for messages."""
        part = self.job.part
        return part.name if part.alone else f"{part.name}, {trajectory.id}"


def _place(place: str, part: Part) -> str:
    """A place as the source names it, with the path of the build's input cut down to what stands in the manifest."""
    return place.replace(part.path, part.name) if part.path in place else part.name + (f", {place}" if place else "")


class _Trajectory:
    """The rows to be of one trajectory."""

    def __init__(self, trajectory: Trajectory, cutter: _Cutter) -> None:
        self.trajectory = trajectory
        self.cutter = cutter
        self.settings = cutter.job.settings
        self.store = packing.Store(cutter.journal)
        self.verdicts: dict[str, list[Verdict]] = {}
        self.last: int | None = None  # the step that was judged last

    def entries(self) -> Iterator[Entry]:
        inputs_: list[tuple[int, str]] = []
        for candidate in split.examples(self.trajectory, history=self.settings.history):
            candidate = replace(candidate, example=self._with_page(candidate.example))
            yield from self._judged(self._with_hash(candidate))
            example = candidate.example
            if example.action.type not in _NOT_INPUT:
                inputs_.append((example.step_index, example.id))
        if "transitions" in self.settings.configs:
            for transition in split.transitions(self.trajectory):
                yield from self._transition(transition)
        if "recovery" in self.settings.configs:
            for recovered in split.recoveries(self.trajectory, history=self.settings.history):
                row = recovered.example
                if self._against(row.id, "recovery") is None:
                    yield self._entry("recovery", row)
        if "chunks" in self.settings.configs:
            for chunk in split.chunks(self.trajectory):
                yield from self._chunk(chunk, inputs_)
        if "tasks" in self.settings.configs and self.trajectory.task is not None:
            yield self._task()

    def _with_page(self, row: E) -> E:
        """The row with the page's elements, where they are asked for and it has none; before the gates read its texts."""
        if not self.settings.elements or row.elements:
            return row
        step = next((one for one in self.trajectory.steps if one.index == row.step_index), None)
        return row if step is None else replace(row, elements=prompts.listed(step.observation.elements))

    def _with_hash(self, candidate: Candidate) -> Candidate:
        """Pictures from elsewhere come without a perceptual hash; what does not decode keeps none, for a gate to name."""
        picture = candidate.example.image
        if (picture.phash and picture.colours) or not picture.sha256:
            return candidate
        return replace(
            candidate, example=replace(candidate.example, image=replace(self.store.put(picture), data=picture.data))
        )

    def _judged(self, candidate: Candidate) -> Iterator[Entry]:
        example = candidate.example
        verdicts = gating.judge(candidate, self.settings.gates)
        self.verdicts[example.id] = verdicts
        self.cutter.steps += example.step_index != self.last  # a reason shares its step with the action that follows it
        self.last = example.step_index
        self.cutter.viewports.add(f"{example.viewport_width}x{example.viewport_height}@{example.device_pixel_ratio:g}")
        objection = self._against(example.id, "actions")
        config = "actions"
        if objection is not None and self._lacks_only_a_box(example.id):
            config = "point_only"
        elif objection is not None:
            config = "rejected"
        unique = next((v.unique for v in verdicts if v.unique is not None), None)
        if config not in self.settings.configs:
            return
        example = _writable(example, clip=config != "rejected" and judging.page_of(candidate) is None)
        yield self._entry(
            config,
            _remembering(example, verdicts) if config != "rejected" else example,
            unique=unique if config != "rejected" else None,
            verdict=objection if config == "rejected" else None,
            also=_also(verdicts, objection) if config == "rejected" else (),
        )

    def _lacks_only_a_box(self, id: str) -> bool:
        """Whether a row is good but for its box, so that its point can still be learnt."""
        said = [v for v in self.verdicts[id] if gating.against([v], "actions", keep_unsure=self.settings.keep_unsure)]
        return all(v.reason == "box_missing" for v in said) and self._against(id, "point_only") is None

    def _against(self, id: str, config: str) -> Verdict | None:
        return gating.against(self.verdicts.get(id, ()), config, keep_unsure=self.settings.keep_unsure)

    def _transition(self, row: Transition) -> Iterator[Entry]:
        if self._against(row.id, "transitions") is None and self.store.put(row.after).phash:
            yield self._entry("transitions", row)

    def _chunk(self, row: Chunk, held: Sequence[tuple[int, str]]) -> Iterator[Entry]:
        """A chunk stands on the examples of its actions: those from its first step on, without thoughts and endings."""
        first = next((i for i, (step, _) in enumerate(held) if step == row.step_index), 0)
        steps = tuple(id for _, id in held[first : first + len(row.actions)])
        if all(self._against(id, "chunks") is None for id in steps):
            yield self._entry("chunks", row, steps=steps)

    def _entry(self, config: str, row: Example, **about: Any) -> Entry:
        place = f"{self.cutter.place(self.trajectory)}, step {row.step_index}"
        about.setdefault("steps", (row.id,))
        row = self._with_page(row)
        return packing.entry(config, row, self.store, keys=self.settings.keys, place=place, **about)

    def _task(self) -> Entry:
        """The task, with what keeps it in the split of the rows that were made from it."""
        task = self.trajectory.task
        assert task is not None
        block = f"{task.family}/{task.seed // SEED_BLOCK}"
        row = TaskRow(
            id=task.id,
            family=task.family,
            seed=task.seed,
            instruction=task.instruction,
            task=schema.to_json(task).decode(),
            seed_block=block,
        )
        made = packing.entry("tasks", row, self.store, keys=(), place=self.cutter.place(self.trajectory))
        shared = {"site": self.trajectory.site, "template": task.template, "seed_block": block}
        keys = tuple(f"{key}={value}" for key, value in shared.items() if key in self.settings.keys and value)
        return replace(made, trajectory_id=self.trajectory.id, keys=keys)


def _writable(example: Example, *, clip: bool) -> Example:
    """The row without NaN and infinities, which JSON has no word for; `clip`: its boxes end where the picture does."""
    size = Size(example.viewport_width, example.viewport_height)

    def of(target: Target) -> Target:
        box = target.bbox if target.bbox is not None and geometry.finite(target.bbox) else None
        if box is not None and clip:
            box = geometry.clip(box, size) or box
        return _changed(target, bbox=box, point=_finite(target.point))

    return _changed(
        example,
        action=_changed(example.action, point=_finite(example.action.point), end=_finite(example.action.end)),
        target=of(example.target) if example.target is not None else None,
        references=tuple(map(of, example.references)),
    )


def _changed(held: H, **values: Any) -> H:
    """As `dataclasses.replace`; the same object where nothing differs, as nearly always: a copy costs as much as a gate."""
    if all(getattr(held, name) == value for name, value in values.items()):
        return held
    return replace(held, **values)


def _finite(point: Point | None) -> Point | None:
    return point if point is not None and math.isfinite(point.x) and math.isfinite(point.y) else None


def _also(verdicts: Sequence[Verdict], objection: Verdict | None) -> tuple[str, ...]:
    return tuple(f"{v.gate}: {v.reason}" for v in verdicts if v.keep != "yes" and v is not objection)


def _remembering(example: Example, verdicts: Sequence[Verdict]) -> Example:
    """A kept row that some gate objects to, for another config or without being sure, says so in its provenance."""
    said = [
        {"gate": v.gate, "keep": v.keep, "reason": v.reason, "configs": v.configs} for v in verdicts if v.keep != "yes"
    ]
    if not said:
        return example
    provenance = {**json.loads(example.provenance), "objections": said}
    return replace(example, provenance=json.dumps(provenance))
