"""Where a run goes: an output folder that is its own, the checkpoint that it goes on from, and that it is the same run."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import typer

from cuadata.building import folders
from cuadata.errors import CallError, DataError
from cuadata.learning import adapters
from cuadata.learning.training import dataset_hash, main_process

#: What a run was begun with, so that only the same is gone on with.
BEGUN = "begun.json"
#: What is left where a run ended before its first checkpoint: nothing that was learnt.
_LEFT = {BEGUN, "log.jsonl", "guard_before.json"}
#: Options that may differ when a run is gone on with: how long, where, what is looked at. Paths are compared by content.
_FREE = {
    *("out", "resume", "force", "preset", "steps", "save_steps", "guard", "max_kl", "max_loss"),
    *("base", "data", "rows", "replay", "adapter"),
}


def begin(
    out: Path, *, resume: bool, force: bool, reads: Iterable[Path | str | None] = (), keeps: str = ""
) -> str | None:
    """Where to go on from: the last whole checkpoint in `out` with `resume`, else None. Nothing is written.

    `keeps` is what `callbacks.Keep` adds to a checkpoint, behind all else, so that one without it is not whole.

    CallError where `out` is no folder of a run, may not be written, or holds a run and neither going on nor replacing it
    was asked for; DataError where none of its checkpoints is whole.
    """
    if main_process():
        folders.refuse_files(out, force=True, reads=[one for one in reads if one])
    found = sorted(out.glob("checkpoint-*"), key=lambda one: int(one.name.rpartition("-")[2] or 0))
    if resume:
        return _last(found, keeps)
    names = {one.name for one in out.iterdir()} if out.is_dir() else set()
    if not main_process() or names <= _LEFT:
        return None
    if not found and not names & {adapters.WEIGHTS, BEGUN, "run.json"}:
        raise CallError(f"{out} holds something that is no run, {min(names)} say; give another --out")
    if not force:
        raise CallError(f"{out} holds a run; give --resume to go on with it, --force to replace it, or another --out")
    return None


def _last(found: list[Path], keeps: str) -> str | None:
    """The last checkpoint that is whole; a disk that is full and a killed process leave half ones."""
    whole = [one for one in found if _whole(one, keeps)]
    for one in found[len(whole) and found.index(whole[-1]) + 1 :]:
        typer.echo(f"{one} is not whole and is left out", err=True)
    if found and not whole:
        raise DataError("none of its checkpoints is whole; --force begins anew", place=str(found[-1].parent))
    return str(whole[-1]) if whole else None


def _whole(checkpoint: Path, keeps: str) -> bool:
    """Whether a checkpoint can be gone on from: weights that are numbers, its optimiser, the state that is written last."""
    try:
        for name in ("trainer_state.json", *([f"{keeps}_0.json"] if keeps else [])):
            json.loads((checkpoint / name).read_text(encoding="utf-8"))
        adapters.finite(checkpoint)
    except (OSError, ValueError):
        return False
    return all(zipfile.is_zipfile(checkpoint / name) for name in ("optimizer.pt", "scheduler.pt"))


def same(out: Path, checkpoint: str | None, *, options: Mapping[str, Any], data: Path, base: str) -> None:
    """Write what a run begins with, in the place of an earlier run; with `checkpoint` compare it with what it began with.

    `base` is the fingerprint of the base's weights. CallError that names what differs.
    """
    if not main_process():
        return
    held = _described(options, data, base)
    if checkpoint is not None:
        _compare(out, held)
        return
    with folders.alone(out):
        clear(out)
        put(out, held)


def rounds(out: Path, *, options: Mapping[str, Any], data: Path) -> dict[str, Any]:
    """What a run of rounds begins with, for `put`; where `out` holds rounds, they have to be of the same run.

    CallError where they are not, or `out` holds something else. Nothing is written.
    """
    folders.refuse_files(out, force=True, reads=[data])
    held = {**_described(options, data, ""), "base": options["base"]}
    if (out / BEGUN).is_file():
        _compare(out, held)
    elif out.is_dir() and any(out.iterdir()) and not (out / "round0").is_dir():
        raise CallError(f"{out} holds something that is no run of rounds; give another --out")
    return held


def put(out: Path, held: Mapping[str, Any]) -> None:
    """Write down what a run begins with."""
    out.mkdir(parents=True, exist_ok=True)
    folders.put(out / BEGUN, json.dumps(held, indent=2) + "\n")


def _described(options: Mapping[str, Any], data: Path, base: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(json.dumps(dict(options), default=str))
    return {
        "options": {name: value for name, value in said.items() if name not in _FREE},
        "dataset_sha256": dataset_hash(data),
        "replay_sha256": _hash(said.get("replay")),
        "adapter_sha256": _hash(said.get("adapter"), adapters.WEIGHTS),
        "base_sha256": base,
        "processes": int(os.environ.get("WORLD_SIZE", "1")),
    }


def _hash(named: str | None, file: str = "") -> str:
    """The hash of what an option names, or its name where that is an id of the Hub; empty where it was not given."""
    path = Path(named or "") / file
    return dataset_hash(path) if named and path.exists() else named or ""


def _compare(out: Path, held: Mapping[str, Any]) -> None:
    path = out / BEGUN
    if not path.is_file():
        return  # begun by a release that wrote none
    before = json.loads(path.read_text())
    wrong = [
        f"--{name.replace('_', '-')} {before['options'][name]}, now {value}"
        for name, value in held["options"].items()
        if name in before["options"] and before["options"][name] != value
    ]
    wrong += ["other data"] * (before["dataset_sha256"] != held["dataset_sha256"])
    wrong += [
        f"another --{n}" for n in ("replay", "adapter") if before.get(key := f"{n}_sha256", held[key]) != held[key]
    ]
    if (count := before.get("processes", held["processes"])) != held["processes"]:
        wrong.append(f"{count} processes, now {held['processes']}")
    wrong += ["a base of other weights"] * any(before.get(n) != held.get(n) for n in ("base_sha256", "base"))
    if wrong:
        raise CallError(f"{out} was begun with {'; '.join(wrong)}; go on with the same, or give another --out")


def one_process(trainer: str) -> None:
    """CallError where a launcher has started several processes of a trainer that draws and trains in one."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise CallError(
            f"{trainer} draws and trains in one process; start it without a launcher, or draw from several seeds at once "
            "into folders of their own"
        )


