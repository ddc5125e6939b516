"""Picture marks, lengths and loss masks of chat samples; groups of rollouts."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cuadata.cli import app
from cuadata.errors import CallError, DataError
from cuadata.learning import chat
from cuadata.learning.chat import NothingToLearn, TurnMarks
from cuadata.statistics import groups
from cuadata.types import Size

MARKS = TurnMarks(start=1, end=2, newline=50, assistant=12, never=(0, 151))


def test_case_pictures_and_placeholders(cases: Path) -> None:
    folder = cases / "training" / "B91-pictures-and-placeholders"
    rows = json.loads((folder / "conversations.json").read_text())["rows"]
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    for row in rows:
        found, want = chat.check_pictures(row["messages"], row["pictures"]), expected[row["id"]]
        assert found.keep == (want["verdict"] == "keep"), row["id"]
        assert found.rendered == want["rendered_marks"]
        assert found.message == want.get("message")
        assert (found.reason is None) == found.keep


def test_pictures_of_a_tool_move_to_a_user_turn(cases: Path) -> None:
    rows = json.loads((cases / "training" / "B91-pictures-and-placeholders" / "conversations.json").read_text())["rows"]
    row = next(r for r in rows if r["id"] == "tool_image")
    moved = chat.move_pictures(row["messages"])
    assert chat.check_pictures(moved, row["pictures"]).keep
    assert [m["role"] for m in moved] == ["user", "assistant", "user"]
    spoken = [{"role": "assistant", "content": [{"type": "image"}, {"type": "text", "text": "a"}]}]
    assert [m["role"] for m in chat.move_pictures(spoken)] == ["assistant", "user"]
    assert chat.move_pictures(moved) == moved


@pytest.mark.parametrize(
    ("messages", "pictures", "reason"),
    [
        ([{"role": "user", "content": [{"type": "image"}, {"type": "image"}]}], 1, "too_many_marks"),
        ([{"role": "system", "content": [{"type": "image"}]}], 1, "lost_picture"),
        ([{"role": "user", "content": "<image> is a word"}], 1, "too_few_marks"),
        ([{"role": "user", "content": [{"image": "a.png"}, {"text": "Open mail"}]}], 1, None),
        ([{"role": "assistant", "content": None}, {"role": "user", "content": [{"type": "image_url"}]}], 1, None),
    ],
)
def test_picture_marks(messages: list[Any], pictures: int, reason: str | None) -> None:
    assert chat.check_pictures(messages, pictures).reason == reason


def test_a_template_that_renders_tool_pictures_keeps_them() -> None:
    """Qwen3-VL's does, so the rule is the template's."""
    messages = [{"role": "user", "content": [{"type": "image"}]}, {"role": "tool", "content": [{"type": "image"}]}]
    assert not chat.check_pictures(messages, 2).keep
    assert chat.check_pictures(messages, 2, roles=("user", "tool")).keep


def test_case_picture_tokens_never_cut(cases: Path) -> None:
    folder = cases / "training" / "B83-picture-tokens-never-cut"
    rule = json.loads((folder / "rule.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    kept = []
    for line in (folder / "samples.jsonl").read_text().splitlines():
        row = json.loads(line)
        sizes = [Size(*size) for size in row["images"]]
        assert chat.tokens(row["text_tokens"], sizes) == expected["tokens"][row["id"]]
        if chat.fits(row["text_tokens"], sizes, rule["max_length"]):
            kept.append(row["id"])
    assert kept == expected["keep"]


def test_pictures_are_counted_as_they_are_resized() -> None:
    assert chat.picture_tokens(Size(3840, 2160)) == 47 * 26 + 2, "1316x728 px"
    assert chat.picture_tokens(Size(1000, 700), factor=32, max_pixels=10**7, marks=0) == 31 * 22


def test_case_loss_mask(cases: Path) -> None:
    folder = cases / "training" / "B84-loss-mask"
    held = json.loads((folder / "samples.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    ids = held["marks"]
    marks = TurnMarks(
        start=ids["turn_start"],
        end=ids["turn_end"],
        newline=ids["newline"],
        assistant=ids["role_assistant"],
        never=(ids["pad"], ids["image_pad"]),
    )
    for sample in held["samples"]:
        want = expected[sample["id"]]
        if want["verdict"] == "keep":
            assert chat.labels(sample["input_ids"], marks) == want["labels"]
            chat.check_labels(sample["input_ids"], want["labels"], marks)
        else:
            with pytest.raises(NothingToLearn, match="no answer"):
                chat.labels(sample["input_ids"], marks)


@given(
    st.lists(
        st.tuples(st.sampled_from([10, 11, 12]), st.lists(st.sampled_from([151, 200, 300, 12, 50]), max_size=6)),
        max_size=6,
    ),
    st.integers(0, 3),
)
def test_every_answer_and_nothing_else_is_trained_on(turns: list[tuple[int, list[int]]], padding: int) -> None:
    """The mask by construction: role words and newlines within an answer are its content, picture patches never are."""
    ids, wanted = list[int](), list[int]()
    for role, content in turns:
        ids += [1, role, 50, *content, 2]
        learnt = [-100 if token == 151 else token for token in (*content, 2)]
        wanted += [-100] * 3 + (learnt if role == 12 else [-100] * len(learnt))
    ids, wanted = ids + [0] * padding, wanted + [-100] * padding
    if any(role == 12 for role, _ in turns):
        assert chat.labels(ids, MARKS) == wanted
        chat.check_labels(ids, wanted, MARKS)
    else:
        with pytest.raises(NothingToLearn):
            chat.labels(ids, MARKS)


@given(st.lists(st.tuples(st.sampled_from(["user", "tool", "assistant", "system"]), st.integers(0, 3)), max_size=6))
def test_moved_pictures_are_all_rendered_in_their_order(turns: list[tuple[str, int]]) -> None:
    messages: list[Any] = []
    for number, (role, marks) in enumerate(turns):
        pictures = [{"type": "image", "name": f"{number}.{mark}"} for mark in range(marks)]
        messages.append({"role": role, "content": [*pictures, {"type": "text", "text": "<image> of a turn"}]})
    moved, every = chat.move_pictures(messages), sum(marks for _, marks in turns)
    assert chat.check_pictures(moved, every).keep
    assert chat.check_pictures(messages, every).keep == all(role == "user" or not marks for role, marks in turns)

    def names(held: Sequence[Any]) -> list[str]:
        return [part["name"] for message in held for part in message["content"] if "name" in part]

    assert names(moved) == names(messages)


def test_an_empty_answer_trains_on_its_end_alone() -> None:
    assert chat.labels([1, 12, 50, 2, 0], MARKS) == [-100, -100, -100, 2, -100]


def test_an_answer_without_an_end_trains_on_what_is_there() -> None:
    assert chat.labels([1, 12, 50, 7, 8], MARKS) == [-100, -100, -100, 7, 8]
    assert chat.labels([1, 12, 50, 7, 1, 11, 50, 9, 2], MARKS)[4:] == [-100] * 5


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([-100, -100, 50, 7, 2], "trained on"),
        ([-100, -100, -100, 8, 2], "label 8 for token 7"),
        ([-100, -100, -100, 7], "4 labels for 5 tokens"),
        ([-100] * 5, "no token of the assistant"),
    ],
)
def test_a_wrong_mask_is_named(given: list[int], words: str) -> None:
    with pytest.raises(DataError, match=words):
        chat.check_labels([1, 12, 50, 7, 2], given, MARKS)


def test_a_role_of_several_tokens() -> None:
    marks = TurnMarks(start=1, end=2, newline=50, assistant=(12, 13))
    assert chat.labels([1, 12, 13, 50, 7, 2], marks) == [-100] * 4 + [7, 2]
    with pytest.raises(NothingToLearn):
        chat.labels([1, 12, 50, 7, 2], marks)


def test_case_groups_without_spread(cases: Path) -> None:
    folder = cases / "training" / "B85-groups-without-spread"
    held = json.loads((folder / "rewards.json").read_text())["groups"]
    expected = json.loads((folder / "expected.json").read_text())
    for name, rewards in held.items():
        want = expected["expect"]["advantages"][name]
        assert groups.advantages(rewards) == pytest.approx(want, abs=expected["tolerance"])
    found = groups.spread(held)
    assert list(found.without) == expected["expect"]["zero_spread_groups"]
    assert found.fraction == expected["expect"]["zero_spread_fraction"]


def test_advantages_of_large_rewards_are_numbers() -> None:
    assert groups.advantages([1e300, -1e300]) == pytest.approx([0.5**0.5, -(0.5**0.5)])


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=16), st.floats(-5, 5))
def test_advantages_sum_to_nothing_and_do_not_move(rewards: list[float], shift: float) -> None:
    found = groups.advantages(rewards)
    assert all(map(math.isfinite, found))
    assert math.fsum(found) == pytest.approx(0, abs=1e-6)
    moved = groups.advantages([r + shift for r in rewards])
    assert moved == pytest.approx(found, abs=1e-3) or groups.same(rewards) != groups.same([r + shift for r in rewards])


def test_equal_floats_have_no_spread() -> None:
    assert groups.advantages([0.1] * 3) == [0.0] * 3, "their mean is not 0.1 to the last digit"
    assert groups.advantages([0.7]) == [0.0]


@pytest.mark.parametrize("rewards", [[], [1.0, math.nan], [math.inf, 0.0]])
def test_what_has_no_advantage(rewards: list[float]) -> None:
    with pytest.raises(CallError):
        groups.advantages(rewards)


def test_group_sizes() -> None:
    """p^G + (1 - p)^G: 12.5 % at p = 0.5 and G = 4, 65.6 % at 0.9, 43.0 % for G = 8, 18.5 % for G = 16."""
    share = {(p, row.size): row.without_spread for p in (0.5, 0.9, 0.1) for row in groups.plan(p, 1.0)}
    assert share[0.5, 4] == pytest.approx(0.125)
    assert share[0.9, 4] == share[0.1, 4] == pytest.approx(0.6562)
    assert share[0.9, 8] == pytest.approx(0.430, abs=5e-4)
    assert share[0.9, 16] == pytest.approx(0.185, abs=5e-4)
    nothing = groups.plan(0.0, 1.0)[0]
    assert (nothing.without_spread, nothing.useful_groups, nothing.seconds_per_useful) == (1.0, 0.0, None)


@pytest.mark.parametrize(
    "call",
    [(1.2, 1.0, {}), (0.5, 0.0, {}), (0.5, 1e308, {}), (0.5, 1.0, {"groups": 0}), (0.5, 1.0, {"sizes": [1]})],
)
def test_plans_of_nothing(call: tuple[float, float, dict[str, Any]]) -> None:
    with pytest.raises(CallError):
        groups.plan(call[0], call[1], **call[2])


def test_the_plan_command() -> None:
    options = ["plan", "group-size", "--pass-rate", "0.18", "--seconds-per-episode", "480", "--json"]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 0, done.output
    held = json.loads(done.stdout)
    assert [row["size"] for row in held["sizes"]] == [4, 8, 16, 32, 64]
    assert held["sizes"][0]["without_spread"] == pytest.approx(0.453, abs=1e-3)
    assert held["sizes"][0]["seconds"] == 8 * 4 * 480
