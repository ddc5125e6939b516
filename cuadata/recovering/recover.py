"""Make recovery data: tries that fail on purpose, played in a browser, and what then helped, in equal parts by cause.

Every cause has a drill, an environment in which it can happen; the policy `stumble` fails in it, and a helper shows the way
out. Nothing is taken at its word: a row is kept where the tries were measured to have changed nothing, the help to have
changed something, the evidence gives the very cause that the drill was for, the attempt went on to succeed, and the gates
have nothing against it.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from cuadata import build, recording, split
from cuadata.browsing.browsers import Browsers
from cuadata.browsing.loop import shared
from cuadata.building import folders
from cuadata.environment import browsers_for
from cuadata.episodes import registration
from cuadata.errors import CallError, DataError
from cuadata.judging import gating
from cuadata.playing import playing
from cuadata.playing.playing import Plan, Played
from cuadata.recovering import mishaps
from cuadata.rows import Candidate, Recovery
from cuadata.splitting.recovery import happened
from cuadata.types import Trajectory

CAUSES = ("missed", "covered", "fake", "disabled", "off_screen", "too_early")
#: Options of the gauntlet under which each cause can happen, and happens soon.
DRILLS: Mapping[str, dict[str, Any]] = {
    "missed": {"rooms": 1},
    "covered": {"rooms": 1, "until": "overlays"},
    "fake": {"rooms": 1, "until": "overlays", "silent": True},
    "disabled": {"rooms": 1, "start": "modal", "until": "modal", "guarded": True},
    "off_screen": {"rooms": 1, "start": "modal", "until": "modal"},
    "too_early": {"rooms": 1, "start": "code", "until": "code", "reveal": "wait", "delay": 4.0},
}
#: Rows that an episode is taken to give at least, so that a drill of bad luck does not ask for hundreds at once.
_LEAST_YIELD = 0.3
#: Episodes without a single row after which a cause is given up.
_PATIENCE = 40
#: Seeds from the first of one cause to the first of the next.
_APART = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is to be made."""

    family: Annotated[str, "page family or task file whose solution is played"] = "gauntlet"
    n: Annotated[int, "rows"] = 500
    causes: Annotated[Sequence[str], "in equal parts"] = CAUSES
    first_seed: Annotated[int, "seeds are counted from here"] = 0
    helper: Annotated[str, "policy that shows the way out; oracle: the solution goes on"] = "oracle"
    helper_options: Annotated[Mapping[str, Any], "keyword arguments of the helper"] = field(default_factory=dict)
    workers: Annotated[int, "pages played at one time"] = 4
    browsers: Annotated[int, "browsers that they share"] = 2


