"""A Claude model behind Anthropic's Messages API, or an endpoint that speaks it."""

from __future__ import annotations

import base64
import json
import os
from typing import Any, Final

from cuadata import image, registry
from cuadata.contracts import Choice, Message, ParseFailure, Prompt
from cuadata.errors import CallError
from cuadata.registry import policies
from cuadata.speaking.endpoint import Body, Endpoint, Spent
from cuadata.types import Observation, Task

ADDRESS, KEY = "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"
_USUAL: Final = "https://api.anthropic.com"
_VERSION: Final = "2023-06-01"


@policies.add
class Anthropic:
    """Asks `/v1/messages` of an endpoint; its key is read from ANTHROPIC_API_KEY and goes nowhere else.

    Prompt and answer are as the format writes them in training rows. The format `claude` is given the computer tool, and
    its blocks are read as they come; of other formats the text is read.
    """

    name = "anthropic"

    def __init__(
        self,
        model: str,
        format: str = "claude",
        *,
        base_url: str | None = None,
        temperature: float | None = None,
        new_tokens: int = 1024,
        tool: str = "computer_20250124",
        beta: str = "computer-use-2025-01-24",
        **limits: Any,
    ) -> None:
        """`limits` are keywords of `cuadata.speaking.endpoint.Endpoint`; `tool` and `beta` name the version of the computer tool.

        CallError where the public endpoint is meant and no key is set.
        """
        address = base_url or os.environ.get(ADDRESS) or _USUAL
        if address == _USUAL and not os.environ.get(KEY):
            raise CallError(f"set {KEY}, or give base_url= of an endpoint that needs none")
        self._with_tool = format == "claude"
        self._beta = beta if self._with_tool else ""
        self._endpoint = Endpoint(address=address.rstrip("/") + "/v1/messages", headers=self._headers, **limits)
        self._model, self._form, self._tool = model, registry.formats[format], tool
        self._temperature, self._new_tokens = temperature, new_tokens

    @property
    def spent(self) -> Spent:
        """Calls, tokens and cost so far."""
        return self._endpoint.spent

    def reset(self, task: Task, seed: int) -> None:
        """Nothing: the API takes no seed."""

    def act(self, observation: Observation, prompt: Prompt) -> Choice:
        """One answer, read as an action and those that follow it. DataError where the endpoint does not answer."""
        answer = self._endpoint.ask(self._body(prompt), check=_blocks)
        blocks = answer["content"]
        if self._with_tool:
            text = json.dumps(blocks, ensure_ascii=False)
        else:
            text = "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
        try:
            first, *rest = self._form.read_all(text, prompt.view)
        except ParseFailure as failure:
            return Choice(action=None, output=text, failure=str(failure))
        return Choice(action=first, output=text, rest=tuple(rest))

    def _body(self, prompt: Prompt) -> Body:
        system, turns = _split(self._form.prompt(prompt), prompt)
        size = prompt.view.image
        tool = {
            "type": self._tool,
            "name": "computer",
            "display_width_px": size.width,
            "display_height_px": size.height,
        }
        return {
            "model": self._model,
            "max_tokens": self._new_tokens,
            "messages": turns,
            **({"system": system} if system else {}),
            **({"temperature": self._temperature} if self._temperature is not None else {}),
            **({"tools": [tool]} if self._with_tool else {}),
        }

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(KEY)
        return {
            "anthropic-version": _VERSION,
            **({"x-api-key": key} if key else {}),
            **({"anthropic-beta": self._beta} if self._beta else {}),
        }


def _blocks(answer: Body) -> object:
    """What every answer holds; KeyError or TypeError where it does not."""
    blocks = answer["content"]
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise TypeError("wanted a list of blocks as content")
    return blocks


def _split(messages: list[Message], prompt: Prompt) -> tuple[str, list[Message]]:
    """The system text, which the API takes beside the turns, and the turns with the picture in the place of its mark."""
    system = "\n\n".join(_words(m["content"]) for m in messages if m["role"] == "system")
    turns = [
        {"role": m["role"], "content": [_part(p, prompt) for p in _parts(m["content"])]}
        for m in messages
        if m["role"] != "system"
    ]
    return system, turns


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _words(content: Any) -> str:
    return "\n".join(str(part["text"]) for part in _parts(content) if part.get("type") == "text")


def _part(part: Any, prompt: Prompt) -> Any:
    if part.get("type") != "image" or prompt.image is None:
        return part
    data = base64.b64encode(image.read(prompt.image)).decode()
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": f"image/{prompt.image.format}", "data": data},
    }
