"""Terms of played plans as TRL reward functions, for algorithms that generate by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cuadata.errors import CallError
from cuadata.learning.reward_adapter import text_of
from cuadata.learning.rollouts import Scorer

#: What the scorer of played plans says of one; `ended` is the sampler's own, of an answer that stopped by itself.
TERMS = ("raw", "exact", "default", "parsed", "turns", "submitted")


def check(names: Iterable[str], *, ended: bool) -> None:
    """CallError for a term that a played plan does not have. `ended`: whether the sampler says so of its answers."""
    known = (*TERMS, *(("ended",) if ended else ()))
    if missing := [name for name in names if name not in known]:
        raise CallError(f"no reward term is named {', '.join(missing)}; there are: {', '.join(sorted(known))}")


def functions(
    scorer: Scorer, rows: Sequence[Mapping[str, Any]], terms: Mapping[str, float]
) -> list[Callable[..., Any]]:
    """A function a term; the plans of a batch are played once for all of them. KeyError for a term that is not scored."""
    by_id = {row["id"]: row for row in rows}
    held: dict[tuple[str, ...], Sequence[Mapping[str, float]]] = {}

    def term(name: str) -> Callable[..., Any]:
        def value(completions: Sequence[Any], id: Sequence[str], log_metric: Any = None, **_: Any) -> list[float]:
            texts = [text_of(completion) for completion in completions]
            key = (*id, *texts)
            if key not in held:
                held.clear()
                held[key] = scorer([by_id[one] for one in id], texts)
                if log_metric is not None:
                    log_metric("terms/turns", sum(paid.get("turns", 0.0) for paid in held[key]) / len(texts))
            return [float(paid[name]) for paid in held[key]]

        value.__name__ = name
        return value

    return [term(name) for name in terms]
