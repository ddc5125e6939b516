"""Thoughts in a trajectory: what was said before an action, as a step of its own or at the action's step."""

from __future__ import annotations

from cuadata.types import Step


def said(thought: str | None) -> bool:
    """Whether a thought has any words."""
    return thought is not None and bool(thought.strip())


def is_thought(step: Step) -> bool:
    """Whether a step is a thought with words; a `reason` without any, such as an answer that nobody could read, is none."""
    return step.action.type == "reason" and said(step.action.text)
