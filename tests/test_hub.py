"""Publishing: to a real server over HTTP, with what goes wrong on the way."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import publishing
import pytest
from hub_server import Fault, Hub
from publishing import REPO, Publisher

from cuadata.errors import DataError
from cuadata.publishing import hub_plan, hub_remote


@pytest.fixture(scope="module")
def server() -> Iterator[Hub]:
    with Hub() as running:
        yield running


@pytest.fixture
def hub(server: Hub) -> Hub:
    server.forget()
    return server


@pytest.fixture(scope="module")
def publish(server: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Publisher]:
    made = Publisher(server, tmp_path_factory.mktemp("home"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publishing.dataset(tmp_path_factory.mktemp("data") / "set")


def test_visibility_case(cases: Path) -> None:
    expected = json.loads((cases / "hub/B67-visibility-before-upload/expected.json").read_text())["expect"]
    for one in expected["decisions"]:
        assert hub_plan.decide(one["remote"], one["asked_private"]) == one["decision"], one


def test_stale_shards_case(cases: Path) -> None:
    folder = cases / "hub/B64-stale-shards-on-republish"
    remote, push = (json.loads((folder / name).read_text()) for name in ("remote.json", "push.json"))
    expected = json.loads((folder / "expected.json").read_text())["expect"]
    found = hub_plan.change(remote["files"], push["new_files"])
    assert list(found.add) == expected["add"]
    assert list(found.delete) == expected["delete"]
    assert list(found.result(remote["files"])) == expected["final_files"]


@pytest.mark.parametrize(
    ("remote", "new", "stale"),
    [
        (["d/train-hard-00000-of-00001.parquet"], ["d/train-00000-of-00001.parquet"], []),
        (
            ["train-00000-of-00002.parquet", "d/train-00000-of-00002.parquet"],
            ["train-00000-of-00001.parquet"],
            ["train-00000-of-00002.parquet"],
        ),
        (
            ["d/train-00000-of-00002-0123456789abcdef.parquet"],
            ["d/train-00000-of-00001.parquet"],
            ["d/train-00000-of-00002-0123456789abcdef.parquet"],
        ),
        (["d/train-00000-of-00001.parquet"], ["d/train-00000-of-00001.parquet"], []),
        (
            ["d/train-00000-of-00001.json", "d/trains-00000-of-00001.parquet", "e/d/train-00000-of-00001.parquet"],
            ["d/train-00000-of-00003.parquet"],
            [],
        ),
    ],
)
def test_only_the_same_folder_and_split_is_stale(remote: list[str], new: list[str], stale: list[str]) -> None:
    assert list(hub_plan.change(remote, new).delete) == stale


def test_the_card_keeps_configs_that_stay_and_drops_those_that_go() -> None:
    local = "---\nlicense: mit\nconfigs:\n- config_name: a\n  data_files:\n  - split: train\n    path: a/train-*.parquet\n---\n# A\n"
    remote = (
        "---\nconfigs:\n- config_name: a\n  data_files:\n  - split: train\n    path: a/old-*.parquet\n  - split: test\n"
        "    path: a/test-*.parquet\n- config_name: b\n  data_files:\n  - split: train\n    path: b/*.parquet\n"
        "- config_name: gone\n  data_files:\n  - split: train\n    path: gone/*.parquet\n---\n"
    )
    files = ["a/train-00000-of-00001.parquet", "a/test-00000-of-00001.parquet", "b/x.parquet"]
    head = hub_plan.front_matter(hub_plan.merged_card(local, remote, files))
    assert head["license"] == "mit"
    assert {c["config_name"]: [e["split"] for e in c["data_files"]] for c in head["configs"]} == {
        "a": ["train", "test"],
        "b": ["train"],
    }
    assert hub_plan.merged_card(local, None, files) == local


def test_configs_of_every_form_stay_as_they_are() -> None:
    """One pattern, several without splits, a folder; of two defaults the publisher's own is left."""
    local = "---\nconfigs:\n- config_name: a\n  default: true\n  data_files:\n  - split: train\n    path: a/*.parquet\n---\n"
    kept: list[dict[str, Any]] = [
        {"config_name": "pattern", "data_files": "b/*.parquet"},
        {"config_name": "several", "data_files": ["b/*.parquet", "c/*.parquet"], "drop_labels": True},
        {"config_name": "folder", "data_dir": "c"},
        {"config_name": "within", "data_dir": "c", "data_files": [{"split": "test", "path": "*.parquet"}]},
    ]
    gone = [{"config_name": "gone", "data_files": "d/*.parquet"}, {"config_name": "empty", "data_dir": "d"}]
    remote = hub_plan._card({"configs": [kept[0] | {"default": True}, *kept[1:], *gone]}, "")
    files = ["a/x.parquet", "b/x.parquet", "c/x.parquet"]
    head = hub_plan.front_matter(hub_plan.merged_card(local, remote, files))
    assert head["configs"][1:] == kept and head["configs"][0]["default"] is True


