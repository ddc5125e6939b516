"""What the trainers share: loading models and adapters, going on from a checkpoint, and the record of a run.

A trainer stays one file that reads from top to bottom; here is only what would stand in all of them. Everything heavy is
imported inside the functions.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cuadata.building import folders
from cuadata.errors import CallError

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
        model = adapted(model, adapter, trainable=trainable)
    if torch.cuda.is_available():
        model = model.to(f"cuda:{os.environ.get('LOCAL_RANK', '0')}")
    return Loaded(model, processor, vision)


def adapted(model: Any, adapter: str, *, trainable: bool = True) -> Any:
    """A base with the weights of a saved adapter, which is the one that training goes on with: none is put on top.

    CallError where the folder holds no adapter.
    """
    from peft import PeftModel

    if Path(adapter).is_dir() and not (Path(adapter) / "adapter_config.json").is_file():
        raise CallError(f"{adapter} holds no adapter (adapter_config.json); give the folder of a finished run")
    return PeftModel.from_pretrained(model, adapter, is_trainable=trainable)


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


def begin(out: Path, *, resume: bool, force: bool) -> str | None:
    """Where to go on from: the last checkpoint in `out` with `resume`, else None.

    CallError where `out` holds a run already and neither going on nor replacing it was asked for.
    """
    from transformers.trainer_utils import get_last_checkpoint

    held = get_last_checkpoint(str(out)) if out.is_dir() else None
    if resume:
        return str(held) if held else None
    if not force and (held or (out / "adapter_model.safetensors").exists()):
        raise CallError(f"{out} holds a run; give --resume to go on with it, --force to replace it, or another --out")
    if main_process():
        (out / "run.json").unlink(missing_ok=True)
        for old in out.glob("checkpoint-*"):
            shutil.rmtree(old)
    return None


def lora(targets: str, *, rank: int, alpha: int, freeze_vision: bool = False) -> Any:
    """LoRA on the named linear layers ("all-linear" or names by comma), without those of the seeing parts where asked."""
    from peft import LoraConfig

    names = targets if targets == "all-linear" else targets.split(",")
    excluded = VISION_PARTS if freeze_vision else None
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
    """sha256 over names and bytes of a dataset's files, so that a run says what it was trained on."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        digest.update(file.name.encode())
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


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
