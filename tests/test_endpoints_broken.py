"""Endpoints that misbehave: every way ends in words and in time, and the key goes nowhere else."""

from __future__ import annotations

import http.server
import json
import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest
from answering import answering

from cuadata import registry
from cuadata.contracts import Choice
from cuadata.errors import DataError
from cuadata.speaking import prompts
from cuadata.speaking.endpoint import Endpoint
from cuadata.types import Element, Observation, Size, Task

TASK = Task(id="t/0", family="t", seed=0, instruction="Press Go.", html="<p>")
FORM = Observation(
    screenshot=None, viewport=Size(320, 240), elements=(Element(id=1, role="button", name="Go", seen=1.0, interactive=True),)
)  # fmt: skip
Way = Callable[["Broken"], object]


class Broken(http.server.BaseHTTPRequestHandler):
    """Answers in the ways that are left, the last one for ever; whoever it is asked by is kept with his key."""

    ways: ClassVar[list[Way]] = []
    asked: ClassVar[list[tuple[str, str | None]]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.asked.append((self.path, self.headers.get("Authorization")))
        way = self.ways.pop(0) if len(self.ways) > 1 else self.ways[0]
        try:
            way(self)
        except OSError:
            self.close_connection = True  # whoever asked has gone

    do_GET = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the test's output is its own."""

    def say(self, body: bytes, status: int = 200, length: int | None = None, **headers: str) -> None:
        """An answer of a length that may be a lie."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)


def says(text: object = "click(1)", **more: Any) -> Way:
    return lambda to: to.say(json.dumps({"choices": [{"message": {"content": text}, **more}]}).encode())


def drips(to: Broken) -> None:
    to.say(b"", length=1000)
    for _ in range(60):
        to.wfile.write(b" ")
        to.wfile.flush()
        time.sleep(0.1)


def floods(to: Broken) -> None:
    to.say(b"", length=10**10)
    for _ in range(100):
        to.wfile.write(b"x" * 1_000_000)


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    Broken.ways, Broken.asked = [], []
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    with answering(Broken) as address:
        yield f"{address}/v1"


def asks(address: str, *ways: Way, **options: Any) -> Choice:
    Broken.ways = list(ways)
    policy: Any = registry.policies["openai"](
        "m", "axtree", base_url=address, **{"pause": 0.0, "timeout": 1.0, **options}
    )
    policy.reset(TASK, 0)
    choice: Choice = policy.act(FORM, prompts.of_observation(FORM, TASK.instruction))
    return choice


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_an_endpoint_that_leads_elsewhere_is_not_followed(address: str, status: int) -> None:
    elsewhere = f"{address}/inside"
    with pytest.raises(
        DataError, match=f"answered {status}: it leads to '.*/v1/inside'; name the address that answers"
    ):
        asks(address, lambda to: to.say(b"", status, Location=elsewhere), says())
    assert Broken.asked == [("/v1/chat/completions", "Bearer secret-key")]


SLOW_OR_BROKEN: dict[str, tuple[Way, str, int]] = {
    "one that breaks off": (lambda to: to.say(b'{"choices"', length=99), "IncompleteRead", 3),
    "one that speaks no http": (lambda to: to.wfile.write(b"\x00\x01\r\n\r\n"), "gave no answer", 3),
    "one that comes drop by drop": (drips, "had not come to its end after 0.3 s", 3),
    "one that never ends": (floods, "longer than 32 MB", 1),
    "one that is too deep": (lambda to: to.say(b"[" * 100_000), "recursion", 1),
    "one whose message is a text": (lambda to: to.say(b'{"choices":[{"message":"hi"}]}'), "AttributeError", 1),
}


@pytest.mark.parametrize("name", SLOW_OR_BROKEN)
def test_an_answer_that_is_none_is_told_in_words_and_in_time(address: str, name: str) -> None:
    way, words, tries = SLOW_OR_BROKEN[name]
    began = time.monotonic()
    with pytest.raises(DataError, match=words):
        asks(address, way, timeout=0.3 if way is drips else 5.0)
    assert len(Broken.asked) == tries and time.monotonic() - began < 15


def test_one_that_breaks_off_once_is_asked_again(address: str) -> None:
    choice = asks(address, lambda to: to.say(b"", length=9), says())
    assert choice.action is not None and len(Broken.asked) == 2


@pytest.mark.parametrize(
    "told", ["hi", {"content": [{"logprob": None}]}, {"content": [{"token": "a"}, {"logprob": -1}]}, [1]]
)
def test_odds_that_are_not_told_of_every_token_are_none(address: str, told: object) -> None:
    choice = asks(address, says(logprobs=told), logprobs=True)
    assert choice.action is not None and choice.logprob is None


def test_the_endpoint_says_how_long_to_wait_and_cannot_pay_tokens_back(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    busy: list[Way] = [
        lambda to, after=after: to.say(b"", 429, Retry_After=after)  # type: ignore[misc]
        for after in ("7", "1e9", "nan", "Wed, 21 Oct 2015 07:28:00 GMT")
    ]
    asks(address, *busy, says(), tries=5)
    assert slept == [7.0, 60.0, 0.0, 0.0]
    Broken.ways = [lambda to: to.say(b'{"usage": {"prompt_tokens": -9000, "completion_tokens": 5}}')]
    line = Endpoint(address=address, price_in=1.0, price_out=1.0)
    line.ask({})
    assert (line.spent.tokens_in, line.spent.cost) == (0, 0.0)
