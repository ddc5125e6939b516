"""Phases, examples, chunks and transitions: cut where the evidence shows a boundary."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from build_trajectories import (
    ACCEPT,
    CLOSE,
    COOKIES,
    EXPRESS,
    FORM,
    NAME,
    OFFER,
    SUBMIT,
    Page,
    checkout,
    checkout_task,
    click,
    element,
    play,
    save,
    type_into,
    with_state,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from cuadata import recording, split
from cuadata.types import (
    Action,
    Binding,
    Condition,
    Dialog,
    Element,
    Locator,
    Move,
    PageInfo,
    Phase,
    Point,
    Step,
    Task,
    Term,
    Trajectory,
)

TICKED = with_state(EXPRESS, checked="true")
FILLED = with_state(NAME, value="Ann")
HEADING = element(30, "heading", "Thank you", (40, 40, 300, 40), interactive=False)
ESCAPE = Action(type="press", keys=("Escape",))
ENTER = Action(type="press", keys=("Enter",))
DOWN = Action(type="scroll", scroll_y=300, scroll_unit="px")


def test_the_phases_of_an_oracle_are_those_of_its_task() -> None:
    made = checkout()
    assert made.task is not None
    assert split.phases(made) == tuple(move.phase for move in made.task.solution)


def test_without_a_task_the_evidence_says_the_same() -> None:
    assert split.phases(checkout(task=False)) == split.phases(checkout())


def phases(pages: list[Page], actions: list[Action], task: Task | None = None, **look: Any) -> tuple[Phase | None, ...]:
    return split.phases(play(pages, actions, task=task, **look))


def bound(*elements: Element, **more: Any) -> Task:
    """A task that binds these elements and nothing else."""
    words = tuple(Binding(word=e.name, part="target", locator=e.locator) for e in elements)
    return replace(checkout_task(), bindings=words, solution=(), **more)


# A dialog with a choice in it, as in the reference modal: three scrolls, a radio, a submit.
MODAL = element(40, "dialog", "Delivery", (100, 20, 400, 320), css="#modal")
LIST = element(41, "generic", "", (110, 40, 380, 240), css="#list", dialog=40, interactive=False)
RADIO = element(42, "radio", "MRW", (120, 60, 20, 20), css="#mrw", dialog=40, states=replace(EXPRESS.states))
CONFIRM = element(43, "button", "Confirm", (300, 290, 120, 32), css="#confirm", dialog=40)
IN_MODAL = (MODAL, LIST, RADIO, CONFIRM)


def modal_run() -> tuple[list[Page], list[Action]]:
    chosen = Page((*FORM, MODAL, LIST, with_state(RADIO, checked="true"), CONFIRM))
    before = Page((*FORM, *IN_MODAL))
    scroll = replace(DOWN, element=LIST.id, point=LIST.point)
    pages = [before, before, before, before, chosen, Page(FORM)]
    return pages, [scroll, scroll, scroll, click(RADIO), click(CONFIRM)]


def test_a_modal_that_the_task_speaks_of_is_its_own() -> None:
    pages, actions = modal_run()
    assert phases(pages, actions, bound(RADIO, CONFIRM)) == ("act",) * 5
    told = bound(success=(), terms=(Term(name="x", value=1, when=(_state("radio", "mrw", "checked", "true"),)),))
    assert phases(pages, actions, told) == ("act",) * 5
    assert phases(pages, actions) == ("act",) * 5  # a value was given in it
    assert phases(pages, actions, bound(SUBMIT)) == ("dismiss",) * 5


def _state(role: str, name: str, state: str, value: str) -> Condition:
    return Condition(role=role, name=name, state=state, value=value)


def test_a_task_that_binds_nothing_cannot_tell_its_overlays() -> None:
    pages, actions = modal_run()
    assert phases(pages, actions, replace(checkout_task(), bindings=(), success=(), terms=())) == ("act",) * 5


def test_a_dismissal_may_need_many_tries() -> None:
    fake = element(22, "button", "Close", (180, 200, 90, 30), css="#fake", dialog=20)
    over = Page((*FORM, OFFER, CLOSE, fake))
    run = ([over, over, over, Page(FORM), Page(FORM)], [click(fake), click(fake), click(CLOSE), click(SUBMIT)])
    wanted = ("dismiss", "dismiss", "dismiss", "act")
    assert phases(*run, bound(SUBMIT)) == wanted
    assert phases(*run) == wanted


def test_an_input_to_what_is_covered_is_an_attempt_at_the_task() -> None:
    over = Page((*FORM, OFFER, CLOSE))
    run = ([over, over, Page(FORM), Page(FORM)], [click(SUBMIT), click(CLOSE), click(SUBMIT)])
    assert phases(*run, bound(SUBMIT)) == ("act", "dismiss", "act")
    assert phases(*run) == ("act", "dismiss", "act")


def test_escape_and_a_click_beside_dismiss_what_goes_away() -> None:
    veil = element(19, "generic", "", (0, 0, 640, 360), css="#veil", interactive=False)
    over, free = Page((veil, *FORM, OFFER, CLOSE)), Page(FORM)
    for gesture in (
        ESCAPE,
        Action(type="click", element=19, point=Point(5, 5)),
        Action(type="click", point=Point(5, 5)),
    ):
        for task in (bound(SUBMIT), None):
            assert phases([over, free, free], [gesture, click(SUBMIT)], task) == ("dismiss", "act")
            assert phases([over, over, free], [gesture, click(SUBMIT)], task)[0] == "act"  # nothing went away


def test_a_point_alone_tells_the_overlay_it_is_in() -> None:
    over, free = Page((*FORM, OFFER, CLOSE)), Page(FORM)
    assert phases([over, free, free], [Action(type="click", point=CLOSE.point), click(SUBMIT)]) == ("dismiss", "act")


def test_keys_go_to_the_focus() -> None:
    over, free = Page((*FORM, OFFER, CLOSE), focused=CLOSE.id), Page(FORM)
    assert phases([over, free, free], [ENTER, click(SUBMIT)], bound(SUBMIT)) == ("dismiss", "act")


def test_a_bar_that_stays_is_no_overlay() -> None:
    bar = element(50, "generic", "", (0, 0, 640, 30), css="#bar", interactive=False)
    tab = element(51, "link", "News", (10, 5, 60, 20), css="#news", dialog=50)
    with_bar = Page((bar, tab, *FORM))
    assert phases([with_bar] * 3, [click(tab), click(SUBMIT)], bound(SUBMIT)) == ("act", "act")
    assert phases([with_bar] * 3, [click(tab), click(SUBMIT)]) == ("act", "act")


def test_a_bar_that_goes_with_its_page_was_not_dismissed() -> None:
    bar = element(50, "generic", "", (0, 0, 640, 30), css="#bar", interactive=False)
    tab = element(51, "link", "News", (10, 5, 60, 20), css="#news", dialog=50)
    news = Page((HEADING,), url="https://shop.test/news")
    for task in (bound(SUBMIT), None):
        assert phases([Page((bar, tab, *FORM)), news, news], [click(tab), click(HEADING)], task) == ("act", "act")


def test_a_list_that_unfolds_in_an_overlay_is_part_of_it() -> None:
    choices = element(23, "listbox", "", (170, 120, 120, 60), css="#choices", dialog=20, interactive=False)
    choice = element(24, "option", "Later", (175, 125, 100, 20), css="#later", dialog=23)
    over, free = Page((*FORM, OFFER, CLOSE, choices, choice)), Page(FORM)
    run = ([over, over, free, free], [click(choice), click(CLOSE), click(SUBMIT)])
    assert phases(*run, bound(SUBMIT)) == ("dismiss", "dismiss", "act")


def test_what_the_actor_unfolds_is_no_overlay_to_dismiss() -> None:
    menu = element(60, "menu", "File", (10, 40, 200, 200), css="#menu", interactive=False)
    item = element(61, "menuitem", "Save", (20, 50, 100, 20), css="#save", dialog=60)
    opener = element(62, "button", "File", (10, 5, 60, 24), css="#file")
    panel = element(63, "generic", "", (10, 40, 200, 200), css="#panel", interactive=False)
    in_panel = element(64, "link", "Save", (20, 50, 100, 20), css="#save2", dialog=63)
    free = Page((opener, *FORM))
    for overlay, inside in ((menu, item), (panel, in_panel)):
        pages = [free, Page((opener, *FORM, overlay, inside)), free, free]
        actions = [click(opener), click(inside), click(SUBMIT)]
        assert phases(pages, actions) == ("act", "act", "act")
    pages = [free, Page((opener, *FORM, menu, item)), free, free]
    assert phases(pages, [click(opener), click(item), click(SUBMIT)], bound(SUBMIT)) == ("act", "act", "act")


def test_an_overlay_whose_choice_is_kept_is_no_dismissal() -> None:
    day = element(71, "button", "14", (180, 120, 30, 30), css="#d14", dialog=70)
    picker = element(70, "dialog", "Date", (160, 60, 300, 200), css="#picker")
    pages = [Page((*FORM, picker, day)), Page((FILLED, *FORM[1:])), Page((FILLED, *FORM[1:]))]
    assert phases(pages, [click(day), click(EXPRESS)]) == ("act", "act")  # the field outside has got a value
    away = Page(FORM, url="https://shop.test/account")
    pages = [Page((*FORM, picker, day)), away, away]
    assert phases(pages, [click(day), click(EXPRESS)]) == ("act", "act")  # it led to another page


def test_dismissals_that_nothing_follows_are_the_task() -> None:
    over, free = Page((OFFER, CLOSE)), Page(FORM)
    assert phases([over, free], [click(CLOSE)]) == ("act",)
    assert phases([over, free], [click(CLOSE)], bound(SUBMIT)) == ("dismiss",)


def test_a_wait_belongs_to_what_it_waits_for() -> None:
    wait = Action(type="wait", seconds=1)
    over, free = Page((*FORM, OFFER, CLOSE)), Page(FORM)
    pages, actions = [free, over, free, free, free], [wait, click(CLOSE), wait, click(SUBMIT)]
    assert phases(pages, actions, bound(SUBMIT)) == ("dismiss", "dismiss", "act", "act")


def test_script_dialogs() -> None:
    def asked(kind: str, accept: bool, task: Task | None) -> Phase | None:
        made = play([Page(FORM)] * 3, [Action(type="dialog", accept=accept), click(SUBMIT)], task=task)
        first = made.steps[0]
        seen = replace(first.observation, dialogs=(Dialog(type=kind, message="?"),))
        return split.phases(replace(made, steps=(replace(first, observation=seen), *made.steps[1:])))[0]

    assert asked("alert", True, None) == "dismiss"
    assert asked("confirm", False, None) == "dismiss"
    assert asked("confirm", True, None) == "act"
    assert asked("confirm", True, bound(SUBMIT)) == "dismiss"
    spoken = replace(bound(SUBMIT), solution=(Move(action=Action(type="dialog", accept=True)),))
    assert asked("confirm", True, spoken) == "act"


def test_typing_and_what_submits_it_is_entry() -> None:
    empty, filled, gone = Page(FORM), Page((FILLED, *FORM[1:]), focused=NAME.id), Page((HEADING,))
    typed = type_into(NAME, "Ann")
    assert phases([empty, filled, gone], [typed, click(SUBMIT)]) == ("enter", "enter")
    assert phases([empty, filled, gone], [typed, ENTER]) == ("enter", "enter")
    # A wrong code: everything stays in place, and is tried again.
    assert phases([empty, filled, filled, gone], [typed, click(SUBMIT), click(SUBMIT)]) == ("enter", "enter", "act")
    # Something else is ticked in between; the button still takes what was typed with it.
    ticked = Page((FILLED, TICKED, SUBMIT))
    assert phases([empty, filled, ticked, gone], [typed, click(EXPRESS), click(SUBMIT)]) == ("enter", "act", "enter")
    # Mending a text is entering it; a focus click and Tab are not.
    back = Action(type="press", keys=("Backspace",))
    select_all = Action(type="press", keys=("Control", "a"))
    tab = Action(type="press", keys=("Tab",))
    pages = [empty, filled, filled, filled, filled]
    assert phases(pages, [typed, back, select_all, tab]) == ("enter", "enter", "enter", "act")
    assert phases([empty, empty, filled], [click(NAME), typed]) == ("act", "enter")
    assert phases([empty, gone], [click(SUBMIT)]) == ("act",)


def test_a_control_beside_the_field_that_opens_something_submits_nothing() -> None:
    pick = element(80, "button", "Calendar", (290, 40, 30, 30), css="#pick")
    filled = (FILLED, *FORM[1:], pick)
    pages = [Page((*FORM, pick)), Page(filled), Page((*filled, OFFER, CLOSE))]
    assert phases(pages, [type_into(NAME, "Ann"), click(pick)])[1] == "act"
    unfold = with_state(pick, expanded=False)
    pages = [Page((*FORM, unfold)), Page((FILLED, *FORM[1:], unfold)), Page((FILLED, *FORM[1:], unfold))]
    assert phases(pages, [type_into(NAME, "Ann"), click(unfold)])[1] == "act"


def reasons(made: Trajectory) -> list[Any]:
    return [c.example for c in split.examples(made) if c.example.phase == "reason"]


def test_there_is_one_reason_where_the_last_dismissal_gives_way() -> None:
    made = checkout(thoughts=(None, "still covered", "express first"))
    rows = [c.example for c in split.examples(made)]
    assert [row.phase for row in rows] == ["dismiss", "dismiss", "reason", "act", "enter", "enter"]
    reason, act = rows[2], rows[3]
    assert (reason.action.type, reason.action.text, reason.target) == ("reason", "express first", None)
    assert reason.image == act.image and reason.step_index == act.step_index
    assert act.history == (*reason.history, "think: 'express first'")  # one picture, and still two prompts
    assert not any("think" in line for line in rows[4].history)
    assert len({row.id for row in rows}) == len(rows)


@pytest.mark.parametrize("thought", [None, "", " \n"])
def test_a_reason_without_words_is_no_row(thought: str | None) -> None:
    assert reasons(checkout(thoughts=(None, None, thought))) == []
    over, free = Page((*FORM, OFFER, CLOSE)), Page(FORM)
    silent = Action(type="reason", text=thought)
    made = play([over, free, free, free], [click(CLOSE), silent, click(SUBMIT)], task=bound(SUBMIT))
    assert split.phases(made) == ("dismiss", None, "act")
    assert [c.example.history for c in split.examples(made)] == [(), ("click button 'Close'",)]


@pytest.mark.parametrize("history", [0, 1, 5])
def test_no_prompt_of_a_trajectory_has_two_answers(history: int) -> None:
    think = Action(type="reason", text="the banner first")
    ticked = Page((NAME, TICKED, SUBMIT))
    pages = [*[Page((*FORM, OFFER, CLOSE))] * 2, *[Page(FORM)] * 2, ticked, ticked]
    recorded = play(pages, [think, click(CLOSE), think, click(EXPRESS), click(SUBMIT)], task=bound(EXPRESS, SUBMIT))
    for made in (recorded, checkout(), checkout(thoughts=(None, None, "express first")), checkout(thoughts=("go",))):
        rows = [c.example for c in split.examples(made, history=history)]
        assert len({(row.image.sha256, row.instruction, row.history) for row in rows}) == len(rows)


def test_a_pop_up_in_the_middle_moves_the_reason() -> None:
    over, free = Page((*FORM, OFFER, CLOSE)), Page(FORM)
    ticked, ticked_over = Page((NAME, TICKED, SUBMIT)), Page((NAME, TICKED, SUBMIT, COOKIES, ACCEPT))
    pages = [over, free, ticked_over, ticked, ticked]
    actions = [click(CLOSE), click(EXPRESS), click(ACCEPT), click(SUBMIT)]
    made = play(pages, actions, task=bound(EXPRESS, SUBMIT), thoughts=(None, "first", None, "now"))
    (reason,) = reasons(made)
    assert reason.step_index == 3


def test_without_a_dismissal_only_a_recorded_thought_is_a_reason() -> None:
    run = ([Page(FORM)] * 3, [click(EXPRESS), click(SUBMIT)])
    assert reasons(play(*run)) == []
    (reason,) = reasons(play(*run, thoughts=("first the box",)))
    assert (reason.step_index, reason.action.text) == (0, "first the box")


def test_a_recorded_thought_at_the_boundary_is_the_reason() -> None:
    think = Action(type="reason", text="now the form")
    over, free = Page((*FORM, OFFER, CLOSE)), Page(FORM)
    pages = [over, over, free, free, free, free]
    actions = [think, click(CLOSE), replace(think, text="and now"), think, click(SUBMIT)]
    made = play(pages, actions, task=bound(SUBMIT))
    assert split.phases(made) == (None, "dismiss", None, "reason", "act")
    rows = [c.example for c in split.examples(made)]
    assert [row.phase for row in rows] == ["dismiss", "reason", "act"]
    assert [row.action.text for row in rows[1:2]] == ["now the form"]
    assert rows[1].history == ("click button 'Close'", "think: 'and now'")
    assert rows[2].history == (*rows[1].history, "think: 'now the form'")  # until the action that follows it


def test_histories_are_the_last_five_actions_as_text() -> None:
    rows = [c.example for c in split.examples(checkout())]
    assert rows[0].history == ()
    assert rows[-1].history == (
        "click button 'Accept all'",
        "click button 'Close'",
        "click checkbox 'Express'",
        "type 'Ann' into textbox 'Name'",
    )
    many = play([Page(FORM)] * 9, [DOWN] * 7 + [click(SUBMIT)])
    assert [len(c.example.history) for c in split.examples(many)] == [0, 1, 2, 3, 4, 5, 5, 5]
    assert [len(c.example.history) for c in split.examples(many, history=2)] == [0, 1, 2, 2, 2, 2, 2, 2]


def test_an_example_says_where_it_is_from() -> None:
    made = checkout(seed=250)
    rows = [c.example for c in split.examples(made)]
    row = rows[2]
    assert (row.id, row.trajectory_id, row.step_index) == ("t0/2", "t0", 2)
    assert (row.site, row.template, row.seed_block) == ("shop.test", "checkout", "checkout/2")
    assert (row.image_width, row.viewport_width, row.device_pixel_ratio, row.effect) == (640, 640, 1.0, "local")
    assert row.target is not None and (row.target.role, row.target.name) == ("checkbox", "Express")
    assert json.loads(row.provenance)["recording"] == "t0"


def test_relation_and_references_stand_at_the_step_that_acts_on_the_target() -> None:
    task = replace(
        checkout_task(),
        relation="below",
        bindings=(
            Binding(word="box", part="target", locator=EXPRESS.locator),
            Binding(word="name", part="reference", locator=NAME.locator),
            Binding(word="lost", part="reference", locator=Locator(css="#lost")),
        ),
    )
    rows = [c.example for c in split.examples(replace(checkout(), task=task))]
    spoken = {row.step_index: (row.relation, [r.name for r in row.references]) for row in rows if row.phase != "reason"}
    assert spoken == {0: (None, []), 1: (None, []), 2: ("below", ["Name"]), 3: (None, []), 4: (None, [])}


def with_pages(made: Trajectory, open_pages: list[list[tuple[int, bool]]]) -> Trajectory:
    """The trajectory with these pages open before each step: (index, active)."""

    def seen(step: Step, held: list[tuple[int, bool]]) -> Step:
        pages = tuple(PageInfo(index=i, title="", url="", active=active) for i, active in held)
        return replace(step, observation=replace(step.observation, pages=pages), after=None)

    return replace(made, steps=tuple(seen(s, p) for s, p in zip(made.steps, open_pages, strict=True)))


def test_a_page_switch_that_nobody_made_is_no_step() -> None:
    switch = [Action(type="switch_page", page=n) for n in (0, 1)]
    one, two = [(0, True)], [(0, True), (1, False)]
    moved = [(0, False), (1, True)]

    def kinds(actions: list[Action], pages: list[list[tuple[int, bool]]]) -> list[str]:
        made = with_pages(play([Page(FORM)] * (len(actions) + 1), actions), pages)
        rows = [c.example for c in split.examples(made)]
        assert all("switch" not in line for row in rows for line in row.history) or "switch_page" in [
            row.action.type for row in rows
        ]
        return [row.action.type for row in rows]

    opened = kinds([click(SUBMIT), switch[1], click(EXPRESS)], [one, two, moved])
    assert opened == ["click", "click"]  # the click opened it
    closed = kinds([click(SUBMIT), switch[0], click(EXPRESS)], [moved, one, one])
    assert closed == ["click", "click"]
    chosen = kinds([click(SUBMIT), switch[1], click(EXPRESS)], [two, two, moved])
    assert chosen == ["click", "switch_page", "click"]  # somebody went there
    first = kinds([switch[1], click(EXPRESS)], [two, moved])
    assert first == ["switch_page", "click"]
    there = kinds([switch[0], click(EXPRESS)], [two, two])
    assert there == ["click"]


def long_run(count: int, breaks: tuple[int, ...] = ()) -> Trajectory:
    """Ticking and unticking a box; the address changes after the steps in `breaks`."""
    pages, number = [], 0
    for i in range(count + 1):
        number += i - 1 in breaks
        box = TICKED if i % 2 else EXPRESS
        pages.append(Page((NAME, box, SUBMIT), url=f"https://shop.test/{number}"))
    return play(pages, [click(EXPRESS)] * count)


@given(st.integers(0, 80), st.integers(1, 8), st.integers(0, 12), st.sets(st.integers(0, 79)))
@settings(max_examples=40)
def test_chunks_take_every_action_once_and_keep_their_bounds(
    count: int, smallest: int, more: int, breaks: set[int]
) -> None:
    made = long_run(count, tuple(breaks))
    found = list(split.chunks(made, smallest=smallest, largest=smallest + more))
    sizes = [len(chunk.actions) for chunk in found]
    assert all(smallest <= size <= smallest + more for size in sizes)
    if found:
        starts = [chunk.step_index for chunk in found]
        assert starts == [sum(sizes[:i]) for i in range(len(sizes))]
        assert all(chunk.actions[0] == chunk.action for chunk in found)
    left = count - sum(sizes)
    # Only what no two chunks could share is left out: with chunks of at least half the largest there is nothing.
    assert left < smallest
    if more + 1 >= smallest:
        assert left == 0 or count < smallest


def test_chunks_are_cut_where_the_page_changes() -> None:
    sizes = [len(chunk.actions) for chunk in split.chunks(long_run(20, (8,)))]
    assert sizes == [9, 11]
    assert [len(c.actions) for c in split.chunks(long_run(15))] == [15]
    assert list(split.chunks(long_run(4))) == []
    with pytest.raises(ValueError, match="cannot be"):
        next(split.chunks(long_run(9), smallest=5, largest=4))


def test_a_chunk_says_how_sure_it_is_and_what_it_led_to() -> None:
    (chunk,) = split.chunks(checkout())
    assert chunk.confidence == 1.0 and chunk.confidence_kind == "effect"
    assert any(phrase.startswith("url: ") for phrase in chunk.postcondition)
    shown = "appeared: heading 'Thank you'"
    assert shown in chunk.postcondition and "gone: button 'Close'" in chunk.postcondition
    last = checkout().steps[-1]
    assert last.after is not None
    (thanks,) = last.after.elements
    for hidden in (
        replace(thanks, bbox=None, seen=0.0),
        replace(thanks, seen=0.0),
        replace(thanks, evidence=replace(thanks.evidence, rendered=False)),
        replace(thanks, evidence=replace(thanks.evidence, opacity=0.0)),
    ):
        ended = replace(last, after=replace(last.after, elements=(hidden,)))
        (told,) = split.chunks(replace(checkout(), steps=(*checkout().steps[:-1], ended)))
        assert shown not in told.postcondition and "gone: button 'Close'" in told.postcondition
    over = Page((*FORM, OFFER, CLOSE))
    half = play([over, over, over, Page(FORM), Page(FORM), Page((NAME, TICKED, SUBMIT))], [click(CLOSE)] * 5)
    (chunk,) = split.chunks(half)
    assert chunk.confidence == pytest.approx(0.4)
    unknown = replace(half, steps=tuple(replace(s, effect=None) for s in half.steps))
    assert next(split.chunks(unknown)).confidence == 0.0


def test_transitions_hold_both_pictures() -> None:
    made = checkout()
    found = list(split.transitions(made))
    assert [t.step_index for t in found] == [0, 1, 2, 3, 4]
    for transition, step in zip(found, made.steps, strict=True):
        assert step.after is not None
        assert (transition.image, transition.after) == (step.observation.screenshot, step.after.screenshot)
    assert any("Express" in phrase for phrase in found[2].state)
    lone = replace(made, steps=tuple(replace(s, after=None) for s in made.steps))
    assert [t.step_index for t in split.transitions(lone)] == [0, 1, 2, 3]  # nobody looked after the last one
    blind = replace(made.steps[1], observation=replace(made.steps[1].observation, screenshot=None))
    holed = replace(made, steps=(replace(made.steps[0], after=None), blind, *made.steps[2:]))
    assert [t.step_index for t in split.transitions(holed)] == [2, 3, 4]


def test_a_recording_splits_like_the_trajectory_that_it_is_of(tmp_path: Path) -> None:
    made = checkout()
    back = recording.read(save(made, tmp_path))
    one = [replace(c.example, image=replace(c.example.image, data=None, path=None)) for c in split.examples(made)]
    other = [replace(c.example, image=replace(c.example.image, data=None, path=None)) for c in split.examples(back)]
    assert one == other


def test_a_step_without_a_picture_comes_out_for_the_gates() -> None:
    made = checkout()
    blind = replace(made.steps[0], observation=replace(made.steps[0].observation, screenshot=None))
    row = next(split.examples(replace(made, steps=(blind, *made.steps[1:])))).example
    assert (row.image.sha256, row.image_width) == ("", 0)


STEPS = st.lists(st.builds(Step, index=st.integers(0, 20), time=st.floats(0, 100)), max_size=6)


@given(STEPS)
@settings(max_examples=30)
def test_anything_splits(steps: list[Step]) -> None:
    made = Trajectory(id="x", instruction="x", source="x", steps=tuple(steps))
    assert len(split.phases(made)) == len(steps)
    rows = [c.example for c in split.examples(made)]
    assert sum(row.phase == "reason" for row in rows) <= 1
    list(split.chunks(made, smallest=1))
    list(split.transitions(made))
