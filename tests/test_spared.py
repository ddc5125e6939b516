"""What `--force` never takes along, options that mean nothing, and input that would hang or break a command."""

from __future__ import annotations

import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cuadata import build, cli, edit, schema
from cuadata.browsing import serve
from cuadata.building import folders
from cuadata.errors import CallError
from cuadata.scores import evaluation

RECORDINGS = Path(__file__).resolve().parent.parent / "examples" / "recordings"
GUI_PERTURBED = Path(__file__).resolve().parent.parent.parent / "shared" / "gui_perturbed"


def files(folder: Path) -> list[str]:
    """Every file below a folder."""
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def call(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """A call of the command line, in a process of its own."""
    command = [sys.executable, "-m", "cuadata.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("below", ["", "one", "one/two"])
def test_force_never_deletes_the_recordings_that_are_read(tmp_path: Path, below: str) -> None:
    out = tmp_path / "out"
    held = out / below / "rec"
    shutil.copytree(RECORDINGS / "code_entry-seed0", held)
    before = files(tmp_path)
    with pytest.raises(CallError, match="would be deleted"):
        build.build([("recordings", held.parent)], out, force=True, workers=1)
    assert files(tmp_path) == before


@pytest.mark.parametrize("kind", ["recording", "repository", "working", "home", "input"])
def test_force_spares_what_nothing_makes_again(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out, inner = tmp_path / "out", tmp_path / "out" / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "header.json").write_text("{}")
    folders.refuse(out, force=True)  # a folder without any of these may go
    if kind == "recording":
        (inner / "steps.jsonl").write_text("")
    elif kind == "repository":
        (inner / ".git").mkdir()
    elif kind == "working":
        monkeypatch.chdir(inner)
    elif kind == "home":
        monkeypatch.setenv("HOME", str(inner))
    with pytest.raises(CallError, match="would be deleted; give another folder"):
        folders.refuse(out, force=True, reads=[inner] if kind == "input" else [])


def test_a_link_to_the_input_does_not_hide_it(tmp_path: Path) -> None:
    real = tmp_path / "real" / "rec"
    real.mkdir(parents=True)
    (real / "x").write_text("")
    (tmp_path / "link").symlink_to(real)
    with pytest.raises(CallError, match="is or holds the input"):
        folders.refuse(tmp_path / "real", force=True, reads=[tmp_path / "link"])


@pytest.mark.parametrize("refuse", [folders.refuse, folders.refuse_files], ids=["folder", "files"])
def test_what_is_no_folder_is_said_to_be_none(refuse: Any) -> None:
    with pytest.raises(CallError, match="/dev/null is a file"):
        refuse(Path("/dev/null"), force=True)


def test_merging_never_deletes_a_source(tmp_path: Path) -> None:
    shutil.copytree(RECORDINGS / "code_entry-seed0", tmp_path / "all" / "a" / "rec")
    before = files(tmp_path)
    with pytest.raises(CallError, match="is or holds the input"):
        edit.merge([tmp_path / "all" / "a"], tmp_path / "all", force=True)
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--keep-together", "sitee"), "no row has a column 'sitee'"),
        (("--history", "-1"), "history is -1; wanted 0 or more"),
        (("--thumbnails", "-1"), "thumbnails is -1; wanted 0 or more"),
        (("--configs", ","), "no config is named"),
        (("--mix", ","), "names no config"),
    ],
)
def test_a_build_refuses_options_that_mean_nothing(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = call("build", "--source", "recordings", RECORDINGS, "--out", tmp_path / "out", *words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ("observe", "<p>x", "--scroll", "0", "inf"),
        ("plan", "group-size", "--pass-rate", "0.5", "--seconds-per-episode", "inf"),
        ("evaluate", "x", "--gold", "x", "--tolerance", "nan"),
    ],
)
def test_no_option_takes_a_number_that_is_not_finite(words: tuple[str, ...]) -> None:
    done = call(*words)
    assert done.returncode == 2
    assert "no finite number" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--groups", "--parallel"])
