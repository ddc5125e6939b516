"""Rows of a measured page: the question with its words, every candidate with why it is not meant, judged by the gates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from cuadata import __version__
from cuadata.generating import spatial_words
from cuadata.generating.spatial_render import Page
from cuadata.generating.spatial_scene import Question
from cuadata.generating.spatial_truth import failures
from cuadata.judging import gating
from cuadata.judging.gating import Chosen
from cuadata.rows import Candidate, Grounding, Rejected
from cuadata.speaking import prompts
from cuadata.splitting.examples import SEED_BLOCK, target_row
from cuadata.types import Action, Element, Size

#: Gates that look at a step, its history or another row have nothing to look at here; a picture is checked as it is taken.
WITHOUT: Final = (
    "difficulty", "duplicate", "history_gap", "no_effect", "screenshot_stale", "screenshot_undecodable", "sensitive_value",
)  # fmt: skip
#: Those of them that pages of others have something for.
ON_REAL_PAGES: Final = ("screenshot_undecodable", "sensitive_value")
#: Candidates by themselves make a page cluttered from here on.
_CLUTTER: Final = 9


def chosen_gates() -> tuple[Chosen, ...]:
    """The gates that judge every row."""
    from cuadata.registry import gates

    return gating.choose([name for name in gates.names() if name not in WITHOUT])


@dataclass(frozen=True, slots=True)
class Pairing:
    """How a row belongs to a minimal pair."""

    id: str
    kind: str


def asked(page: Page, question: Question, rng: Random, pairing: Pairing | None = None) -> Grounding:
    """A question by place as a row."""
    looks = page.look.looks
    names = [[spatial_words.named(e, looks.get(e.id), rng) for e in held] for held in question.references]
    thing = spatial_words.phrased(question.stated, question.thing, names, rng)
    text, mood = spatial_words.order(thing, rng)
    target = spatial_words.named(question.target, looks.get(question.target.id), rng)
    others = question.candidates
    return replace(
        _row(page, text, "spatial", question.target, others, question.all_references),
        references=tuple(map(target_row, question.all_references)),
        relation=question.stated[0].relation,
        failures=failures(question),
        axes=_axes(page, question.target, relation=question.kind, mood=mood, rivals=len(others) - 1),
        stage=stage(page, question),
        pair_id=pairing.id if pairing else None,
        pair_kind=pairing.kind if pairing else None,
        thought=spatial_words.thought("spatial", question.stated, names, target),
    )


def stage(page: Page, question: Question) -> int:
    """How far on a question is asked: 2 one relation, 3 composed ones, 4 a cluttered page."""
    if page.task.family == "widgets" and len(page.scene.targets) >= _CLUTTER:
        return 4
    return 3 if question.kind in ("composed", "between", "nth_in_row", "nth_in_column") else 2


def ways(page: Page, target: Element, rng: Random) -> list[str]:
    """The perspectives, place left out, in which an element can be spoken of as no other of its page, each in words of its own.

    What a shape is called is how it looks: one of the two.
    """
    look, use = page.look.looks.get(target.id), page.look.uses.get(target.id)
    looks_alone = look is not None and list(page.look.looks.values()).count(look) == 1
    if looks_alone and look == target.name:
        return [rng.choice(("direct", "appearance"))]
    held = ["direct", "appearance"] if looks_alone else ["direct"]
    rng.shuffle(held)
    return ["function", *held] if use and list(page.look.uses.values()).count(use) == 1 else held


def named(page: Page, target: Element, way: str, rng: Random) -> Grounding:
    """A question about an element by its name, look or use."""
    look, use = page.look.looks.get(target.id), page.look.uses.get(target.id)
    if way == "function":
        text, mood = spatial_words.used(use or "", rng), "implicit"
    else:
        thing = f"the {look}" if way == "appearance" else spatial_words.named(target, look, rng)
        text, mood = spatial_words.order(thing, rng, implicit=0.1)
    title = spatial_words.named(target, look, rng)
    others = tuple(page.scene.targets)
    return replace(
        _row(page, text, way, target, others, (target,)),
        failures=tuple("" if one is target else "another name, look or use" for one in others),
        axes=_axes(page, target, relation="none", mood=mood, rivals=len(others) - 1),
        thought=spatial_words.thought(way, (), (), title),
    )


def impossible(
    page: Page,
    question: Question,
    references: Sequence[Sequence[Element]],
    rng: Random,
    pairing: Pairing,
    *,
    stage: int,
) -> Grounding:
    """The row of a question whose target is removed or covered on this page: the right answer is infeasible.

    `stage`: that of the question as it was, so that pairs stay together and every stage has such rows.
    """
    looks = page.look.looks
    names = [[spatial_words.named(e, looks.get(e.id), rng) for e in held] for held in references]
    thing = spatial_words.phrased(question.stated, question.thing, names, rng)
    text, mood = spatial_words.order(thing, rng)
    place = spatial_words.place(question.stated, names)
    cause = (
        f"no {question.thing} is {place}"
        if pairing.kind == "removed"
        else f"the {question.thing} that is {place} is covered by something else"
    )
    left = {e.id for held in references for e in held}
    others = tuple(e for e in page.scene.meant(question.thing) if e.id not in left)
    row = _row(page, text, "spatial", None, others, [e for held in references for e in held])
    return replace(
        row,
        action=Action(type="infeasible", text=cause),
        references=tuple(target_row(e) for held in references for e in held),
        relation=question.stated[0].relation,
        failures=tuple("the relation fails" for _ in others),
        axes=_axes(page, None, relation=question.kind, mood=mood, rivals=len(others)),
        stage=stage,
        pair_id=pairing.id,
        pair_kind=pairing.kind,
        thought=f"The instruction gives a place, but {cause}.",
    )


def _bound(page: Page, text: str, elements: Sequence[Element]) -> list[str]:
    """The words of a text that stand for elements: name, look or use, whichever it holds."""
    look = page.look
    ways = [(one.name or one.text, look.looks.get(one.id), look.uses.get(one.id)) for one in elements]
    return [word for words in ways if (word := next((w for w in words if w and w in text), None))]


def _row(
    page: Page,
    text: str,
    perspective: str,
    target: Element | None,
    others: Sequence[Element],
    speaks_of: Sequence[Element],
) -> Grounding:
    task, seen = page.task, page.look.observation
    assert seen.screenshot is not None
    shot = seen.screenshot
    return Grounding(
        id="",
        trajectory_id=task.id,
        step_index=0,
        image=shot,
        image_width=shot.width,
        image_height=shot.height,
        viewport_width=seen.viewport.width,
        viewport_height=seen.viewport.height,
        device_pixel_ratio=seen.device_pixel_ratio,
        instruction=text,
        action=Action(type="click", point=target.point if target else None),
        target=target_row(target) if target else None,
        site=task.family,
        template=task.template,
        seed_block=f"{task.family}/{task.seed // SEED_BLOCK}",
        perspective=perspective,
        candidates=tuple(map(target_row, others)),
        provenance=json.dumps(
            {
                "source": page.source,
                "task": task.id,
                "options": {k: [v.width, v.height] if isinstance(v, Size) else v for k, v in page.options.items()},
                "variant": page.variant,
                "words": _bound(page, text, speaks_of),
                "browser": page.browser,
                "cuadata": __version__,
            }
        ),
    )


def with_elements(row: Grounding, page: Page) -> Grounding:
    """The row with the page's elements, as models that read it are told of them, and its action with the id of its target."""
    seen = page.look.observation.elements
    place = row.target.locator if row.target is not None else None
    meant = next((one.id for one in seen if one.locator == place), None)
    return replace(row, elements=prompts.listed(seen), action=replace(row.action, element=meant))


