"""The report of a build: one page with what was kept and what was not, and pictures of both, readable by a stranger."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cuadata import dataset, image, reasons, schema, text
from cuadata.building import manifest
from cuadata.building.card import CONFIGS
from cuadata.rows import Target
from cuadata.types import Action
from cuadata.viewer import escaping, overlay

#: Where the page lies in the dataset's folder.
PAGE = "report/index.html"
_PICTURES = "pictures"
#: Rows that are looked at to choose what is shown, a split; a report is a sample, the dataset is the whole.
_LOOKED_AT = 4_000
_KEPT, _PER_REASON, _STRIPS, _STRIP_STEPS = 12, 3, 8, 40
_LIGHT = ("id", "trajectory_id", "step_index", "phase", "action.type", "site")


def write(folder: Path) -> Path:
    """Write the page and its pictures into `folder`/report; the path of the page. DataError where it holds no dataset."""
    page = folder / PAGE
    (page.parent / _PICTURES).mkdir(parents=True, exist_ok=True)
    made = manifest.read(folder)
    held = dataset.configs(folder)
    shown = _Report(folder, page.parent / _PICTURES, held)
    page.write_text(
        _template().render(
            made=made,
            title=_title(made),
            reasons=reasons.REASONS,
            what=CONFIGS,
            kept=shown.kept(),
            rejected=shown.rejected(),
            strips=shown.strips(),
        ),
        encoding="utf-8",
    )
    return page


def _title(made: Mapping[str, Any]) -> str:
    names = dict.fromkeys(one["name"].split("/")[0] for one in made["inputs"])
    return ", ".join(names) or "dataset"


def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("cuadata.viewer", ""),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=escaping.shown,
        trim_blocks=True,
    )
    environment.filters.update(thousands=lambda n: f"{n:,}", words=lambda name: str(name).replace("_", " "))
    return environment.get_template("report.html.j2")


class _Report:
    """Chooses what is shown, and puts its pictures beside the page."""

    def __init__(self, folder: Path, pictures: Path, held: Mapping[str, Mapping[str, Any]]) -> None:
        self.folder = folder
        self.pictures = pictures
        self.splits = list(held.get("actions", {}))
        self.index = {split: self._looked_at("actions", split, _LIGHT) for split in self.splits}
        self.refused = (
            self._looked_at("rejected", "train", (*_LIGHT[:4], "reason", "gate")) if "rejected" in held else []
        )

    def _looked_at(self, config: str, split: str, columns: Sequence[str]) -> list[dict[str, Any]]:
        found = []
        for row in dataset.open_rows(self.folder, config, split, batch=256, columns=columns):
            found.append(row)
            if len(found) == _LOOKED_AT:
                break
        return found

    def kept(self) -> list[dict[str, Any]]:
        """Examples of as many kinds as there are: phase, action and site in turn."""
        kinds: dict[tuple[Any, ...], list[tuple[str, int]]] = {}
        for split, rows in self.index.items():
            for number, row in enumerate(rows):
                kinds.setdefault((row["phase"], row["action"]["type"], row["site"]), []).append((split, number))
        ordered = [kinds[kind] for kind in sorted(kinds, key=lambda kind: tuple(map(str, kind)))]
        chosen = list(_in_turn(ordered, _KEPT))
        return [self._example(row) | {"split": split} for split, row in self._rows("actions", chosen)]

    def rejected(self) -> dict[str, list[dict[str, Any]]]:
        """A few rows of each reason, the most frequent reason first."""
        by_reason: dict[str, list[tuple[str, int]]] = {}
        for number, row in enumerate(self.refused):
            by_reason.setdefault(row["reason"], []).append(("train", number))
        found = {}
        for reason in sorted(by_reason, key=lambda word: (-len(by_reason[word]), word)):
            rows = self._rows("rejected", by_reason[reason][:_PER_REASON])
            found[reason] = [self._refusal(row) for _, row in rows]
        return found

    def strips(self) -> list[dict[str, Any]]:
        """Whole trajectories, those in which something was rejected first, then one of each site."""
        steps: dict[str, list[tuple[int, str, str, int]]] = {}
        site: dict[str, str] = {}
        for split, rows in self.index.items():
            for number, row in enumerate(rows):
                steps.setdefault(row["trajectory_id"], []).append((row["step_index"], "actions", split, number))
                site[row["trajectory_id"]] = row["site"]
        for number, row in enumerate(self.refused):
            steps.setdefault(row["trajectory_id"], []).append((row["step_index"], "rejected", "train", number))
        mixed = [id for id, held in steps.items() if len({config for _, config, _, _ in held}) > 1]
        by_site: dict[str, list[str]] = {}
        for id in steps:
            if id not in mixed:
                by_site.setdefault(site.get(id, ""), []).append(id)
        chosen = [*mixed[: _STRIPS // 2], *_in_turn([by_site[name] for name in sorted(by_site)], _STRIPS)][:_STRIPS]
        return [self._strip(id, sorted(steps[id])[:_STRIP_STEPS]) for id in chosen]

    def _strip(self, id: str, held: Sequence[tuple[int, str, str, int]]) -> dict[str, Any]:
        frames = []
        for _, config, split, number in held:
            ((_, row),) = self._rows(config, [(split, number)])
            frames.append(self._example(row) if config == "actions" else self._refusal(row))
        return {"id": id, "instruction": frames[0]["instruction"], "frames": frames}

    def _rows(self, config: str, chosen: Sequence[tuple[str, int]]) -> list[tuple[str, dict[str, Any]]]:
        held = {
            split: dataset.take(self.folder, config, split, {number for name, number in chosen if name == split})
            for split in dict.fromkeys(name for name, _ in chosen)
        }
        return [(split, held[split][number]) for split, number in chosen]

    def _example(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return self._shown(row, row["image"], row["references"]) | {"reason": None, "history": row["history"]}

    def _refusal(self, row: Mapping[str, Any]) -> dict[str, Any]:
        said = {"gate": row["gate"], "reason": row["reason"], "keep": row["keep"], "also": row["also"]}
        evidence = json.dumps(json.loads(row["evidence"]), indent=1, ensure_ascii=False)
        return self._shown(row, row["thumbnail"], ()) | said | {"evidence": evidence, "place": row["place"]}

    def _shown(
        self, row: Mapping[str, Any], shot: Mapping[str, Any] | None, references: Iterable[Any]
    ) -> dict[str, Any]:
        target = None if row["target"] is None else schema.from_row(row["target"], Target)
        return {
            "id": row["id"],
            "number": row["step_index"],
            "instruction": row["instruction"],
            "phase": row["phase"],
            "says": text.describe(schema.from_row(row["action"], Action), target),
            "picture": None if shot is None else self._picture(shot["bytes"]),
            "width": row["viewport_width"],
            "height": row["viewport_height"],
            "drawn": overlay.svg(
                row["viewport_width"], row["viewport_height"], row["action"], row["target"], list(references)
            ),
        }

    def _picture(self, data: bytes) -> str:
        """Put a picture beside the page under its own hash; its address from there."""
        described = image.from_bytes(data, phash=False)
        name = f"{described.sha256[:20]}.{described.format}"
        path = self.pictures / name
        if not path.exists():
            path.write_bytes(data)
        return f"{_PICTURES}/{name}"


def _in_turn(lists: Sequence[Sequence[Any]], count: int) -> Iterable[Any]:
    """The first of each list, then the second of each, until there are `count`."""
    found = [one for place in range(count) for held in lists for one in held[place : place + 1]]
    return found[:count]
