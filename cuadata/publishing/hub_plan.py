"""What a publication does to a repository, decided before anything is sent: no network, no files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cuadata.building import card_check
from cuadata.errors import DataError

Visibility = Literal["none", "private", "public"]
Decision = Literal["create_private", "create_public", "upload", "stop_or_change_first", "stop_or_ask"]
#: A shard as `datasets` names it; releases before 2.13 put the split's fingerprint behind the count.
_SHARD = re.compile(r"(?P<split>[^/]+)-\d{5,}-of-\d{5,}(-[0-9a-f]{16})?\.parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The one commit of a publication."""

    add: Annotated[tuple[str, ...], "paths that are written, new or in place of what stands there"]
    delete: Annotated[tuple[str, ...], "shards of the same folder and split that no longer belong"]

    def result(self, remote: Iterable[str]) -> tuple[str, ...]:
        """Every path that the repository holds afterwards, sorted."""
        return tuple(sorted((set(remote) - set(self.delete)) | set(self.add)))


def decide(remote: Visibility, asked_private: bool | None) -> Decision:
    """What to do with a repository whose visibility was read back as `remote`; "none": there is no such repository.

    `asked_private` None: nothing was said, which means private. Nothing goes into a public repository unless public was
    asked for, and nothing that was asked to be public hides in a private one.
    """
    if remote == "none":
        return "create_public" if asked_private is False else "create_private"
    if remote == "public":
        return {None: "stop_or_ask", True: "stop_or_change_first", False: "upload"}[asked_private]  # type: ignore[return-value]
    return "stop_or_change_first" if asked_private is False else "upload"


def change(remote: Iterable[str], new: Sequence[str]) -> Change:
    """Write `new`; delete the shards of the folders and splits that `new` holds shards of, and nothing else.

    Paths are those of the repository, with forward slashes.
    """
    places = {place for path in new if (place := shard_place(path)) is not None}
    stale = {path for path in remote if shard_place(path) in places} - set(new)
    return Change(add=tuple(sorted(new)), delete=tuple(sorted(stale)))


def shard_place(path: str) -> tuple[str, str] | None:
    """Folder and split of a shard; None for other files."""
    folder, _, name = path.rpartition("/")
    match = _SHARD.fullmatch(name)
    return (folder, match["split"]) if match else None


def merged_card(local: str, remote: str | None, files: Iterable[str]) -> str:
    """The card to publish: the local one, and the configs and splits of the remote one whose files stay.

    The local text is kept as it is where nothing is to be added. DataError where it does not describe `files`, the paths
    that the repository will hold.
    """
    files = sorted(files)
    text = local
    if remote is not None:
        left = _left_over(local, remote, files)
        if left:
            text = _with_configs(local, left)
    found = card_check.check(text, files)
    if found.verdict != "keep":
        raise DataError(f"{found.reason}: {found.detail}", place="README.md")
    return text


def named_card(text: str, repo: str, unchecked: Sequence[str]) -> str:
    """The card with the repository's name where the lines to load it stand, and with what was not checked."""
    text = text.replace('load_dataset("DATASET"', f'load_dataset("{repo}"')
    looked = "Before publication every text of every row was searched for secrets and personal data; licences, public evaluation sets and splits were checked."
    lines = [looked, *(f"Not checked: {one}." for one in unchecked)]
    return f"{text.rstrip()}\n\n## Checks\n\n" + "\n".join(f"- {line}" for line in lines) + "\n"


def _left_over(local: str, remote: str, files: Sequence[str]) -> list[dict[str, Any]]:
    """Configs of the remote card, with the splits that the local card has none of and that still have files.

    What a config says beside its files stays, but for `default`: which one that is, the local card says.
    """
    own = {config["config_name"]: config for config in _listed(local)}
    found = []
    for config in _listed(remote):
        config = {key: value for key, value in config.items() if key != "default"}
        name = config.get("config_name")
        entries = config.get("data_files")
        if not isinstance(name, str):
            continue
        if isinstance(entries, list) and all(isinstance(e, dict) for e in entries):
            held = {entry["split"] for entry in own[name]["data_files"]} if name in own else set()
            kept = [
                e for e in entries if e.get("split") not in held and _names_files(config | {"data_files": [e]}, files)
            ]
            if kept:
                found.append(config | {"data_files": kept})
        elif name not in own and _names_files(config, files):  # patterns without splits, or a folder
            found.append(config)
    return found


def _names_files(config: dict[str, Any], files: Sequence[str]) -> bool:
    return card_check.check(_card({"configs": [config]}, ""), files).verdict == "keep"


def _with_configs(card: str, more: list[dict[str, Any]]) -> str:
    head, body = _parts(card)
    configs = {config["config_name"]: config for config in head["configs"]}
    for config in more:
        if config["config_name"] in configs:
            configs[config["config_name"]]["data_files"] += config["data_files"]
        else:
            head["configs"].append(config)
    return _card(head, body)


def _listed(card: str) -> list[dict[str, Any]]:
    head, _ = _parts(card)
    configs = head.get("configs")
    return [one for one in configs if isinstance(one, dict)] if isinstance(configs, list) else []


def front_matter(card: str) -> dict[str, Any]:
    """The YAML at the top of a card; empty where there is none that parses."""
    return _parts(card)[0]


def _parts(card: str) -> tuple[dict[str, Any], str]:
    import yaml

    match = re.match(r"\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)", card, re.DOTALL)
    if not match:
        return {}, card
    try:
        head = yaml.safe_load(match[1])
    except yaml.YAMLError:
        return {}, card
    return (head if isinstance(head, dict) else {}), card[match.end() :]


def _card(head: dict[str, Any], body: str) -> str:
    import yaml

    return f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---\n{body}"
