"""A reward as TRL calls it: batches of prompts and completions in, one number each out."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cuadata.errors import CallError
from cuadata.registry import formats, rewards

#: What TRL passes beside the dataset's columns; it says nothing of a row.
_NOT_COLUMNS = frozenset({"completion_ids", "prompt_ids", "trainer_state", "log_extra", "log_metric", "environments"})

TRLReward = Callable[..., list[float]]


def trl_adapter(name: str, format: str, *, group_size: int | None = None, **thresholds: Any) -> TRLReward:
    """The reward of that name as a TRL reward function of answers in that format.

    Columns of the dataset reach the reward row by row, `thresholds` go to every call, and `group` holds the answers to the
    same prompt: `group_size` neighbours, or where that is None the neighbours with an equal prompt (and an equal `id`, where
    there is that column). Errors of the reward are raised, never paid as 0. KeyError for a name or a format that there is
    not; CallError for a threshold that the reward does not have.
    """
    reward = rewards[name]
    formats[format]  # a wrong name fails here, not at the first step
    known = inspect.signature(reward).parameters
    if wrong := [key for key in thresholds if key not in known]:
        raise CallError(f"the reward '{name}' has no threshold called {', '.join(wrong)}")

    def scored(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float]:
        texts = [text_of(completion) for completion in completions]
        held = {k: v for k, v in columns.items() if k not in _NOT_COLUMNS and isinstance(v, (list, tuple))}
        groups = _groups(prompts, texts, held.get("id"), group_size)
        out = []
        for at, text in enumerate(texts):
            row = {key: values[at] for key, values in held.items() if len(values) == len(texts)}
            given = {**row, "format": format, "group": groups[at], **thresholds}
            out.append(float(reward(text, **given)))
        return out

    scored.__name__ = name  # TRL logs the reward by it
    return scored


class NotJudged(CallError):
    """A reward lacks what it needs of a row."""


def probe(functions: Sequence[TRLReward], row: Mapping[str, Any], answer: str) -> None:
    """Let each reward judge an answer to a row, so that what it cannot work without is said before training. NotJudged."""
    columns = {name: [value] for name, value in row.items() if name not in ("prompt", "images")}
    for function in functions:
        try:
            function([row["prompt"]], [answer], **columns)
        except CallError as error:
            raise NotJudged(f"the reward '{getattr(function, '__name__', '')}' cannot judge them: {error}") from error


def text_of(completion: Any) -> str:
    """The text of a completion: itself, or the content of its assistant messages."""
    if isinstance(completion, str):
        return completion
    messages = [completion] if isinstance(completion, Mapping) else completion
    # A message that only calls tools has no content key.
    return "\n".join(_content(m.get("content")) for m in messages if m.get("role", "assistant") == "assistant")


def _content(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))


def _groups(
    prompts: Sequence[Any], texts: Sequence[str], ids: Sequence[Any] | None, size: int | None
) -> list[tuple[str, ...]]:
    """For each answer all answers of its group."""
    if size is not None:
        keys: list[Any] = [at // size for at in range(len(texts))]
    else:
        same = [json.dumps(prompt, sort_keys=True, default=str) for prompt in prompts]
        named = ids if ids is not None and len(ids) == len(texts) else [None] * len(texts)
        keys, turn = [], 0
        for at, pair in enumerate(zip(same, named, strict=True)):
            turn += at > 0 and pair != (same[at - 1], named[at - 1])
            keys.append(turn)
    members: dict[Any, list[str]] = {}
    for key, text in zip(keys, texts, strict=True):
        members.setdefault(key, []).append(text)
    return [tuple(members[key]) for key in keys]
