"""Plug-ins by name: a decorated function or class in one file of its room is found without being imported by anybody."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from cuadata.contracts import Format, Gold, Policy
    from cuadata.rows import Candidate, Verdict
    from cuadata.types import Task, Trajectory

T = TypeVar("T")


class Registry(Generic[T]):
    """Things of one kind by name; `@gates.add` puts one in.

    A name is the function's name, or the class's `name`. The room's modules are imported when a name is first asked for:
    a module of that name first, the whole room only where that was not enough.
    """

    def __init__(self, kind: str, room: str) -> None:
        self.kind = kind
        self.room = room
        self._found: dict[str, T] = {}
        self._read_all = False

    def add(self, thing: T) -> T:
        """Register under its own name; ValueError where the name is taken by another module."""
        name = str(getattr(thing, "name", None) or getattr(thing, "__name__", ""))
        held = self._found.get(name)
        if held is not None and _home(held) != _home(thing):
            raise ValueError(f"two {self.kind}s are named '{name}': in {_home(held)} and in {_home(thing)}")
        self._found[name] = thing
        return thing

    def names(self) -> list[str]:
        """Every name, sorted; imports the whole room once."""
        self._read_room()
        return sorted(self._found)

    def __getitem__(self, name: str) -> T:
        """The thing of that name; KeyError that lists the names there are."""
        if name not in self._found and not self._read_all:
            self._read_module(name)
        if name not in self._found:
            self._read_room()
        if name not in self._found:
            raise KeyError(f"no {self.kind} is named '{name}'; there are: {', '.join(sorted(self._found)) or 'none'}")
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._found or name in self.names())

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def _read_module(self, name: str) -> None:
        if not str(name).isidentifier() or name.startswith("_"):
            return  # no plug-in's file: `a.b` would be looked for in a package `a`
        full = f"{self.room}.{name}"
        try:
            importlib.import_module(full)
        except ModuleNotFoundError as error:
            # The plug-in's file is not there: the room may still hold the name. A library that it needs is another matter.
            if error.name not in (full, self.room):
                raise

    def _read_room(self) -> None:
        if self._read_all:
            return
        package = importlib.import_module(self.room)
        for module in pkgutil.iter_modules(package.__path__):
            if not module.name.startswith("_"):
                importlib.import_module(f"{self.room}.{module.name}")
        self._read_all = True


def _home(thing: object) -> str:
    return str(getattr(thing, "__module__", "?"))


class Source(Protocol):
    """Reads what people already have: a path in, trajectories out, one at a time.

    A source whose data lies in pieces that can be read by themselves says how to find them: see `parted`.
    """

    __name__: str

    def __call__(self, path: Path) -> Iterator[Trajectory]: ...


def parted(find: Callable[[Path], Iterable[Path]]) -> Callable[[T], T]:
    """Decorates a source: `find` lists the pieces of a path, in order, and the source reads each piece by itself.

    A build reads the pieces in parallel and, once it was interrupted, only those that are left.
    """

    def mark(source: T) -> T:
        setattr(source, "parts", find)  # noqa: B010 - functions declare no attributes
        return source

    return mark


def divided(splits: Callable[[Path], list[str]]) -> Callable[[T], T]:
    """Decorates a gold set that takes `split`: what `splits` lists at a path can be asked for as NAME:PATH:SPLIT."""

    def mark(gold: T) -> T:
        setattr(gold, "splits", splits)  # noqa: B010 - functions declare no attributes
        return gold

    return mark


class GoldSet(Protocol):
    """Reads an evaluation set: a path in, questions with their answers out. It stands in the room of the sources.

    A set with splits takes one by the keyword `split`: see `divided`.
    """

    __name__: str

    def __call__(self, path: Path) -> Iterator[Gold]: ...


class Family(Protocol):
    """Makes a task; a pure function of its seed."""

    __name__: str

    def __call__(self, seed: int) -> Task: ...


class Gate(Protocol):
    """Judges one example by its recorded evidence; thresholds are keyword parameters with defaults."""

    __name__: str

    def __call__(self, candidate: Candidate) -> Verdict: ...


class RewardFunction(Protocol):
    """Judges a model's answer; columns of the row come as keywords. May raise; never turns an error into 0."""

    __name__: str

    def __call__(self, answer: str, **columns: Any) -> float: ...


sources: Registry[Source] = Registry("source", "cuadata.sources")
gold: Registry[GoldSet] = Registry("gold set", "cuadata.sources")
families: Registry[Family] = Registry("family", "cuadata.generators")
gates: Registry[Gate] = Registry("gate", "cuadata.filters")
formats: Registry[Format] = Registry("format", "cuadata.formats")
policies: Registry[Callable[..., Policy]] = Registry("policy", "cuadata.policies")
rewards: Registry[RewardFunction] = Registry("reward", "cuadata.rewards")

ALL: dict[str, Registry[Any]] = {
    "sources": sources,
    "gold": gold,
    "families": families,
    "gates": gates,
    "formats": formats,
    "policies": policies,
    "rewards": rewards,
}


def signatures(names: Iterable[str] = ALL) -> dict[str, list[str]]:
    """Every name of every registry, for `cuadata list`."""
    return {kind: ALL[kind].names() for kind in names}
