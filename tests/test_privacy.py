"""Secrets and personal data: found by form and by the word beside them, masked alike everywhere, and never let out."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import publishing
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuadata import dataset, hub, privacy
from cuadata.errors import CallError, DataError
from cuadata.image import rgb
from cuadata.judging import gating, sensitive
from cuadata.publishing import hub_checks, ocr, redaction
from cuadata.registry import gates
from cuadata.rows import Candidate, Target
from cuadata.types import Action, BBox, Point

_KEY = "sk_" + "live_" + "a1B2c3D4" * 3
SECRETS = [
    ("card_number", "pay with 4242 4242 4242 4242 today"),
    ("card_number", "5555-5555-5555-4444"),
    ("email", "write to jane.doe@firm.co.uk"),
    ("email", "https://a.test/?u=jane%40firm.com"),
    ("token", "https://a.test/x?access_token=abcdef123456&x=1"),
    ("token", "https://a.test/#id_token=abcdef123456"),
    ("password", "https://jane:hunter2@a.test/"),
    ("password", "the password is hunter2"),
    ("one_time_code", "Your verification code: 482 913"),
    ("one_time_code", "482913 is your login code"),
    ("api_key", _KEY),
    ("api_key", "AbC123xYz789QwErTy456UiOp0AsDfG"),
    ("private_key", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"),
    ("phone", "+44 20 7946 0958"),
    ("phone", "(212) 736-5000"),
    ("account_number", "GB82 WEST 1234 5698 7654 32"),
]
HARMLESS = [
    "4242 4242 4242 4241",
    "order 1700000000000, item 90210",
    "you@example.com, a@b.test, icon@2x.png",
    "https://shop.test/search?q=token&page=2",
    "d41d8cd98f00b204e9800998ecf8427e",
    "zip code 90210, error code 404",
    "#main > div:nth-of-type(3) > input.form-control__input--large",
    "202-555-0143",
    "enter the password",
    "2026-01-02 12:33:22.123456",
    "$1,234.56 and 192.168.100.200",
]


@pytest.mark.parametrize(("kind", "text"), SECRETS, ids=[kind for kind, _ in SECRETS])
def test_found_and_masked(kind: str, text: str) -> None:
    assert [one.kind for one in privacy.find(text)] == [kind]
    clean = privacy.masked(text)
    assert privacy.find(text)[0].text not in clean
    assert privacy.find(clean) == ()


@pytest.mark.parametrize("text", HARMLESS)
def test_not_found(text: str) -> None:
    assert privacy.find(text) == ()


@settings(max_examples=30)
@given(st.text(max_size=60))
def test_masking_ends(text: str) -> None:
    found = privacy.find(text)
    assert all(text[one.start : one.end] == one.text for one in found)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))


@given(
    st.lists(
        st.one_of(
            st.sampled_from([text for _, text in SECRETS] + HARMLESS),
            st.text(max_size=12),
            st.text("0123456789 .()-+", min_size=3, max_size=20),
            st.from_regex(r"[A-Za-z0-9_+-]{10,40}", fullmatch=True),
            st.sampled_from(
                ["156.0.8078.108", " code", "otp", "is your ", "sk_live_", "ghp_", "+1", "(212) ", "212-555 7788"]
            ),
            st.sampled_from(
                [
                    "\u0661\u0662\u0663\u0664",
                    "s\u0131d=abcdefgh",
                    "\u017fecret=abcdefgh",
                    "your code ",
                    "pin",
                    "DE89",
                    "&otp=",
                ]
            ),
        ),
        max_size=4,
    ),
    st.sampled_from(["", " ", "\n"]),
)
@settings(max_examples=400)
def test_scans_that_show_nothing_are_right(parts: list[str], between: str) -> None:
    text = between.join(parts)
    if privacy.surely_none(text):
        assert privacy.find(text) == ()
        assert all(privacy.find(part) == () for part in parts)


@pytest.mark.parametrize("text", [text for _, text in SECRETS])
def test_scans_stop_at_every_kind(text: str) -> None:
    assert not privacy.surely_none(text) and not privacy.surely_none(f"before\n{text}\nafter")


def test_scans_let_common_texts_pass() -> None:
    for text in (
        "Click on the 'Share page 3' button",
        '{"recording": "t1000", "step": 12}',
        "div[data-id=row] > a.x",
        "Größe wählen",
        # What a recorded step says of itself: a browser's version is no telephone number, `task_` no key's beginning.
        '{"recording": "modal/0/oracle/seed0-sample0", "browser": "headless-shell 156.0.8078.108", "task_failed": true}',
        '{"recording": "code_entry/0/oracle/seed0-sample0", "browser": "headless-shell 156.0.8078.108"}',
        "code_entry-article-mint-slide",
    ):
        assert privacy.surely_none(text)


def test_a_finding_does_not_show_what_it_found() -> None:
    assert "hunter2" not in repr(privacy.find("password: hunter2"))


def typing(text: str, name: str, **more: Any) -> dict[str, Any]:
    target = Target(role="textbox", name=name, bbox=BBox(10, 10, 20, 10), point=Point(20.0, 15.0))
    return {"action": Action(type="type", text=text), "target": target, **more}


@pytest.mark.parametrize(
    ("more", "keep"),
    [
        ({}, "yes"),
        ({"instruction": "Write to jane.doe@firm.com"}, "no"),
        (typing("hunter2", "Password"), "no"),
        (typing("********", "Password"), "yes"),
        (typing("u7x", "Password", seed_block="3"), "yes"),
        (typing("hunter2", "Search"), "yes"),
        ({"history": ("typed '4242424242424242' into 'Card'",)}, "no"),
        ({"provenance": json.dumps({"url": "https://a.test/?session_id=abcdef12345"})}, "no"),
    ],
)
def test_the_gate(more: dict[str, Any], keep: str) -> None:
    verdict = gates["sensitive_value"](Candidate(example=publishing.example(1, **more)))
    assert verdict.keep == keep
    assert "hunter2" not in verdict.evidence and "jane" not in verdict.evidence


@pytest.mark.parametrize(
    ("more", "licence", "public", "kinds"),
    [
        ({}, "", False, set()),
        ({}, "", True, {"licence_missing"}),
        ({"instruction": "mail jane.doe@firm.com"}, "mit", False, {"email"}),
        ({"provenance": json.dumps({"licence": "cc-by-nc-4.0"})}, "mit", False, {"licence_restricted"}),
        ({"provenance": json.dumps({"dataset": "ScreenSpot-v2"})}, "mit", False, {"benchmark_leak"}),
    ],
)
def test_checks_before_publication(
    tmp_path: Path, more: dict[str, Any], licence: str, public: bool, kinds: set[str]
) -> None:
    folder = publishing.dataset(tmp_path / "set", 5, licence=licence, **more)
    found = hub_checks.check(folder, public=public)
    assert {one.kind for one in found.problems} == kinds
    assert not hub_checks.check(folder, public=public, allow=kinds).problems
    if kinds:
        with pytest.raises(DataError, match="nothing was uploaded") as raised:
            found.refuse()
        assert "jane" not in str(raised.value)


def test_splits_that_leak_are_refused(tmp_path: Path) -> None:
    folder = publishing.dataset(tmp_path / "set", 12)
    rows = list(dataset.read(folder, "actions", "train"))
    dataset.write(rows[:2], type(rows[0]), folder / "actions", name="test", force=True)
    found = hub_checks.check(folder, public=False)
    assert {one.kind for one in found.problems} == {"split_leak"}
    with pytest.raises(DataError, match="has changed"):
        hub.read(folder)


def test_rows_of_other_columns_are_not_passed_over(tmp_path: Path) -> None:
    folder = publishing.dataset(tmp_path / "set", 5)
    shard = min((folder / "actions").glob("train-*.parquet"))
    pq.write_table(pq.read_table(shard).select(["id", "instruction"]), shard)
    with pytest.raises(DataError, match="rows of 'actions' have no trajectory_id"):
        hub_checks.check(folder, public=False)


@pytest.mark.parametrize("text", ["{not json", "[]", "null", "[" * 100_000])
def test_a_provenance_that_cannot_be_read_stops_a_publication(tmp_path: Path, text: str) -> None:
    folder = publishing.dataset(tmp_path / "set", 5, provenance=text)
    with pytest.raises(DataError, match="provenance is no JSON object"):
        hub_checks.check(folder, public=False)


@pytest.mark.parametrize(
    ("splits", "name"),
    [
        ([], "kept_together"),
        ({"kept_together": [{}], "leaks": {}}, "kept_together"),
        ({"kept_together": [], "leaks": "x"}, "leaks"),
    ],
)
def test_a_manifest_of_other_splits_is_named(tmp_path: Path, splits: object, name: str) -> None:
    folder = publishing.dataset(tmp_path / "set", 5)
    file = folder / "cuadata.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"splits": splits}))
    with pytest.raises(DataError, match=f"cuadata.json.*{name}.*build the dataset again"):
        hub_checks.check(folder, public=False)


def test_a_kind_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="no kind of finding"):
        hub_checks.check(tmp_path, public=False, allow=("colour",))


def test_redaction_keeps_picture_text_and_action_of_one_story(tmp_path: Path) -> None:
    secret = "jane.doe@firm.com"
    folder = publishing.dataset(
        tmp_path / "set", 6, **typing(secret, f"Mail to {secret}", instruction=f"Enter {secret}")
    )
    out = tmp_path / "clean"
    assert redaction.redact(folder, out) == {"email": 1}
    assert not hub_checks.check(out, public=False).problems
    before, after = (
        {row["id"]: row for split in ("train", "test") for row in dataset.open_rows(one, "actions", split)}
        for one in (folder, out)
    )
    assert before.keys() == after.keys()
    row = after["t003/0"]
    mask = row["action"]["text"]
    assert mask == "person1@example.com"
    assert row["instruction"] == f"Enter {mask}" and row["target"]["name"] == f"Mail to {mask}"
    pixels = rgb(row["image"]["bytes"])
    assert not pixels[10:20, 10:30].any() and pixels[30:].any()
    assert (pixels[30:] == rgb(before["t003/0"]["image"]["bytes"])[30:]).all()
    for name in before.keys() - {"t003/0"}:
        assert after[name]["image"] == before[name]["image"], "other pictures are not encoded again"
    hub.read(out)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["4242 4242 4242 4242"], ["Pay 42424242", "42424242 now"]),
        (["jane@firm.com"], ["jane @firm.com"]),
        (["Pay", "now"], ["Pay 42424242", "42424242 now"]),
        (["", " ", "absent"], []),
    ],
)
def test_lines_that_show_a_secret(words: list[str], expected: list[str]) -> None:
    texts = ("Pay 42424242", "42424242 now", "jane @firm.com")
    lines = [ocr.Line(text, BBox(0, 20 * n, 90, 16)) for n, text in enumerate(texts)]
    assert [line.text for line in ocr.showing(lines, words)] == expected


def test_a_password_is_masked_in_its_own_trajectory_only() -> None:
    made = redaction.Redaction()
    row = {
        "trajectory_id": "a",
        "step_index": 0,
        "instruction": "word word",
    }
    made.learn({**row, "action": {"type": "type", "text": "word"}, "target": {"name": "Password", "bbox": None}})
    clean, other = made.apply(row), made.apply({**row, "trajectory_id": "b"})
    assert clean is not None and other is not None
    assert "word" not in clean["instruction"].replace("password", "") and other["instruction"] == "word word"


def test_passwords_and_codes_of_made_up_pages_stay_and_keys_do_not() -> None:
    told = "Your verification code: 482913, the password is hunter2"
    made = publishing.example(1, instruction=told, seed_block="entry/0")
    assert sensitive.in_example(made) == []
    assert [one.kind for one in sensitive.in_example(publishing.example(1, instruction=told))] == [
        "one_time_code",
        "password",
    ]
    keyed = publishing.example(1, instruction=_KEY, seed_block="entry/0")
    assert [one.kind for one in sensitive.in_example(keyed)] == ["api_key"]


def test_what_is_typed_is_looked_at_as_in_a_row() -> None:
    for name, text in (("Password", "hunter22"), ("City", "Oslo"), ("City", "call 212-555-7788"), ("Password", "****")):
        target = Target(role="textbox", name=name, bbox=BBox(10, 10, 20, 10), point=Point(20.0, 15.0))
        typed = publishing.example(1, action=Action(type="type", text=text), target=target)
        assert sensitive.in_example(typed) == list(sensitive.in_row(sensitive._plain(typed)))


def test_a_text_that_is_known_to_be_clean_hides_none_beside_it() -> None:
    clean = publishing.example(1, instruction="Open the mail")
    assert sensitive.in_example(clean) == sensitive.in_example(clean) == []
    told = publishing.example(1, instruction="Open the mail", history=("wrote to bo@firma.de",))
    for _ in range(2):
        assert [one.place for one in sensitive.in_example(told)] == ["history"]


def test_a_build_lets_a_kind_stay_where_it_is_told_to() -> None:
    from cuadata.commands.build import _gates

    assert _gates(None, []) is None
    asked = _gates(["box", "sensitive_value"], ["email"]) or []
    assert asked == ["box", 'sensitive_value:allow=["email"]']
    (gate,) = gating.choose(asked[1:])
    row = Candidate(example=publishing.example(1, instruction="write to jane.doe@firm.co.uk"))
    assert gate(row).keep == "yes" and gating.choose(["sensitive_value"])[0](row).keep == "no"
    with pytest.raises(CallError, match="no kind of sensitive value"):
        _gates(None, ["mail"])
