"""What the trainers share: loading models and adapters, going on from a checkpoint, and the record of a run.

A trainer stays one file that reads from top to bottom; here is only what would stand in all of them. Everything heavy is
imported inside the functions.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cuadata.building import folders
from cuadata.errors import CallError
from cuadata.learning import adapters

DTYPES = ("float32", "bfloat16", "float16")
#: Parts of a vision model that see; frozen unless asked for, since fine-tuning them costs grounding.
VISION_PARTS = r".*(visual|vision_tower|vision_model|connector|multi_modal_projector).*"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model with what reads its text and pictures."""

    model: Annotated[Any, "transformers model, PEFT-wrapped where an adapter was given"]
    processor: Annotated[Any, "a processor for vision models, else the tokenizer"]
    vision: Annotated[bool, "whether it takes pictures"]
    base_sha256: Annotated[str, "fingerprint of the base's weights, see `adapters.fingerprint`"] = ""

    @property
    def tokenizer(self) -> Any:
        """The text side of the processor."""
        return getattr(self.processor, "tokenizer", self.processor)


def load(
    base: str, *, adapter: str | None = None, trainable: bool = True, dtype: str = "float32", **sizes: int
) -> Loaded:
    """A base model, text or vision, with an adapter to go on with where one is given.

    `sizes` are min_pixels and max_pixels of the processor. With `trainable` the adapter's own weights are trained on;
    a fresh one on top would lose what it learned. CallError where there is no such model, or the folder holds an adapter
    instead of one; see `adapters.adapted` for adapters.
    """
    import torch
    import transformers
    from safetensors import SafetensorError

    if dtype not in DTYPES:
        raise CallError(f"no base is held as '{dtype}'; there are: {', '.join(DTYPES)}")
    vision = hasattr(configured(base), "vision_config")
    auto = transformers.AutoModelForImageTextToText if vision else transformers.AutoModelForCausalLM
    bounds = {name: value for name, value in sizes.items() if value}
    reader = transformers.AutoProcessor if vision else transformers.AutoTokenizer
    try:
        model = auto.from_pretrained(base, dtype=getattr(torch, dtype))
        processor = reader.from_pretrained(base, **(bounds if vision else {}))
    except (OSError, ValueError, SafetensorError) as error:
        raise CallError(_no_base(base, error)) from error
    digest = adapters.fingerprint(model)
    if adapter:
        model = adapters.adapted(model, adapter, trainable=trainable, base_sha256=digest)
    if torch.cuda.is_available():
        model = model.to(f"cuda:{os.environ.get('LOCAL_RANK', '0')}")
    return Loaded(model, processor, vision, digest)


def configured(base: str) -> Any:
    """The configuration of a base model. CallError where there is none, or one that transformers does not know."""
    import transformers

    if (Path(base) / "adapter_config.json").is_file():
        raise CallError(f"{base} is an adapter; give its base model here and the adapter as --adapter")
    try:
        return transformers.AutoConfig.from_pretrained(base)
    except (OSError, ValueError, KeyError) as error:
        raise CallError(_no_base(base, error)) from error


def _no_base(base: str, error: Exception) -> str:
    what = "is no model that can be loaded" if Path(base).exists() else "is neither a folder nor to be had from the Hub"
    said = " ".join(str(error).split())[:160]
    return f"the base {base} {what} ({said}); give a Hub id, or a folder with its configuration and weights"


def named_numbers(text: str, option: str, example: str) -> dict[str, float]:
    """`a:1,b:0.5` as numbers by name. CallError where it does not read so, names one twice, or is not finite."""
    parts = [part.split(":") for part in text.split(",")]
    try:
        found = {name.strip(): float(number) for name, number in parts}
    except ValueError:
        found = {}
    if len(found) != len(parts) or not all(map(math.isfinite, found.values())):
        raise CallError(f"{option} '{text}' does not read as NAME:NUMBER,NAME:NUMBER, such as {example}")
    return found


def cuda() -> bool:
    """Whether there is a GPU to train on."""
    import torch

    return bool(torch.cuda.is_available())


def main_process() -> bool:
    """Whether this is the process that writes, of those that `torchrun` or `accelerate launch` started."""
    return int(os.environ.get("RANK", "0")) == 0