def _axes(page: Page, target: Element | None, **more: Any) -> tuple[str, ...]:
    """The page's axes, those of the question, and how large the target is beside the screen."""
    held: dict[str, Any] = {one.name: one.value for one in page.task.axes} | more
    if target is not None and target.bbox is not None:
        view = page.look.observation.viewport
        held["ratio"] = _ratio((target.bbox.area / (view.width * view.height)) ** 0.5)
    return ("family=" + page.task.family, *(f"{name}={value}" for name, value in held.items()))


def _ratio(ratio: float) -> str:
    """The side of a square of the target's area, as a share of that of the screen, in bands."""
    return next((f"below {edge}" for edge in (0.02, 0.035, 0.05, 0.1) if ratio < edge), "0.1 or more")


def judged(row: Grounding, page: Page, gates: Sequence[Chosen]) -> Rejected | None:
    """What the gates have against a row: None where nothing."""
    candidate = Candidate(example=row, observation=page.look.observation)
    verdict = gating.against(gating.verdicts(candidate, gates), "grounding")
    if verdict is None:
        return None
    return Rejected(
        id=row.id, trajectory_id=row.trajectory_id, step_index=0, gate=verdict.gate, keep=verdict.keep,
        reason=verdict.reason or "", evidence=verdict.evidence, instruction=row.instruction,
        action=row.action, target=row.target, viewport_width=row.viewport_width,
        viewport_height=row.viewport_height, place=page.task.id,
    )  # fmt: skip
