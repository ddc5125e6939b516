"""Does a dataset card describe the files beside it: what its YAML names, before the Hub or a reader trips over it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from cuadata import text_files

#: Why a card is refused, each word with its sentence.
FAULTS = {
    "yaml_missing": "The card does not begin with a block of YAML between two lines of three dashes.",
    "yaml_error": "The YAML does not parse, or is no mapping.",
    "config_name_missing": "A config has no name, or a name that a folder cannot have.",
    "duplicate_config": "Two configs have one name.",
    "two_defaults": "More than one config is the default.",
    "data_files_missing": "A config names no files, or in a form that the Hub does not read.",
    "split_missing": "An entry of data_files has no split, or a name that a split cannot have.",
    "duplicate_split": "A config names one split twice.",
    "path_outside_set": "A pattern leads out of the dataset's folder.",
    "pattern_matches_nothing": "A pattern matches no file.",
    "file_in_two_splits": "A file stands in two splits of one config.",
}
_SPLIT = re.compile(r"\w+(\.\w+)*")
_NO_NAME = re.compile(r'[<>:/\\|?*"\x00-\x1f]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is to be said of a card."""

    verdict: Annotated[str, "keep or reject"]
    reason: Annotated[str | None, "a word of FAULTS; None where it is kept"] = None
    detail: Annotated[str, "which config, split or pattern, and what would do"] = ""
    configs: Annotated[dict[str, dict[str, list[str]]], "config -> split -> files, where it is kept"] = field(
        default_factory=dict
    )


class _Fault(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def check(card: str, files: Iterable[str]) -> Finding:
    """The first fault of a card's configs, or the files of every config and split.

    `files` are the paths of the dataset's files from its folder on, with forward slashes.
    """
    held = sorted(files)
    try:
        configs: dict[str, dict[str, list[str]]] = {}
        listed = _configs(_front_matter(card))
        for number, config in enumerate(listed):
            name = _name(config, number)
            if name in configs:
                raise _Fault("duplicate_config", f"two configs are called '{name}'; give each a name of its own")
            configs[name] = _splits(name, config, held)
        defaults = [c for c in listed if c.get("default") is True]
        if len(defaults) > 1:
            raise _Fault("two_defaults", f"{len(defaults)} configs say `default: true`; one may")
    except _Fault as fault:
        return Finding(verdict="reject", reason=fault.reason, detail=str(fault))
    return Finding(verdict="keep", configs=configs)


def check_folder(folder: Path) -> Finding:
    """The same for a dataset on disk. FileNotFoundError where it has no README.md."""
    files = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
    return check(text_files.read(folder / "README.md"), files)


def _front_matter(card: str) -> dict[str, Any]:
    """The YAML at the top of a card, as a mapping."""
    import yaml

    lines = card.removeprefix("\ufeff").splitlines()
    ends = [i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"]
    if not lines or lines[0].rstrip() != "---" or not ends:
        raise _Fault("yaml_missing", "put `---`, the YAML and `---` on the first lines of the card")
    try:
        held = yaml.safe_load("\n".join(lines[1 : ends[0]]))
    except yaml.YAMLError as error:
        raise _Fault("yaml_error", " ".join(str(error).split())) from error
    if not isinstance(held, dict):
        raise _Fault("yaml_error", f"the YAML is {type(held).__name__}, wanted a mapping")
    return held


def _configs(head: dict[str, Any]) -> list[dict[str, Any]]:
    configs = head.get("configs", [])
    if not isinstance(configs, list) or not all(isinstance(c, dict) for c in configs):
        raise _Fault("yaml_error", "`configs` is to be a list of mappings with config_name and data_files")
    return configs


def _name(config: dict[str, Any], number: int) -> str:
    name = config.get("config_name")
    if not isinstance(name, str) or not name.strip() or _NO_NAME.search(name):
        raise _Fault("config_name_missing", f"config {number + 1} is called {name!r}; give it a config_name")
    return name


def _splits(name: str, config: dict[str, Any], files: Sequence[str]) -> dict[str, list[str]]:
    """Files by split. `data_files` may be a pattern, a list of patterns, or a list of {split, path}.

    `data_dir` is the folder that patterns begin in; alone it means all that is below it.
    """
    folder = config.get("data_dir")
    base = f"{folder.strip('/')}/" if isinstance(folder, str) and folder.strip("/") else ""
    given = config.get("data_files", "**" if base else None)
    entries: list[Any] = given if isinstance(given, list) else [given]
    if entries and all(isinstance(e, str) for e in entries):
        entries = [{"split": "train", "path": entries}]
    if not entries or not all(isinstance(e, dict) for e in entries):
        raise _Fault("data_files_missing", f"config '{name}': data_files is {given!r:.80}")
    found: dict[str, list[str]] = {}
    owner: dict[str, str] = {}
    for entry in entries:
        split = entry.get("split")
        if not isinstance(split, str) or not _SPLIT.fullmatch(split):
            raise _Fault("split_missing", f"config '{name}': split is {split!r}; wanted a word such as train")
        if split in found:
            raise _Fault("duplicate_split", f"config '{name}' names split {split} twice; give it a list of paths")
        found[split] = _matched(name, split, entry.get("path"), files, base)
        for file in found[split]:
            if owner.setdefault(file, split) != split:
                raise _Fault("file_in_two_splits", f"config '{name}': {file} is in {owner[file]} and in {split}")
    return found


def _matched(name: str, split: str, given: Any, files: Sequence[str], base: str) -> list[str]:
    patterns = given if isinstance(given, list) else [given]
    if not patterns or not all(isinstance(p, str) and p for p in patterns):
        raise _Fault("data_files_missing", f"config '{name}', split {split}: path is {given!r:.80}")
    found: dict[str, None] = {}
    for pattern in [one if one.startswith("/") else base + one.removeprefix("./") for one in patterns]:
        if pattern.startswith("/") or "://" in pattern or ".." in pattern.split("/"):
            raise _Fault("path_outside_set", f"config '{name}', split {split}: {pattern}")
        matches = [file for file in files if _glob(pattern).fullmatch(file)]
        if not matches:
            raise _Fault("pattern_matches_nothing", f"config '{name}', split {split}: no file matches {pattern}")
        found.update(dict.fromkeys(matches))
    return sorted(found)


@functools.cache
def _glob(pattern: str) -> re.Pattern[str]:
    """A pattern as the Hub reads it: `*` and `?` stay within a folder, `**` goes through folders."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", pattern.removeprefix("./"))
    words = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile(
        "".join(words.get(p) or (_class(p) if p.startswith("[") and p.endswith("]") else re.escape(p)) for p in parts)
    )


def _class(text: str) -> str:
    inner = text[1:-1].replace("\\", "\\\\")
    return f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
