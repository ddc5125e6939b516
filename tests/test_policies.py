"""Policies: the trivial ones on plain observations, models through the same formats as training."""

from __future__ import annotations

import http.server
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import pytest
from answering import answering

from cuadata import image, registry
from cuadata.contracts import Choice, Policy
from cuadata.errors import CallError, DataError
from cuadata.playing import playing
from cuadata.speaking import prompts
from cuadata.types import Action, BBox, Element, Locator, Move, Observation, Point, Size, States, Task

TASK = Task(id="t/0", family="t", seed=0, instruction="Tick a and submit.", html="<p>")


def element(id: int, role: str, name: str, *, checked: str | None = None, **fields: Any) -> Element:
    box = BBox(10, 30 * id, 80, 20)
    held = {"bbox": box, "point": box.center, "seen": 1.0, "hit": 1.0, "interactive": True}
    return Element(id=id, role=role, name=name, states=States(checked=checked), **{**held, **fields})  # type: ignore[arg-type]


def page(*elements: Element, picture: bytes | None = None) -> Observation:
    shot = None if picture is None else image.from_bytes(picture, phash=False)
    return Observation(screenshot=shot, viewport=Size(320, 240), elements=elements)


FORM = page(
    element(1, "checkbox", "a", checked="false"),
    element(2, "checkbox", "b", checked="true"),
    element(3, "radio", "c", checked="false", point=None),
    element(4, "button", "Help"),
    element(5, "button", "Submit & continue"),
)


def acts(policy: Policy, observation: Observation, turns: int, task: Task = TASK) -> list[Choice]:
    policy.reset(task, 7)
    prompt = prompts.of_observation(observation, task.instruction)
    return [policy.act(observation, prompt) for _ in range(turns)]


def said(choices: list[Choice]) -> list[tuple[str, int | None]]:
    return [(c.action.type, c.action.element) for c in choices if c.action is not None]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nothing", [("done", None), ("done", None)]),
        ("submit_only", [("click", 5), ("done", None)]),
        ("all_boxes", [("click", 1), ("click", 5)]),
    ],
)
def test_policies_that_look_at_nothing(name: str, expected: list[tuple[str, int | None]]) -> None:
    policy = registry.policies[name]()
    assert said(acts(policy, FORM, 2)) == expected
    assert said(acts(policy, FORM, 2)) == expected, "reset begins anew"


def test_random_is_drawn_from_the_seed_and_stays_on_what_takes_input() -> None:
    policy = registry.policies["random"](scroll=0.2)
    first = [c.action for c in acts(policy, FORM, 30)]
    assert first == [c.action for c in acts(policy, FORM, 30)]
    clicked = {a.element for a in first if a is not None and a.type == "click"}
    assert clicked <= {1, 2, 4, 5} and len(clicked) >= 3
    assert any(a is not None and a.type == "scroll" for a in first)


def test_the_oracle_follows_the_solution_and_says_what_is_missing() -> None:
    a, box = element(1, "checkbox", "a", locator=Locator(css="#a")), Locator(css="#gone")
    drag = Move(action=Action(type="drag"), locator=Locator(css="#a"), end=Locator(css="#a"))
    moves = (
        Move(action=Action(type="click"), locator=Locator(css="#a")),
        drag,
        Move(action=Action(type="click"), locator=box),
    )
    task = Task(id="t/0", family="t", seed=0, instruction="x", html="<p>", solution=moves)
    click, dragged, missing, done = acts(registry.policies["oracle"](), page(a), 4, task)
    assert click.action == Action(type="click", element=1)
    assert dragged.action == Action(type="drag", element=1, end=Point(50, 40))
    assert missing.action is None and missing.failure == "target_missing: nothing is at #gone"
    assert done.action == Action(type="done")


class Endpoint(http.server.BaseHTTPRequestHandler):
    """Answers as an OpenAI-compatible endpoint does; what it was asked is kept."""

    asked: ClassVar[list[dict[str, Any]]] = []
    answer: str = "click(1)\nclick(5)"
    status: int = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append({"path": self.path, "key": self.headers.get("Authorization"), **body})
        told = {"choices": [{"message": {"content": self.answer}, "logprobs": {"content": [{"logprob": -0.5}] * 3}}]}
        data = json.dumps(told if self.status == 200 else {"error": "too many requests"}).encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the test's output is its own."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    Endpoint.asked, Endpoint.status, Endpoint.answer = [], 200, "click(1)\nclick(5)"
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    with answering(Endpoint) as address:
        yield f"{address}/v1"


