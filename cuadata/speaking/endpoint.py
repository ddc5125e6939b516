"""Asking a hosted model over http: keys from the environment, calls and cost counted and capped, answers kept on disk."""

from __future__ import annotations

import hashlib
import http.client
import json
import math
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from cuadata.errors import CallError, DataError

#: Answers that are worth another try: too many requests, and a server that is busy or broken.
_AGAIN = (408, 429, 500, 502, 503, 504, 529)
#: Megabytes of the largest answer that is read, and seconds that an endpoint may ask to be left alone.
_LARGEST, _LONGEST_PAUSE = 32, 60.0
#: What an answer says of its tokens, in and out: the words of Anthropic and of OpenAI.
_TOKENS = (("input_tokens", "output_tokens"), ("prompt_tokens", "completion_tokens"))
Body = dict[str, Any]


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows nowhere: the address that is led to would be sent the key, and none of the question."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        """None: what led away is the answer."""


_OPENER = urllib.request.build_opener(_Stay)


@dataclass(slots=True)
class Spent:
    """What was asked so far."""

    calls: Annotated[int, "answers that came over the network"] = 0
    cached: Annotated[int, "answers that were on disk"] = 0
    tokens_in: Annotated[int, "tokens of prompts, as the endpoint counts them"] = 0
    tokens_out: Annotated[int, "tokens of answers"] = 0
    cost: Annotated[float, "US dollars at the given prices"] = 0.0


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """One address that takes JSON and answers with JSON.

    The prices are those of the model, in US dollars for a million tokens; without them no cost can be capped. A cap of
    None is none. Answers are kept in `cache` under the hash of address and body, so that the same question is never paid
    twice; headers, and the key in them, are no part of it.
    """

    address: str
    headers: Callable[[], Mapping[str, str]] = dict
    timeout: Annotated[float, "seconds for one answer, and at most so many more while it is coming"] = 120.0
    max_calls: Annotated[int | None, "answers over the network"] = None
    max_cost: Annotated[float | None, "US dollars"] = None
    price_in: Annotated[float | None, "US dollars for a million tokens of prompts"] = None
    price_out: Annotated[float | None, "US dollars for a million tokens of answers"] = None
    cache: Annotated[Path | None, "folder of answers; None: none are kept"] = None
    tries: Annotated[int, "how often a busy endpoint is asked"] = 3
    pause: Annotated[float, "seconds before the second try, doubled for each further one"] = 1.0
    spent: Spent = field(default_factory=Spent)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        if not self.address.startswith(("http://", "https://")):
            raise CallError(f"{self.address!r} is no http address")
        for name, least in (("timeout", 0.001), ("pause", 0), ("tries", 1)):
            given = getattr(self, name)
            if not isinstance(given, (int, float)) or not least <= given < 1e6 or (name == "tries" and given % 1):
                raise CallError(f"{name}: wanted a number of {least:g} or more, got {given!r}")
        if self.max_cost is not None and (self.price_in is None or self.price_out is None):
            raise CallError("a cap on the cost needs price_in and price_out, in US dollars for a million tokens")

    def ask(self, body: Body, check: Callable[[Body], object] = lambda answer: None) -> Body:
        """The answer to a body. DataError where there is none, where `check` fails on it, or where a cap is reached.

        A busy endpoint, one that does not answer in time and one that breaks off are asked again; one that leads elsewhere
        is not followed, so that the key stays where it was sent. An answer that fails the check is counted, since it was
        paid for, and not kept.
        """
        data = json.dumps(body, sort_keys=True).encode()
        kept = None
        if self.cache is not None:
            kept = Path(self.cache) / f"{hashlib.sha256(self.address.encode() + b' ' + data).hexdigest()}.json"
            if (held := _kept(kept)) is not None:
                with self._lock:
                    self.spent.cached += 1
                return held
        self._claim()
        answer = self._send(data)
        self._count(answer.get("usage"))
        try:
            check(answer)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"the endpoint gave no answer: {error!r}", place=self.address) from error
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            half = kept.with_suffix(f".{os.getpid()}.{threading.get_ident()}.half")
            half.write_text(json.dumps(answer), encoding="utf-8")
            half.replace(kept)
        return answer

    def _claim(self) -> None:
        """Count a call before it is made, so that no number of threads goes over the cap."""
        with self._lock:
            if self.max_calls is not None and self.spent.calls >= self.max_calls:
                raise DataError(f"the cap of {self.max_calls} calls is reached", place=self.address)
            if self.max_cost is not None and self.spent.cost >= self.max_cost:
                words = f"the cap of {self.max_cost:g} US dollars is reached: {self.spent.cost:.4f} after {self.spent.calls} calls"
                raise DataError(words, place=self.address)
            self.spent.calls += 1

    def _send(self, data: bytes) -> Body:
        request = urllib.request.Request(
            self.address, data, {"Content-Type": "application/json", **self.headers()}, method="POST"
        )
        for left in reversed(range(self.tries)):
            pause = self.pause * 2 ** (self.tries - 1 - left)
            try:
                return self._answer(request)
            except urllib.error.HTTPError as error:
                said = error.read(400).decode(errors="replace")
                if 300 <= error.code < 400:
                    said = f"it leads to {error.headers.get('Location')!r:.200}; name the address that answers"
                if error.code not in _AGAIN or not left:
                    raise DataError(f"the endpoint answered {error.code}: {said}", place=self.address) from error
                pause = max(pause, _asked_for(error.headers.get("Retry-After")))
            except (OSError, http.client.HTTPException) as error:  # not there, not in time, broken off
                if not left:
                    raise DataError(
                        f"the endpoint gave no answer: {str(error) or repr(error)}", place=self.address
                    ) from error
            except (ValueError, RecursionError) as error:
                raise DataError(f"the endpoint gave no answer: {error}", place=self.address) from error
            time.sleep(pause)
        raise AssertionError("unreachable: the last try returns or raises")

    def _answer(self, request: urllib.request.Request) -> Body:
        """One answer, whole. ValueError for what is none, TimeoutError where it comes too slowly."""
        parts, size, end = [], 0, time.monotonic() + self.timeout
        with _OPENER.open(request, timeout=self.timeout) as answer:
            while part := answer.read1(1 << 16):
                parts.append(part)
                size += len(part)
                if size > _LARGEST << 20:
                    raise ValueError(f"it is longer than {_LARGEST} MB")
                if time.monotonic() > end:
                    raise TimeoutError(f"it had not come to its end after {self.timeout:g} s")
            if answer.length:
                raise http.client.IncompleteRead(b"", answer.length)
        told = json.loads(b"".join(parts))
        if not isinstance(told, dict):
            raise ValueError(f"wanted an object, got {type(told).__name__}")
        return told

    def _count(self, usage: Any) -> None:
        """Tokens and cost of an answer; an endpoint that tells no tokens costs nothing that could be counted."""
        told = usage if isinstance(usage, dict) else {}
        came, went = next(
            ((told[i], told[o]) for i, o in _TOKENS if _number(told.get(i)) and _number(told.get(o))),
            (0, 0),
        )
        with self._lock:
            self.spent.tokens_in += came
            self.spent.tokens_out += went
            self.spent.cost += (came * (self.price_in or 0.0) + went * (self.price_out or 0.0)) / 1e6


def _number(told: object) -> bool:
    return isinstance(told, int) and told >= 0


def _asked_for(told: str | None) -> float:
    """Seconds of a Retry-After; 0 for a date or nonsense, never more than a minute."""
    try:
        seconds = float(told or 0)
    except ValueError:
        return 0.0
    return min(max(seconds, 0.0), _LONGEST_PAUSE) if math.isfinite(seconds) else 0.0


def _kept(path: Path) -> Body | None:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return held if isinstance(held, dict) else None
