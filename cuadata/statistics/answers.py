"""Text answers against what they should say: exact match and partial credit, as two numbers that are never mixed."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from cuadata.errors import CallError

Kind = Literal["number", "phrases", "text", "infeasible"]
#: Spellings of one unit, for answers that name it; a caller's own table is laid over this one.
UNITS: Mapping[str, Sequence[str]] = {
    "in": ("in", "inch", "inches"),
    "ft": ("ft", "foot", "feet"),
    "yd": ("yd", "yard", "yards"),
    "mi": ("mi", "mile", "miles"),
    "mm": ("mm", "millimetre", "millimetres", "millimeter", "millimeters"),
    "cm": ("cm", "centimetre", "centimetres", "centimeter", "centimeters"),
    "m": ("m", "metre", "metres", "meter", "meters"),
    "km": ("km", "kilometre", "kilometres", "kilometer", "kilometers"),
    "g": ("g", "gram", "grams", "gramme", "grammes"),
    "kg": ("kg", "kilo", "kilos", "kilogram", "kilograms"),
    "lb": ("lb", "lbs", "pound", "pounds"),
    "oz": ("oz", "ounce", "ounces"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "min": ("min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "d": ("d", "day", "days"),
    "px": ("px", "pixel", "pixels"),
    "%": ("%", "percent", "per cent"),
    "usd": ("usd", "$", "dollar", "dollars"),
    "eur": ("eur", "\N{EURO SIGN}", "euro", "euros"),
    "gbp": ("gbp", "\N{POUND SIGN}"),
}
_NUMBER = re.compile(
    r"(?<![\w.])(?:(?P<owed>(?<![\w)])-)?(?P<money>[$\u20ac\u00a3])\s?)?(?P<sign>(?<![\w)])[-+])?(?P<number>(?>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+))"
    r"(?!\.+\d|_\w)(?:[eE](?P<power>[-+]?\d+))?(?P<rest>.*)",
    re.DOTALL,
)
_GLUED = re.compile(r"[^\W\d_]+|%")
_UNIT = re.compile(r"\s*(per cent\b|[^\W\d_]+\d*|%)")
#: Behind a unit: what makes another unit of it, km/h or kg per hour.
_PER = re.compile(r"\s*(?:/|\bper\b)\s*([^\W\d_]+)")
#: Spaces that part thousands and nothing else, as the SI wants them.
_THOUSANDS = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
#: Scripts that put no spaces between words: any character of them may begin or end a token.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What an answer is worth."""

    exact: Annotated[bool, "right by the rule of its kind"]
    partial: Annotated[float, "credit, 0 to 1; 1 where it is exact"]


def score(
    answer: str | None,
    gold: str | Sequence[str],
    kind: Kind,
    *,
    unit: str | None = None,
    units: Mapping[str, Sequence[str]] | None = None,
) -> Score:
    """One answer against its gold.

    `number`: the answer holds exactly one number, equal as a number; the declared `unit` may follow it, another unit may
    not. `phrases`: each phrase occurs with token borders on both sides, case folded; partial is the share found. `text`:
    equal after case folding and collapsing of white space. `infeasible`: only the declared mark is right. None is no
    answer, and worth nothing. CallError for another kind, for no phrases, or for a gold number that is none.
    """
    if kind == "number":
        exact = _same_number(answer or "", _only(gold), unit, {**UNITS, **(units or {})})
    elif kind == "phrases":
        return _phrases(answer or "", [gold] if isinstance(gold, str) else list(gold))
    elif kind == "text":
        exact = answer is not None and fold(answer) == fold(_only(gold))
    elif kind == "infeasible":
        exact = answer is not None and answer.strip() == _only(gold).strip()
    else:
        raise CallError(f"no answer is of the kind '{kind}'; there are: number, phrases, text, infeasible")
    return Score(exact=exact, partial=float(exact))