def test_a_new_repository_is_private_tagged_and_opens(hub: Hub, publish: Publisher, data: Path, tmp_path: Path) -> None:
    done = publish(data)
    assert "error" not in done, done
    held = hub.repos[REPO]
    assert held.private and done["visibility"] == "private"
    assert len(held.commits) == 2
    assert held.tags == {done["tag"]: done["commit"]}
    assert {"README.md", "cuadata.json"} < set(hub.files(REPO))
    assert sum(path.endswith(".parquet") for path in hub.files(REPO)) == len(list(data.rglob("*.parquet"))) > 2
    assert set(done["opened"]) == {"actions/train", "actions/test"}
    assert f'load_dataset("{REPO}"'.encode() in hub.read(REPO, "README.md")
    assert b"OCR is not installed" in hub.read(REPO, "README.md") or not done["unchecked"]
    assert not list(data.parent.glob(".*publish*"))
    again = publish(data)
    assert again["commit"] == done["commit"] and len(held.commits) == 2, "the same data makes no second commit"


def test_visibility_is_read_before_and_after_the_upload(
    hub: Hub, publish: Publisher, data: Path, tmp_path: Path
) -> None:
    publish(data)
    calls = hub.calls
    uploads = [n for n, call in enumerate(calls) if call.startswith("PUT /lfs/")]
    reads = [n for n, call in enumerate(calls) if call == f"GET /api/datasets/{REPO}"]
    commit = calls.index(f"POST /api/datasets/{REPO}/commit/main")
    assert reads[0] < uploads[0] and any(uploads[-1] < read < commit for read in reads)


@pytest.mark.parametrize(("private", "asked"), [(False, None), (False, True), (True, False)])
def test_another_visibility_than_asked_for_stops(
    hub: Hub, publish: Publisher, data: Path, tmp_path: Path, private: bool, asked: bool | None
) -> None:
    hub.put(REPO, {}, private=private)
    done = publish(data, private=asked)
    assert done["error"] == "CallError" and "nothing was uploaded" in done["words"]
    assert hub.taken == 0 and len(hub.repos[REPO].commits) == 2


def test_a_repository_that_turns_public_meanwhile_gets_no_commit(
    hub: Hub, publish: Publisher, data: Path, tmp_path: Path
) -> None:
    def turn(call: str) -> None:
        if call.startswith("PUT /lfs/"):
            hub.repos[REPO].private = False

    hub.on_call = turn
    done = publish(data)
    assert done["error"] == "CallError" and "is public" in done["words"]
    assert len(hub.repos[REPO].commits) == 1


