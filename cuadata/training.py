"""What the trainers share: loading models and adapters, rows as prompts and answers, a log, and the record of a run.

A trainer stays one file that reads from top to bottom; here is only what would stand in all of them. Everything heavy is
imported inside the functions.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cuadata import image, schema
from cuadata.contracts import Format, Prompt, View
from cuadata.errors import CallError, DataError
from cuadata.rows import CONFIGS, Example
from cuadata.types import Size

#: Parts of a vision model that see; frozen unless asked for, since fine-tuning them costs grounding.
VISION_PARTS = r".*(visual|vision_tower|vision_model|connector|multi_modal_projector).*"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model with what reads its text and pictures."""

    model: Annotated[Any, "transformers model, PEFT-wrapped where an adapter was given"]
    processor: Annotated[Any, "a processor for vision models, else the tokenizer"]
    vision: Annotated[bool, "whether it takes pictures"]

    @property
    def tokenizer(self) -> Any:
        """The text side of the processor."""
        return getattr(self.processor, "tokenizer", self.processor)


def load(
    base: str, *, adapter: str | None = None, trainable: bool = True, dtype: str = "float32", **sizes: int
) -> Loaded:
    """A base model, text or vision, with an adapter to go on with where one is given.

    `sizes` are min_pixels and max_pixels of the processor. With `trainable` the adapter's own weights are trained on;
    a fresh one on top would lose what it learned. CallError where the folder holds an adapter instead of a model.
    """
    import torch
    import transformers

    if (Path(base) / "adapter_config.json").is_file():
        raise CallError(f"{base} is an adapter; give its base model here and the adapter as --adapter")
    config = transformers.AutoConfig.from_pretrained(base)
    vision = hasattr(config, "vision_config")
    auto = transformers.AutoModelForImageTextToText if vision else transformers.AutoModelForCausalLM
    model = auto.from_pretrained(base, dtype=getattr(torch, dtype))
    bounds = {name: value for name, value in sizes.items() if value}
    if vision:
        processor = transformers.AutoProcessor.from_pretrained(base, **bounds)
    else:
        processor = transformers.AutoTokenizer.from_pretrained(base)
    if adapter:
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, adapter, is_trainable=trainable)
    if torch.cuda.is_available():
        model = model.to("cuda")
    return Loaded(model, processor, vision)


def lora(targets: str, *, rank: int, alpha: int, train_vision: bool) -> Any:
    """LoRA on the named linear layers ("all-linear" or names by comma), the seeing parts left alone by default."""
    from peft import LoraConfig

    names = targets if targets == "all-linear" else targets.split(",")
    excluded = None if train_vision else VISION_PARTS
    return LoraConfig(
        r=rank, lora_alpha=alpha, target_modules=names, exclude_modules=excluded, task_type="CAUSAL_LM", bias="none"
    )


def examples(data: Path, config: str, split: str) -> list[Any]:
    """Rows of one config as they were written; DataError where the dataset has no such config or split."""
    import pyarrow.parquet as pq

    files = sorted((data / config).glob(f"{split}-*.parquet"))
    if not files:
        raise DataError(f"no {split} split of config '{config}'", place=str(data))
    kind = CONFIGS[config]
    tables = (batch for file in files for batch in pq.ParquetFile(file).iter_batches(64))
    return [schema.from_row(row, kind) for table in tables for row in table.to_pylist()]


def view_of(example: Example, processor: Any) -> View:
    """The picture as the processor will make it, so that coordinates are in the frame that the model really sees."""
    bounds = pixel_bounds(processor)
    return View(
        image=Size(example.image_width, example.image_height),
        viewport=Size(example.viewport_width, example.viewport_height),
        min_pixels=bounds[0],
        max_pixels=bounds[1],
    )


def pixel_bounds(processor: Any) -> tuple[int | None, int | None]:
    """Fewest and most pixels that an image processor resizes to; None where it has no such bounds."""
    images = getattr(processor, "image_processor", None)
    size = getattr(images, "size", None) or {}
    held = size if isinstance(size, Mapping) else vars(size)
    return held.get("shortest_edge"), held.get("longest_edge")


def answer_row(example: Example, form: Format, processor: Any) -> dict[str, Any]:
    """One example as TRL's prompt and completion: the same messages that a rollout shows, the answer as the model writes it."""
    view = view_of(example, processor)
    prompt = Prompt(
        instruction=example.instruction,
        view=view,
        image=example.image,
        history=example.history,
        context=example.context,
    )
    return {
        "prompt": form.prompt(prompt),
        "completion": [{"role": "assistant", "content": form.write(example.action, view)}],
        "images": [{"bytes": example.image.data, "path": None}],
        "id": example.id,
    }


