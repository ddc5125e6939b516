"""A saved LoRA on a base: what its folder holds is read as what it claims to be only after it was looked at.

Loaded as they come, an adapter of another base, one without half of its weights, and one of infinities give a model that
trains as if nothing had happened: what is missing is made at random. Weights are read from safetensors alone; a pickle can
run code.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cuadata.errors import CallError, DataError

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"


def adapted(model: Any, adapter: str, *, trainable: bool = True, base_sha256: str = "") -> Any:
    """A base with the weights of a saved adapter, which is the one that training goes on with: none is put on top.

    CallError where the folder holds no adapter, or one of another base than that of `base_sha256`; DataError where it is
    damaged or does not fit.
    """
    from peft import PeftModel

    folder = located(adapter)
    config(folder)
    finite(folder)
    _same_base(folder, base_sha256)
    try:
        model = PeftModel.from_pretrained(model, str(folder), is_trainable=trainable)
        held = model.load_adapter(str(folder), "default", is_trainable=trainable)
    except (RuntimeError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"it does not fit its own description or this base: {_line(error)}", place=adapter) from error
    if held.missing_keys or held.unexpected_keys:
        lost, more = len(held.missing_keys), len(held.unexpected_keys)
        first = [*held.missing_keys, *held.unexpected_keys][0]
        raise DataError(
            f"its weights do not fit this base: {lost} layers lack theirs, {more} weights have no layer, such as {first}; "
            "give the base that it was trained on",
            place=adapter,
        )
    return model


def located(adapter: str) -> Path:
    """The folder of an adapter, fetched from the Hub where it is named by an id. CallError where there is none."""
    folder = Path(adapter)
    if folder.is_dir():
        if not (folder / CONFIG).is_file():
            raise CallError(f"{adapter} holds no adapter ({CONFIG}); give the folder of a finished run")
        return folder
    if folder.exists() or folder.is_absolute() or adapter.startswith((".", "~")) or adapter.count("/") != 1:
        what = "is a file" if folder.exists() else "is not there"
        raise CallError(f"the adapter {adapter} {what}; give the folder of a finished run")
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(adapter, allow_patterns=[CONFIG, WEIGHTS, "run.json"]))
    except (OSError, ValueError) as error:
        raise CallError(f"the adapter {adapter} is neither a folder nor on the Hub: {_line(error)}") from error


def config(folder: Path) -> dict[str, Any]:
    """What an adapter says of itself. DataError where it does not read, or is no LoRA."""
    place = str(folder / CONFIG)
    try:
        held = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"it is no JSON: {error}; save the adapter again", place=place) from error
    if not isinstance(held, dict) or held.get("peft_type") != "LORA":
        kind = held.get("peft_type") if isinstance(held, dict) else type(held).__name__
        raise DataError(f"it describes no LoRA but {kind!r}; the trainers go on with LoRA only", place=place)
    return held


def finite(folder: Path) -> None:
    """DataError where the weights are missing, cut off, or hold what is no number."""
    import safetensors
    import torch

    path = folder / WEIGHTS
    if not path.is_file():
        pickled = any(folder.glob("adapter_model*.bin")) or any(folder.glob("adapter_model*.p*t*"))
        why = "; pickled weights are not read, they can run code: save them as safetensors" if pickled else ""
        raise DataError(f"{WEIGHTS} is missing{why or '; the run that wrote it was cut off'}", place=str(folder))
    try:
        with safetensors.safe_open(str(path), "pt") as held:
            wrong = next((name for name in held.keys() if not torch.isfinite(held.get_tensor(name)).all()), None)  # noqa: SIM118
    except safetensors.SafetensorError as error:
        raise DataError(f"it is cut off or no safetensors file: {error}; copy it again", place=str(path)) from error
    if wrong is not None:
        raise DataError(f"the weight {wrong} holds what is no number; the run diverged", place=str(path))


def _same_base(folder: Path, base_sha256: str) -> None:
    """CallError where the run beside the adapter was trained on a base of other weights."""
    try:
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return  # an adapter of elsewhere has no record; that it fits is all that can be said
    trained = run.get("base_sha256") if isinstance(run, dict) else None
    if trained and base_sha256 and trained != base_sha256:
        named = run.get("options", {}).get("base", "another base")
        raise CallError(f"the adapter {folder} was trained on {named}, whose weights are others; give that base")


def fingerprint(model: Any) -> str:
    """sha256 of names, shapes and first weights of a model, in bfloat16, whatever dtype it was loaded in."""
    import hashlib

    import torch

    digest = hashlib.sha256()
    for name, weight in model.named_parameters():
        first = weight.detach().flatten()[:64].to(torch.bfloat16).float().cpu().numpy()
        digest.update(f"{name} {tuple(weight.shape)} ".encode() + first.tobytes())
    return digest.hexdigest()


def _line(error: BaseException) -> str:
    """What an error says, on one line and no longer than one."""
    return " ".join(str(error).split())[:200]
