"""Draw many completions at once: prompts read once, LoRA merged, a static cache and, on a GPU, one CUDA graph a token.

A small model spends most of a `generate` step launching kernels, not computing. The decode step of a fixed batch is
therefore captured once as a CUDA graph over static buffers and replayed for every token; on a CPU the same loop runs
without a graph. A prompt that stands several times in a batch, as in a group of completions, is read once and its keys and
values are copied to its rows. LoRA is merged into a copy of the base model (`cuadata.learning.merging`), which halves the kernels of
a layer and leaves the trained weights alone.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from cuadata.learning import merging

if typing.TYPE_CHECKING:
    import torch

#: Told of completions that have ended: their tokens by their place in the batch.
Ended = Callable[[Mapping[int, tuple[int, ...]]], None]
#: Tokens between two questions to the GPU, which wait for it.
BURST = 8


@dataclass(frozen=True, slots=True)
class Sample:
    """One completion."""

    ids: Annotated[tuple[int, ...], "tokens, the end token included where it came"]
    logprobs: Annotated[tuple[float, ...], "log-probability of each token at the sampling temperature"]
    ended: Annotated[bool, "whether the end token came within the length"]


class Sampler:
    """Samples from a causal language model, PEFT-wrapped or plain; prompts are padded on the left.

    `context` is the most tokens a prompt and its completion may have together: the size of the static cache. `graph`,
    `share` and `merge` turn the three means of speed off, to measure them. `dtype` is that of the merged copy; None: that
    of the weights.
    """

    def __init__(
        self,
        model: Any,
        *,
        end_ids: Sequence[int],
        pad_id: int,
        context: int = 1024,
        graph: bool = True,
        share: bool = True,
        merge: bool = True,
        dtype: torch.dtype | None = None,
    ) -> None:
        self.model = model
        self.end_ids = tuple(end_ids)
        self.pad_id = pad_id
        self.context = context
        self.use_graph = graph and next(model.parameters()).is_cuda
        self.share = share
        self._merged = merging.Merged(model, dtype) if merge and merging.can_merge(model) else None
        self._decoders: dict[tuple[int, int], _Decoder] = {}

    def draw(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        new_tokens: int,
        temperature: float = 1.0,
        seed: int | None = None,
        ended: Ended | None = None,
    ) -> list[Sample]:
        """One completion a prompt, in order; temperature 0 is greedy. ValueError where a prompt does not fit.

        `ended` is told of completions that have ended while others are still drawn, of each at most once; those that end
        last it is not told of.
        """
        import torch

        longest = max(map(len, prompts))
        if longest + new_tokens > self.context:
            raise ValueError(
                f"a prompt of {longest} tokens and {new_tokens} new ones exceed the context of {self.context}"
            )
        if seed is not None:
            torch.manual_seed(seed)
        was_training = self.model.training
        self.model.eval()
        try:
            with torch.no_grad():
                return self._draw(prompts, new_tokens, temperature, ended)
        finally:
            self.model.train(was_training)

    def _draw(
        self, prompts: Sequence[Sequence[int]], new_tokens: int, temperature: float, ended: Ended | None
    ) -> list[Sample]:
        import torch

        if self._merged is not None:
            self._merged.refresh()
        # Few sizes, so that few graphs are captured: the cache's length is rounded up.
        length = min(self.context, -(-(max(map(len, prompts)) + new_tokens) // 64) * 64)
        key = (len(prompts), length)
        if key not in self._decoders:
            self._decoders.clear()  # a decoder holds a cache: one at a time
            self._decoders[key] = _Decoder(self._merged.model if self._merged else self.model, *key)
        decoder = self._decoders[key]
        decoder.prefill(prompts, self.pad_id, temperature, self.share)
        ends = torch.tensor(self.end_ids, device=decoder.token.device)
        tokens, logprobs = [decoder.token.clone()], [decoder.logprob.clone()]
        finished = torch.isin(decoder.token[:, 0], ends)
        running = set(range(len(prompts)))
        found: dict[int, tuple[int, ...]] = {}
        while len(tokens) < new_tokens:
            for _ in range(min(BURST - len(tokens) % BURST, new_tokens - len(tokens))):
                decoder.step(self.use_graph)
                tokens.append(decoder.token.clone())
                logprobs.append(decoder.logprob.clone())
                finished = finished | torch.isin(decoder.token[:, 0], ends)
            if ended is not None and found:
                ended(found)  # while the GPU works the steps off
            if len(tokens) == new_tokens:
                break
            over = {place for place, end in enumerate(finished.tolist()) if end}
            if len(over) == len(prompts):
                break
            fresh = sorted(over & running) if ended is not None else []
            rows = torch.cat(tokens, 1)[fresh].tolist() if fresh else []
            found = {place: _until_end(row, self.end_ids) for place, row in zip(fresh, rows, strict=True)}
            running -= over
        return _cut(torch.cat(tokens, 1).tolist(), torch.cat(logprobs, 1).tolist(), self.end_ids)


def _until_end(ids: Sequence[int], ends: tuple[int, ...]) -> tuple[int, ...]:
    """Tokens up to the first end token, it included."""
    return tuple(ids[: next((i + 1 for i, token in enumerate(ids) if token in ends), len(ids))])


def _cut(tokens: list[list[int]], logprobs: list[list[float]], ends: tuple[int, ...]) -> list[Sample]:
    found = []
    for row, odds in zip(tokens, logprobs, strict=True):
        ids = _until_end(row, ends)
        found.append(Sample(ids, tuple(odds[: len(ids)]), bool(ids) and ids[-1] in ends))
    return found


class _Decoder:
    """The static buffers of one batch size and cache length, and the graph captured over them."""

    def __init__(self, model: Any, batch: int, length: int) -> None:
        import torch
        from transformers import StaticCache

        device, dtype = next(model.parameters()).device, _compute_dtype(model)
        self.model, self.batch, self.length = model, batch, length
        self.cache = StaticCache(config=model.config, max_cache_len=length)
        self.token = torch.zeros(batch, 1, dtype=torch.long, device=device)
        self.logprob = torch.zeros(batch, 1, dtype=torch.float32, device=device)
        self.position = torch.zeros(batch, 1, dtype=torch.long, device=device)
        self.mask = torch.zeros(batch, 1, 1, length, dtype=dtype, device=device)
        self.slot = torch.zeros(1, dtype=torch.long, device=device)  # where in the cache the next token goes
        self.temperature = torch.ones((), dtype=torch.float32, device=device)
        self.lowest = torch.finfo(dtype).min
        self.graph: Any = None

    def prefill(self, prompts: Sequence[Sequence[int]], pad_id: int, temperature: float, share: bool) -> None:
        """Read the prompts into the cache, equal ones once, and draw the first token of every row."""
        import torch
        from transformers import DynamicCache

        keys = [tuple(prompt) if share else (place, *prompt) for place, prompt in enumerate(prompts)]
        place_of = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        rows = torch.tensor([place_of[key] for key in keys], device=self.token.device)
        ids, real = self._padded([prompts[keys.index(key)] for key in place_of], pad_id)
        width = ids.shape[1]
        causal = torch.ones(width, width, dtype=torch.bool, device=ids.device).tril()
        seen = causal[None, None] & real[:, None, None, :]
        seen = seen | torch.eye(width, dtype=torch.bool, device=ids.device)  # a padded place sees itself: no NaN rows
        mask = torch.full(seen.shape, self.lowest, dtype=self.mask.dtype, device=ids.device).masked_fill_(seen, 0)
        position = (real.long().cumsum(1) - 1).clamp_min(0)
        read = DynamicCache(config=self.model.config)
        logits = self._forward(ids, mask, position, read)
        for number, (layer, held) in enumerate(zip(read.layers, self.cache.layers, strict=True)):
            if held.is_initialized:
                held.reset()
            self.cache.update(layer.keys.index_select(0, rows), layer.values.index_select(0, rows), number)
        self.temperature.fill_(temperature)
        self.mask.fill_(self.lowest)
        self.mask[..., :width].masked_fill_(real[rows][:, None, None, :], 0)
        self.slot.fill_(width)
        self.position.copy_(position[rows, -1:] + 1)
        self._choose(logits[rows])

    def _padded(self, prompts: Sequence[Sequence[int]], pad_id: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Token ids padded on the left, and which of them are real; both (prompts, longest)."""
        import torch

        width = max(map(len, prompts))
        ids = torch.full((len(prompts), width), pad_id, dtype=torch.long)
        real = torch.zeros((len(prompts), width), dtype=torch.bool)
        for row, prompt in enumerate(prompts):
            ids[row, width - len(prompt) :] = torch.tensor(list(prompt))
            real[row, width - len(prompt) :] = True
        return ids.to(self.token.device), real.to(self.token.device)

    def _forward(self, ids: torch.Tensor, mask: torch.Tensor, position: torch.Tensor, cache: Any) -> torch.Tensor:
        out = self.model(
            input_ids=ids, attention_mask=mask, position_ids=position, past_key_values=cache, use_cache=True,
            logits_to_keep=1,
        )  # fmt: skip
        return typing.cast("torch.Tensor", out.logits[:, -1].float())

    def _choose(self, logits: torch.Tensor) -> None:
        import torch

        warm = logits / self.temperature.clamp_min(1e-6)
        noise = torch.rand_like(warm).clamp_(1e-20, 1 - 1e-7)
        # The Gumbel trick draws from the softmax without a host check, so that it can be captured.
        drawn = (warm - (-noise.log()).log()).argmax(-1, keepdim=True)
        best = logits.argmax(-1, keepdim=True)
        self.token.copy_(torch.where(self.temperature > 0, drawn, best))
        self.logprob.copy_(torch.log_softmax(torch.where(self.temperature > 0, warm, logits), -1).gather(1, self.token))

    def _advance(self) -> None:
        self.mask.index_fill_(3, self.slot, 0)
        logits = self._forward(self.token, self.mask, self.position, self.cache)
        self.slot.add_(1)
        self.position.add_(1)
        self._choose(logits)

    def step(self, use_graph: bool) -> None:
        """Draw the next token of every row."""
        if not use_graph:
            self._advance()
        elif self.graph is None:
            self._capture()
        else:
            self.graph.replay()

    def _capture(self) -> None:
        """Warm up on a side stream, then record; the recorded step has not run, so it is replayed once."""
        import torch

        held = [t.clone() for t in self._state()]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                self._advance()
        torch.cuda.current_stream().wait_stream(stream)
        self._restore(held)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self._advance()
        self._restore(held)
        self.graph.replay()

    def _state(self) -> list[torch.Tensor]:
        counters = [layer.cumulative_length for layer in self.cache.layers]
        return [self.token, self.logprob, self.position, self.mask, self.slot, *counters]

    def _restore(self, held: list[torch.Tensor]) -> None:
        for tensor, value in zip(self._state(), held, strict=True):
            tensor.copy_(value)


def _compute_dtype(model: Any) -> torch.dtype:
    """The dtype that attention runs in: that of the weights, or of the autocast around them."""
    import torch

    device = next(model.parameters()).device.type
    if torch.is_autocast_enabled(device):
        return torch.get_autocast_dtype(device)
    return typing.cast("torch.dtype", next(model.parameters()).dtype)