def text_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of `{prompt, completion}` from JSON lines. DataError that names the line."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise DataError(f"is no JSON: {error}", place=f"{path}:{number}") from error
        if not isinstance(row, dict) or not row.get("prompt") or not row.get("completion"):
            raise DataError("wanted an object with `prompt` and `completion`, neither empty", place=f"{path}:{number}")
        yield row


def task_rows(path: Path, loaded: Loaded) -> list[dict[str, Any]]:
    """Task rows with their prompts as tokens. DataError for a file without rows."""
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    if not rows:
        raise DataError("holds no task row", place=str(path))
    for row in rows:
        text = loaded.processor.apply_chat_template(row["prompt"], tokenize=False, add_generation_prompt=True)
        row["prompt_ids"] = loaded.tokenizer(text, add_special_tokens=False)["input_ids"]
    return rows


def with_answers_only(
    rows: Sequence[dict[str, Any]], loaded: Loaded, max_tokens: int
) -> tuple[list[dict[str, Any]], int]:
    """The rows that fit whole, and how many did not: pictures and answers are never cut.

    DataError for a row whose answer has no token: it would train on nothing, silently.
    """
    kept, dropped = [], 0
    for row in rows:
        answer = loaded.tokenizer(row["completion"][0]["content"], add_special_tokens=False)["input_ids"]
        if not answer:
            raise DataError("its answer has no token, so there is nothing to learn", place=str(row.get("id", "a row")))
        if token_count(row, loaded) + len(answer) + 8 > max_tokens:  # 8: the turn's own marks
            dropped += 1
        else:
            kept.append(row)
    return kept, dropped


def token_count(row: Mapping[str, Any], loaded: Loaded) -> int:
    """Tokens of a row's prompt, the pictures' included; counted without encoding a picture where the processor can."""
    text = loaded.processor.apply_chat_template(row["prompt"], tokenize=False, add_generation_prompt=True)
    pictures = [p["bytes"] for p in row.get("images") or ()] if loaded.vision else []
    if pictures and not hasattr(loaded.processor, "_get_num_multimodal_tokens"):
        decoded = [pillow(data) for data in pictures]
        return len(loaded.processor(text=[text], images=[decoded])["input_ids"][0])
    count = len(loaded.tokenizer(text, add_special_tokens=False)["input_ids"])
    if pictures:
        sizes = [image.header(data)[:0:-1] for data in pictures]  # (height, width)
        count += sum(loaded.processor._get_num_multimodal_tokens(image_sizes=sizes).num_image_tokens)
    return count


def pillow(data: bytes) -> Any:
    """A picture as the processors take it, transparency over white."""
    from PIL import Image as Pillow

    return Pillow.fromarray(image.rgb(data))


def dataset_hash(path: Path) -> str:
    """sha256 over names and bytes of a dataset's files, so that a run says what it was trained on."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        digest.update(file.name.encode())
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def record(out: Path, *, command: str, options: Mapping[str, Any], data: Path | None, loaded: Loaded) -> None:
    """Write `run.json` beside the adapter: what was run, on what, with which versions and processor settings."""
    import importlib.metadata

    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    names = ("cuadata", "torch", "transformers", "trl", "peft", "datasets")
    held = {
        "command": command,
        "options": {name: str(value) if isinstance(value, Path) else value for name, value in options.items()},
        "commit": commit or None,
        "dataset_sha256": dataset_hash(data) if data and data.exists() else None,
        "versions": {name: importlib.metadata.version(name) for name in names},
        "processor": {"class": type(loaded.processor).__name__, "pixels": pixel_bounds(loaded.processor)},
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / "run.json").write_text(json.dumps(held, indent=2, default=str) + "\n")


def journal(path: Path) -> Any:
    """A trainer callback that appends every log entry to a file as one JSON line, flushed at once."""
    from transformers import TrainerCallback

    class Journal(TrainerCallback):  # type: ignore[misc]
        """Keeps the log where a killed run leaves it readable."""

        def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
            if state.is_world_process_zero and logs:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("a") as file:
                    file.write(json.dumps({"step": state.global_step, **logs}) + "\n")

    return Journal()


def save(trainer: Any, loaded: Loaded, out: Path) -> None:
    """Adapter, processor and base path; loads again with plain PEFT and transformers."""
    trainer.save_model(str(out))
    loaded.processor.save_pretrained(str(out))
