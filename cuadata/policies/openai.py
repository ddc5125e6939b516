"""A model behind an OpenAI-compatible endpoint: a hosted one, vLLM, llama.cpp, Ollama."""

from __future__ import annotations

import base64
import os
from typing import Any

from cuadata import image, registry
from cuadata.contracts import Choice, Message, ParseFailure, Prompt
from cuadata.errors import CallError
from cuadata.registry import policies
from cuadata.speaking.endpoint import Body, Endpoint, Spent
from cuadata.types import Observation, Task

ADDRESS, KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"


@policies.add
class OpenAI:
    """Asks `/chat/completions` of an endpoint; its key is read from the environment and goes nowhere else.

    Prompt and answer are as the format writes them in training rows; pictures go as data addresses.
    """

    name = "openai"

    def __init__(
        self,
        model: str,
        format: str,
        *,
        base_url: str | None = None,
        temperature: float = 0.0,
        new_tokens: int = 512,
        logprobs: bool = False,
        **limits: Any,
    ) -> None:
        """`base_url` is taken from OPENAI_BASE_URL where it is not given; `limits` are keywords of `cuadata.speaking.endpoint.Endpoint`.

        CallError where no address is known.
        """
        address = base_url or os.environ.get(ADDRESS)
        if not address:
            raise CallError(f"the endpoint's address is not known; give base_url=, or set {ADDRESS}")
        self._endpoint = Endpoint(address=address.rstrip("/") + "/chat/completions", headers=_headers, **limits)
        self._model, self._form = model, registry.formats[format]
        self._temperature, self._new_tokens, self._logprobs = temperature, new_tokens, logprobs
        self._seed = 0

    @property
    def spent(self) -> Spent:
        """Calls, tokens and cost so far."""
        return self._endpoint.spent

    def reset(self, task: Task, seed: int) -> None:
        """Endpoints that know `seed` draw from this one."""
        self._seed = seed

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        """One answer, read as an action and those that follow it. DataError where the endpoint does not answer."""
        self._seed += 1
        text, logprob = self._ask(filled(self._form.prompt(prompt), prompt))
        try:
            first, *rest = self._form.read_all(text, prompt.view)
        except ParseFailure as failure:
            return Choice(action=None, output=text, logprob=logprob, failure=str(failure))
        return Choice(action=first, output=text, logprob=logprob, rest=tuple(rest))

    def _ask(self, messages: list[Message]) -> tuple[str, float | None]:
        body = {
            "model": self._model,
            "messages": messages,
            "temperature": self._temperature,
            "max_tokens": self._new_tokens,
            "seed": self._seed,
            **({"logprobs": True} if self._logprobs else {}),
        }
        choice = self._endpoint.ask(body, check=_first)["choices"][0]
        return choice["message"].get("content") or "", _odds(choice.get("logprobs"))


def _headers() -> dict[str, str]:
    key = os.environ.get(KEY)
    return {"Authorization": f"Bearer {key}"} if key else {}


def _first(answer: Body) -> object:
    """What every answer holds; KeyError, IndexError or AttributeError's kin where it does not."""
    content = answer["choices"][0]["message"].get("content")
    if content is not None and not isinstance(content, str):
        raise TypeError(f"wanted a text as content, got {type(content).__name__}")
    return content


def _odds(told: Any) -> float | None:
    """The log-probability of an answer, summed over its tokens; None where the endpoint does not tell it of every one."""
    tokens = told.get("content") if isinstance(told, dict) else None
    held = [token.get("logprob") if isinstance(token, dict) else None for token in tokens or ()]
    known = [float(one) for one in held if isinstance(one, (int, float))]
    return sum(known) if known and len(known) == len(held) else None


def filled(messages: list[Message], prompt: Prompt) -> list[Message]:
    """Messages with the picture in the place of its mark, as a data address."""
    if prompt.image is None:
        return messages
    data = base64.b64encode(image.read(prompt.image)).decode()
    picture = {"type": "image_url", "image_url": {"url": f"data:image/{prompt.image.format};base64,{data}"}}

    def part(held: Any) -> Any:
        return picture if isinstance(held, dict) and held.get("type") == "image" else held

    return [
        {**m, "content": [part(p) for p in m["content"]]} if isinstance(m.get("content"), list) else m for m in messages
    ]