def lora(targets: str, *, rank: int, alpha: int, freeze_vision: bool = False, model: Any = None) -> Any:
    """LoRA on the named linear layers ("all-linear" or names by comma), without those of the seeing parts where asked.

    CallError for a name that is no linear layer of `model` which may be trained.
    """
    import re

    import torch
    from peft import LoraConfig

    names = targets if targets == "all-linear" else [name.strip() for name in targets.split(",")]
    excluded = VISION_PARTS if freeze_vision else None
    held = model.named_modules() if model is not None else ()
    layers = [name for name, layer in held if isinstance(layer, torch.nn.Linear)]
    layers = [name for name in layers if not (excluded and re.fullmatch(excluded, name))]
    for name in names if isinstance(names, list) and model is not None else ():
        if not any(layer == name or layer.endswith(f".{name}") for layer in layers):
            there = ", ".join(dict.fromkeys(layer.rpartition(".")[2] for layer in layers))
            raise CallError(f"--lora-targets '{name}' is no linear layer that is trained; there are: {there}")
    return LoraConfig(
        r=rank, lora_alpha=alpha, target_modules=names, exclude_modules=excluded, task_type="CAUSAL_LM", bias="none"
    )


def pixel_bounds(processor: Any) -> tuple[int | None, int | None]:
    """Fewest and most pixels that an image processor resizes to; None where it has no such bounds."""
    images = getattr(processor, "image_processor", None)
    size = getattr(images, "size", None) or {}
    held = size if isinstance(size, Mapping) else vars(size)
    return held.get("shortest_edge"), held.get("longest_edge")


def dataset_hash(path: Path) -> str:
    """sha256 over places, sizes and bytes of a dataset's files, so that a run says what it was trained on.

    Of JSON lines the pictures that their rows name are files of the dataset too.
    """
    digest = hashlib.sha256()
    folder = path.parent if path.is_file() else path
    files = [path, *_pictures(path)] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    for file in files:
        digest.update(f"{os.path.relpath(file, folder)} {file.stat().st_size}\n".encode())
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _pictures(path: Path) -> list[Path]:
    """The files that the rows of a JSON lines file name as their pictures, each once, in order."""
    found: dict[Path, None] = {}
    for line in path.read_bytes().splitlines() if path.suffix == ".jsonl" else ():
        try:
            names = json.loads(line).get("images") or []
        except (ValueError, AttributeError):
            continue  # it is told of where rows are read
        found |= {path.parent / str(name): None for name in names if (path.parent / str(name)).is_file()}
    return list(found)


def record(
    out: Path, *, command: str, options: Mapping[str, Any], data: Path | None, loaded: Loaded, **more: Any
) -> None:
    """Write `run.json` beside the adapter: what was run, on what, with which versions and processor settings."""
    import importlib.metadata

    if not main_process():
        return

    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False, cwd=Path(__file__).parent
    ).stdout.strip()
    names = ("cuadata", "torch", "transformers", "trl", "peft", "datasets")
    held = {
        "command": command,
        "options": {name: str(value) if isinstance(value, Path) else value for name, value in options.items()},
        "commit": commit or None,
        "dataset_sha256": dataset_hash(data) if data and data.exists() else None,
        "base_sha256": loaded.base_sha256,
        "versions": {name: importlib.metadata.version(name) for name in names},
        **more,
        "gpu": _gpu(),
        "processor": {"class": type(loaded.processor).__name__, "pixels": pixel_bounds(loaded.processor)},
    }
    out.mkdir(parents=True, exist_ok=True)
    folders.put(out / "run.json", json.dumps(held, indent=2, default=str) + "\n")


def _gpu() -> dict[str, Any] | None:
    """Name of the GPU and the most that this process held on it, GiB; None on a CPU."""
    import torch

    if not cuda():
        return None
    return {"name": torch.cuda.get_device_name(), "peak_gib": round(torch.cuda.max_memory_allocated() / 2**30, 2)}


def save(trainer: Any, loaded: Loaded, out: Path) -> None:
    """Adapter and processor; loads again with plain PEFT and transformers. Every process calls it, one writes."""
    trainer.save_model(str(out))
    if main_process():
        loaded.processor.save_pretrained(str(out))


def note(out: Path, **news: Any) -> None:
    """Add what a run found to its `run.json`."""
    path = out / "run.json"
    folders.put(path, json.dumps({**json.loads(path.read_text()), **news}, indent=2, default=str) + "\n")
