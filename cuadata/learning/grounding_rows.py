"""Dataset rows as prompts with the columns that rewards ask for, for reinforcement on vision models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from cuadata import registry
from cuadata.contracts import Format, View
from cuadata.errors import CallError, DataError
from cuadata.learning import reward_adapter, training_rows
from cuadata.learning.training import Loaded
from cuadata.rows import Example
from cuadata.schema import to_row
from cuadata.types import Action, Point


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


def judged(
    data: Path, format: str, loaded: Loaded, rewards: Sequence[reward_adapter.TRLReward]
) -> list[dict[str, Any]]:
    """The `grounding` rows to draw answers to; those that the format cannot say or a reward cannot judge are counted on stderr.

    Generated sets hold rows without a target, whose answer is that there is none: no reward of places can judge them.
    CallError where a reward can judge none of them, DataError where no row is left for another reason.
    """
    form, rows, left, unjudged = registry.formats[format], list[dict[str, Any]](), Counter[str](), 0
    for example in training_rows.examples(data, "grounding", "train"):
        try:
            row = prompt_row(example, form, loaded)
            reward_adapter.probe(rewards, row, _click(form, training_rows.view_of(example, loaded.processor)))
        except reward_adapter.NotJudged as error:
            left[str(error)], unjudged = left[str(error)] + 1, unjudged + 1
        except CallError:
            raise
        except ValueError as error:
            left[str(error)] += 1
        else:
            rows.append(row)
    for words, count in left.most_common(5):
        typer.echo(f"{count} rows left out: {words}", err=True)
    if not rows and left:
        words = f"none of {left.total()} rows can be trained on: {left.most_common(1)[0][0]}"
        raise CallError(f"{data}: {words}") if unjudged == left.total() else DataError(words, place=str(data))
    return rows


def _click(form: Format, view: View) -> str:
    """A click into the middle of the picture, so that a reward looks at all that it needs; nothing where it cannot be said."""
    try:
        return form.write(Action(type="click", point=Point(view.viewport.width / 2, view.viewport.height / 2)), view)
    except ValueError:
        return ""


def table(rows: Sequence[dict[str, Any]]) -> Any:
    """Prompt rows as the `datasets.Dataset` that GRPO and RLOO take; columns beyond prompt and images reach the rewards."""
    from datasets import Dataset, Features, Image, Json, List, Value

    names = ("action", "target", "references", "relation", "image_size", "viewport")
    features: dict[str, Any] = {name: Json() for name in names}
    features |= {"prompt": List(Json()), "images": List(Image()), "id": Value("string")}
    features |= {"min_pixels": Value("int64"), "max_pixels": Value("int64")}
    return Dataset.from_list(list(rows), features=Features(features))
