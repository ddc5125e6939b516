"""Answers out of public sets, in their own notations, are read; the sets are looked at where they are at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cuadata.contracts import View
from cuadata.registry import formats
from cuadata.types import Action, Point, Size

SHARED = Path(__file__).resolve().parents[2] / "shared"
SAMPLES = SHARED / "samples"
PAGE = View(image=Size(1000, 1000), viewport=Size(1000, 1000))


def at_hand(name: str) -> Path:
    """A file of the samples; the test is left out where they are not."""
    path = SAMPLES / name
    if not path.exists():
        pytest.skip(f"{name} is not at hand")
    return path


def test_os_atlas() -> None:
    said = "thoughts:\nopen the list of dates\nactions:\nCLICK <point>[[817,280]]</point>"
    form = formats["gta1"]
    grid = View(image=Size(1000, 1000), viewport=Size(1000, 1000), frame="thousand")
    assert form.read(said, grid) == Action(type="click", point=Point(817, 280))


@pytest.mark.parametrize("name", ["gui_act_web_test", "omniact_test"])
def test_os_atlas_files(name: str) -> None:
    grid = View(image=Size(1000, 1000), viewport=Size(1000, 1000), frame="thousand")
    for line in at_hand(f"os_atlas/{name}.jsonl").read_text().splitlines():
        answer = json.loads(line)["conversations"][-1]["value"]
        assert formats["gta1"].read(answer, grid).type == "click"


def test_ui_tars_file() -> None:
    turns = json.loads(next(at_hand("ui_tars").glob("*.json")).read_text())
    answers = [turn["content"] for turn in turns if turn["role"] == "assistant"]
    assert answers
    for answer in answers:
        read = formats["uitars"].read(answer, PAGE)
        assert read.type == "click"
        assert formats["uitars"].write(read, PAGE) == answer, "what it writes is what the family's data holds"


@pytest.mark.parametrize(
    ("code", "kinds"),
    [
        ("pyautogui.moveTo(x=0.45, y=0.27)\npyautogui.dragTo(x=0.41, y=0.28, button='left')", ["drag"]),
        ("pyautogui.moveTo(x=0.4, y=0.78)\npyautogui.scroll(-3)", ["scroll"]),
        ("pyautogui.write(message='Homage')\npyautogui.press(keys='enter')", ["type", "press"]),
        ("computer.terminate(status='success')", ["done"]),
    ],
)
def test_agentnet(code: str, kinds: list[str]) -> None:
    assert [a.type for a in formats["aguvis"].read_all(code, PAGE)] == kinds


def test_agentnet_files() -> None:
    raw = json.loads(at_hand("agentnet/agentnet_raw_example.jsonl").read_text().splitlines()[0])
    bench = json.loads(next(at_hand("agentnet").glob("s_*.json")).read_text())
    codes = [step["value"]["code"] for step in raw["traj"]] + [step["action"] for step in bench["steps"]]
    read = [formats["aguvis"].read(code, PAGE) for code in codes]
    assert len(read) == len(codes) > 15
    assert {"click", "right_click", "drag", "scroll", "done"} <= {action.type for action in read}


def test_computer_calls_of_an_agent_run() -> None:
    """Both of a run's records of one action, the provider's tool call and the call that was carried out, say the same."""
    run = next(at_hand("cua_trajectory").glob("*/metadata.json")).parent
    view = View(image=Size(1024, 768), viewport=Size(1024, 768))
    chats = [json.loads(p.read_text())["result"] for p in sorted(run.glob("turn_*/*_api_result.json"))]
    calls = [json.loads(p.read_text())["response"] for p in sorted(run.glob("turn_*/*_agent_response.json"))]
    assert len(chats) == len(calls) > 3
    kinds = []
    for chat, call in zip(chats, calls, strict=True):
        one, other = formats["claude"].read(_said(chat), view), formats["openai"].read(json.dumps(call), view)
        assert one.type == other.type
        assert (one.keys, one.text) == (other.keys, other.text)
        kinds.append(one.type)
    assert {"click", "press", "type"} <= set(kinds)


def _said(chat: dict[str, Any]) -> str:
    return json.dumps(chat["choices"][0]["message"])


@pytest.mark.parametrize(("name", "failures"), [("gta1", (1, 0)), ("qwen25vl", (0, 14))])
def test_logged_answers_of_two_models(name: str, failures: tuple[int, int]) -> None:
    """A point off the screenshot, and prose without a call, are all that cannot be read of 1,716 answers each."""
    view = View(image=Size(1920, 1080), viewport=Size(1920, 1080), frame="px")
    for kind, expected in zip(("direct", "relational"), failures, strict=True):
        file = SHARED / "gui_perturbed" / f"predictions_{name}_no_reasoning_{kind}.jsonl"
        if not file.exists():
            pytest.skip(f"{file.name} is not at hand")
        texts = [json.loads(line)["raw_prediction"] for line in file.read_text().splitlines()]
        assert len(texts) == 1716
        unread = 0
        for text in texts:
            try:
                assert formats[name].read(text, view).point is not None
            except ValueError:
                unread += 1
        assert unread == expected