@dataclass(slots=True, kw_only=True)
class Drill:
    """What came of one cause."""

    cause: str
    wanted: int
    rows: list[Recovery] = field(default_factory=list)
    episodes: int = 0
    failures: Annotated[int, "failures that a later step ended, kept or not"] = 0
    refused: Annotated[Counter[str], "why the others were not kept"] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What was made."""

    out: Path
    drills: tuple[Drill, ...]
    seconds: float

    def summary(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "out": str(self.out),
            "rows": sum(len(d.rows) for d in self.drills),
            "seconds": round(self.seconds, 1),
            "causes": {
                d.cause: {
                    "rows": len(d.rows),
                    "tries": dict(sorted(Counter(len(row.failed) for row in d.rows).items())),
                    "episodes": d.episodes,
                    "failures": d.failures,
                    "refused": dict(sorted(d.refused.items())),
                }
                for d in self.drills
            },
        }


def make(
    settings: Settings,
    out: Path,
    recordings: Path,
    *,
    force: bool = False,
    finish: Sequence[Callable[[Path], object]] = (),
    progress: Callable[[str, int], None] = lambda cause, rows: None,
) -> Made:
    """Play the drills into `recordings`, and write the rows as the dataset `out`.

    An interrupted run goes on with the episodes that are there. DataError where a cause gives no rows; CallError where
    another process makes the same.
    """
    _check(settings)
    folders.refuse(out, force=force, reads=[recordings])
    with folders.alone(recordings), folders.alone(folders.partial(out)):
        return _make(settings, out, recordings, force=force, finish=finish, progress=progress)


def _make(
    settings: Settings, out: Path, recordings: Path, *, force: bool, finish: Sequence[Callable[[Path], object]],
    progress: Callable[[str, int], None],
) -> Made:  # fmt: skip
    began = time.perf_counter()
    drills = [
        Drill(cause=cause, wanted=settings.n // len(settings.causes) + (i < settings.n % len(settings.causes)))
        for i, cause in enumerate(settings.causes)
    ]
    # One set of browsers for all drills, which would else start and end with every batch.
    browsers = browsers_for(registration.task(settings.family, settings.first_seed), settings.browsers)
    try:
        for drill in drills:
            _play(drill, settings, recordings / drill.cause, browsers, progress)
    finally:
        shared().run(browsers.close(), 30)
    rows = [row for drill in drills for row in drill.rows]
    build.build([], out, rows={"recovery": rows}, force=force, title="Recoveries from failed actions", finish=finish)
    return Made(out=out, drills=tuple(drills), seconds=time.perf_counter() - began)


def _check(settings: Settings) -> None:
    unknown = [cause for cause in settings.causes if cause not in mishaps.WAYS]
    if not settings.causes:
        raise CallError(f"no cause is named; give some of: {', '.join(mishaps.WAYS)}")
    if unknown:
        raise CallError(f"no cause is called {', '.join(unknown)}; there are: {', '.join(mishaps.WAYS)}")
    if settings.n < len(settings.causes):
        raise CallError(f"{settings.n} rows are too few for {len(settings.causes)} causes")


def _play(
    drill: Drill, settings: Settings, folder: Path, browsers: Browsers, progress: Callable[[str, int], None]
) -> None:
    """Episodes of one drill until it has its rows: one a page to see what an episode gives, then as many as that asks for."""
    gates = gating.choose(None)
    seeds = 0
    seen: set[str] = set()
    while len(drill.rows) < drill.wanted:
        yielded = max(len(drill.rows) / seeds, _LEAST_YIELD) if seeds else drill.wanted / settings.workers
        seeds += max(settings.workers, math.ceil((drill.wanted - len(drill.rows)) / yielded))
        for played in playing.play(_plan(drill.cause, settings, seeds), folder, browsers=browsers):
            if played.name not in seen:
                seen.add(played.name)
                _take(drill, folder, played, gates)
        progress(drill.cause, min(len(drill.rows), drill.wanted))
        if seeds >= _PATIENCE and not drill.rows:
            raise DataError(
                f"{seeds} attempts gave no row of cause '{drill.cause}': {dict(drill.refused)}", place=str(folder)
            )
    del drill.rows[drill.wanted :]


def _plan(cause: str, settings: Settings, seeds: int) -> Plan:
    # Pages of its own for every cause: an attempt's name is made of its seed.
    first = settings.first_seed + _APART * list(mishaps.WAYS).index(cause)
    helper = {} if settings.helper == "oracle" else {"helper": settings.helper, **settings.helper_options}
    return Plan(
        family=settings.family,
        policy="stumble",
        seeds=range(first, first + seeds),
        policy_options={"ways": cause, "share": 1.0, **helper},
        family_options=DRILLS.get(cause, {}) if settings.family == "gauntlet" else {},
        max_steps=80,
        workers=settings.workers,
        browsers=settings.browsers,
        no_effect_lines=True,
    )


def _take(drill: Drill, folder: Path, played: Played, gates: Sequence[gating.Chosen]) -> None:
    """The rows of one attempt that hold."""
    drill.episodes += 1
    trajectory = recording.read(folder / played.name)
    for candidate in split.recoveries(trajectory):
        drill.failures += 1
        why = objection(candidate, trajectory, drill.cause, gates)
        if why is not None:
            drill.refused[why] += 1
        elif isinstance(candidate.example, Recovery):
            drill.rows.append(candidate.example)


def objection(candidate: Candidate, trajectory: Trajectory, cause: str, gates: Sequence[gating.Chosen]) -> str | None:
    """Why a made recovery is not kept; None where all of it holds."""
    row, step = candidate.example, candidate.step
    if not isinstance(row, Recovery) or step is None:
        return "no recovery"
    tries = trajectory.steps[step.index - len(row.failed) : step.index]
    if tuple(one.action for one in tries) != row.failed or any(happened(one) is not False for one in tries):
        return "a try was not measured to change nothing"
    if happened(step) is not True:
        return "what helped was not measured to change anything"
    if row.cause != cause:
        return f"the evidence says '{row.cause}'"
    if cause == "too_early" and step.action.type != "wait":
        return "something else than waiting ended it"
    if trajectory.outcome.success is not True:
        return "the attempt did not succeed"
    against = gating.against(gating.judge(candidate, gates), "recovery")
    return None if against is None else f"{against.gate}: {against.reason}"
