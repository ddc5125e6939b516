"""What watches a training run: a log that a killed run leaves readable, Ctrl-C that saves, a band that a run may not leave."""

from __future__ import annotations

import json
import math
import signal
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cuadata.building import folders
from cuadata.errors import DataError


def attached(*watchers: Any) -> Any:
    """The watchers as one callback of transformers' trainer: each is told of the events that it has a method for."""
    from transformers import TrainerCallback

    held = TrainerCallback()
    for event in ("on_train_begin", "on_log", "on_save", "on_step_end", "on_train_end"):
        methods = [getattr(watcher, event) for watcher in watchers if hasattr(watcher, event)]

        def tell(args: Any, state: Any, control: Any, methods: Any = methods, **more: Any) -> None:
            for method in methods:
                method(args, state, control, **more)

        setattr(held, event, tell)
    return held


class Journal:
    """Appends every log entry to a file as one JSON line, flushed at once.

    A resumed run drops the entries behind the checkpoint that it goes on from; they are logged again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Keep what the run goes on from."""
        if not state.is_world_process_zero:
            return
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        kept = [line for line in lines if _step(line) <= state.global_step] if state.global_step else []
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folders.put(self.path, "".join(f"{line}\n" for line in kept))

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        """One line."""
        if state.is_world_process_zero and logs:
            with self.path.open("a") as file:
                file.write(json.dumps({"step": state.global_step, **logs}) + "\n")


def _step(line: str) -> float:
    """The step of a line of the log; one that a killed run or a full disk cut off stands behind every step."""
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return math.inf


class Interrupt:
    """Ctrl-C lets the step end, saves a checkpoint and stops; a second one stops at once.

    It listens from where it is made. Before training it stops at once, and is not forgotten where a library that was
    loading or hashing caught it and went on.
    """

    def __init__(self) -> None:
        self.asked = False
        self._previous: Any = None
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._early)

    def _early(self, *_: Any) -> None:
        self.asked = True
        raise KeyboardInterrupt

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """From here on a step that has begun is ended."""
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._ask)
        if self.asked:
            raise KeyboardInterrupt

    def _ask(self, *_: Any) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Save and stop, all processes at the same step."""
        import torch

        if torch.distributed.is_initialized():
            flag = torch.tensor(int(self.asked), device=args.device)
            torch.distributed.all_reduce(flag, torch.distributed.ReduceOp.MAX)
            self.asked = bool(flag)
        if self.asked:
            control.should_save = control.should_training_stop = True

    def leave(self, step: int) -> None:
        """Leave the program with 130 where it was asked to stop; what is not finished gets no record of a run."""
        import typer

        if self.asked:
            typer.echo(f"interrupted at step {step}; --resume goes on from there", err=True)
            raise typer.Exit(130)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Give the key back."""
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)


class Band:
    """Stops a run after `patience` log entries in a row whose KL or loss is outside its band or not a number.

    The adapter is saved to `last_good` every `every` steps inside the band, and put back by `restore`.
    """

    def __init__(self, out: Path, *, max_kl: float, max_loss: float, patience: int = 3, every: int = 10) -> None:
        self.good_folder = out / "last_good"
        self.max_kl, self.max_loss = max_kl, max_loss
        self.patience, self.every = patience, every
        self.outside = 0
        self.stopped = ""

    def on_log(
        self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, model: Any = None, **_: Any
    ) -> None:
        """Judge one entry of training."""
        if not logs or "loss" not in logs:
            return
        kl, loss = float(logs.get("kl", 0.0)), float(logs["loss"])
        number = math.isfinite(loss) and math.isfinite(float(logs.get("grad_norm", 0)))
        inside = number and abs(kl) <= self.max_kl and abs(loss) <= self.max_loss
        self.outside = 0 if inside else self.outside + 1
        if inside and model is not None and state.is_world_process_zero and state.global_step % self.every == 0:
            with folders.files_into(self.good_folder) as folder:
                getattr(model, "module", model).save_pretrained(str(folder))
        if self.outside >= self.patience:
            self.stopped = (
                f"step {state.global_step}: KL {kl:.3g} (band {self.max_kl}), loss {loss:.3g} (band {self.max_loss})"
            )
            control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """A run that ends outside has diverged, however few steps it had left."""
        if self.outside and not self.stopped:
            self.stopped = f"step {state.global_step}, its last: loss, KL or gradient left the band or are no number"

    def restore(self, out: Path) -> str:
        """Put the last good adapter in the place of the diverged one; what was kept, in words."""
        import shutil

        if not self.good_folder.is_dir():
            return f"it diverged before step {self.every}, so that no good adapter of it is kept"
        shutil.copytree(self.good_folder, out, dirs_exist_ok=True)
        return "the last good adapter is kept"


class Keep:
    """Keeps state that the trainer knows nothing of in its checkpoints, a file for each process."""

    def __init__(
        self, name: str, state: Callable[[], Any], restore: Callable[[Any], None], checkpoint: str | None
    ) -> None:
        self.name, self.state, self.restore, self.checkpoint = name, state, restore, checkpoint

    def _path(self, folder: Path, args: Any) -> Path:
        return folder / f"{self.name}_{args.process_index}.json"

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Take up the state of the checkpoint that the run goes on from."""
        if self.checkpoint:
            path = self._path(Path(self.checkpoint), args)
            if not path.is_file():
                raise DataError(
                    "it is missing, so that the run cannot go on as it was; give another --out, or --force",
                    place=str(path),
                )
            self.restore(json.loads(path.read_text()))

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write it beside the weights."""
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        folder.mkdir(exist_ok=True)
        self._path(folder, args).write_text(json.dumps(self.state()))
