"""What a model family's format and a policy promise, so that training, rollouts and evaluation cannot differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

from cuadata.rows import ContextLine
from cuadata.types import Action, Axis, BBox, Element, Image, Observation, Size, Task

Message = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a format needs to know of the picture that a model sees."""

    image: Annotated[Size, "size of the stored picture, image px"]
    viewport: Annotated[Size, "size of the viewport that it shows, CSS px"]
    elements: Annotated[tuple[Element, ...], "elements by id, for formats that call by id"] = ()
    min_pixels: Annotated[int | None, "lower bound of the processor's resize; None: the family's own"] = None
    max_pixels: Annotated[int | None, "upper bound of the processor's resize; None: the family's own"] = None
    frame: Annotated[str | None, "overrides the family's frame: px, resized, unit, thousand; None: its own"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Everything that a prompt is made from; the same for a training row and for a live page."""

    instruction: Annotated[str, "what the actor was asked to do"]
    view: Annotated[View, "the picture"]
    image: Annotated[Image | None, "the picture; None for text-only formats"] = None
    history: Annotated[tuple[str, ...], "the last actions as text, oldest first"] = ()
    context: Annotated[tuple[ContextLine, ...], "injected lines"] = field(default=())


# fmt: off
FailureKind = Literal[
    "no_action", "broken", "unknown_action", "unsupported_action", "missing_argument", "unknown_key", "unknown_element",
    "coordinates_out_of_range",
]
# fmt: on


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A grounding question with its answer, for logged model outputs: a Task with boxes, and no Trajectory.

    Where nothing answers the instruction the target is None, and to say so (an `infeasible`) is the right answer.
    """

    task: Annotated[Task, "instruction, viewport, stated relation, axes; `pair_id` joins the variants of one item"]
    target: Annotated[BBox | None, "what the instruction means; None: nothing does, and infeasible is the right answer"]
    references: Annotated[tuple[BBox, ...], "elements that the instruction refers to"] = ()
    holds: Annotated[bool | None, "the target stands in the stated relation to the reference; None: nothing stated"] = (
        None
    )
    candidates: Annotated[tuple[BBox, ...], "all elements that could have been meant; empty: not known"] = ()
    variant: Annotated[str, "how the page was changed; 'original' where it was not"] = "original"
    kind: Annotated[str, "kind of instruction: direct, relational"] = "direct"
    cluster: Annotated[str, "items that share their fate, a screenshot or a task, for the bootstrap"] = ""
    role: Annotated[str, "accessibility role of the target; empty: not known"] = ""
    elements: Annotated[tuple[Element, ...], "the page, for formats that call by id; empty: not known"] = ()
    image: Annotated[Size, "size of the picture that the models saw, image px"]
    frame: Annotated[str | None, "frame of the logged outputs, as in `View.frame`; None: the family's own"] = None
    columns: Annotated[tuple[Axis, ...], "columns of a predictions file that name this item, and their values"] = ()


class ParseFailure(ValueError):
    """A model's text holds no action in this format. It is an outcome of its own, never a miss.

    `kind` says why: `no_action` the text asks for none; `broken` it breaks off or is malformed; `unknown_action` names what
    the family has no word for; `unsupported_action` names what the project has no action for; `missing_argument`,
    `unknown_key`, `unknown_element` a part is absent or unknown; `coordinates_out_of_range` the point is off the picture.
    """

    def __init__(self, message: str, *, kind: FailureKind = "no_action") -> None:
        super().__init__(message)
        self.kind: FailureKind = kind


@runtime_checkable
class Format(Protocol):
    """A model family: how it is asked, how it answers, and in which coordinate frame."""

    @property
    def name(self) -> str:
        """Its name in the registry."""
        ...

    def prompt(self, prompt: Prompt) -> list[Message]:
        """Chat messages; the picture stands as `{"type": "image"}` and is passed beside them."""
        ...

    def write(self, action: Action, view: View) -> str:
        """The answer that means this action. ValueError where the family has no word for it."""
        ...

    def read(self, text: str, view: View) -> Action:
        """The first action in a model's text, in CSS px. ParseFailure where there is none."""
        ...

    def read_all(self, text: str, view: View) -> tuple[Action, ...]:
        """Every action in a model's text, in order. ParseFailure where there is none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a policy chose."""

    action: Annotated[Action | None, "None where the text could not be read"]
    output: Annotated[str, "the model's text; empty for policies without one"] = ""
    logprob: Annotated[float | None, "log-probability of the text under the policy"] = None
    failure: Annotated[str | None, "why the text could not be read"] = None
    rest: Annotated[tuple[Action, ...], "further actions of the same text, to be played one a turn"] = ()


class Policy(Protocol):
    """Chooses an action for an observation."""

    name: str

    def reset(self, task: Task, seed: int) -> None:
        """Begin an episode of this task."""
        ...

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        """The next action."""
        ...
