"""A model of the transformers library, text or vision, through a model family's format."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

from cuadata import image, registry
from cuadata.contracts import Choice, ParseFailure, Prompt
from cuadata.registry import policies
from cuadata.types import Observation, Task

if TYPE_CHECKING:
    from cuadata.learning.training import Loaded

#: One model in memory for all policies of a process, and one that generates at a time.
_LOCK = threading.Lock()


@policies.add
class TransformersModel:
    """Asks a local model: prompt and answer as the format writes them in training rows.

    A text that calls for several actions is played as a plan, one action a turn.
    """

    name = "transformers_model"

    def __init__(
        self,
        model: str,
        format: str,
        *,
        adapter: str | None = None,
        temperature: float = 0.0,
        new_tokens: int = 256,
        dtype: str = "float32",
        min_pixels: int | None = None,
        max_pixels: int | None = None,
    ) -> None:
        """`model` is a folder or a Hub id; `temperature` 0 takes the likeliest token; the pixel bounds are the processor's."""
        bounds = tuple((k, v) for k, v in (("min_pixels", min_pixels), ("max_pixels", max_pixels)) if v is not None)
        with _LOCK:  # every page of a rollout makes its policy at the same moment; the first one loads for all
            self._loaded = _load(model, adapter, dtype, bounds)
        self._form = registry.formats[format]
        self._temperature, self._new_tokens = temperature, new_tokens
        self._seed = 0

    def reset(self, task: Task, seed: int) -> None:
        """Draws of this episode come from this seed."""
        self._seed = seed

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        """One answer, read as an action and those that follow it."""
        self._seed += 1
        view = self._view(prompt)
        with _LOCK:
            text, logprob = self._answer(prompt)
        try:
            first, *rest = self._form.read_all(text, view)
        except ParseFailure as failure:
            return Choice(action=None, output=text, logprob=logprob, failure=str(failure))
        return Choice(action=first, output=text, logprob=logprob, rest=tuple(rest))

    def _view(self, prompt: Prompt) -> Any:
        from dataclasses import replace

        from cuadata.learning.training import pixel_bounds

        low, high = pixel_bounds(self._loaded.processor) if self._loaded.vision else (None, None)
        return replace(prompt.view, min_pixels=low, max_pixels=high)

    def _answer(self, prompt: Prompt) -> tuple[str, float]:
        """The model's text and its log-probability, natural logarithm, under the sampling temperature."""
        import torch

        loaded = self._loaded
        messages = self._form.prompt(prompt)
        text = loaded.processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        if loaded.vision and prompt.image is not None:
            picture = _pillow(image.read(prompt.image))
            inputs = loaded.processor(text=[text], images=[picture], return_tensors="pt")
        else:
            inputs = loaded.tokenizer([text], add_special_tokens=False, return_tensors="pt")
        inputs = inputs.to(loaded.model.device)
        warm = self._temperature > 0
        torch.manual_seed(self._seed)
        with torch.no_grad():
            told = loaded.model.generate(
                **inputs, max_new_tokens=self._new_tokens, do_sample=warm, return_dict_in_generate=True,
                output_scores=True, pad_token_id=loaded.tokenizer.pad_token_id or loaded.tokenizer.eos_token_id,
                **({"temperature": self._temperature, "top_k": 0, "top_p": 1.0} if warm else {}),
            )  # fmt: skip
        new = told.sequences[:, inputs["input_ids"].shape[1] :]
        odds = loaded.model.compute_transition_scores(told.sequences, told.scores, normalize_logits=True)
        return loaded.tokenizer.decode(new[0], skip_special_tokens=True), float(odds[0].sum())


def _pillow(data: bytes) -> Any:
    from PIL import Image

    return Image.fromarray(image.rgb(data))


@functools.lru_cache(maxsize=2)
def _load(model: str, adapter: str | None, dtype: str, bounds: tuple[tuple[str, int], ...]) -> Loaded:
    from cuadata.learning import training

    loaded = training.load(model, adapter=adapter, trainable=False, dtype=dtype, **dict(bounds))
    loaded.model.eval()
    return loaded
