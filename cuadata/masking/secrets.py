"""What a recorder must not let reach the disk: secrets that it learned, in any spelling, and what shows by its own form.

Secrets stand in the memory of the recorder only, for as long as it runs, so that they are found wherever a page repeats
them: in names, titles, addresses, dialogs. Whatever is stored passes through `Secrets`.
"""

from __future__ import annotations

import base64
import html
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from types import NoneType
from typing import Annotated, Any, Final
from urllib.parse import quote, quote_plus

from cuadata import image, privacy
from cuadata.types import BBox, Element, Image, Size

#: Shorter ones are masked only where they stand alone: "123" is in too many prices.
SHORTEST: Final = 4
#: A part of a secret of this many characters is masked too.
PART: Final = 5
#: This many letters and digits of a secret in a row are masked whatever stands between them, from `SHORTEST_RUN` on.
RUN, SHORTEST_RUN = 8, 6
#: Found by their form in every text. E-mail addresses and telephone numbers stay: they are no secrets, and the gate
#: `sensitive_value` judges them before a dataset leaves.
BY_FORM: Final = ("password", "token", "api_key", "private_key", "card_number", "account_number", "one_time_code")
#: Names in an address behind which a token may stand, besides those that `privacy` knows.
_IN_ADDRESS = re.compile(
    r"(?P<name>[?&#;](?:[\w.-]*(?:token|ticket|secret|key|code|password|passwd|pwd|pin|otp|session|sid|auth|jwt|assertion|"
    r"credential|signature|nonce|saml\w*)[\w.-]*)=)(?P<secret>[^&#\s\"'<>;]{4,})",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*:/?/?[^\s\"'<>]+", re.IGNORECASE)
_BETWEEN = re.compile(r"[\W_]+")
_UNTOUCHED = frozenset(("sha256", "phash", "colours", "format"))
_WITHOUT_TEXT = frozenset((NoneType, bool, int, float))


@dataclass(slots=True)
class Secrets:
    """The secrets of one session."""

    epoch: Annotated[int, "how often something was learned"] = 0
    _known: dict[str, privacy.Kind] = field(default_factory=dict, repr=False)
    _digits: list[str] = field(default_factory=list, repr=False)
    _find: re.Pattern[str] | None = field(default=None, repr=False)
    _find_parts: re.Pattern[str] | None = field(default=None, repr=False)
    _find_bare: re.Pattern[str] | None = field(default=None, repr=False)
    _short: frozenset[str] = field(default=frozenset(), repr=False)
    _stale: bool = False

    def learn(self, value: str, kind: privacy.Kind) -> None:
        """Remember a secret; what is typed comes once for each character, and only the longest is kept."""
        value = value.strip()
        if len(value) == 1 and kind == "one_time_code":
            # A code that is typed into fields of one character each.
            self._digits = [*self._digits[-9:], value]
            for length in range(SHORTEST, len(self._digits) + 1):
                self._add("".join(self._digits[-length:]), kind)
            return
        self._add(value, kind)

    def _add(self, value: str, kind: privacy.Kind) -> None:
        if not value or any(one.startswith(value) for one in self._known):
            return
        # One assignment: another thread may be masking by what is known so far.
        self._known = {**{one: of for one, of in self._known.items() if not value.startswith(one)}, value: kind}
        self.epoch += 1
        self._stale = True

    def __len__(self) -> int:
        return len(self._known)

    @property
    def values(self) -> list[tuple[str, str]]:
        """Every secret with its kind, for the documents that must not show them."""
        return list(self._known.items())

    def repeats(self, text: str) -> bool:
        """Whether a text holds a known secret, or a part of one."""
        return bool(self._spans(text))

    def text(self, text: str) -> str:
        """The text without secrets."""
        if not text:
            return text
        for start, end in reversed(self._spans(text)):
            text = text[:start] + privacy.mask(self._kind(text[start:end])) + text[end:]
        if len(text) >= SHORTEST:
            text = privacy.masked(text, BY_FORM)
            text = _ADDRESS.sub(lambda found: _IN_ADDRESS.sub(_unless_masked, found[0]), text)
        return text

    def value(self, record: Any, name: str = "") -> Any:
        """A record without secrets in any of its texts; the same object where it holds none."""
        if isinstance(record, str):
            return record if name in _UNTOUCHED else self.text(record)
        if isinstance(record, tuple):
            clean = tuple([self.value(one, name) for one in record])
            return record if all(a is b for a, b in zip(clean, record, strict=True)) else clean
        changed = {}
        kind: Any = type(record)
        for one in _names(kind):
            held = getattr(record, one)
            if type(held) in _WITHOUT_TEXT:
                continue
            clean = self.value(held, one)
            if clean is not held and clean != held:
                changed[one] = clean
        return replace(record, **changed) if changed else record

    def element(self, element: Element, kind: str | None, number: int = 1) -> Element:
        """An element without secrets; `kind`: of the field that it is, for which everything entered is masked."""
        clean: Element = self.value(element)
        if kind is None:
            return clean
        shown = privacy.mask(kind, number) if kind == "password" else f"masked-{kind.replace('_', '-')}-{number}"  # type: ignore[arg-type]
        states = clean.states
        if states.value:
            states = replace(states, value=shown)
        return replace(clean, text=shown if clean.text else "", states=states)

    def showing(self, elements: Iterable[Element]) -> list[BBox]:
        """Boxes of the innermost elements whose name, text or value repeats a secret."""
        if not self._known:
            return []
        found = [
            e for e in elements if e.bbox is not None and self.repeats(f"{e.name}\n{e.text}\n{e.states.value or ''}")
        ]
        around = {e.parent for e in found}
        return [e.bbox for e in found if e.id not in around and e.bbox is not None]

    def _kind(self, found: str) -> privacy.Kind:
        for value, kind in self._known.items():
            if found in value or value in found:
                return kind
        return "password"

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Where secrets stand, in order and without overlaps."""
        self._compile()
        if self._find is None or self._find_parts is None:
            return [(0, len(text))] if text.strip() in self._short and text.strip() else []
        if text.strip() in self._short:
            return [(0, len(text))]
        found = [m.span() for m in self._find.finditer(text)]
        found += [m.span(1) for m in self._find_parts.finditer(text)]
        if self._find_bare is not None and self._find_bare.search(bare(text)):
            found += _bare_spans(text, self._find_bare)
        joined: list[tuple[int, int]] = []
        for start, end in sorted(found):
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(joined[-1][1], end))
            else:
                joined.append((start, end))
        return joined

    def _compile(self) -> None:
        if not self._stale:
            return
        self._stale = False
        long = [one for one in self._known if len(one) >= SHORTEST]
        self._short = frozenset(one for one in self._known if len(one) < SHORTEST)
        forms = sorted({form for one in long for form in spellings(one)}, key=len, reverse=True)
        parts = {part for one in long for part in pieces(one)}
        runs = {
            run[i : i + RUN]
            for one in long
            if len(run := bare(one)) >= SHORTEST_RUN
            for i in range(max(1, len(run) - RUN + 1))
        }
        if runs:
            self._find_bare = re.compile(f"(?=({'|'.join(map(re.escape, sorted(runs, key=len, reverse=True)))}))")
        if forms:
            self._find = re.compile("|".join(map(re.escape, forms)), re.IGNORECASE)
            self._find_parts = re.compile(f"(?=({'|'.join(map(re.escape, sorted(parts, key=len, reverse=True)))}))")


@cache
def _names(kind: type) -> tuple[str, ...]:
    """The fields of a record that are looked into; none of pictures and of what is no record."""
    return () if issubclass(kind, Image) or not is_dataclass(kind) else tuple(one.name for one in fields(kind))


def bare(text: str) -> str:
    """The letters and digits of a text, of full width or half, small: what is left where a page puts something between them."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _BETWEEN.sub("", plain.casefold())


def _bare_spans(text: str, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    """Where a pattern is found in the bare text, as places of the text itself."""
    parts = [bare(one) for one in text]
    places = [at for at, part in enumerate(parts) for _ in part]
    return [(places[m.start(1)], places[m.end(1) - 1] + 1) for m in pattern.finditer("".join(parts))]


def spellings(secret: str) -> set[str]:
    """A secret as pages write it: as it is, escaped for addresses, HTML and JSON, in base64 and hex, backwards."""
    digits = re.sub(r"\D", "", secret)
    groups = re.findall(r"\d{1,4}", digits) if len(digits) >= 12 else []
    cards = {digits, " ".join(groups), "-".join(groups)} if groups else set()
    entities = {"".join(f"&#{ord(one)};" for one in secret), "".join(f"&#x{ord(one):x};" for one in secret)}
    forms = {*_plain(secret), secret.encode().hex(), *_base64(secret), *cards, *entities}
    return {form for form in forms if len(form) >= SHORTEST}


def pieces(secret: str) -> set[str]:
    """What gives a part of a secret away, in each spelling: a page may repeat it while it is being typed, or cut it."""
    found = {secret[:SHORTEST]}
    for form in _plain(secret):
        found |= {form[i : i + PART] for i in range(max(1, len(form) - PART + 1))}
    for form in _base64(secret):
        found |= {form[i : i + 8] for i in range(len(form) - 7)}
    coded = secret.encode().hex()
    return found | {coded[i : i + 2 * PART] for i in range(0, len(coded) - 2 * PART + 1, 2)}


def _plain(secret: str) -> set[str]:
    escaped = {quote(secret, safe=""), quote_plus(secret), html.escape(secret), json.dumps(secret)[1:-1]}
    return {secret, secret[::-1], *escaped}


def _base64(secret: str) -> set[str]:
    """A secret in base64, wherever it begins in what was coded; the characters that depend on its neighbours are left out."""
    raw, forms = secret.encode(), set()
    for shift in range(3):
        coded = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        inner = coded[{0: 0, 1: 2, 2: 3}[shift] : None if (len(raw) + shift) % 3 == 0 else -1]
        if len(inner) >= 6:
            forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return forms


def _unless_masked(found: re.Match[str]) -> str:
    secret = found["secret"]
    return found[0] if privacy.is_masked(secret) else f"{found['name']}{privacy.mask('token')}"


def blackened(picture: Image, boxes: Sequence[BBox], viewport: Size) -> Image:
    """A picture with boxes (CSS px of the viewport) painted black, as PNG; the picture itself where there are none."""
    if not boxes:
        return picture
    from PIL import Image as Pillow
    from PIL import ImageDraw

    with Pillow.open(io.BytesIO(image.read(picture))) as opened:
        painted = opened.convert("RGB")
    scale = painted.width / viewport.width
    draw = ImageDraw.Draw(painted)
    for box in boxes:
        left, top = int(box.x * scale), int(box.y * scale)
        right, bottom = int(-(-box.right * scale // 1)) - 1, int(-(-box.bottom * scale // 1)) - 1
        draw.rectangle((left, top, max(left, right), max(top, bottom)), fill="black")
    written = io.BytesIO()
    painted.save(written, "PNG", compress_level=1)
    return image.from_bytes(written.getvalue(), phash=False)