def test_a_plan_takes_no_number_that_fits_no_float(option: str) -> None:
    done = call("plan", "group-size", "--pass-rate", "0.5", "--seconds-per-episode", "1", option, "9" * 400)
    assert done.returncode == 2
    assert option in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["none", "../x", "a.b"])
def test_a_reward_that_there_is_not_is_named(tmp_path: Path, name: str) -> None:
    done = call("rewards", "score", tmp_path / "nowhere", "--reward", name, "--format", "qwen3vl")
    assert (done.returncode, f"no reward is named '{name}'" in done.stderr) == (2, True), done.stderr


def test_half_a_surrogate_pair_is_written_and_printed(tmp_path: Path) -> None:
    assert schema.to_json({"a": ["x\ud83dy", "\U0001f600"]}) == '{"a":["x\ufffdy","\U0001f600"]}'.encode()
    page = tmp_path / "page.html"
    page.write_text("<button id=b>Hi</button><script>b.textContent='cut \\ud83d';document.title='\\udc00'</script>")
    for words in ((), ("--json",)):
        done = call("observe", page, *words)
        assert (done.returncode, "cut" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize("name", ["header.json", "steps.jsonl", "outcome.json"])
def test_a_pipe_in_a_recording_is_refused_instead_of_waited_for(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "rec"
    shutil.copytree(RECORDINGS / "code_entry-seed0", folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    for act in ("build", "read"):
        done = (
            call("build", "--source", "recordings", folder, "--out", tmp_path / "out")
            if act == "build"
            else call("effects", "--dry-run", folder)
        )
        assert (done.returncode, "no regular file" in done.stderr) == (1, True), done.stderr


def test_a_visitor_who_leaves_is_no_error(capfd: pytest.CaptureFixture[str]) -> None:
    with serve.Server(documents={"/": "x" * 50_000_000}) as server:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", server.port)) as visitor:
                visitor.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                visitor.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                visitor.recv(10)
        time.sleep(0.5)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(("held", "said"), [(b"[" * 100_000 + b"\n", "nested too deep"), (b"\xff\xfe\n", "no UTF-8")])
def test_data_that_does_not_decode_is_bad_data(tmp_path: Path, held: bytes, said: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(held)
    done = call("parity", file, file)
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (1, True, False), done.stderr


@pytest.mark.skipif(not GUI_PERTURBED.is_dir(), reason="the shared answers are not here")
@pytest.mark.parametrize("command", ["evaluate", "select", "compare"])
def test_force_writes_over_no_input_of_a_score(tmp_path: Path, command: str) -> None:
    held = tmp_path / "all"
    (held / "gold").mkdir(parents=True)
    shutil.copy(GUI_PERTURBED / "steps.csv", held / "gold")
    lines = (GUI_PERTURBED / "predictions_gta1_no_reasoning_direct.jsonl").read_text().splitlines()[:6]
    logged, gold = held / "logged.jsonl", f"gui_perturbed:{held / 'gold'}"
    logged.write_text("\n".join(lines) + "\n")
    for name in ("one", "two"):
        run, rows, result = evaluation.answers(logged, gold, "gta1", name=name)
        evaluation.save(held / name, run, rows, result)
    words: dict[str, tuple[str | Path, ...]] = {
        "evaluate": (logged, "--gold", gold, "--format", "gta1", "--out", held),
        "select": (logged, "--gold", gold, "--format", "gta1", "--out", held),
        "compare": (held / "one", held / "two", "--out", held / "two"),
    }
    before = {name: (held / name).read_bytes() for name in files(held)}
    done = CliRunner().invoke(cli.app, [command, *map(str, words[command]), "--force"])
    assert isinstance(done.exception, CallError), done.exception
    assert "give another folder" in str(done.exception)
    assert {name: (held / name).read_bytes() for name in files(held)} == before
