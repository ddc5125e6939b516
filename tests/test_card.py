"""The card names files that exist, and says what a reader has to know."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import build_trajectories as made
import pytest
import yaml

from cuadata import build
from cuadata.building import card, card_check, manifest
from cuadata.errors import DataError
from cuadata.proving import measured
from cuadata.reasons import REASONS

FILES = ["README.md", "data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet", "data/test.parquet"]


def test_a_card_is_checked_against_its_files(cases: Path) -> None:
    """hub/B66."""
    case = cases / "hub" / "B66-card-configs"
    files = json.loads((case / "files.json").read_text())
    for name, expect in json.loads((case / "expected.json").read_text())["expect"].items():
        found = card_check.check((case / name).read_text(), files)
        assert (found.verdict, found.reason) == (expect["verdict"], expect.get("reason"))
        assert found.configs == expect.get("configs", {})
        assert found.verdict == "keep" or found.detail


def with_configs(*configs: Any, **more: Any) -> str:
    return f"---\n{yaml.safe_dump({'configs': list(configs), **more})}---\n# Set\n"


def entry(split: str, path: Any) -> dict[str, Any]:
    return {"split": split, "path": path}


TRAIN, TEST = entry("train", "data/train-*.parquet"), entry("test", "data/test.parquet")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# no yaml", "yaml_missing"),
        ("---\nlicense: mit\n# never closed", "yaml_missing"),
        ("---\n- a\n- b\n---\n", "yaml_error"),
        ("---\nconfigs: everything\n---\n", "yaml_error"),
        ("---\na: [1\n---\n", "yaml_error"),
        (with_configs({"config_name": "", "data_files": [TRAIN]}), "config_name_missing"),
        (with_configs({"config_name": "a/b", "data_files": [TRAIN]}), "config_name_missing"),
        (with_configs({"config_name": 3, "data_files": [TRAIN]}), "config_name_missing"),
        (with_configs({"config_name": "a", "data_files": [TRAIN]}, {"config_name": "a", "data_files": [TEST]}), "duplicate_config"),
        (with_configs({"config_name": "a"}), "data_files_missing"),
        (with_configs({"config_name": "a", "data_files": []}), "data_files_missing"),
        (with_configs({"config_name": "a", "data_files": [{"split": "train"}]}), "data_files_missing"),
        (with_configs({"config_name": "a", "data_files": [{"path": "data/*"}]}), "split_missing"),
        (with_configs({"config_name": "a", "data_files": [entry("te st", "data/*")]}), "split_missing"),
        (with_configs({"config_name": "a", "data_files": [entry("train", "../*.parquet")]}), "path_outside_set"),
        (with_configs({"config_name": "a", "data_files": [entry("train", "/etc/*")]}), "path_outside_set"),
        (with_configs({"config_name": "a", "data_files": [entry("train", "*.parquet")]}), "pattern_matches_nothing"),
        (with_configs({"config_name": "a", "data_files": [entry("train", ["data/train-*", "data/no-*"])]}), "pattern_matches_nothing"),
        (with_configs({"config_name": "a", "data_files": [TRAIN, entry("test", "data/*.parquet")]}), "file_in_two_splits"),
        (with_configs({"config_name": "a", "data_files": [TRAIN, entry("test", "**/train-00001-*")]}), "file_in_two_splits"),
        (
            with_configs(*({"config_name": n, "default": True, "data_files": [TRAIN]} for n in "ab")),
            "two_defaults",
        ),
    ],
)  # fmt: skip
def test_each_fault_has_its_word(text: str, reason: str) -> None:
    found = card_check.check(text, FILES)
    assert (found.verdict, found.reason) == ("reject", reason)
    assert reason in card_check.FAULTS and found.configs == {}


@pytest.mark.parametrize(
    ("data_files", "expect"),
    [
        ("data/train-*.parquet", {"train": FILES[1:3]}),
        (["data/train-00000*", "data/test.parquet"], {"train": [FILES[3], FILES[1]]}),
        ([TRAIN, TEST], {"train": FILES[1:3], "test": FILES[3:]}),
        ([entry("train", "**/*-0000[0-1]-*.parquet")], {"train": FILES[1:3]}),
        ([entry("train", "./data/train-0000?-of-*")], {"train": FILES[1:3]}),
        ([entry("all.rows", "**")], {"all.rows": sorted(FILES[1:])}),  # README.md is no data
    ],
)
def test_every_form_that_the_hub_reads_is_read(data_files: Any, expect: dict[str, list[str]]) -> None:
    text = with_configs({"config_name": "a", "data_files": data_files})
    assert card_check.check(text, FILES).configs == {"a": expect}
    assert card_check.check(f"\ufeff{text}".replace("\n", "\r\n"), FILES).configs == {"a": expect}


@pytest.mark.parametrize(
    ("files", "expect"),
    [
        (FILES[:3] + ["data/test-00000-of-00001.parquet"], {"train": [0, 1], "test": [2]}),
        (["data/training/a.parquet", "data/dev/b.parquet"], {"train": [0], "validation": [1]}),
        (["data/my_train.parquet", "data/eval-1.parquet", "data/.hidden.parquet"], {"train": [0], "test": [1]}),
        (["data/a.parquet", "data/b[1].parquet", "data/__cache__/c.parquet"], {"train": [0, 1]}),
        (["data/data/small-00000-of-00001.parquet", "data/train.parquet"], {"small": [0]}),
    ],
)
def test_a_folder_without_data_files_has_the_splits_that_its_names_tell(
    files: list[str], expect: dict[str, list[int]]
) -> None:
    held = [one for one in files if one != "README.md"]
    text = with_configs({"config_name": "a", "data_dir": "data"})
    wanted = {split: [held[n] for n in numbers] for split, numbers in expect.items()}
    assert card_check.check(text, files).configs == {"a": wanted}


@pytest.mark.parametrize("head", ["made: 2024-99-99", "license: mit\nlicense: cc0-1.0", "configs: &a [*a]"])
def test_a_head_that_the_hub_does_not_read_is_a_fault(head: str) -> None:
    assert card_check.check(f"---\n{head}\n---\n", FILES).reason == "yaml_error"


@pytest.mark.parametrize("pattern", ["README.md", ".git*", "*"])
def test_a_pattern_that_matches_only_what_is_no_data_matches_nothing(pattern: str) -> None:
    text = with_configs({"config_name": "a", "data_files": pattern})
    found = card_check.check(text, ["README.md", ".gitattributes", "data/a.parquet"])
    assert found.reason == (None if pattern == ".git*" else "pattern_matches_nothing")


def test_two_configs_may_share_files_and_a_card_may_have_none() -> None:
    both = with_configs(*({"config_name": n, "data_files": [TRAIN]} for n in "ab"))
    assert card_check.check(both, FILES).verdict == "keep"
    assert card_check.check("---\nlicense: mit\n---\n", FILES).verdict == "keep"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> build.Report:
    folder = tmp_path_factory.mktemp("in")
    for number in range(2):
        made.save(made.checkout(f"c{number}", seed=number), folder / "my recordings")
    (folder / "my recordings" / "c1" / "steps.jsonl").write_text("")
    return build.build(
        [("recordings", folder / "my recordings")],
        folder / "set",
        workers=1,
        keep_going=True,
        gates=["no_effect:detours=false", "relation", "duplicate"],
        fractions={"train": 0.8, "validation": 0.2},
        seed=3,
        title='Orders: "a | b"',
        licence="cc-by-4.0",
        consent="Everybody who was recorded agreed to it in writing.",
        gate_recall=measured.Table(
            source="Measured on these pages.",
            gates={"relation": {"recall": "0.97 of 120", "false_rejects": "0.01 of 400"}},
        ),
    )


def test_a_build_writes_a_card_that_holds(built: build.Report) -> None:
    found = card_check.check_folder(built.out)
    assert found.verdict == "keep" and set(found.configs) == {"actions", "chunks", "transitions", "tasks"}
    text = (built.out / "README.md").read_text()
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["pretty_name"] == 'Orders: "a | b"' and head["license"] == "cc-by-4.0"
    assert [c["config_name"] for c in head["configs"] if c.get("default")] == ["actions"]
    for words in (
        "CSS px of the top-level viewport",
        "**before** the action",
        "load_dataset",
        "0.97 of 120",
        "Measured on these pages.",
        "detours False",
        "my recordings/c1: it holds no step",
        "headless-shell 150",
        "640x360@1",
        "Leak report",
        "| validation | 0.2 |",
        "- Licence: cc-by-4.0",
        "- People: Everybody who was recorded agreed",
        "| `actions` | action | click ",
    ):
        assert words in text, words
    assert str(built.out.parent) not in text


def test_the_command_on_the_card_makes_the_set_again(built: build.Report, monkeypatch: pytest.MonkeyPatch) -> None:
    import typer.testing

    from cuadata.commands.build import app

    text = (built.out / "README.md").read_text()
    found = re.search(r"```\n(cuadata build .*)\n```", text)
    assert found is not None
    words = ["again" if word == "DATASET" else word for word in shlex.split(found[1])][2:]
    monkeypatch.chdir(built.out.parent)
    done = typer.testing.CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    again, held = manifest.read(built.out.parent / "again"), manifest.read(built.out)
    assert again["files"] == held["files"] and again["splits"] == held["splits"]
    assert not manifest.damaged_files(built.out)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ["--source", "recordings", "in/recordings"]),
        ({"without": ["no_effect"]}, ["--without", "no_effect"]),
        ({"gates": ["no_effect", "duplicate"]}, ["--gates", "no_effect,duplicate"]),
        ({"gates": []}, ["--without"]),
        ({"configs": ["actions"]}, ["--configs", "actions"]),
        ({"thumbnails": 3}, ["--thumbnails", "3"]),
    ],
)
def test_the_command_is_the_shortest_that_does_the_same(
    options: dict[str, Any], words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuadata import build as builds

    made.save(made.checkout(), tmp_path / "in" / "recordings")
    monkeypatch.chdir(tmp_path)
    builds.build([("recordings", Path("in/recordings"))], "set", workers=1, **options)
    found = re.search(r"```\n(cuadata build .*)\n```", Path("set/README.md").read_text())
    assert found is not None
    said = shlex.split(found[1])
    at = said.index(words[0])
    assert said[at : at + len(words)] == words
    assert len(said) <= 9 and {flag for flag in said if flag.startswith("--")} <= {"--source", "--out", words[0]}


def test_a_path_from_elsewhere_is_its_name_on_the_card() -> None:
    paths = ("a/b", "./a", Path("a"), "/home/me/a", "../secret/a")
    assert [card.given(path) for path in paths] == ["a/b", "a", "a", "a", "a"]


def test_the_manifest_names_no_clock_and_no_host(built: build.Report) -> None:
    import getpass
    import socket
    import time

    text = (built.out / "cuadata.json").read_text()
    assert str(built.out.parent) not in text and time.strftime("%Y-%m-%d") not in text
    for word in (socket.gethostname(), getpass.getuser()):
        assert f'"{word}"' not in text


def test_a_changed_or_missing_file_is_told(built: build.Report, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(built.out, copy)
    shard = copy / built.manifest["files"][0]["path"]
    shard.write_bytes(shard.read_bytes() + b" ")
    (copy / built.manifest["files"][1]["path"]).unlink()
    assert [said.split(" ", 1)[1] for said in manifest.damaged_files(copy)] == [
        "has changed: its sha256 is another",
        "is missing",
    ]
    for text, words in (
        ("{", "does not parse"),
        ("[]", "its version is None"),
        ('{"manifest": 99}', "its version is 99"),
    ):
        (copy / "cuadata.json").write_text(text)
        with pytest.raises(DataError, match=words):
            manifest.read(copy)
    (copy / "cuadata.json").unlink()
    with pytest.raises(DataError, match="cuadata.json is not there"):
        manifest.read(copy)


def test_every_reason_on_a_card_has_its_sentence(built: build.Report) -> None:
    held = dict(built.manifest)
    held["counts"] = {**held["counts"], "rejected": dict.fromkeys(REASONS, 3)}
    text = card.render(held, card.About())
    for reason, sentence in REASONS.items():
        assert f"| `{reason}` | 3 | {sentence} |" in text
    assert "nothing was stated about who was recorded" in text
    assert "No licence was given" in text and "\nlicense:" not in text
