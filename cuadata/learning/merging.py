"""LoRA merged into the base: a copy that follows the trained adapter, and a folder that loads without PEFT.

The copy is for sampling while training goes on. The trained weights are never written to, so there is nothing to undo and
an interrupt leaves no merged weights behind; the cost is one copy of the base, in the dtype that sampling computes in.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cuadata.building import folders
from cuadata.errors import CallError
from cuadata.learning import adapters, starting, training

if typing.TYPE_CHECKING:
    import torch


def can_merge(model: Any) -> bool:
    """Whether a model's one active adapter is a plain LoRA: W + s B A says all that it adds."""
    from peft import LoraConfig

    held = [model.peft_config[name] for name in getattr(model, "active_adapters", ())] if _is_peft(model) else []
    return len(held) == 1 and isinstance(held[0], LoraConfig) and not (held[0].use_dora or held[0].modules_to_save)


def _is_peft(model: Any) -> bool:
    from peft import PeftModel

    return isinstance(model, PeftModel)


class Merged:
    """A plain copy of a PEFT model's base whose weights are W + s B A as of the last `refresh`.

    `dtype` is that of the copy; None: that of the base. The copy's tensors stay where they are, as CUDA graphs want.
    """

    def __init__(self, peft_model: Any, dtype: torch.dtype | None = None) -> None:
        import torch

        base = peft_model.get_base_model()
        with torch.device(next(base.parameters()).device):
            self.model = type(base)(base.config).eval().requires_grad_(False)
        for parameter in self.model.parameters():  # the weights alone: rotary frequencies stay float32
            parameter.data = parameter.data.to(dtype or next(base.parameters()).dtype)
        self._peft_model = peft_model
        sources = {n.replace(".base_layer", ""): p for n, p in base.named_parameters() if ".lora_" not in n}
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                parameter.copy_(sources[name])
        self._adapted = list(self._layers())
        self.refresh()

    def _layers(self) -> Iterator[tuple[torch.Tensor, Any]]:
        """Every weight of the copy that LoRA adds to, with the layer that holds W, A and B."""
        from peft.tuners.lora import LoraLayer

        weights = dict(self.model.named_parameters())
        for name, layer in self._peft_model.get_base_model().named_modules():
            if isinstance(layer, LoraLayer):
                yield weights[f"{name}.weight"], layer

    def refresh(self) -> None:
        """Follow the adapter as it is now."""
        import torch

        (adapter,) = self._peft_model.active_adapters
        with torch.no_grad():
            for weight, layer in self._adapted:
                weight.copy_(layer.get_base_layer().weight + layer.get_delta_weight(adapter))


def save_merged(run: Path, out: Path, *, base: str = "", dtype: str = "bfloat16", force: bool = False) -> None:
    """Write an adapter and its base as one model, with its processor, that plain transformers loads.

    The sum is taken in float32 and rounded once to `dtype`. `base`: where the base is, if not where the adapter says.
    CallError where `run` holds no adapter, or `out` holds files and `force` is not given.
    """
    import torch

    config = adapters.config(adapters.located(str(run)))
    if dtype not in training.DTYPES:
        raise CallError(f"no weights are written as '{dtype}'; there are: {', '.join(training.DTYPES)}")
    source = base or config.get("base_model_name_or_path")
    if not isinstance(source, str) or not source:
        raise CallError(f"{run} does not say what its base is; give --base")
    folders.refuse_files(out, force=force, reads=[run, *([source] if Path(source).exists() else [])])
    loaded = training.load(source, adapter=str(run), trainable=False)
    made = loaded.model.merge_and_unload().to(getattr(torch, dtype))
    with starting.writing(out), folders.files_into(out) as folder:
        made.save_pretrained(str(folder))
        loaded.processor.save_pretrained(str(folder))
