"""A model answers examples: greedily, through a format, for guards and evaluations inside a trainer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuadata import geometry
from cuadata.contracts import Format, ParseFailure
from cuadata.learning import training_rows
from cuadata.learning.sampling import Sampler
from cuadata.learning.training import Loaded
from cuadata.rows import Example


def hits(
    examples: Sequence[Example], form: Format, loaded: Loaded, *, new_tokens: int = 64, batch: int = 8
) -> list[bool]:
    """Whether the model's greedy answer to each example points into the target's box; an unreadable answer does not."""
    rows = [training_rows.answer_row(example, form, loaded.processor) for example in examples]
    texts = [
        text for start in range(0, len(rows), batch) for text in answer(rows[start : start + batch], loaded, new_tokens)
    ]
    found = []
    for example, text in zip(examples, texts, strict=True):
        try:
            action = form.read(text, training_rows.view_of(example, loaded.processor))
        except ParseFailure:
            found.append(False)
            continue
        box = example.target.bbox if example.target else None
        found.append(bool(action.point and box and geometry.contains(box, action.point)))
    return found


def answer(
    rows: Sequence[dict[str, Any]],
    loaded: Loaded,
    new_tokens: int,
    *,
    temperature: float = 0.0,
    sampler: Sampler | None = None,
) -> list[str]:
    """Answers to prompt rows, pictures included where the model takes them; greedy at temperature 0.

    `sampler` is used for text models where one is given, so that its caches and graphs are kept between calls.
    """
    import torch

    texts = [
        loaded.processor.apply_chat_template(r["prompt"], tokenize=False, add_generation_prompt=True) for r in rows
    ]
    tokenizer = loaded.tokenizer
    if not loaded.vision:
        sampler = sampler or Sampler(
            loaded.model, end_ids=end_ids(loaded), pad_id=tokenizer.pad_token_id, context=4096, graph=False, merge=False
        )
        prompts = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
        drawn = sampler.draw(prompts, new_tokens=new_tokens, temperature=temperature)
        return [tokenizer.decode(sample.ids, skip_special_tokens=True) for sample in drawn]
    pictures = [[training_rows.pillow(p["bytes"]) for p in row["images"]] for row in rows]
    tokenizer.padding_side = "left"
    inputs = loaded.processor(text=texts, images=pictures, padding=True, return_tensors="pt")
    inputs = inputs.to(loaded.model.device)
    how: dict[str, Any] = {"do_sample": temperature > 0}
    if temperature > 0:
        how |= {"temperature": temperature, "top_k": 0, "top_p": 1.0}
    was_training = loaded.model.training
    loaded.model.eval()
    try:
        with torch.no_grad():
            out = loaded.model.generate(**inputs, max_new_tokens=new_tokens, **how)
    finally:
        loaded.model.train(was_training)
    width = inputs["input_ids"].shape[1]
    return list(tokenizer.batch_decode(out[:, width:], skip_special_tokens=True))


def end_ids(loaded: Loaded) -> tuple[int, ...]:
    """Tokens that end an answer, by the model's generation config and the tokenizer."""
    held = loaded.model.generation_config.eos_token_id
    ids = held if isinstance(held, (list, tuple)) else [held]
    return tuple(sorted({i for i in (*ids, loaded.tokenizer.eos_token_id) if i is not None}))
