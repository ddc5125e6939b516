"""What `cuadata audit` shows."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cuadata import audit
from cuadata.audit import CLASSES, Against, Audit, Confusion
from cuadata.errors import CallError
from cuadata.proving import reviews
from cuadata.reporting import printing
from cuadata.statistics.intervals import Rate
from cuadata.statistics.paired import McNemar


def show(what: str, path: Path | None, *, review_file: Path | None, as_json: bool) -> None:
    """Score a dataset's gates against reviews of it, or the geometric gates against GUI-Perturbed's, and print it.

    CallError where neither is asked for; DataError where a file is bad.
    """
    if review_file is not None:
        scored = reviews.score(Path(what), reviews.read(review_file))
        _dataset(what, scored)
        summary: dict[str, Any] = {"dataset": what, **asdict(scored)}
    elif what == "gui_perturbed":
        if path is None:
            raise CallError("say where it is: cuadata audit gui_perturbed PATH, its folder or its reviews.csv")
        found = audit.gui_perturbed(path)
        _perturbed(found)
        summary = {"what": what, **asdict(found)}
    else:
        raise CallError(
            f"'{what}' is no set with reviews of its own; give `gui_perturbed PATH`, or a dataset with --reviews"
        )
    if as_json:
        printing.data(finite(summary))


def finite(value: Any) -> Any:
    """The same with null for what JSON has no number for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    return [finite(one) for one in value] if isinstance(value, (list, tuple)) else value


def _perturbed(found: Audit) -> None:
    for one in found.classes:
        _class(one, found.reviews)
    _reasons(found)
    _sweep(found)
    printing.say(
        f"What no geometry sees: {found.plain_but_rejected} steps were rejected by the person though target and reference "
        "stand exactly in line and the relation holds: covered or hidden elements, texts that are not what is shown, "
        f"descriptions that fit several elements. {found.same_boxes} pairs of steps have equal boxes and opposite verdicts."
    )
    if found.columns is not None:
        total = sum(found.columns.values())
        counts = ", ".join(f"{count} {name}" for name, count in found.columns.items())
        printing.say(f"Recorded columns against the rewritten instructions, {total} original steps: {counts}.")


def _class(one: Against, total: int) -> None:
    rows = [
        ["the gate", *_cells(one.gate), ""],
        ["the bare rule", *_cells(one.bare), _test(one.test)],
        [f"the gate at {one.tolerance:.3f}", *_cells(one.at_equal_recall), _test(one.test_at_equal_recall)],
        ["at what other tasks chose", *_cells(one.crossed), _test(one.test_crossed)],
    ]
    head = ["", "right kept", "wrong kept", "right dropped", "wrong dropped", "precision, %", "recall, %",
            "decides better : worse, p"]  # fmt: skip
    printing.table(f"{CLASSES[one.name]} ({total} steps)", head, rows)


def _cells(held: Confusion) -> list[str]:
    counts = (held.right_kept, held.wrong_kept, held.right_dropped, held.wrong_dropped)
    return [*map(str, counts), _rate(held.precision), _rate(held.recall)]


def _rate(held: Rate) -> str:
    if held.rate is None or held.interval is None:
        return "-"
    return f"{100 * held.rate:.1f} [{100 * held.interval[0]:.1f}, {100 * held.interval[1]:.1f}]"


def _test(held: McNemar) -> str:
    return f"{held.only_second} : {held.only_first}, p = {held.p:.2g}"


def _reasons(found: Audit) -> None:
    rows = [
        [name.replace("_", " "), *(str(row[one]) for one in (*CLASSES, "rejected"))]
        for name, row in found.reasons.items()
    ]
    printing.table("what the gate says, by what the person said", ["", "not rejected", "both right", "rejected"], rows)


def _sweep(found: Audit) -> None:
    rows = []
    for line in found.sweep:
        cells = [f"{100 * line[name][what]:.1f}" for name in CLASSES for what in ("precision", "recall")]
        tolerance = "any" if line["tolerance"] == math.inf else f"{line['tolerance']:g}"
        rows.append([tolerance, str(line["kept"]), *cells])
    held_out = [f"{100 * found.held_out[name][what]:.1f}" for name in CLASSES for what in ("precision", "recall")]
    rows.append(["chosen on other tasks", "", *held_out])
    head = [
        "out of line by at most",
        "kept",
        "precision, %",
        "recall, %",
        "precision, both right",
        "recall, both right",
    ]
    printing.table("over the tolerance, share of the smaller extent", head, rows)


def _dataset(name: str, found: reviews.Score) -> None:
    rows = [[word.replace("_", " "), str(found.kept[word]), str(found.rejected[word])] for word in reviews.WORDS]
    printing.table(f"{name}: {found.reviewed} reviewed rows", ["", "kept", "rejected"], rows)
    printing.say(
        f"precision {_rate(found.precision)} %, recall {_rate(found.recall)} %, wrong rows caught {_rate(found.caught)} %"
    )
    gates = [[one.gate, one.reason, str(one.n), _rate(one.wrong)] for one in found.gates]
    if gates:
        printing.table("what each gate rejected", ["gate", "reason", "rows", "people too found wrong, %"], gates)
    if found.unknown:
        printing.say(f"{found.unknown} reviews are of rows that are not in the dataset")
    if found.disagreeing:
        printing.say(f"of {found.disagreeing} rows people said both right and wrong; they count as wrong")
