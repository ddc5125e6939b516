"""Did the action do anything?"""

from __future__ import annotations

import functools

from cuadata.judging.judging import kept, rejected
from cuadata.registry import gates
from cuadata.rows import Candidate, Verdict
from cuadata.splitting import recovery

_NAME = "no_effect"
#: What is learnt from actions that work; histories and the recovery rows keep those that did not.
_CONFIGS = ("actions",)


@gates.add
def no_effect(candidate: Candidate, *, detours: bool = True) -> Verdict:
    """The action changed the page, in the picture or in its state, outside what the page moves by itself.

    Speaks of the `actions` rows only. A step whose effect was measured and could not be told is unsure; one whose effect was
    never measured is kept, and the evidence says so. Thoughts and the words that end an attempt need no effect.
    `detours`: a step whose effect was taken back later is kept out as well.
    """
    step = candidate.step
    if step is None:
        return kept(_NAME, not_checked="there is no step")
    if step.action.type in recovery.WITHOUT_INPUT:
        return kept(_NAME)
    happened = recovery.happened(step)
    if happened is False:
        why = step.effect.reason if step.effect is not None else step.error
        kind = step.effect.kind if step.effect is not None else None
        similarity = step.effect.similarity if step.effect is not None else None
        return rejected(
            _NAME, "no_effect", configs=_CONFIGS, kind=kind, similarity=similarity, why=why, label=step.label
        )
    if detours and step.label == "detour":
        return rejected(_NAME, "taken_back", configs=_CONFIGS, label=step.label)
    if step.effect is None:
        return kept(_NAME, not_checked="the effect was not measured")
    if happened is None:
        return rejected(_NAME, "no_effect", keep="unsure", configs=_CONFIGS, why=step.effect.reason)
    return _kept_with(step.effect.kind, step.effect.similarity)


@functools.lru_cache(maxsize=1024, typed=True)
def _kept_with(kind: str, similarity: float | None) -> Verdict:
    """The usual verdict; kept, since most effects are of a few kinds and many pictures change in no way or wholly."""
    return kept(_NAME, kind=kind, similarity=similarity)
