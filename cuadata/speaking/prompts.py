"""What a prompt says, the same for a training row and for a live page: instruction, history, injected lines, elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, Final

from cuadata.contracts import Format, Message, Prompt, View
from cuadata.native_lists import with_lists
from cuadata.rows import ContextLine, Example, Listed
from cuadata.text import tells_a_thought
from cuadata.types import Element, Observation, Size

#: What stands before an injected line of each kind (`text.no_effect_line` is whole by itself). Formats add no other line.
LABELS: Final = {"no_effect": "", "subtask": "Subtask: ", "subgoal": "Subgoal: ", "memory": "Memory: "}
HISTORY: Final = "Previous actions:"
NO_HISTORY: Final = "Previous actions: none"


def user_text(prompt: Prompt, *, elements: bool = False, thoughts: bool = True) -> str:
    """The text of the user's turn; `elements` adds the page's elements, one a line, for families that call by id.

    `thoughts`: whether the family can say a thought by itself; one that cannot never has any in its history.
    """
    parts = [f"Instruction: {prompt.instruction}"]
    if elements:
        parts.append("\n".join(["Page:", *map(element_line, prompt.view.elements)]))
    history = [f"- {one_line(line)}" for line in prompt.history if thoughts or not tells_a_thought(line)]
    parts.append("\n".join([HISTORY, *history]) if history else NO_HISTORY)
    if prompt.context:
        parts.append("\n".join(map(context_line, prompt.context)))
    return "\n\n".join(parts)


def one_line(text: str) -> str:
    """A text with its white space folded."""
    return " ".join(text.split())


def context_line(line: ContextLine) -> str:
    """An injected line as it stands in a prompt."""
    return f"{LABELS[line.kind]}{one_line(line.text)}"


def history_length(user: str) -> int:
    """How many lines of history a user's text holds, read back from the text."""
    _, found, rest = user.rpartition(f"{HISTORY}\n")
    if not found:
        return 0
    lines = rest.split("\n\n", 1)[0].split("\n")
    return next((at for at, line in enumerate(lines) if not line.startswith("- ")), len(lines))


def injected(user: str) -> tuple[str, ...]:
    """Kinds of injected lines in a user's text, read back from the text, sorted."""
    starts = {**LABELS, "no_effect": "No effect: "}
    found = {kind for kind, start in starts.items() for line in user.split("\n") if line.startswith(start)}
    return tuple(sorted(found))


def messages(system: str | None, user: str, *, picture: bool, picture_last: bool = False) -> list[Message]:
    """A system turn, where there is one, and a user turn of parts; text alone stays a string, as text models want it."""
    if not picture:
        turns: list[Message] = [{"role": "system", "content": system}] if system else []
        return [*turns, {"role": "user", "content": user}]
    text: Message = {"type": "text", "text": user}
    parts = [text, {"type": "image"}] if picture_last else [{"type": "image"}, text]
    head: list[Message] = [{"role": "system", "content": [{"type": "text", "text": system}]}] if system else []
    return [*head, {"role": "user", "content": parts}]


def element_line(element: Element) -> str:
    """An element as text models see it: `[18] checkbox 'MRW'`, then the states that differ from rest: `, checked`."""
    described = f"[{element.id}] {element.role} {(element.name or element.text)!r}"
    return ", ".join([described, *_states(element)])


def _states(element: Element) -> list[str]:
    states = element.states
    words = [
        "checked" if states.checked == "true" else "partly checked" if states.checked == "mixed" else "",
        "pressed" if states.pressed == "true" else "partly pressed" if states.pressed == "mixed" else "",
        {True: "expanded", False: "collapsed", None: ""}[states.expanded],
        "selected" if states.selected else "",
        "disabled" if states.disabled else "",
        "read-only" if states.readonly else "",
        "required" if states.required else "",
        "invalid" if states.invalid else "",
        f"value {states.value!r}" if states.value else "",
        "focused" if states.focused else "",
    ]
    return [word for word in words if word]


def visible(elements: Iterable[Element]) -> tuple[Element, ...]:
    """Elements that a person sees and could act on or read; the rest would tell a model more than the page shows.

    A label is left out where its control is in view itself, and so are boxes without a role or a name. The options of a
    native list in view are told, open or closed: a model that reads cannot unfold it.
    """
    seen = [
        e
        for e, held in with_lists(elements)
        if (e if held is None else held).seen > 0 and (e.interactive or e.name or e.text)
    ]
    ids = {e.id for e in seen}
    return tuple(e for e in seen if e.acts_on not in ids and (e.interactive or e.role not in ("none", "generic", "")))


def listed(elements: Iterable[Element]) -> tuple[Listed, ...]:
    """What a dataset row keeps of a page's elements, so that it makes the prompt that the live page makes."""
    return tuple(Listed(**_kept(e)) for e in visible(elements))


def of_list(held: Iterable[Listed]) -> tuple[Element, ...]:
    """The elements that a dataset row keeps, as a view holds them."""
    return tuple(Element(**_kept(e), seen=1.0) for e in held)


def _kept(element: Element | Listed) -> dict[str, Any]:
    """The fields of an element that a row keeps."""
    return {one.name: getattr(element, one.name) for one in fields(Listed)}


def refuse_unlisted(form: Format, view: View) -> None:
    """ValueError where a format answers by the ids of a page that the view does not hold: nobody could know them."""
    if getattr(form, "lists_elements", False) and not view.elements:
        raise ValueError(
            f"{form.name} tells a model the page's elements, and the row holds none; `cuadata build --elements` keeps them"
        )


def view_of(observation: Observation) -> View:
    """The view of a live page. Without a picture its size is the viewport times the pixel ratio."""
    seen, ratio, shot = observation.viewport, observation.device_pixel_ratio, observation.screenshot
    size = Size(shot.width, shot.height) if shot else Size(round(seen.width * ratio), round(seen.height * ratio))
    return View(image=size, viewport=seen, elements=visible(observation.elements))


def of_observation(
    observation: Observation,
    instruction: str,
    *,
    history: Sequence[str] = (),
    context: Sequence[ContextLine] = (),
) -> Prompt:
    """The prompt for a live page."""
    return Prompt(
        instruction=instruction,
        view=view_of(observation),
        image=observation.screenshot,
        history=tuple(history),
        context=tuple(context),
    )


def of_example(example: Example, elements: Iterable[Element] = ()) -> Prompt:
    """The prompt of a dataset row; `elements` are its page's, for families that call by id, else those that it keeps."""
    view = View(
        image=Size(example.image_width, example.image_height),
        viewport=Size(example.viewport_width, example.viewport_height),
        elements=visible(elements) or of_list(example.elements),
    )
    return Prompt(
        instruction=example.instruction,
        view=view,
        image=example.image,
        history=example.history,
        context=example.context,
    )
