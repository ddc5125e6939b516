"""Models behind endpoints: a local server speaks the Messages API; calls and cost are capped, answers kept."""

from __future__ import annotations

import http.server
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import pytest
from answering import answering

from cuadata import image, registry
from cuadata.contracts import Choice
from cuadata.errors import CallError, DataError
from cuadata.rows import ContextLine
from cuadata.speaking import prompts
from cuadata.speaking.endpoint import Endpoint
from cuadata.types import BBox, Element, Observation, Size, Task

TASK = Task(id="t/0", family="t", seed=0, instruction="Press Go.", html="<p>")
GO = Element(id=1, role="button", name="Go", bbox=BBox(10, 20, 80, 20), seen=1.0, hit=1.0, interactive=True)
CLICK = {"type": "tool_use", "id": "x", "name": "computer", "input": {"action": "left_click", "coordinate": [50, 30]}}


class Messages(http.server.BaseHTTPRequestHandler):
    """Answers as Anthropic's Messages API does, or as one that fails; what it was asked is kept."""

    asked: ClassVar[list[dict[str, Any]]] = []
    answers: ClassVar[list[Any]] = []
    refused: ClassVar[list[int]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append({"path": self.path, "headers": dict(self.headers), **body})
        status = self.refused.pop(0) if self.refused else 200
        told: Any = {"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}
        if status == 200:
            content = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            told = {"type": "message", "content": content, "usage": {"input_tokens": 1000, "output_tokens": 200}}
        data = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the test's output is its own."""


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    Messages.asked, Messages.refused = [], []
    Messages.answers = [[{"type": "text", "text": "I press it."}, CLICK]]
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-key")
    with answering(Messages) as address:
        yield address


def asks(address: str, png: bytes, line: str = "", **options: Any) -> tuple[Any, Choice]:
    policy: Any = registry.policies["anthropic"]("claude-x", base_url=address, **options)
    return policy, answer(policy, png, line)


def answer(policy: Any, png: bytes, line: str = "") -> Choice:
    seen = Observation(screenshot=image.from_bytes(png, phash=False), viewport=Size(320, 240), elements=(GO,))
    context = (ContextLine("no_effect", line),) if line else ()
    policy.reset(TASK, 0)
    found: Choice = policy.act(seen, prompts.of_observation(seen, TASK.instruction, context=context))
    return found


def test_the_messages_api_is_asked_what_a_training_row_asks(address: str, png: bytes) -> None:
    line = "No effect: click button 'Go' changed nothing."
    _, choice = asks(address, png, line)
    assert choice.action is not None and choice.action.type == "click" and choice.failure is None
    (asked,) = Messages.asked
    assert asked["path"] == "/v1/messages" and asked["model"] == "claude-x" and asked["max_tokens"] == 1024
    headers = {name.lower(): value for name, value in asked["headers"].items()}
    assert headers["x-api-key"] == "secret-key" and headers["anthropic-version"] == "2023-06-01"
    assert headers["anthropic-beta"] == "computer-use-2025-01-24"
    (tool,) = asked["tools"]
    size = image.from_bytes(png, phash=False)
    assert (tool["display_width_px"], tool["display_height_px"]) == (size.width, size.height)
    assert "computer tool" in asked["system"] and [m["role"] for m in asked["messages"]] == ["user"]
    picture, text = sorted(asked["messages"][0]["content"], key=lambda part: part["type"])
    assert picture["source"]["media_type"] == "image/png" and picture["source"]["data"].startswith("iVBOR")
    assert TASK.instruction in text["text"] and line in text["text"]
    assert "secret-key" not in json.dumps({k: v for k, v in asked.items() if k != "headers"})


def test_another_format_is_read_from_the_text(address: str, png: bytes) -> None:
    Messages.answers = [[{"type": "text", "text": '{"action": "click", "x": 10, "y": 20}'}]]
    _, choice = asks(address, png, format="json")
    assert choice.action is not None and choice.action.type == "click"
    assert "tools" not in Messages.asked[0] and "anthropic-beta" not in map(str.lower, Messages.asked[0]["headers"])
    Messages.answers = [[{"type": "text", "text": "I would rather not."}]]
    _, refused = asks(address, png, format="json")
    assert refused.action is None and refused.failure


def test_calls_and_cost_are_counted_and_capped(address: str, png: bytes) -> None:
    prices: dict[str, Any] = {"price_in": 3.0, "price_out": 15.0}
    policy, _ = asks(address, png, max_cost=0.01, **prices)
    assert (policy.spent.calls, policy.spent.tokens_in, policy.spent.tokens_out) == (1, 1000, 200)
    assert policy.spent.cost == pytest.approx(0.006)
    answer(policy, png)
    with pytest.raises(DataError, match=r"the cap of 0\.01 US dollars is reached: 0\.0120 after 2 calls"):
        answer(policy, png)
    policy, _ = asks(address, png, max_calls=1)
    with pytest.raises(DataError, match="the cap of 1 calls is reached"):
        answer(policy, png)
    assert len(Messages.asked) == 3
    with pytest.raises(CallError, match="a cap on the cost needs price_in and price_out"):
        asks(address, png, max_cost=1.0)


def test_no_number_of_threads_goes_over_the_cap(address: str) -> None:
    held = Endpoint(address=address, max_calls=3)

    def one(number: int) -> bool:
        try:
            held.ask({"n": number})
        except DataError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one, range(12))) == 3 == len(Messages.asked)


def test_an_answer_is_paid_for_once(address: str, png: bytes, tmp_path: Path) -> None:
    first, choice = asks(address, png, cache=str(tmp_path / "answers"))
    again, same = asks(address, png, cache=str(tmp_path / "answers"), max_calls=0)
    assert same == choice and len(Messages.asked) == 1
    assert (first.spent.calls, again.spent.calls, again.spent.cached) == (1, 0, 1)
    (kept,) = (tmp_path / "answers").iterdir()
    assert "secret-key" not in kept.read_text() and "secret-key" not in kept.name
    asks(address, png, "No effect: it changed nothing.", cache=str(tmp_path / "answers"))
    assert len(Messages.asked) == 2, "another question is another answer"


def test_a_busy_endpoint_is_asked_again_and_a_refusal_is_not(address: str, png: bytes, tmp_path: Path) -> None:
    Messages.refused = [529, 503]
    _, choice = asks(address, png, pause=0.0)
    assert choice.action is not None and len(Messages.asked) == 3
    Messages.refused = [401]
    with pytest.raises(DataError, match="the endpoint answered 401: .*overloaded"):
        asks(address, png, pause=0.0)
    assert len(Messages.asked) == 4
    Messages.answers = ["no list"]
    with pytest.raises(DataError, match="the endpoint gave no answer: TypeError"):
        asks(address, png, cache=str(tmp_path))
    assert not list(tmp_path.iterdir()), "an answer that is none is not kept"


def test_the_public_endpoint_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(CallError, match="set ANTHROPIC_API_KEY"):
        registry.policies["anthropic"]("claude-x")
