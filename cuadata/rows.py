"""The rows of a dataset: one class a config, and what a gate says of a row.

All configs share the columns of `Example`; each adds its own. `cuadata.schema` turns these classes into Hugging Face
Features, so a column is named, typed and given its unit here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from cuadata.types import Action, BBox, Image, Keep, Locator, Observation, Phase, Point, States, Step, Task, Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An element as it stands in a dataset row: what a model has to find."""

    role: Annotated[str, "accessibility role"]
    name: Annotated[str, "accessible name"]
    text: Annotated[str, "visible text"] = ""
    bbox: Annotated[BBox | None, "CSS px; None where only a point is known"] = None
    point: Annotated[Point | None, "a point that a real click reaches, CSS px"] = None
    seen: Annotated[float | None, "share of the area that a person sees; None: not measured"] = None
    hit: Annotated[float | None, "share of the area that receives the pointer; None: not measured"] = None
    locator: Annotated[Locator | None, "the way to it on the page"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """An element of the page as a model that reads the page is told of it: a line of text, and what calling it by id means."""

    id: Annotated[int, "id in this observation; `action.element` and answers of by-id formats name it"]
    role: Annotated[str, "accessibility role"] = ""
    name: Annotated[str, "accessible name"] = ""
    text: Annotated[str, "visible text"] = ""
    tag: Annotated[str, "HTML tag, lower case"] = ""
    interactive: Annotated[bool, "takes input by what it is"] = False
    states: Annotated[States, "states that the line tells where they differ from rest"] = field(default=States())
    bbox: Annotated[BBox | None, "CSS px; None where it has no box of its own, as an option of a closed list"] = None
    point: Annotated[Point | None, "a point that a real click reaches, CSS px"] = None


@dataclass(frozen=True, slots=True)
class ContextLine:
    """A line that an adapter injects into the prompt."""

    kind: Annotated[Literal["no_effect", "subtask", "subgoal", "memory"], "what the line is"]
    text: Annotated[str, "the line"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One screenshot, one instruction, one action."""

    id: Annotated[str, "trajectory id / step index"]
    trajectory_id: Annotated[str, "the trajectory it is from"]
    step_index: Annotated[int, "position in the trajectory, from 0"]
    image: Annotated[Image, "the picture before the action"]
    image_width: Annotated[int, "image px"]
    image_height: Annotated[int, "image px"]
    viewport_width: Annotated[int, "CSS px; image px = CSS px x image_width / viewport_width"]
    viewport_height: Annotated[int, "CSS px"]
    device_pixel_ratio: Annotated[float, "image px for one CSS px, as the browser was asked"]
    instruction: Annotated[str, "what the actor was asked to do"]
    action: Annotated[Action, "the one action to take now"]
    target: Annotated[Target | None, "the element acted on; None for actions without one"] = None
    references: Annotated[tuple[Target, ...], "elements that the instruction refers to"] = ()
    relation: Annotated[str | None, "spatial relation of target and references"] = None
    phase: Annotated[Phase | None, "dismiss, reason, act or enter"] = None
    history: Annotated[
        tuple[str, ...], "the last actions as text, oldest first, at most 5, and what was thought since"
    ] = ()
    context: Annotated[tuple[ContextLine, ...], "lines that an adapter injects, and nothing else"] = ()
    elements: Annotated[
        tuple[Listed, ...], "the page as models that read it are told of it; empty unless the build was asked for it"
    ] = ()
    effect: Annotated[str | None, "kind of effect that the action had"] = None
    label: Annotated[
        str | None,
        "role of the step in failing and recovering, as `cuadata effects` labels recordings; None: it did not",
    ] = None
    site: Annotated[str, "host or family of the pages"] = ""
    template: Annotated[str, "what the page was made from"] = ""
    seed_block: Annotated[str, "block of seeds that splits keep together"] = ""
    split_group: Annotated[str, "rows of one group never part"] = ""
    provenance: Annotated[
        str,
        "JSON text: recording, step, versions, browser; `task_failed` where the trajectory failed its task, and what was `paid` for the step",
    ] = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An example on its way to the dataset, with the evidence that gates judge it by."""

    example: Example
    observation: Annotated[Observation | None, "None where the data came without a page"] = None
    step: Annotated[Step | None, "the step it was cut from"] = None
    task: Annotated[Task | None, "the task, where there is one"] = None
    trajectory: Annotated[Trajectory | None, "what it was cut from, for gates that look at the steps before it"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a gate says of an example."""

    gate: Annotated[str, "name of the gate"]
    keep: Annotated[Keep, "yes, no or unsure; unsure is not kept by default"] = "yes"
    reason: Annotated[str | None, "a word of `cuadata.reasons`; None where it keeps"] = None
    evidence: Annotated[str, "JSON text: the values that decided"] = "{}"
    configs: Annotated[tuple[str, ...], "dataset configs it speaks of; empty: all"] = ()
    unique: Annotated[
        str | None, "of the rows with this value and the same pixels, a build keeps the first; None: no such claim"
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk(Example):
    """5 to 15 actions from one screenshot on, for models that plan ahead."""

    actions: Annotated[tuple[Action, ...], "the actions of the chunk; `action` is the first"] = ()
    confidence: Annotated[float, "share of its steps that had an effect, or measured success over replays"] = 0.0
    confidence_kind: Annotated[Literal["effect", "replay"], "what the confidence is"] = "effect"
    postcondition: Annotated[
        tuple[str, ...], "changes of address, roles and states at its end, of what a person sees"
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding(Example):
    """A referring instruction, and everything that it could have meant."""

    perspective: Annotated[str, "direct, spatial, appearance or function"] = "direct"
    candidates: Annotated[tuple[Target, ...], "all elements that compete with the target"] = ()
    failures: Annotated[tuple[str, ...], "why each candidate is not meant, in their order"] = ()
    axes: Annotated[tuple[str, ...], "what was varied: axis=value"] = ()
    stage: Annotated[int, "1 one element, 2 one relation, 3 composed, 4 cluttered"] = 1
    pair_id: Annotated[str | None, "joins the members of a minimal pair"] = None
    pair_kind: Annotated[str | None, "opposite, moved_reference, hard_neighbour, removed, covered"] = None
    thought: Annotated[str | None, "perspective, reference and relation in words"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Example):
    """A row and the same truth under a known change of the picture."""

    transformed: Annotated[Image, "the changed picture"]
    transformed_target: Annotated[Target | None, "the target in the changed picture"] = None
    transform: Annotated[str, "JSON text: the change, with its affine map in image px where it has one"] = "{}"
    kind: Annotated[str, "zoom, viewport, theme, crop, ..."] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition(Example):
    """Two pictures and the action between them."""

    after: Annotated[Image, "the picture after the action"]
    similarity: Annotated[float | None, "lowest local SSIM of the two pictures"] = None
    changed: Annotated[BBox | None, "box around what changed, CSS px"] = None
    state: Annotated[tuple[str, ...], "state differences in words"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery(Example):
    """The action that helped after tries that did not."""

    failed: Annotated[tuple[Action, ...], "the tries that did not help, oldest first, 1 to 3"] = ()
    failed_target: Annotated[Target | None, "what the last of them was aimed at, as far as the evidence tells"] = None
    cause: Annotated[
        str,
        "missed, covered, fake, disabled, off_screen, too_early; taken_back: they did something, which the action takes "
        "back; empty: not known",
    ] = ""
    miss_distance: Annotated[float | None, "distance from the failed point to the target's edge, CSS px"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixed(Example):
    """A row of a mixture of configs by weight; what its own config adds stands there, under the same id."""

    config: Annotated[str, "the config that the row is from"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A row that was not kept, and why."""

    id: Annotated[str, "id of the example"]
    trajectory_id: Annotated[str, "the trajectory it is from"]
    step_index: Annotated[int, "position in the trajectory, from 0"]
    gate: Annotated[str, "the gate that rejected it"]
    keep: Annotated[Keep, "no or unsure"]
    reason: Annotated[str, "a word of `cuadata.reasons`"]
    evidence: Annotated[str, "JSON text: the values that decided"] = "{}"
    configs: Annotated[tuple[str, ...], "configs it is kept out of; empty: all"] = ()
    instruction: Annotated[str, "what the actor was asked to do"] = ""
    action: Annotated[Action | None, "the action of the example"] = None
    target: Annotated[Target | None, "the element of the example"] = None
    phase: Annotated[Phase | None, "phase of the example"] = None
    viewport_width: Annotated[int, "CSS px; thumbnail px = CSS px x thumbnail width / viewport_width"] = 0
    viewport_height: Annotated[int, "CSS px"] = 0
    also: Annotated[tuple[str, ...], "what further gates had against it, as `gate: reason`"] = ()
    thumbnail: Annotated[Image | None, "the picture, at most 320 image px wide; None beyond a number a reason"] = None
    place: Annotated[str, "recording or file that it came from, and the step"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """A task as a row, for training in environments."""

    id: Annotated[str, "family/seed"]
    family: Annotated[str, "name of the generator or environment"]
    seed: Annotated[int, "seed"]
    instruction: Annotated[str, "what to do"]
    task: Annotated[str, "JSON text of the whole task"]
    seed_block: Annotated[str, "block of seeds that splits keep together"] = ""
    split_group: Annotated[str, "rows of one group never part"] = ""


CONFIGS: dict[str, type] = {
    "actions": Example,
    "chunks": Chunk,
    "grounding": Grounding,
    "pairs": Pair,
    "transitions": Transition,
    "recovery": Recovery,
    "mix": Mixed,
    "point_only": Example,
    "tasks": TaskRow,
    "rejected": Rejected,
}
