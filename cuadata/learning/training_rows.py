"""Rows as the trainers take them: examples as prompts and answers, JSON lines, tasks; none cut, none without an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cuadata import dataset, image, registry, schema, text_files
from cuadata.contracts import Format, Prompt, View
from cuadata.episodes import registration
from cuadata.errors import CallError, DataError
from cuadata.learning import chat, training
from cuadata.learning.training import Loaded
from cuadata.rows import CONFIGS, Chunk, Example
from cuadata.speaking import prompts
from cuadata.types import Size

#: What makes the configs that a build does not find in every recording.
_MAKES = {
    "recovery": "; `cuadata recover` records attempts that fail and recover, and `cuadata build` takes several --source",
    "grounding": "; `cuadata generate` makes it",
    "pairs": "; `cuadata generate` makes it",
}


def form(name: str) -> Format:
    """The format of that name. CallError that lists the names there are."""
    try:
        return registry.formats[name]
    except KeyError as error:
        raise CallError(error.args[0]) from error


def given(path: Path, what: str) -> Path:
    """A path that a call names. CallError where nothing is there."""
    if not path.exists():
        raise CallError(f"{what} {path} is not there; give a dataset folder, or a .jsonl file")
    return path


def examples(data: Path, config: str, split: str) -> list[Any]:
    """Rows of one config as they were written; DataError where the dataset has no such config or split."""
    if data.is_file():
        raise CallError(f"{data} is a file; give the folder of a dataset, or a .jsonl of messages")
    files = sorted((data / config).glob(f"{split}-*.parquet"))
    if not files:
        there = sorted({f"{one.parent.name}/{one.name.split('-')[0]}" for one in data.glob("*/*-*.parquet")})
        more = _MAKES.get(config, "")
        raise DataError(
            f"no {split} split of config '{config}'; there are: {', '.join(there) or 'none'}{more}", place=str(data)
        )
    kind = CONFIGS[config]
    if not issubclass(kind, Example):
        raise CallError(f"rows of the config '{config}' are no examples to train on")
    found: list[Any] = []
    for file in files:
        with dataset.opened(file) as shard:
            for batch in shard.iter_batches(64):
                for row in batch.to_pylist():
                    try:
                        found.append(schema.from_stored(row, kind))
                    except ValueError as error:
                        raise DataError(str(error), place=f"{file}, row {len(found)} of {config}/{split}") from error
    return found


def view_of(example: Example, processor: Any) -> View:
    """The picture as the processor will make it, so that coordinates are in the frame that the model really sees."""
    bounds = training.pixel_bounds(processor)
    return View(
        image=Size(example.image_width, example.image_height),
        viewport=Size(example.viewport_width, example.viewport_height),
        min_pixels=bounds[0],
        max_pixels=bounds[1],
        elements=prompts.of_list(example.elements),
    )


def answer_row(example: Example, form: Format, processor: Any) -> dict[str, Any]:
    """One example as TRL's prompt and completion: the same messages that a rollout shows, the answer as the model writes it.

    A chunk's answer is all of its actions, a line each. ValueError where the format has no word for an action, or answers by
    the ids of a page that the row does not hold.
    """
    view = view_of(example, processor)
    prompts.refuse_unlisted(form, view)
    prompt = Prompt(
        instruction=example.instruction,
        view=view,
        image=example.image,
        history=example.history,
        context=example.context,
    )
    actions = example.actions if isinstance(example, Chunk) else (example.action,)
    answer = "\n".join(form.write(action, view) for action in actions)
    return {
        "prompt": form.prompt(prompt),
        "completion": [{"role": "assistant", "content": answer}],
        "images": [{"bytes": example.image.data, "path": None}],
        "id": example.id,
    }


def answer_rows(
    examples: Sequence[Example], form: Format, processor: Any
) -> tuple[list[dict[str, Any]], Counter[str]]:  # fmt: skip
    """Examples as `answer_row` writes them, and how many the format has no words for, by what it says of them."""
    rows, unsaid = [], Counter[str]()
    for example in examples:
        try:
            rows.append(answer_row(example, form, processor))
        except CallError:
            raise
        except ValueError as error:
            unsaid[str(error)] += 1
    return rows, unsaid


def message_rows(path: Path, *, vision: bool) -> Iterator[dict[str, Any]]:
    """Rows of `{prompt, completion, images}` from JSON lines; `images` are paths beside the file.

    DataError that names the line: no JSON, a part missing, pictures that do not fit their marks, a path that leads out.
    """
    for number, line in enumerate(text_files.read(path).split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            row = text_files.json_value(line)
        except ValueError as error:
            raise DataError(f"is no JSON: {error}", place=place) from error
        if not isinstance(row, dict) or not row.get("prompt") or not row.get("completion"):
            raise DataError("wanted an object with `prompt` and `completion`, neither empty", place=place)
        for name in ("prompt", "completion"):
            if not isinstance(row[name], list) or not all(map(chat.is_message, row[name])):
                raise DataError(f"`{name}` is no list of messages such as {{role, content}}", place=place)
        names = row.get("images") or []
        if not isinstance(names, list):
            raise DataError("`images` is no list of files beside this one", place=place)
        marks = chat.check_pictures([*row["prompt"], *row["completion"]], len(names))
        if not marks.keep:
            raise DataError(f"{marks.reason}: {len(names)} pictures, {marks.rendered} marks in user turns", place=place)
        if names and not vision:
            raise DataError("it has pictures, and the base model takes none", place=place)
        if not vision:  # the templates of text models join texts, not parts
            row |= {name: [chat.plain(message) for message in row[name]] for name in ("prompt", "completion")}
        yield {
            **row,
            "id": row.get("id") or place,
            "images": [{"bytes": _beside(path, name, place), "path": None} for name in names],
        }


def _beside(path: Path, name: object, place: str) -> bytes:
    """The bytes of a picture that a row names; DataError where the path leads out of the rows' folder or nowhere."""
    folder = path.parent.resolve()
    file = (folder / str(name)).resolve()
    if not file.is_relative_to(folder) or not file.is_file():
        raise DataError(f"the picture '{name}' is no file in {folder}", place=place)
    data = file.read_bytes()
    try:
        image.header(data)
    except ValueError as error:
        raise DataError(f"the picture '{name}' is none: {error}", place=place) from error
    return data


