"""What `cuadata verify` shows."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from cuadata import verify
from cuadata.errors import CallError, DataError
from cuadata.proving.measuring import Measured
from cuadata.reporting import printing
from cuadata.reporting.audit_report import finite
from cuadata.scores import runs
from cuadata.statistics.intervals import Rate
from cuadata.verify import Verification

_SHOWN = 20
#: By what a label was judged, in words.
_EVIDENCE = {
    "recording": "their recording",
    "rendered": "the page rendered again",
    "picture": "the change of their picture made again",
    "row": "the row's own values alone",
}


def show(
    folder: Path | None,
    *,
    recordings: Path | None,
    family: str,
    seeds: str,
    render: bool,
    inject: bool,
    each: int | None = None,
    limit: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Verify a dataset, or the pages of a family, and print what was found. DataError where a label does not hold."""
    if (folder is None) == (not family):
        raise CallError("say what to verify: the folder of a dataset, or --family NAME --seeds A:B")
    if out is not None and out.exists() and not out.is_dir():
        raise CallError(f"--out {out} is a file; give the name of a folder")
    if folder is not None:
        found = verify.dataset(
            folder, recordings=recordings, render=render, faults=inject, each=each, limit=limit, out=out
        )
    else:
        found = verify.family(family, runs.seeds(seeds), faults=inject, each=each, out=out)
    name = str(folder or family)
    _labels(name, found, out)
    if found.injected is not None:
        _injected(found.injected)
    if as_json:
        printing.data(finite(_summary(name, found)))
    if found.failures:
        raise DataError(f"{len(found.failures)} of {found.rows} labels do not hold", place=name)


def _summary(name: str, found: Verification) -> dict[str, Any]:
    held = asdict(found)
    if found.injected is not None:
        held["gate_recall"] = found.injected.for_the_card()
    return {"what": name, **held}


def percent(held: Rate) -> str:
    """A rate in percent with its interval."""
    if held.rate is None or held.interval is None:
        return "-"
    return f"{100 * held.rate:.1f} [{100 * held.interval[0]:.1f}, {100 * held.interval[1]:.1f}]"


def _labels(name: str, found: Verification, out: Path | None) -> None:
    where = ", ".join(f"{count} by {_EVIDENCE[source]}" for source, count in found.evidence.items()) or "none"
    printing.say(f"{name}: {found.rows} labels looked at ({where})")
    printing.say(f"{percent(found.holds)} % hold, {found.unsure} cannot be told")
    if found.failures:
        rows = [[gate, str(count)] for gate, count in found.gates.items()]
        printing.table("labels that do not hold, by gate", ["gate", "rows"], rows)
        lines = [[one.config, one.id, one.gate, one.reason] for one in found.failures[:_SHOWN]]
        printing.table(f"the first {len(lines)}", ["config", "id", "gate", "reason"], lines)
    if out is not None:
        printing.say(f"pictures of the failures, and failures.jsonl, are in {out}")


def _injected(found: Measured) -> None:
    words = {True: "wrong", False: "right", None: "people differ"}
    rows = [
        [
            cell.kind.replace("_", " "),
            cell.severity,
            words[cell.wrong],
            str(cell.rejected.n),
            percent(cell.rejected),
            ", ".join(list(cell.gates)[:3]),
        ]
        for cell in found.cells
    ]
    head = ["fault", "severity", "the label is", "n", "rejected, % [95 %]", "by"]
    printing.table(f"known faults in {found.examples} examples", head, rows)
    gates = [
        [name, percent(one.recall), percent(one.false_rejects)] for name, one in found.gates.items() if one.recall.n
    ]
    printing.table("gates, on the faults that each catches most of", ["gate", "recall, %", "false rejects, %"], gates)
    printing.say(
        f"of wrong labels {percent(found.recall)} % are rejected, of right ones {percent(found.false_rejects)} %"
    )
    if found.unfit:
        named = ", ".join(f"{name} {count}" for name, count in found.unfit.items())
        printing.say(f"examples that a gate rejects as they are, and that count as false rejects: {named}")