def test_publishing_again_deletes_the_stale_shards_and_touches_nothing_else(
    hub: Hub, publish: Publisher, data: Path, tmp_path: Path
) -> None:
    from cuadata import dataset

    train = len(dataset.configs(data)["actions"]["train"])
    old = [f"actions/train-{n:05d}-of-{train + 3:05d}.parquet" for n in range(train + 3)]
    beside = {
        "extra/train-00000-of-00001.parquet": b"x",
        "NOTES.md": b"n",
        "actions/validation-00000-of-00001.parquet": b"y",
    }
    card = b"---\nconfigs:\n- config_name: extra\n  data_files:\n  - split: train\n    path: extra/*.parquet\n---\n"
    hub.put(REPO, {**dict.fromkeys(old, b"old"), **beside, "README.md": card})
    before = hub.files(REPO)
    refused = publish(data)
    assert refused["error"] == "CallError" and "--force" in refused["words"] and hub.taken == 0
    done = publish(data, force=True)
    assert sorted(done["deleted"]) == old
    after = hub.files(REPO)
    assert {path: after[path] for path in beside} == {path: before[path] for path in beside}
    assert len(hub.repos[REPO].commits) == 3
    names = [c["config_name"] for c in hub_plan.front_matter(hub.read(REPO, "README.md").decode())["configs"]]
    assert names == ["actions", "extra"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("GET /api/datasets/.*browser$", 401, times=9), "log in"),
        (Fault("POST /api/repos/create", 403, times=9), "write access"),
        (Fault("POST .*preupload", 404, times=9), "has no dataset"),
        (Fault("POST .*commit/main", 409, times=9), "changed in the meantime"),
        (Fault("GET .*tree", 429, times=9, headers={"Retry-After": "3600"}), "in 3600 s"),
        (Fault("GET .*refs", 500, times=9), "answers 500"),
        (Fault("GET .*refs", kind="cut", times=9), "did not answer as it should"),
        (Fault("GET .*refs", kind="slow", times=9), "did not answer as it should"),
    ],
    ids=["401", "403", "404", "409", "429", "500", "cut", "slow"],
)
def test_a_fault_that_stays_ends_in_clear_words(
    hub: Hub, publish: Publisher, data: Path, tmp_path: Path, fault: Fault, words: str
) -> None:
    hub.faults = [fault]
    done = publish(data)
    assert done["error"] == "RemoteError" and done["code"] == 1
    assert words in done["words"], done["words"]
    assert "hf_test" not in done["words"]
    assert all(len(held.commits) == 1 for held in hub.repos.values()), "nothing is to be seen"


def test_faults_that_pass_are_got_over(hub: Hub, publish: Publisher, data: Path, tmp_path: Path) -> None:
    hub.faults = [
        Fault("GET /api/datasets/.*browser$", 500),
        Fault("GET .*tree", 429, headers={"Retry-After": "1"}),
        Fault("GET .*refs", kind="cut"),
        Fault("PUT /lfs/", kind="cut", after=1),
        Fault("PUT /lfs/", 500, after=2),
        Fault("POST .*commit/main", kind="lost"),
    ]
    done = publish(data)
    assert "error" not in done, done
    assert not any(fault.times for fault in hub.faults)
    assert len(hub.repos[REPO].commits) == 2, "a commit whose answer was lost is not made twice"


def test_a_wrong_token_and_none(hub: Hub, publish: Publisher, data: Path, tmp_path: Path) -> None:
    assert "log in" in publish(data, token="hf_other")["words"]
    assert not hub.repos


def test_a_version_that_is_taken_by_other_data(hub: Hub, publish: Publisher, data: Path, tmp_path: Path) -> None:
    hub.put(REPO, {"README.md": b"# x"})
    hub.repos[REPO].tags["v1"] = hub.commit_id(REPO)
    done = publish(data, version="v1")
    assert done["error"] == "CallError" and "--version" in done["words"]
    assert publish(data, version="v2")["tag"] == "v2"


def test_a_file_that_has_changed_is_not_published(hub: Hub, publish: Publisher, tmp_path: Path) -> None:
    folder = publishing.dataset(tmp_path / "set", 4)
    shard = next(folder.rglob("*.parquet"))
    shard.write_bytes(shard.read_bytes() + b"x")
    done = publish(folder)
    assert done["error"] == "DataError" and "has changed" in done["words"]
    assert not hub.repos