def summary(scores: Iterable[Score]) -> dict[str, float | int | None]:
    """Number of answers, rate of exact ones and mean of partial credit; the rates are None for no answers."""
    held = list(scores)
    return {
        "n": len(held),
        "exact_rate": sum(s.exact for s in held) / len(held) if held else None,
        "partial_mean": math.fsum(s.partial for s in held) / len(held) if held else None,
    }


def fold(text: str) -> str:
    """Case folded, composed (NFC), white space collapsed and trimmed."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def numbers(text: str) -> list[float]:
    """The numbers that stand alone in a text: not glued to letters before, thousands with commas read as one."""
    return [value for value, _, _ in _numbers(text)]


def _numbers(text: str) -> list[tuple[float, str, str]]:
    """Each number with the text behind it, and the sign of a currency before it."""
    plain = unicodedata.normalize("NFKC", _THOUSANDS.sub(",", text)).replace("\N{MINUS SIGN}", "-")
    found, start = [], 0
    while match := _NUMBER.search(plain, start):
        value = float(match["number"].replace(",", ""))
        value *= 10.0 ** int(match["power"]) if match["power"] and len(match["power"]) < 5 else 1.0
        found.append((-value if "-" in (match["sign"], match["owed"]) else value, match["rest"], match["money"] or ""))
        start = match.start("rest")
    return found


def _same_number(answer: str, gold: str, unit: str | None, units: Mapping[str, Sequence[str]]) -> bool:
    wanted = numbers(gold)
    if len(wanted) != 1:
        raise CallError(f"the gold of a number is one number, not '{gold}'")
    found = _numbers(answer)
    if len(found) != 1 or found[0][0] != wanted[0]:
        return False
    _, rest, money = found[0]
    if money and unit is not None and money not in units.get(unit, (unit,)):
        return False
    return _unit_fits(rest, unit, units)


def _unit_fits(rest: str, unit: str | None, units: Mapping[str, Sequence[str]]) -> bool:
    """Whether what stands behind a number leaves it the number that was asked for."""
    mine = {fold(unicodedata.normalize("NFKC", w)) for w in (unit, *units.get(unit, ()))} if unit is not None else set()
    said = fold(rest)
    for word in mine:
        behind = said[len(word) :]
        if said.startswith(word) and not behind[:1].isalnum():  # also one with a sign in it, such as \N{EURO SIGN}
            per = _PER.match(behind)
            return per is None or not _known(per[1], units)
    glued = _GLUED.match(rest)
    if glued is not None and fold(glued[0]) not in mine:
        return False  # 10k, 21st and 10% are other numbers than 10 and 21
    following = _UNIT.match(rest)
    if unit is None or following is None:
        return True
    word = fold(following[1])
    return word in mine or not _known(word.rstrip("0123456789"), units)


def _known(word: str, units: Mapping[str, Sequence[str]]) -> bool:
    return any(word in map(fold, words) for words in units.values())


def _phrases(answer: str, phrases: Sequence[str]) -> Score:
    if not phrases or not all(p.strip() for p in phrases):
        raise CallError("the gold of phrases is a list of at least one phrase, none of them empty")
    text = fold(answer)
    found = sum(_stands_in(fold(p), text) for p in phrases)
    return Score(exact=found == len(phrases), partial=found / len(phrases))


def _stands_in(phrase: str, text: str) -> bool:
    """Whether a phrase occurs with token borders: no letter or digit goes on, and no number goes on past its point."""
    before = "" if _UNSPACED.match(phrase[0]) else r"(?<!\w)"
    after = "" if _UNSPACED.match(phrase[-1]) else r"(?!\w)"
    if phrase[0].isdigit():
        before += r"(?<!\d[.,])(?<![^\w\s]-)(?<!\s-)(?<!^-)"
    if phrase[-1].isdigit():
        after += r"(?![.,]\d)"
    return re.search(before + re.escape(phrase) + after, text) is not None


def _only(gold: str | Sequence[str]) -> str:
    if isinstance(gold, str):
        return gold
    if len(gold) != 1:
        raise CallError(f"this kind of answer has one gold, not {len(gold)}")
    return gold[0]
