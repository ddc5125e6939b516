"""What must not leave with a dataset: secrets and personal data in any text, and masks of the same kind for them.

Found are things that show by their own form (a key's prefix, a card's check digit) or by the word beside them (a
password, a one-time code). Names of people and postal addresses have no such form and are not looked for.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

# fmt: off
Kind = Literal[
    "password", "token", "api_key", "private_key", "card_number", "account_number", "one_time_code", "email", "phone",
]
# fmt: on
KINDS: Final[dict[str, str]] = {
    "password": "a password, by the word or the field beside it",
    "token": "a session, signature or access token in an address or a header",
    "api_key": "a key by its issuer's prefix, or a random string of a key's make",
    "private_key": "a private key in PEM",
    "card_number": "a payment card's number: an issuer's range and Luhn's check digit",
    "account_number": "an IBAN whose check digits hold",
    "one_time_code": "a code sent to confirm who somebody is",
    "email": "an e-mail address outside the domains reserved for examples (RFC 2606)",
    "phone": "a telephone number outside those reserved for fiction",
}
#: Values that hide something already, or only stand for it.
_MASKED = re.compile(
    r"masked-.*|[*\u2022x.]{3,}|<.*>|\{.*\}|\[.*\]|redacted|null|none|true|false|undefined|0{3}[\d -]*", re.IGNORECASE
)
_MASK = re.compile(rf"(?<![\w-])masked-(?:{'|'.join(kind.replace('_', '-') for kind in KINDS)})-\d+(?!\w)")
_SECRET_NAME = (
    r"(?:access|refresh|id|auth|csrf|xsrf|session|api|reset|invite|login|magic|x-amz-security)?[_-]?"
    r"(?:token|jwt)|api[_-]?key|client[_-]?secret|secret|password|passwd|pwd|passcode|otp|auth|session(?:[_-]?id)?|sid|"
    r"sig(?:nature)?|x-amz-signature|x-amz-credential|x-goog-signature|phpsessid|jsessionid"
)
_IN_QUERY = re.compile(rf"(?:[?&#;]|&amp;)(?P<name>{_SECRET_NAME})=(?P<secret>[^&#\s\"'<>;]+)", re.IGNORECASE)
_IN_AUTHORITY = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@]*:(?P<secret>[^\s/@]+)@", re.IGNORECASE)
_BEARER = re.compile(r"\b(?:bearer|basic)\s+(?P<secret>[\w.~+/=-]{16,})", re.IGNORECASE)
#: Prefixes as their issuers document them.
_PREFIXED = re.compile(
    r"(?<![\w-])(?P<secret>"
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|"
    r"github_pat_[A-Za-z0-9_]{22,}|glpat-[\w-]{20,}|hf_[A-Za-z0-9]{30,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{35}|"
    r"xox[abeprs]-[\w-]{10,}|ya29\.[\w-]{20,}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{40,}|SG\.[\w-]{16,}\.[\w-]{16,}|"
    r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"
    r")"
)
_PEM = re.compile(
    r"(?P<secret>-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?:.*?-----END (?:[A-Z]+ )*PRIVATE KEY-----|.*))", re.DOTALL
)
_PASSWORD = re.compile(
    r"\b(?:pass(?:word|code|phrase|wort)|passwd|pwd)\b[\"']?\s*(?:\bis\b|[:=])\s*[\"'\u201c\u2018]?"
    r"(?P<secret>[^\s\"'\u201d\u2019<>,;]{4,})",
    re.IGNORECASE,
)
_CODE_WORD = (
    r"(?:verification|confirmation|security|one[- ]time|log[- ]?in|sign[- ]?in|authentication|authenticator|2fa|two[- ]factor|sms)"
    r"[ -](?:pass)?(?:code|pin|password)|\botp\b"
)
_CODE_AFTER = re.compile(
    rf"(?:{_CODE_WORD})[^\d\n]{{0,24}}?(?<!\d)(?P<secret>\d{{3}}[ -]?\d{{3}}|\d{{4,8}})(?!\d)", re.IGNORECASE
)
_CODE_BEFORE = re.compile(r"(?<!\d)(?P<secret>\d{4,8})(?!\d) is your [^\n.]{0,30}?(?:code|otp|pin)\b", re.IGNORECASE)
_CARD = re.compile(r"(?<![\d.\w-])(?P<secret>\d(?:[ -]?\d){12,18})(?![\d\w]|[.-]\d)")
_IBAN = re.compile(r"(?<!\w)(?P<secret>[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)(?!\w)")
_EMAIL = re.compile(r"(?<![\w.+-])(?P<secret>[\w.+-]{1,64}(?:@|%40)(?:[\w-]+\.)+[a-z]{2,24})(?![\w-])", re.IGNORECASE)
_NO_PERSON = re.compile(
    r"(?:@|%40)(?:[\w-]+\.)*(?:example(?:\.(?:com|org|net|edu))?|test|invalid|localhost|local|png|jpe?g|webp|gif|svg|js|css)$",
    re.IGNORECASE,
)
_PHONE = re.compile(
    r"(?<![\w+.-])(?P<secret>\+[1-9](?:[ .()-]{0,2}\d){7,14}|(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[-. ])[2-9]\d{2}[-. ]\d{4})(?![\w-]|\.\d)"
)
_FICTION = re.compile(r"555\D?01\d{2}$")
_RANDOM = re.compile(r"(?<![\w/+=.-])(?P<secret>[A-Za-z0-9_+-]{28,128}={0,2})(?![\w/+=-])")
#: Bits a character above which a mixed string is taken for random: keys of base62 lie above 4.2 from 32 characters on.
ENTROPY = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A secret or personal datum in a text."""

    kind: Annotated[Kind, "what it is"]
    start: Annotated[int, "where it begins, characters"]
    end: Annotated[int, "behind its last character"]
    text: Annotated[str, "the thing itself: never to be shown or written"] = field(repr=False)


