"""Does anything trivial predict the target? python benchmarks/spatial_balance.py DATASET...

Of the rows by place of datasets that `cuadata generate spatial` made: for each dataset the predictor with the highest upper end of
its 95 % interval, then how far each predictor is above chance over all datasets, by family and by stage, in points.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from cuadata import dataset
from cuadata.generating import spatial_card
from cuadata.generating.spatial_balance import PREDICTORS, Seen, Table
from cuadata.rows import Grounding


def questions(folder: Path) -> Iterator[tuple[Seen, tuple[str, ...]]]:
    """The questions of a dataset, each with the parts of the data that it is in."""
    for split in dataset.configs(folder)["grounding"]:
        for row in dataset.read(folder, "grounding", split, Grounding):
            seen = spatial_card.seen_of(row)
            if seen is not None:
                yield seen, ("all", row.site, f"stage {row.stage}")


def main(folders: list[Path]) -> None:
    """Print both tables."""
    parts: dict[str, Table] = {}
    print(f"{'dataset':32} {'questions':>9} {'lowest mean':>11} {'highest':>8} {'highest upper end':>18}")
    for folder in folders:
        own = Table()
        for seen, names in questions(folder):
            own.add(seen)
            for name in names:
                parts.setdefault(name, Table()).add(seen)
        rows = own.rows()
        means = [100 * one["above_chance"] for one in rows]
        most = max(rows, key=lambda one: float(one["high"]))
        upper = f"{100 * most['high']:+18.1f} {most['predictor']}"
        print(f"{folder.name[:32]:32} {own.n:9} {min(means):+11.1f} {max(means):+8.1f} {upper}")
    names = sorted(parts)
    found = {name: parts[name].rows() for name in names}
    print()
    print(f"{'above chance, all together':34} " + " ".join(f"{name:>9}" for name in names))
    for place, predictor in enumerate(PREDICTORS):
        print(f"{predictor:34} " + " ".join(f"{100 * found[name][place]['above_chance']:+9.1f}" for name in names))
    print(f"{'questions':34} " + " ".join(f"{parts[name].n:9}" for name in names))


if __name__ == "__main__":
    main([Path(one) for one in sys.argv[1:]])