def test_the_command(hub: Hub, publish: Publisher, data: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cuadata.cli", "publish", str(data), REPO, "--version", "v1", "--json"],
        env=publishing.environment(hub, tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tag"] == "v1"
    assert "private: " in done.stderr


def test_plain_readers(hub: Hub, publish: Publisher, data: Path, tmp_path: Path) -> None:
    """`datasets`, pandas and DuckDB read what was published; cuadata is kept from being imported."""
    publish(data)
    code = f'import sys; sys.modules["cuadata"] = None\n{publishing.reading(REPO, 12)}'
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=publishing.environment(hub, tmp_path / "fresh"),
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.stdout.startswith("read by datasets"), done.stderr[-3000:]


def test_killed_at_any_moment_it_resumes_to_the_same_end(
    hub: Hub, publish: Publisher, data: Path, tmp_path: Path
) -> None:
    """Killed at nine requests up to the tag and once while it is opened again, it ends as an undisturbed one does."""
    done = publish(data)
    whole, calls = hub.files(REPO), [call for call in hub.calls if not call.startswith("HEAD")]
    tagged = next(n for n, call in enumerate(calls, 1) if "/tag/" in call)
    hub.forget()
    moments = iter([1 + tagged * n // 9 for n in range(9)] + [6])
    worker = Publisher(hub, tmp_path)
    state = {"at": next(moments), "seen": 0}

    def kill(call: str) -> None:
        state["seen"] += 1
        if state["seen"] == state["at"]:
            worker.process.kill()

    hub.on_call = kill
    killed = 0
    for moment in [*moments, 10**9]:
        killed += not worker(data)
        worker.close()
        state.update(at=moment, seen=0)
        worker.begin()
    last = worker(data)
    worker.close()
    assert killed == 10
    assert hub.files(REPO) == whole and last["commit"] == done["commit"]
    assert hub.repos[REPO].tags == {done["tag"]: done["commit"]} and len(hub.repos[REPO].commits) == 2
    assert hub.taken == sum(path.endswith(".parquet") for path in whole), "no shard is sent twice"
    assert not list(data.parent.glob(".*publish*"))


# Siblings of the cases, the answers written first ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("remote", "new", "stale"),
    [
        pytest.param(
            ["a/train-00000-of-00002.parquet", "a/train-00001-of-00002.parquet", "b/train-00000-of-00001.parquet",
             "b/test-00000-of-00001.parquet", "c/train-00000-of-00009.parquet"],
            ["a/train-00000-of-00001.parquet", "b/train-00000-of-00003.parquet"],
            ["a/train-00000-of-00002.parquet", "a/train-00001-of-00002.parquet", "b/train-00000-of-00001.parquet"],
            id="stale shards of two configs",
        ),
        pytest.param(
            ["a/val-00000-of-00001.parquet", "a/train-00000-of-00001.parquet"],
            ["a/validation-00000-of-00001.parquet", "a/train-00000-of-00001.parquet"],
            [],
            id="a renamed split is another split",
        ),
        pytest.param(
            ["größe/train-00000-of-00002.parquet", "数据/train-00000-of-00001.parquet"],
            ["größe/train-00000-of-00001.parquet"],
            ["größe/train-00000-of-00002.parquet"],
            id="names that are not ASCII",
        ),
        pytest.param(
            ["a/train-00000-of-100000.parquet", "a/train-99999-of-100000.parquet"],
            ["a/train-00000-of-00001.parquet"],
            ["a/train-00000-of-100000.parquet", "a/train-99999-of-100000.parquet"],
            id="more shards than five digits count",
        ),
    ],
)  # fmt: skip
def test_stale_shards_of_other_kinds(remote: list[str], new: list[str], stale: list[str]) -> None:
    assert list(hub_plan.change(remote, new).delete) == stale


def test_a_card_whose_config_names_no_file_is_refused() -> None:
    local = "---\nconfigs:\n- config_name: a\n  data_files:\n  - split: train\n    path: a/gone-*.parquet\n---\n"
    with pytest.raises(DataError, match="a/gone"):
        hub_plan.merged_card(local, None, ["a/train-00000-of-00001.parquet"])


def test_a_config_that_is_not_ascii_stays_on_the_card() -> None:
    card = "---\nconfigs:\n- config_name: {0}\n  data_files:\n  - split: train\n    path: {0}/train-*.parquet\n---\n"
    files = [f"{name}/train-00000-of-00001.parquet" for name in ("actions", "größe", "数据")]
    remote = card.format("größe").replace("---\n", "", 2)
    merged = hub_plan.merged_card(card.format("actions"), f"---\n{remote}---\n", files)
    assert [one["config_name"] for one in hub_plan.front_matter(merged)["configs"]] == ["actions", "größe"]
    assert "größe" in merged, "written as people read it, not as escapes"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("7", 7.0), ("²", None), ("soon", None), ("-5", None), ("", None), ("9" * 400, float("inf"))],
)
def test_what_a_hub_may_ask_to_wait(text: str, seconds: float | None) -> None:
    assert hub_remote._seconds(text) == seconds


def test_a_date_to_wait_for() -> None:
    assert hub_remote._seconds(formatdate(time.time() + 90, usegmt=True)) == pytest.approx(90, abs=3)
    assert hub_remote._seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0


@pytest.mark.parametrize(
    ("fault", "words", "visible"),
    [
        (Fault("GET .*tree", 429, times=9, headers={"Retry-After": "9" * 12}), "cannot be meant", False),
        (Fault("PUT /lfs/", 413, times=9), "smaller shards", False),
        (Fault("POST /verify", 400, times=99), "answers 400", False),
        (Fault("POST .*/tag/", 500, times=99), "is made and visible", True),
    ],
    ids=["429 for ever", "413", "verify fails", "the tag fails"],
)
def test_faults_of_other_kinds(
    hub: Hub, publish: Publisher, data: Path, fault: Fault, words: str, visible: bool
) -> None:
    hub.faults = [fault]
    done = publish(data)
    assert done["error"] == "RemoteError" and words in done["words"], done
    assert ("is made and visible" in done["words"]) == visible == (len(hub.repos[REPO].commits) == 2)
    hub.faults = []
    assert publish(data)["visibility"] == "private" and len(hub.repos[REPO].commits) == 2, "the same call goes on"


def test_a_conflict_is_told_and_the_next_call_succeeds(hub: Hub, publish: Publisher, data: Path) -> None:
    hub.faults = [
        Fault("POST .*commit/main", 409),
        Fault("GET .*tree", 429, headers={"Retry-After": formatdate(time.time() + 1, usegmt=True)}),
        Fault("PUT /lfs/", kind="lost"),
    ]
    assert "changed in the meantime" in publish(data)["words"]
    assert "error" not in publish(data)
    assert len(hub.repos[REPO].commits) == 2
    assert hub.taken <= len(list(data.rglob("*.parquet"))) + 1, "only the shard whose answer was lost may go twice"


def test_a_token_that_may_only_read(hub: Hub, publish: Publisher, data: Path) -> None:
    hub.scope = "read"
    assert "write access" in publish(data)["words"] and not hub.repos
    hub.put(REPO, {})
    assert "write access" in publish(data)["words"]
    assert hub.taken == 0 and len(hub.repos[REPO].commits) == 2


def test_a_name_that_is_a_models(hub: Hub, publish: Publisher, data: Path) -> None:
    hub.models.add(REPO)
    done = publish(data)
    assert done["error"] == "RemoteError" and "may be a model's" in done["words"] and hub.taken == 0


def test_a_repository_that_was_renamed(hub: Hub, publish: Publisher, data: Path) -> None:
    hub.put("tester/newer", {})
    hub.renamed[REPO] = "tester/newer"
    done = publish(data)
    assert done["error"] == "CallError" and "is called tester/newer by now" in done["words"]
    assert hub.taken == 0 and len(hub.repos["tester/newer"].commits) == 2


def test_a_gated_repository_of_ones_own(hub: Hub, publish: Publisher, data: Path) -> None:
    hub.put(REPO, {})
    hub.repos[REPO].gated = True
    assert publish(data)["visibility"] == "private"
    hub.forget()
    hub.faults = [Fault("GET .*tree", 403, times=9, headers={"X-Error-Code": "GatedRepo"})]
    assert "does not let this token" in publish(data)["words"] and hub.taken == 0


def test_an_empty_split(hub: Hub, publish: Publisher, tmp_path: Path) -> None:
    """A split without rows is a shard without rows: it goes out, opens, and equals the one here."""
    from cuadata import dataset
    from cuadata.building import manifest
    from cuadata.rows import Example

    folder = publishing.dataset(tmp_path / "set", 4)
    (shard,) = dataset.write([], Example, folder / "actions", name="validation", force=True)
    held = manifest.read(folder)
    digest = hashlib.sha256(shard.read_bytes()).hexdigest()
    entry = {"path": f"actions/{shard.name}", "rows": 0, "bytes": shard.stat().st_size, "sha256": digest}
    manifest.write({**held, "files": [*held["files"], entry]}, folder)
    card = folder / "README.md"
    text = card.read_text()
    first = text.index("  - split: ")
    card.write_text(f"{text[:first]}  - split: validation\n    path: actions/validation-*.parquet\n{text[first:]}")
    done = publish(folder)
    assert "error" not in done, done
    assert "actions/validation" in done["opened"]