def find(text: str) -> tuple[Finding, ...]:
    """Everything in a text that must not leave, in order, without overlaps; what is masked already is not found again."""
    if len(text) < 4:
        return ()
    return _found(text) if len(text) < _REMEMBERED else _found.__wrapped__(text)


#: Bytes as the scans of `surely_none` see them: an `a` for what keys are made of, `A` and `0` for capitals and digits, and a
#: `-` for what stands between the digits of a telephone number.
_RANDOM_BYTES: Final = bytes(97 if n < 128 and (chr(n).isalnum() or chr(n) in "_+-") else 32 for n in range(256))
_KEY_BYTES: Final = bytes(97 if n >= 128 or chr(n).isalnum() or chr(n) in "_+/=.-" else 32 for n in range(256))
_HEAD_BYTES: Final = bytes(65 if 65 <= n <= 90 else 48 if 48 <= n <= 57 else 32 for n in range(256))
_PHONE_BYTES: Final = bytes(48 if 48 <= n <= 57 else 45 if chr(n) in " .-" else 32 for n in range(256))
_KINDS: Final = bytes(
    48 if 48 <= n <= 57 else 65 if 65 <= n <= 90 else 97 if 97 <= n <= 122 else 32 for n in range(256)
)
_RANDOM_RUN: Final = re.compile(r"[A-Za-z0-9_+-]{28,}")
#: Digits beyond ASCII, and the letters beyond it that patterns take for `i`, `k` and `s`.
_BEYOND_ASCII: Final = re.compile("(?![0-9])\\d|[\u0130\u0131\u017f\u212a]")
_ASCII: Final = bytes(range(128))
#: Words without which none of the detectors that go by words finds anything; of the second kind only beside a "=".
_WORDS: Final = ("@", "%40", "-----begin", "bearer", "basic", "pass", "pwd")
_CODE_WORDS: Final = (" code", "-code", " passcode", "-passcode", " pin", "-pin", "otp", " is your ")
_QUERY_WORDS: Final = ("token", "jwt", "key", "secret", "otp", "auth", "session", "sid", "sig", "credential")
_PREFIXES: Final = ("k_live_", "k_test_", "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "hf_", "akia",
                    "asia", "aiza", "xox", "ya29.", "npm_", "pypi-", "sg.", "eyj")  # fmt: skip


