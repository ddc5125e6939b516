"""Two runs side by side on the items that both have: paired tests, per criterion and per variant."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from cuadata.building import folders
from cuadata.errors import DataError
from cuadata.scores import runs
from cuadata.scores.runs import Run
from cuadata.statistics import paired


@dataclass(frozen=True, slots=True)
class Outcome:
    """One item of a run, as comparisons see it."""

    id: str
    cluster: str
    variant: str
    exact: bool
    default: bool
    answered: bool = True


def outcomes(folder: Path) -> tuple[Run, dict[str, Outcome]]:
    """The run and its items by id, without questions that have no answer. DataError where it holds none."""
    run = runs.header(folder)
    found = _answers(folder) if run.kind == "answers" else _episodes(folder)
    if not found:
        raise DataError("the run holds no episode and no answer yet", place=str(folder))
    held = {one.id: one for one in found if one.answered}
    ids = len({one.id for one in found})
    if run.kind == "answers" and (len(found), ids) != (run.count, run.count):
        twice = f", of {ids} questions" if ids != len(found) else ""
        raise DataError(
            f"it holds {len(found)} answers{twice}, and {run.count} were scored; `cuadata evaluate ... --out {folder}` "
            "writes it again",
            place=str(folder / runs.ANSWERS),
        )
    return run, held


def _answers(folder: Path) -> list[Outcome]:
    return [Outcome(a.id, a.cluster, a.variant, a.success, a.success, a.answered) for a in runs.answers(folder)]


def _episodes(folder: Path) -> list[Outcome]:
    return [
        Outcome(e.id, e.cluster or f"{e.family}/{e.seed}", "", e.success is True, e.default is True)
        for e in runs.episodes(folder)
    ]


def compare(
    first: Path, second: Path, *, confidence: float = 0.95, samples: int = 10_000, seed: int = 0
) -> dict[str, Any]:
    """Everything that `cuadata compare --json` says, as plain values: the second run against the first.

    Only items that both runs have are paired, of questions those that both answered, also where a run counts unanswered
    ones as wrong; how many each has alone, and how many questions each leaves unanswered, is said. DataError where they
    share none, or where one scores with another tolerance than the other: such rates do not compare.
    """
    run_a, held_a = outcomes(first)
    run_b, held_b = outcomes(second)
    if run_a.tolerance != run_b.tolerance:
        raise DataError(
            f"{first} allows {run_a.tolerance:g} px around a box and {second} {run_b.tolerance:g} px; score both alike"
        )
    shared = [key for key in held_a if key in held_b]
    if not shared:
        raise DataError(f"{first} and {second} share no item: they are of {run_a.what} and {run_b.what}")
    pairs = [(held_a[key], held_b[key]) for key in shared]
    settings: dict[str, Any] = {"confidence": confidence, "samples": samples, "seed": seed}
    variants = sorted({a.variant for a, _ in pairs})
    unpaired = sorted({one.variant for held in (held_a, held_b) for one in held.values()} - set(variants))
    result = {
        "first": run_a.name,
        "second": run_b.name,
        "what": run_a.what,
        "tolerance_px": run_a.tolerance,
        "shared": len(shared),
        "only_first": len(held_a) - len(shared),
        "only_second": len(held_b) - len(shared),
        "unanswered_first": _unanswered(run_a, held_a),
        "unanswered_second": _unanswered(run_b, held_b),
        "variants_without_pairs": unpaired,
        "same_test_set": run_a.items == run_b.items,
        "exact": _paired(pairs, "exact", settings),
        "default": _paired(pairs, "default", settings) if run_a.kind == "episodes" else None,
        "by_variant": {
            v: _paired([p for p in pairs if p[0].variant == v], "exact", settings)
            for v in variants
            if len(variants) > 1
        },
        "confidence": confidence,
        "bootstrap": {"samples": samples, "seed": seed},
    }
    return {**result, "warnings": _warnings(result, {"first": run_a, "second": run_b})}


def _unanswered(run: Run, held: Mapping[str, Outcome]) -> int | None:
    """How many questions of a run have no answer; None where that is not known, as of episodes."""
    return None if run.questions is None else run.questions - len(held)


def _warnings(result: Mapping[str, Any], compared: Mapping[str, Run]) -> list[str]:
    """What a reader of the comparison has to know: who left what out."""
    found = []
    if result["only_first"] or result["only_second"]:
        found.append(
            f"only the {result['shared']} items that both runs have are compared: {result['only_first']} of the first alone "
            f"and {result['only_second']} of the second alone are left out"
        )
    for which, run in compared.items():
        if lacking := result[f"unanswered_{which}"]:
            found.append(f"the {which} run ({run.name}) leaves {lacking} of {run.questions} questions unanswered")
    if result["variants_without_pairs"]:
        found.append(f"variants that no pair is of: {', '.join(result['variants_without_pairs'])}")
    tests = {"exact": result["exact"], "default": result["default"], **result["by_variant"]}
    flat = [name for name, one in tests.items() if one is not None and one["interval"][0] == one["interval"][1]]
    if flat:
        found.append(
            f"every resample gives the same difference, so that its interval has no width: {', '.join(flat)}; that is no "
            "certainty, and p and the smallest difference shown are what to go by"
        )
    return found


def save(folder: Path, result: dict[str, Any], *, force: bool = False, reads: Sequence[Path | str] = ()) -> None:
    """Write a comparison's result. CallError as `folders.refuse_files`; `reads` are the runs."""
    folders.refuse_files(folder, force=force, reads=reads)
    folder.mkdir(parents=True, exist_ok=True)
    folders.put(folder / runs.RESULT, json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def _paired(pairs: Sequence[tuple[Outcome, Outcome]], criterion: str, settings: dict[str, Any]) -> dict[str, Any]:
    found = paired.compare(
        [getattr(a, criterion) for a, _ in pairs],
        [getattr(b, criterion) for _, b in pairs],
        [a.cluster for a, _ in pairs],
        **settings,
    )
    plain: dict[str, Any] = to_builtins(found)
    return {**plain, "verdict": verdict(found)}


def verdict(found: paired.Comparison, *, alpha: float = 0.05) -> str:
    """The comparison in one sentence, which names what the sample could not have shown."""
    points = f"{abs(100 * found.difference):.1f} points"
    if found.p < alpha:
        return f"the second run {'gains' if found.difference > 0 else 'loses'} {points}, p = {found.p:.2g}"
    none = f"no difference shown ({points})"
    if found.mcnemar.p < alpha:
        several = f"{found.clusters} cluster{'s' if found.clusters != 1 else ''}"
        return f"{none}: the {found.n} items fall into {several}, and over whole clusters p = {found.p:.2g}"
    if found.smallest is None:
        return f"{none}; {found.n} items are too few to show any"
    return f"{none}; this sample shows {100 * found.smallest:.1f} points or more"
