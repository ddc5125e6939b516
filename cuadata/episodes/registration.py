"""The names of environments: every page family, and every task of the MiniWoB++ package where that is installed.

Light on purpose: gymnasium calls `register` when it is imported, and listing names imports no family.
"""

from __future__ import annotations

import importlib.util
import pkgutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuadata.errors import CallError

if TYPE_CHECKING:
    from cuadata.types import Task

#: What stands before the name of a MiniWoB++ task to make it a family's name.
MINIWOB = "miniwob-"
VERSION = "v0"


def families() -> list[str]:
    """Names of the page families' files, sorted."""
    found = importlib.util.find_spec("cuadata.generators")
    places = list(found.submodule_search_locations or ()) if found else []
    return sorted(m.name for m in pkgutil.iter_modules(places) if not m.name.startswith("_"))


@cache
def miniwob_folder() -> Path | None:
    """The folder of the MiniWoB++ pages; None where the package is not installed."""
    found = importlib.util.find_spec("miniwob")
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(next(iter(found.submodule_search_locations))) / "html"
    return folder if folder.is_dir() else None


def miniwob_tasks() -> list[str]:
    """Names of the MiniWoB++ tasks, sorted; empty where the package is not installed."""
    return list(_miniwob_tasks())


@cache
def _miniwob_tasks() -> tuple[str, ...]:
    """Read once: every episode asks whether its task is one of them."""
    folder = miniwob_folder()
    if folder is None:
        return ()
    flights = (f"flight.{p.parent.name}" for p in (folder / "flight").glob("*/wrapper.html"))
    return tuple(sorted([*(p.stem for p in (folder / "miniwob").glob("*.html")), *flights]))


def names() -> list[str]:
    """Everything that `environment.make` takes."""
    return [*families(), *(MINIWOB + name for name in miniwob_tasks())]


def known(family: str) -> bool:
    """Whether `task` takes this name."""
    return is_file(family) or family in names()


def is_file(family: str) -> bool:
    """Whether a name is that of a task file."""
    return family.endswith((".yaml", ".yml"))


def task(family: str, seed: int, **options: Any) -> Task:
    """The task of a seed; the name of a task file (.yaml) gives its one task, whatever the seed.

    KeyError for a name that is none, CallError for options that the family does not take and seeds below 0.
    """
    from cuadata import registry

    if is_file(family):
        from cuadata.episodes import taskfile

        return taskfile.read(Path(family))
    if seed < 0:
        raise CallError(f"seed: wanted a whole number of 0 or more, got {seed}")
    name, rest = ("miniwob", {"name": family[len(MINIWOB) :]}) if family.startswith(MINIWOB) else (family, {})
    made = registry.families[name]
    try:
        return made(seed, **rest, **options)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise CallError(f"family {family}: {error}") from error


def register() -> None:
    """Register every name as `cuadata/NAME-v0`; one that is registered already is left alone."""
    from gymnasium.envs import registration

    for name in names():
        known = f"cuadata/{name}-{VERSION}"
        if known not in registration.registry:
            registration.register(
                known, entry_point="cuadata.environment:BrowserEnv",
                vector_entry_point="cuadata.playing.environment_vector:BrowserVectorEnv", kwargs={"family": name},
                disable_env_checker=False, order_enforce=True,
            )  # fmt: skip
