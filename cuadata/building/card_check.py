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
#: Files that no pattern means on the Hub, whatever it matches.
_NEVER_DATA = ("README.md", "config.json", "dataset_info.json", "dataset_infos.json", "dummy_data.zip", "dataset_dict.json")  # fmt: skip
#: Words in the names of folders and files by which the Hub tells the splits of a folder without data_files.
_SPLIT_WORDS = {
    "train": "train|training", "validation": "validation|valid|dev|val", "test": "test|testing|eval|evaluation"
}  # fmt: skip
_SHARD = re.compile(r"data/(\w+(?:\.\w+)*)-\d{5}-of-\d{5}[^/]*\.[^/]*")


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
    text = "\n".join(lines[1 : ends[0]])
    try:
        twice = _twice(yaml.compose(text, Loader=yaml.SafeLoader))
        held = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a date that is none is a ValueError
        raise _Fault("yaml_error", " ".join(str(error).split())) from error
    if twice is not None:
        raise _Fault("yaml_error", f"the key '{twice}' stands twice in one mapping; the Hub reads no such card")
    if not isinstance(held, dict):
        raise _Fault("yaml_error", f"the YAML is {type(held).__name__}, wanted a mapping")
    return held


def _twice(node: Any) -> str | None:
    """A key that stands twice in a mapping of a YAML document, None where there is none."""
    import yaml

    stack, seen = [node], set[int]()
    while stack:
        one = stack.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, yaml.MappingNode):
            keys = [key.value for key, _ in one.value if isinstance(key, yaml.ScalarNode)]
            if (found := next((key for key in keys if keys.count(key) > 1), None)) is not None:
                return str(found)
            stack += [value for _, value in one.value]
        elif isinstance(one, yaml.SequenceNode):
            stack += one.value
    return None


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

    `data_dir` is the folder that patterns begin in; alone it means all that is below it, in the splits that names tell.
    """
    folder = config.get("data_dir")
    base = f"{folder.strip('/')}/" if isinstance(folder, str) and folder.strip("/") else ""
    if base and config.get("data_files") is None:
        told = _by_names(base, [one for one in files if one.startswith(base) and _is_data(one, base)])
        given: Any = [{"split": split, "path": [_literal(one) for one in held]} for split, held in told.items()]
        base, given = "", given or f"{base}**"
    else:
        given = config.get("data_files")
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
        matches = [file for file in files if _glob(pattern).fullmatch(file) and _is_data(file, pattern)]
        if not matches:
            raise _Fault("pattern_matches_nothing", f"config '{name}', split {split}: no file matches {pattern}")
        found.update(dict.fromkeys(matches))
    return sorted(found)


def _is_data(file: str, pattern: str) -> bool:
    """Whether the Hub takes a file that a pattern matches for data: not its own files, nor hidden ones that are not named."""
    *folders, name = file.split("/")
    *wanted, last = pattern.removeprefix("./").split("/")
    hidden = sum(part.startswith(".") for part in (*folders, name)) == sum(
        part.startswith(".") for part in (*wanted, last)
    )
    special = sum(part.startswith("__") for part in folders) == sum(part.startswith("__") for part in wanted)
    return name not in _NEVER_DATA and hidden and special


def _by_names(base: str, files: Sequence[str]) -> dict[str, list[str]]:
    """The splits that the Hub tells by names: of shards in `data/`, else of folders, else of files; else all is train."""
    short = {file: file.removeprefix(base) for file in files}
    found: dict[str, list[str]] = {}
    for file, name in short.items():
        if (shard := _SHARD.fullmatch(name)) is not None:
            found.setdefault(shard[1], []).append(file)
    for folders in (True, False):
        if found:
            break
        for split, words in _SPLIT_WORDS.items():
            held = [file for file, name in short.items() if _says(name, words, folders)]
            if held:
                found[split] = held
    return found or ({"train": list(files)} if files else {})


def _says(name: str, words: str, folders: bool) -> bool:
    *above, last = name.split("/")
    rest = "(?:[-._ 0-9].*)?" if folders else "[-._ 0-9].*"
    word = re.compile(rf"(?:.*[-._ 0-9])?(?:{words}){rest}")
    return any(word.fullmatch(part) for part in (above if folders else [last]))


def _literal(file: str) -> str:
    """A pattern that matches this file alone."""
    return re.sub(r"([*?\[])", r"[\1]", file)


@functools.cache
def _glob(pattern: str) -> re.Pattern[str]:
    """A pattern as the Hub reads it: `*` and `?` stay within a folder, `**` goes through folders."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", pattern.removeprefix("./"))
    words = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile(
        "".join(words.get(p) or (_class(p) if p.startswith("[") and p.endswith("]") else re.escape(p)) for p in parts)
    )


def _class(text: str) -> str:
    inner = text[1:-1].replace("\\", "\\\\").replace("[", "\\[")
    return f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
