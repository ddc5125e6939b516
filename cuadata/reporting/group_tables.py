"""What `cuadata plan group-size` prints."""

from __future__ import annotations

from msgspec import to_builtins

from cuadata.reporting import printing
from cuadata.statistics import groups


def show(pass_rate: float, seconds_per_episode: float, *, groups_per_update: int, parallel: int, as_json: bool) -> None:
    """Table on stderr, or one object on stdout."""
    rows = groups.plan(pass_rate, seconds_per_episode, groups=groups_per_update, parallel=parallel)
    if as_json:
        asked = {"pass_rate": pass_rate, "seconds_per_episode": seconds_per_episode, "groups": groups_per_update}
        printing.data({**asked, "parallel": parallel, "sizes": to_builtins(rows)})
    printing.table(
        f"Groups at a pass rate of {pass_rate:g}, {groups_per_update} an update",
        ["group", "without spread", "useful groups", "rollouts", "wall time", "per useful group"],
        [
            [
                str(row.size),
                f"{100 * row.without_spread:.1f} %",
                f"{row.useful_groups:.1f}",
                str(row.rollouts),
                _time(row.seconds),
                "never" if row.seconds_per_useful is None else _time(row.seconds_per_useful),
            ]
            for row in rows
        ],
    )


def _time(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.1f} min"
        if seconds < 7200
        else f"{seconds / 3600:.1f} h"
    )