def surely_none(text: str) -> bool:
    """Whether a few scans show that `find` finds nothing in a text, or in any part of it; false says nothing.

    Every detector needs one of these: a word of its own, the digits of a card or a telephone number (four beside a word for
    codes), the head of an IBAN, or a run of 14 characters as keys have them, with an issuer's prefix or twice as long. A
    browser's version and the name of a recording look like the last three at a glance and stand in every row, so what is
    suspicious is looked at once more.
    """
    low = text.lower()
    if _holds(low, _WORDS) or ("=" in low and _holds(low, _QUERY_WORDS)):
        return False
    data = text.encode("utf-8", "surrogatepass")
    beyond = "" if text.isascii() else data.translate(None, _ASCII).decode("utf-8", "surrogatepass")
    if beyond and _BEYOND_ASCII.search(beyond):
        return False
    # What `find` of bytes does, their `in` does in twice the time.
    digits = data.translate(_HEAD_BYTES, b" .()-")
    if digits.find(b"0000") >= 0 and (
        _holds(low, _CODE_WORDS) or (digits.find(b"00000000") >= 0 and _may_be_numbers(data))
    ):
        return False
    if data.translate(_HEAD_BYTES).find(b"AA00") >= 0:
        return False
    if data.translate(_KEY_BYTES).find(b"a" * 14) < 0:
        return True
    if data.translate(_RANDOM_BYTES).find(b"a" * 28) >= 0 and any(map(_may_be_random, _RANDOM_RUN.findall(text))):
        return False
    return not _holds(low, _PREFIXES)


def _may_be_numbers(data: bytes) -> bool:
    """Whether eight digits near each other may be a telephone number, with "+" or as 000 000-0000, or a card's 13 or more."""
    return (
        b"+" in data or b"000-0000" in data.translate(_PHONE_BYTES) or b"0" * 13 in data.translate(_HEAD_BYTES, b" -")
    )


def _may_be_random(run: str) -> bool:
    """Whether a part of this run may be of a key's make: three digits, three capitals and three small letters at least."""
    return min(_make(run)) >= 3


def _holds(text: str, words: tuple[str, ...]) -> bool:
    for word in words:  # a generator would cost as much as the scans
        if word in text:
            return True
    return False


#: Texts shorter than this are remembered, characters: instructions, addresses and histories come with every step anew.
_REMEMBERED = 1024


@functools.lru_cache(maxsize=4096)
def _found(text: str) -> tuple[Finding, ...]:
    found: list[Finding] = []
    low = text.lower()
    for kind, pattern, holds, needs in _DETECTORS:
        for match in pattern.finditer(text) if needs(low) else ():
            secret = match["secret"]
            if _MASKED.fullmatch(secret) or not holds(secret):
                continue
            start, end = match.span("secret")
            if all(end <= one.start or start >= one.end for one in found):
                found.append(Finding(kind=kind, start=start, end=end, text=secret))
    return tuple(sorted(found, key=lambda one: one.start))


def asks_for_secret(*words: str | None) -> bool:
    """Whether a field is for a secret, by its name, role or attributes."""
    return any(word and _SECRET_FIELD.search(word) for word in words)


def is_masked(text: str) -> bool:
    """Whether a text only stands for a secret."""
    return _MASKED.fullmatch(text) is not None


def holds_mask(text: str) -> bool:
    """Whether a text stands for a secret, or has something in it that does."""
    return is_masked(text) or _MASK.search(text) is not None


def mask(kind: Kind, number: int = 1, like: str = "") -> str:
    """What stands in place of a secret: of the same kind, told apart by its number, and never found by `find`.

    `like`: the secret, whose digits and separators give a number's shape.
    """
    if kind == "email":
        return f"person{number}@example.com"
    if kind in ("card_number", "one_time_code", "phone") and like:
        digits = sum(map(str.isdigit, like))
        left = iter(str(number % 10 ** max(1, digits - 3)).zfill(digits))
        return "".join(next(left) if one.isdigit() else one for one in like)
    return f"masked-{kind.replace('_', '-')}-{number}"