def test_an_endpoint_is_asked_what_a_training_row_asks(endpoint: str, png: bytes) -> None:
    policy = registry.policies["openai"]("m", "axtree", base_url=endpoint, temperature=0.7, logprobs=True)
    (choice,) = acts(policy, FORM, 1)
    assert choice.action is not None and (choice.action.type, choice.action.element) == ("click", 1)
    assert [a.element for a in choice.rest] == [5]
    assert choice.logprob == pytest.approx(-1.5) and choice.output == Endpoint.answer
    (asked,) = Endpoint.asked
    expected = registry.formats["axtree"].prompt(prompts.of_observation(FORM, TASK.instruction))
    assert (asked["messages"], asked["path"], asked["key"]) == (expected, "/v1/chat/completions", "Bearer secret-key")
    assert (asked["model"], asked["temperature"], asked["seed"]) == ("m", 0.7, 8)
    Endpoint.answer = '{"action": "click", "x": 10, "y": 20}'
    seen = page(element(1, "button", "Go"), picture=png)
    acts(registry.policies["openai"]("m", "json", base_url=endpoint), seen, 1)
    parts = [p for m in Endpoint.asked[1]["messages"] if isinstance(m["content"], list) for p in m["content"]]
    (picture,) = [p for p in parts if p["type"] == "image_url"]
    assert picture["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


def test_an_endpoint_that_fails_says_so_and_an_answer_without_a_call_is_no_action(endpoint: str) -> None:
    policy = registry.policies["openai"]("m", "axtree", base_url=endpoint)
    Endpoint.answer = "I would rather not."
    (choice,) = acts(policy, FORM, 1)
    assert choice.action is None and choice.failure and choice.output == "I would rather not."
    Endpoint.status = 429
    busy = registry.policies["openai"]("m", "axtree", base_url=endpoint, pause=0.0)
    before = len(Endpoint.asked)
    with pytest.raises(DataError, match="the endpoint answered 429: .*too many requests"):
        acts(busy, FORM, 1)
    assert len(Endpoint.asked) == before + 3, "a busy endpoint is asked again"
    nobody = registry.policies["openai"]("m", "axtree", base_url="http://127.0.0.1:9")
    with pytest.raises(DataError, match="the endpoint gave no answer"):
        acts(nobody, FORM, 1)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("openai", {}, "policy openai: .*missing 2 required .*'model' and 'format'"),
        ("openai", {"bogus": 1}, "policy openai: .*unexpected keyword argument 'bogus'"),
        ("openai", {"timeout": "soon"}, "timeout: wanted a number of 0.001 or more, got 'soon'"),
        ("openai", {"timeout": -1}, "timeout: wanted a number"),
        ("openai", {"tries": 0}, "tries: wanted a number of 1 or more, got 0"),
        ("oracle", {"bogus": 1}, "policy oracle: .*unexpected keyword argument 'bogus'"),
    ],
)
def test_options_that_a_policy_does_not_take_are_refused(name: str, options: dict[str, Any], words: str) -> None:
    usual = {"model": "m", "format": "axtree", "base_url": "http://127.0.0.1:9"} if name == "openai" and options else {}
    with pytest.raises(CallError, match=words):
        playing.policy_of(name, {**usual, **options})


def test_an_endpoint_needs_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(CallError, match="give base_url=, or set OPENAI_BASE_URL"):
        registry.policies["openai"]("m", "axtree")
    with pytest.raises(CallError, match="is no http address"):
        registry.policies["openai"]("m", "axtree", base_url="file:///etc/passwd")


@pytest.mark.train
@pytest.mark.parametrize(("arch", "form"), [("qwen2", "axtree"), ("qwen2_5_vl", "qwen25vl")])
def test_a_local_model_answers_and_tells_how_likely(arch: str, form: str, tmp_path: Path, png: bytes) -> None:
    from tiny_models import build

    model = str(build(arch, tmp_path / arch))
    seen = FORM if form == "axtree" else page(element(1, "button", "Go"), picture=png)
    policy = registry.policies["transformers_model"](model, form, temperature=1.0, new_tokens=6)
    (first,) = acts(policy, seen, 1)
    assert first.output and first.logprob is not None and first.logprob < 0
    assert (first.action is None) == (first.failure is not None)
    (again,) = acts(policy, seen, 1)
    assert again.output == first.output and again.logprob == pytest.approx(first.logprob)
    greedy = registry.policies["transformers_model"](model, form, new_tokens=6)
    assert acts(greedy, seen, 1)[0].output == acts(greedy, seen, 1)[0].output


@pytest.mark.train
def test_pages_that_begin_at_one_time_share_one_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tiny_models import build

    from cuadata.learning import training

    model, load, loaded = str(build("qwen2", tmp_path / "qwen2")), training.load, list[str]()

    def slowly(base: str, **options: Any) -> training.Loaded:
        loaded.append(base)
        time.sleep(0.3)
        return load(base, **options)

    monkeypatch.setattr(training, "load", slowly)
    with ThreadPoolExecutor(4) as pool:
        policies: list[Any] = list(
            pool.map(lambda _: registry.policies["transformers_model"](model, "axtree"), range(4))
        )
    assert loaded == [model] and len({id(policy._loaded) for policy in policies}) == 1
