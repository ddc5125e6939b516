"""Examples cut from a trajectory: one screenshot, one instruction, one action, with its phase and its history as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from cuadata import text
from cuadata.rows import Candidate, ContextLine, Example, Target
from cuadata.splitting.phases import phases, reason_at
from cuadata.splitting.recovery import WITHOUT_INPUT, happened, same_action
from cuadata.splitting.thoughts import is_thought
from cuadata.types import Action, Binding, Element, Image, Observation, Step, Task, Trajectory

#: Stands for the picture that a step does not have; the gate screenshot_missing rejects every such example.
NO_PICTURE: Final = Image(sha256="", width=0, height=0, format="", phash="")
#: Seeds of a family that splits keep together.
SEED_BLOCK: Final = 100


def examples(trajectory: Trajectory, *, history: int = 5) -> Iterator[Candidate]:
    """Every step as a candidate for the dataset, in order, and the one reason where the task begins, if it has words.

    Nothing is judged here: steps without a picture, failed ones and those that ride on an earlier picture come out too,
    for the gates to name. Left out are page switches that a page's opening or closing caused, which nobody did, and
    recorded thoughts that are not the one reason. `history` is how many earlier actions are told, as text; the action that
    follows a thought on the same picture tells it besides, so that one prompt never has both answers.
    """
    steps = trajectory.steps
    found = phases(trajectory)
    start = reason_at(steps, found)
    for i, step in enumerate(steps):
        if caused_switch(steps, i):
            continue
        told = history_lines(steps[:i], history)
        if i == start and step.action.type != "reason":
            thought = _thought(step)
            yield candidate(trajectory, thought, told, f"{step.index}/reason")
            told = (*told, text.describe(thought.action))
        if found[i] is not None:
            yield candidate(trajectory, replace(step, phase=found[i]), told, str(step.index))


def history_lines(steps: Sequence[Step], count: int = 5) -> tuple[str, ...]:
    """The last `count` actions as text, oldest first, and behind them what was thought since the last one.

    Thoughts, endings and page switches that nobody made are no actions. A thought belongs to the action that follows it:
    it is told until then, whatever `count` is, and no longer.
    """
    lines: list[str] = []
    thoughts: list[str] = []
    for i in range(len(steps) - 1, -1, -1):
        acted = steps[i].action.type not in WITHOUT_INPUT and not caused_switch(steps, i)
        if acted and len(lines) == count:
            break
        if acted:
            lines.append(text.describe(steps[i].action, steps[i].target))
        elif is_thought(steps[i]) and not lines:
            thoughts.append(text.describe(steps[i].action))
    return (*reversed(lines), *reversed(thoughts))


def no_effect_lines(steps: Sequence[Step]) -> tuple[ContextLine, ...]:
    """The line that tells an actor that its last action changed nothing, and how often in a row it was tried.

    Empty where the last action did something, or where that is not known. Live prompts and training rows both have it
    from here.
    """
    tried = [step for step in steps if step.action.type not in WITHOUT_INPUT]
    tries = 0
    while tries < len(tried):
        step = tried[-1 - tries]
        if happened(step) is not False or not same_action(step.action, tried[-1].action):
            break
        tries += 1
    if not tries:
        return ()
    last = tried[-1]
    return (ContextLine("no_effect", text.no_effect_line(last.action, last.target, tries=tries)),)


def caused_switch(steps: Sequence[Step], i: int) -> bool:
    """Whether step i is a page switch that the opening or closing of a page brought about, and nobody made."""
    step = steps[i]
    if step.action.type != "switch_page":
        return False
    active = next((page.index for page in step.observation.pages if page.active), None)
    if active is not None and active == step.action.page:
        return True
    if i == 0 or not step.observation.pages:
        return False
    before, now = steps[i - 1].observation.pages, step.observation.pages
    opened = {page.index for page in now} - {page.index for page in before}
    closed = {page.index for page in before} - {page.index for page in now}
    left = {page.index for page in before if page.active}
    return bool(before) and (step.action.page in opened or bool(left & closed))


def target_row(element: Element) -> Target:
    """An element as it stands in a row; of an imported one, which has a box and no more, nothing was measured."""
    measured = bool(element.evidence.rects) or element.bbox is None
    return Target(
        role=element.role,
        name=element.name,
        text=element.text,
        bbox=element.bbox,
        point=element.point,
        seen=element.seen if measured else None,
        hit=element.hit if measured else None,
        locator=element.locator,
    )


def _thought(step: Step) -> Step:
    """The reason that shares this step's picture: what was thought before acting."""
    action = Action(type="reason", text=step.thought)
    return replace(
        step, action=action, target=None, after=None, phase="reason", effect=None, label=None, rewards=(), error=None
    )


def candidate(trajectory: Trajectory, step: Step, told: tuple[str, ...], number: str) -> Candidate:
    """One step as a candidate; `told` are its lines of history, `number` ends its id."""
    observation, task = step.observation, trajectory.task
    shot = observation.screenshot or NO_PICTURE
    references, relation = _references(step, task)
    example = Example(
        id=f"{trajectory.id}/{number}",
        trajectory_id=trajectory.id,
        step_index=step.index,
        image=shot,
        image_width=shot.width,
        image_height=shot.height,
        viewport_width=observation.viewport.width,
        viewport_height=observation.viewport.height,
        device_pixel_ratio=observation.device_pixel_ratio,
        instruction=trajectory.instruction,
        action=step.action,
        target=None if step.target is None else target_row(step.target),
        references=references,
        relation=relation,
        phase=step.phase,
        history=told,
        effect=None if step.effect is None else step.effect.kind,
        label=step.label,
        site=trajectory.site,
        template=task.template if task else "",
        seed_block=f"{task.family}/{task.seed // SEED_BLOCK}" if task else "",
        provenance=json.dumps(
            {
                "source": trajectory.source,
                "recording": trajectory.id,
                "step": step.index,
                "browser": trajectory.browser,
                **({"task": task.id} if task is not None else {}),
                **(_failure(step) if trajectory.outcome.success is False else {}),
            }
        ),
    )
    return Candidate(example=example, observation=observation, step=step, task=task, trajectory=trajectory)


def _failure(step: Step) -> dict[str, object]:
    """What the provenance of a step says where the task failed: that, and what reward terms paid for the step itself."""
    paid = sum(reward.value for reward in step.rewards)
    return {"task_failed": True, "paid": paid} if paid else {"task_failed": True}


def _references(step: Step, task: Task | None) -> tuple[tuple[Target, ...], str | None]:
    """What the instruction refers to and the relation that it states, where this step acts on the target it speaks of."""
    if task is None or step.target is None:
        return (), None
    if not any(b.part == "target" and b.locator == step.target.locator for b in task.bindings):
        return (), None
    found = (_find(step.observation, b) for b in task.bindings if b.part == "reference")
    return tuple(target_row(element) for element in found if element is not None), task.relation


def _find(observation: Observation, binding: Binding) -> Element | None:
    return next((e for e in observation.elements if e.locator == binding.locator), None)