def masked(text: str, kinds: Collection[str] = tuple(KINDS)) -> str:
    """A text with everything of these kinds that `find` finds in it masked, each by itself."""
    parts: list[str] = []
    at = 0
    for number, one in enumerate((one for one in find(text) if one.kind in kinds), 1):
        parts += [text[at : one.start], mask(one.kind, number, one.text)]
        at = one.end
    return "".join([*parts, text[at:]])


def mask_url(url: str) -> str:
    """An address without passwords, tokens and personal data; everything else of it stands as it was."""
    return masked(url)


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0


#: Ranges and lengths of the card issuers, by ISO/IEC 7812.
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|"
    r"(?:6011|65\d{2}|64[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}"
)
_SECRET_FIELD = re.compile(
    r"pass(?:word|code|phrase|wort)|\bpin\b|\bcvv?c?\b|\botp\b|one[- ]time[- ]code|\bsecret\b|cc-(?:number|csc)",
    re.IGNORECASE,
)


def _is_card(text: str) -> bool:
    digits = re.sub(r"\D", "", text)
    return _ISSUERS.fullmatch(digits) is not None and len(set(digits)) > 1 and luhn(digits)


def _is_iban(text: str) -> bool:
    """ISO 13616: the rearranged number is 1 modulo 97."""
    bare = text.replace(" ", "")
    return 15 <= len(bare) <= 34 and int("".join(str(int(one, 36)) for one in bare[4:] + bare[:4])) % 97 == 1


def _is_random(text: str) -> bool:
    return min(_make(text)) >= 3 and entropy(text) >= ENTROPY


def _make(text: str) -> tuple[int, int, int]:
    """How many digits, capitals and small letters a text of ASCII has."""
    kinds = text.encode("ascii").translate(_KINDS)
    return kinds.count(b"0"), kinds.count(b"A"), kinds.count(b"a")


def entropy(text: str) -> float:
    """Shannon's entropy of the characters, bits a character."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values()) if text else 0.0


def _is_person(text: str) -> bool:
    return _NO_PERSON.search(text) is None


def _is_phone(text: str) -> bool:
    return _FICTION.search(re.sub(r"[ .()]", "-", text)) is None and len(set(re.sub(r"\D", "", text))) > 2


def _anything(text: str) -> bool:
    return True


def _is_long(text: str) -> bool:
    return len(text) >= 6


#: The surest first: what one has found, a later one does not find again.
def _one_of(*words: str) -> Callable[[str], bool]:
    return lambda low: any(word in low for word in words)


_IBAN_HEAD = re.compile(r"[a-z]{2}\d{2} ?[a-z0-9]{4}")
_DIGITS = re.compile(r"\d(?:[ .()-]{0,2}\d){3}")
_RUN = re.compile(r"[\w+/=.-]{14}")


def _many_digits(low: str) -> bool:
    return _DIGITS.search(low) is not None


def _begins_an_iban(low: str) -> bool:
    return _IBAN_HEAD.search(low) is not None


def _long_run(low: str) -> bool:
    return _RUN.search(low) is not None


#: Kind, pattern, what else must hold, and what a lowered text needs before the pattern is worth its time.
_DETECTORS: Final[tuple[tuple[Kind, re.Pattern[str], Callable[[str], bool], Callable[[str], bool]], ...]] = (
    ("private_key", _PEM, _anything, _one_of("-----begin")),
    ("api_key", _PREFIXED, _anything, _long_run),
    ("password", _IN_AUTHORITY, _anything, _one_of("@")),
    ("token", _IN_QUERY, _is_long, _one_of("=")),
    ("token", _BEARER, _anything, _one_of("bearer", "basic")),
    ("password", _PASSWORD, _anything, _one_of("pass", "pwd")),
    ("card_number", _CARD, _is_card, _many_digits),
    ("account_number", _IBAN, _is_iban, _begins_an_iban),
    ("one_time_code", _CODE_AFTER, _anything, _one_of("code", "pin", "password", "otp")),
    ("one_time_code", _CODE_BEFORE, _anything, _one_of("code", "pin", "otp")),
    ("email", _EMAIL, _is_person, _one_of("@", "%40")),
    ("phone", _PHONE, _is_phone, _many_digits),
    ("api_key", _RANDOM, _is_random, _long_run),
)
