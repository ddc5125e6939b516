"""Secrets are found in every spelling, parts of them too, and what is no secret stays as it was."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from cuadata.masking.secrets import Secrets
from cuadata.types import Element

SECRET = 'Orchid&"9 <x>'


@pytest.fixture
def secrets() -> Secrets:
    held = Secrets()
    for end in range(1, len(SECRET) + 1):
        held.learn(SECRET[:end], "password")
    return held


@pytest.mark.parametrize(
    "spelling",
    [
        SECRET, quote(SECRET), SECRET.upper(), SECRET[::-1], json.dumps(SECRET)[1:-1], SECRET.encode().hex(),
        base64.b64encode(SECRET.encode()).decode(), base64.b64encode(b"x" + SECRET.encode()).decode(),
        base64.b64encode(b"user:" + SECRET.encode() + b"!").decode(), "Orchid&amp;&quot;9 &lt;x&gt;", SECRET[:7], SECRET[1:8],
    ],
)  # fmt: skip
def test_every_spelling_is_masked(secrets: Secrets, spelling: str) -> None:
    clean = secrets.text(f"before {spelling} after")
    assert spelling[2:-2] not in clean
    assert clean.startswith("before ") and clean.endswith(" after")


@pytest.mark.parametrize(
    "text", ["", "An orange", "sample.user", "ann@example.org", "12.50", "Orch", "https://a.example/list?page=2"]
)
def test_what_is_no_secret_stays(secrets: Secrets, text: str) -> None:
    assert (secrets.text(text) == text) is (text != "Orch")  # four characters of its beginning stood in the field


@pytest.mark.parametrize(
    "address",
    ["https://a.example/in?token=Zx81kQ", "https://a.example/in#access_token=Zx81kQ", "https://a.example/cb?code=Zx81kQ&x=1",
     "https://a.example/?SAMLResponse=Zx81kQ", "https://ann:Zx81kQ@a.example/"],
)  # fmt: skip
def test_tokens_in_addresses_are_masked(address: str) -> None:
    clean = Secrets().text(address)
    assert "Zx81kQ" not in clean and "a.example" in clean
    assert Secrets().text(clean) == clean


def test_a_code_typed_in_boxes_of_one_character_is_known() -> None:
    secrets = Secrets()
    for digit in "493817":
        secrets.learn(digit, "one_time_code")
    assert "493817" not in secrets.text("Your code 493817 was right")


def test_a_short_secret_is_masked_where_it_stands_alone() -> None:
    secrets = Secrets()
    secrets.learn("123", "card_number")
    assert secrets.text("123") != "123"
    assert secrets.text("12345 apples") == "12345 apples"


def test_what_stands_in_a_secrets_field_is_a_placeholder() -> None:
    clean = Secrets().element(Element(id=1, role="textbox", name="Password", text="\u2022\u2022\u2022"), "password", 2)
    assert (clean.text, clean.name) == ("masked-password-2", "Password")


def test_nothing_known_is_shown_by_mistake(secrets: Secrets) -> None:
    assert "Orchid" not in repr(secrets)


@pytest.mark.parametrize(
    "spelling",
    [
        ".".join("Quartz#Heron-82"), "\u200b".join("Quartz#Heron-82"), "Qua rtz #He ron -82", "Q_u_a_r_t_z_Heron82",
        "".join(chr(ord(one) + 0xFEE0) for one in "Quartz#Heron-82"), "".join(f"&#{ord(one)};" for one in "Quartz#Heron-82"),
        "".join(f"&#x{ord(one):X};" for one in "Quartz#Heron-82"), "quartzheron82",
    ],
)  # fmt: skip
def test_what_stands_between_the_letters_hides_no_secret(spelling: str) -> None:
    held = Secrets()
    held.learn("Quartz#Heron-82", "password")
    assert held.text(f"before {spelling} after") == "before masked-password-1 after"


def test_a_code_is_not_found_in_numbers_that_only_share_digits() -> None:
    held = Secrets()
    held.learn("739214", "one_time_code")
    for text in ("7,392 of 14,000", "739 21", "Order 921473", "12:39:21"):
        assert held.text(text) == text
