"""The rows of a dataset in the forms that other trainers read: pictures as files, answers as a model family writes them.

The shapes are those of the published sets: LLaVA's `conversations`; AGUVIS, which adds a recipient; AgentNet's `traj`, one
line a trajectory; `messages` with `images`, as Qwen's fine-tuning tools take them; TRL's prompt and completion.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final

from cuadata import dataset, image
from cuadata.building import folders
from cuadata.contracts import Format, Message
from cuadata.errors import CallError, DataError
from cuadata.publishing.whole_folder import whole_folder
from cuadata.registry import formats, gates
from cuadata.rows import Candidate, Example
from cuadata.speaking import prompts

Record = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How one trainer wants its rows."""

    format: Annotated[str, "model family whose answers are written where none is asked for"]
    listed: Annotated[bool, "one JSON list a split; otherwise JSON lines"]
    record: Annotated[Callable[[Example, str, list[Message], str], Record], "row, picture's path, messages, answer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What an export wrote."""

    out: Annotated[str, "the folder"]
    to: Annotated[str, "the trainer's form"]
    format: Annotated[str, "model family of the answers"]
    records: Annotated[dict[str, int], "records of each split"]
    left_out: Annotated[dict[str, int], "rows whose action the family has no word for, by action"] = field(
        default_factory=dict
    )
    failed: Annotated[int, "rows left out as steps of trajectories that failed their task"] = 0


def export(
    folder: Path | str,
    to: str,
    out: Path | str,
    *,
    config: str = "actions",
    format: str = "",
    keep_failed: bool = False,
    force: bool = False,
) -> Exported:
    """Write every split of a config in a trainer's form, with its pictures in `out`/images.

    `format`: the model family whose grammar and coordinates the answers have; by default the form's own. Rows whose action
    the family has no word for are left out and counted, and so are steps of failed tasks that the gate `task_failed`
    rejects, unless `keep_failed`. CallError for a form, format or config that there is not;
    DataError where no row is left.
    """
    folder, out = Path(folder), Path(out)
    if to not in FORMS:
        raise CallError(f"no form is named '{to}'; there are: {', '.join(FORMS)}")
    form, family = FORMS[to], format or FORMS[to].format
    if family not in formats:
        raise CallError(f"no format is named '{family}'; there are: {', '.join(formats.names())}")
    splits = dataset.configs(folder).get(config)
    if splits is None:
        raise CallError(f"{folder} has no config '{config}'; there are: {', '.join(dataset.configs(folder))}")
    folders.refuse(out, force=force, reads=[folder])
    left_out: dict[str, int] = {}
    written, failed = {}, 0
    with whole_folder(out) as made:
        (made / "images").mkdir()
        for split in splits:
            rows = _Imitated(dataset.read(folder, config, split), all=keep_failed)
            records = _records(rows, form, formats[family], made, left_out)
            if to == "agentnet":
                records = _trajectories(records)
            written[split] = _write(records, made / split, listed=form.listed)
            failed += rows.failed
        if not any(written.values()):
            raise DataError(f"no action of config '{config}' can be said in {family}", place=str(folder))
    return Exported(out=str(out), to=to, format=family, records=written, left_out=left_out, failed=failed)


class _Imitated:
    """Rows to learn from: all, or those that the gate `task_failed` keeps. `failed` counts the others."""

    def __init__(self, rows: Iterable[Example], *, all: bool) -> None:
        self.rows, self.all, self.failed = rows, all, 0

    def __iter__(self) -> Iterator[Example]:
        for row in self.rows:
            if self.all or gates["task_failed"](Candidate(example=row)).keep == "yes":
                yield row
            else:
                self.failed += 1


def _records(
    rows: Iterable[Example], form: Form, family: Format, made: Path, left_out: dict[str, int]
) -> Iterator[Record]:
    for row in rows:
        prompt = prompts.of_example(row)
        try:
            prompts.refuse_unlisted(family, prompt.view)
            answer = family.write(row.action, prompt.view)
        except ValueError:
            left_out[row.action.type] = left_out.get(row.action.type, 0) + 1
            continue
        path = f"images/{row.image.sha256}.{row.image.format}"
        if not (made / path).exists():
            (made / path).write_bytes(image.read(row.image))
        yield form.record(row, path, family.prompt(prompt), answer)


def _write(records: Iterable[Record], path: Path, *, listed: bool) -> int:
    """Records one by one, as lines or as a list; how many there were."""
    count = 0
    with path.with_suffix(".json" if listed else ".jsonl").open("w", encoding="utf-8") as file:
        file.write("[\n" if listed else "")
        for count, record in enumerate(records, 1):
            file.write(",\n" if listed and count > 1 else "")
            file.write(json.dumps(record, ensure_ascii=False) + ("" if listed else "\n"))
        file.write("\n]\n" if listed else "")
    return count


def _text(message: Message) -> str:
    """A turn as one text; `<image>` stands where the picture does."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join("<image>" if part["type"] == "image" else str(part["text"]) for part in content)


def _llava(row: Example, path: str, messages: list[Message], answer: str) -> Record:
    names = {"system": "system", "user": "human", "assistant": "gpt"}
    turns = [{"from": names[one["role"]], "value": _text(one)} for one in messages]
    return {"id": row.id, "image": path, "conversations": [*turns, {"from": "gpt", "value": answer}]}


def _aguvis(row: Example, path: str, messages: list[Message], answer: str) -> Record:
    record = _llava(row, path, messages, answer)
    record["conversations"][-1] |= {"recipient": "os", "end_turn": True}
    return record


def _agentnet(row: Example, path: str, messages: list[Message], answer: str) -> Record:
    """A step; `_trajectories` joins them. The thoughts, descriptions and judgements of AgentNet are not in a row, nor made up."""
    value = {"code": answer}
    return {
        "task_id": row.trajectory_id,
        "instruction": row.instruction,
        "step": {"index": row.step_index, "image": path, "value": value},
    }


def _trajectories(steps: Iterable[Record]) -> Iterator[Record]:
    """One record a trajectory. Rows of a trajectory stand together in a dataset."""
    for task, held in groupby(steps, key=lambda one: one["task_id"]):
        listed: list[Mapping[str, Any]] = list(held)
        yield {"task_id": task, "instruction": listed[0]["instruction"], "traj": [one["step"] for one in listed]}


def _qwen(row: Example, path: str, messages: list[Message], answer: str) -> Record:
    turns = [{"role": one["role"], "content": _text(one)} for one in messages]
    return {"id": row.id, "messages": [*turns, {"role": "assistant", "content": answer}], "images": [path]}


def _trl(row: Example, path: str, messages: list[Message], answer: str) -> Record:
    return {
        "id": row.id,
        "prompt": messages,
        "completion": [{"role": "assistant", "content": [{"type": "text", "text": answer}]}],
        "images": [path],
    }


FORMS: Final[dict[str, Form]] = {
    "aguvis": Form(format="aguvis", listed=True, record=_aguvis),
    "agentnet": Form(format="aguvis", listed=False, record=_agentnet),
    "llava": Form(format="aguvis", listed=True, record=_llava),
    "qwen": Form(format="qwen3vl", listed=False, record=_qwen),
    "trl": Form(format="qwen3vl", listed=False, record=_trl),
}
