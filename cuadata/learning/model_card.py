"""A model card made from a run: what was trained on what, how, and what it came to; nothing that the run did not write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cuadata.errors import CallError

#: Options that name places of the machine; a card shows their last part.
_PLACES = ("base", "data", "rows", "adapter", "out", "replay", "guard")


def public_record(run: Path) -> dict[str, Any]:
    """`run.json` with the last part of each local path in its place. CallError where the folder holds no finished run."""
    for name in ("run.json", "adapter_config.json", "adapter_model.safetensors"):
        if not (run / name).is_file():
            raise CallError(f"{run} holds no finished run: {name} is missing")
    held: dict[str, Any] = json.loads((run / "run.json").read_text())
    held["options"] = {
        name: shown(value) if name in _PLACES else value for name, value in held["options"].items() if value is not None
    }
    return held


def shown(value: str) -> str:
    """A Hub id as it is, the last part of a local path."""
    local = Path(value).exists() or value.startswith((".", "/", "~")) or value.count("/") > 1 or "\\" in value
    return Path(value).name if local else value


def write(run: Path, *, licence: str = "") -> str:
    """The card as Markdown with its YAML head."""
    record = public_record(run)
    options, base = record["options"], record["options"]["base"]
    head = ["library_name: peft", "tags:", "- cuadata", "- computer-use", "- lora"]
    if "/" in base:  # the Hub follows it to the base model's page
        head.append(f"base_model: {base}")
    if licence:
        head.append(f"license: {licence}")
    lines = ["---", *head, "---", "", f"# {shown(str(run.resolve()))}", ""]
    lines.append(f"A LoRA adapter for `{base}`, trained with `cuadata {record['command']}`.")
    if record.get("test_time"):
        lines += ["", "**test_time**: the reward was agreement among the model's own answers; no label was seen."]
    lines += ["", "## Results", "", *_results(run, record), "", "## How it was made", ""]
    lines += ["| option | value |", "|---|---|", *(f"| {name} | {_cell(value)} |" for name, value in options.items())]
    lines += ["", f"- data: sha256 `{record['dataset_sha256']}`", f"- commit: `{record['commit']}`"]
    lines.append(f"- processor: {record['processor']['class']}, pixels {record['processor']['pixels']}")
    lines += [f"- {name} {version}" for name, version in record["versions"].items()]
    return "\n".join(lines) + "\n"


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ") or "(none)"


def _results(run: Path, record: Mapping[str, Any]) -> list[str]:
    """Loss and reward at both ends of the log, the guard's test; what was not measured is said."""
    path = run / "log.jsonl"
    log = [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []
    found = []
    for name in ("loss", "reward"):
        values = [entry[name] for entry in log if name in entry]
        if values:
            ends = [sum(part) / len(part) for part in (values[:10], values[-10:])]
            found.append(
                f"- training {name}: {ends[0]:.4g} at the start, {ends[1]:.4g} at the end of {len(values)} steps"
            )
    guard = record.get("guard")
    if guard:
        found.append(
            f"- direct grounding on {guard['n']} held-out rows: {guard['before']} right before, {guard['after']} after "
            f"(McNemar, p = {guard['p']:.3g})"
        )
    return [
        *found,
        "- no benchmark was run by the trainer; these figures are of the training set unless they say otherwise",
    ]
