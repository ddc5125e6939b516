"""Dataset rows as prompts with the columns that rewards ask for, for reinforcement on vision models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cuadata.contracts import Format
from cuadata.learning import training_rows
from cuadata.learning.training import Loaded
from cuadata.rows import Example
from cuadata.schema import to_row


def prompt_row(example: Example, form: Format, loaded: Loaded) -> dict[str, Any]:
    """Prompt, picture and what a reward needs: target and reference boxes, sizes, the processor's bounds, in plain values."""
    view = training_rows.view_of(example, loaded.processor)
    row = training_rows.answer_row(example, form, loaded.processor)
    plain = to_row(example)
    return {
        "prompt": row["prompt"],
        "images": row["images"],
        "id": example.id,
        "action": plain["action"],
        "target": plain["target"],
        "references": plain["references"],
        "relation": example.relation,
        "image_size": [example.image_width, example.image_height],
        "viewport": [example.viewport_width, example.viewport_height],
        "min_pixels": view.min_pixels,
        "max_pixels": view.max_pixels,
    }


def prompts_with_columns(examples: Iterable[Example], form: Format, loaded: Loaded) -> Any:
    """A `datasets.Dataset` that GRPO and RLOO take; columns beyond prompt and images reach the rewards."""
    from datasets import Dataset, Features, Image, Json, List, Value

    names = ("action", "target", "references", "relation", "image_size", "viewport")
    features: dict[str, Any] = {name: Json() for name in names}
    features |= {"prompt": List(Json()), "images": List(Image()), "id": Value("string")}
    features |= {"min_pixels": Value("int64"), "max_pixels": Value("int64")}
    return Dataset.from_list([prompt_row(example, form, loaded) for example in examples], features=Features(features))