def child(words: Sequence[str]) -> None:
    """Run a trainer of its own. Exit with its code where it failed; Ctrl-C is its to answer, with a checkpoint."""
    import signal
    import subprocess
    import threading

    here = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, lambda *_: None) if here else None
    try:
        code = subprocess.run(words, check=False).returncode
    finally:
        if here:
            signal.signal(signal.SIGINT, before)
    if code:
        raise typer.Exit(code if code > 0 else 1)


def clear(out: Path) -> None:
    """Take away what an earlier run left: its checkpoints, its adapters, its records."""
    for old in [*out.glob("checkpoint-*"), out / "last_good"]:
        shutil.rmtree(old, ignore_errors=True)
    for name in (adapters.WEIGHTS, adapters.CONFIG, "run.json", "log.jsonl", "guard_before.json", BEGUN):
        (out / name).unlink(missing_ok=True)


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Keep a folder for this run, and turn what is said of a full disk into a DataError that says how to go on."""
    import safetensors

    try:
        with folders.disk_errors(out), folders.alone(out) if main_process() else nullcontext():
            yield
    except (RuntimeError, safetensors.SafetensorError) as error:
        words = str(error)
        if not any(
            sign in words for sign in ("PytorchStreamWriter", "No space left", "File too large", "unexpected pos")
        ):
            raise
        raise DataError(
            "the disk takes no more; make room, and --resume goes on from the last whole checkpoint", place=str(out)
        ) from error
