"""A model behind an OpenAI-compatible endpoint: a hosted one, vLLM, llama.cpp, Ollama."""

from __future__ import annotations

import base64
import json
import os
import urllib.error
import urllib.request
from typing import Any

from cuadata import image, registry
from cuadata.contracts import Choice, Message, ParseFailure, Prompt
from cuadata.errors import CallError, DataError
from cuadata.registry import policies
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
        timeout: float = 120.0,
        logprobs: bool = False,
    ) -> None:
        """`base_url` is taken from OPENAI_BASE_URL where it is not given; `timeout` in seconds for one answer.

        CallError where no address is known.
        """
        address = base_url or os.environ.get(ADDRESS)
        if not address:
            raise CallError(f"the endpoint's address is not known; give base_url=, or set {ADDRESS}")
        if not address.startswith(("http://", "https://")):
            raise CallError(f"{address!r} is no http address")
        self._address = address.rstrip("/") + "/chat/completions"
        self._model, self._form = model, registry.formats[format]
        self._temperature, self._new_tokens = temperature, new_tokens
        self._timeout, self._logprobs = timeout, logprobs
        self._seed = 0

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
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(KEY):
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(self._address, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                told = json.loads(answer.read())
            choice = told["choices"][0]
            held = choice.get("logprobs") or {}
            odds = [token["logprob"] for token in held.get("content") or ()]
            return choice["message"].get("content") or "", sum(odds) if odds else None
        except urllib.error.HTTPError as error:
            said = error.read(400).decode(errors="replace")
            raise DataError(f"the endpoint answered {error.code}: {said}", place=self._address) from error
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise DataError(f"the endpoint gave no answer: {error}", place=self._address) from error


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