def either(rows: Path | None, data: Path | None) -> Path:
    """The one of `--rows` and `--data` that was given. CallError for both, for neither, and for what is not there."""
    path = rows if data is None else data if rows is None else None
    if path is None:
        raise CallError("give task rows (--rows) for a text model or a dataset (--data) for a vision model")
    return given(path, "--rows" if rows is not None else "--data")


def task_rows(path: Path, loaded: Loaded, *, longest: int | None = None) -> list[dict[str, Any]]:
    """Task rows with their prompts as tokens.

    DataError for a file without rows, and for a line that is none; CallError for a prompt of more than `longest` tokens.
    """
    rows = []
    for number, line in enumerate(text_files.read(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = text_files.json_value(line)
            text = loaded.processor.apply_chat_template(row["prompt"], tokenize=False, add_generation_prompt=True)
            if type(row["seed"]) is not int:
                raise TypeError(f"seed is {row['seed']!r}, wanted a whole number")
            rows.append({"id": f"{row['family']}/{row['seed']}", **row})
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"is no task row; wanted JSON with prompt, family and seed ({type(error).__name__}: {error})",
                place=f"{path}:{number}",
            ) from error
        rows[-1]["prompt_ids"] = loaded.tokenizer(text, add_special_tokens=False)["input_ids"]
    if not rows:
        raise DataError("holds no task row", place=str(path))
    most = max(len(row["prompt_ids"]) for row in rows)
    if longest is not None and most > longest:
        raise CallError(
            f"a prompt of {path} has {most} tokens, and {longest} fit; raise --context or lower --new-tokens"
        )
    for family in dict.fromkeys(row["family"] for row in rows):
        if not registration.known(str(family)):
            raise DataError(f"there is no family '{family}'; see `cuadata list families`", place=str(path))
    return rows


def with_answers_only(
    rows: Sequence[dict[str, Any]], loaded: Loaded, max_tokens: int
) -> tuple[list[dict[str, Any]], int]:
    """The rows that fit whole, and how many did not: pictures and answers are never cut.

    NothingToLearn for a row whose answer has no token: it would train on nothing, silently. DataError for a text that holds
    the model's own mark of a picture, which stands for none there.
    """
    mark = getattr(loaded.processor, "image_token", None) if loaded.vision else None
    kept, dropped = [], 0
    for row in rows:
        if not loaded.tokenizer(_answer(row), add_special_tokens=False)["input_ids"]:
            raise chat.NothingToLearn(
                "its answer has no token, so there is nothing to learn", place=str(row.get("id", "a row"))
            )
        if mark and any(mark in text for text in map(chat.text, [*row["prompt"], *row["completion"]])):
            raise DataError(
                f"its text holds '{mark}', the model's mark of a picture", place=str(row.get("id", "a row"))
            )
        if token_count(row, loaded) > max_tokens:
            dropped += 1
        else:
            kept.append(row)
    return kept, dropped


def _answer(row: Mapping[str, Any]) -> str:
    """The text of a row's one answer. DataError for several: all that stands in a completion is trained on."""
    messages = row["completion"]
    if [message.get("role") for message in messages] != ["assistant"]:
        roles = ", ".join(str(message.get("role")) for message in messages)
        raise DataError(
            f"its completion is {roles}; wanted one assistant message, earlier turns belong into the prompt",
            place=str(row.get("id", "a row")),
        )
    return chat.text(messages[0]).strip()


def token_count(row: Mapping[str, Any], loaded: Loaded) -> int:
    """Tokens of a row, pictures and answer included; no picture is encoded where the processor can do without."""
    text = loaded.processor.apply_chat_template([*row["prompt"], *row["completion"]], tokenize=False)
    pictures = [p["bytes"] for p in row.get("images") or ()] if loaded.vision else []
    if pictures and not hasattr(loaded.processor, "_get_num_multimodal_tokens"):
        return len(loaded.processor(text=[text], images=[list(map(pillow, pictures))])["input_ids"][0])
    count = len(loaded.tokenizer(text, add_special_tokens=False)["input_ids"])
    if pictures:
        sizes = [image.header(data)[:0:-1] for data in pictures]  # (height, width)
        count += sum(loaded.processor._get_num_multimodal_tokens(image_sizes=sizes).num_image_tokens) - len(pictures)
    return count


def pillow(data: bytes) -> Any:
    """A picture as the processors take it, transparency over white."""
    from PIL import Image as Pillow

    return Pillow.fromarray(image.rgb(data))
