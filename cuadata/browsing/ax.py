"""Roles, names and states as Chromium's accessibility tree computes them, by backend node id.

One `Accessibility.getFullAXTree` a frame gives them all. Ignored nodes (role none, wrappers) are kept out of the result, but
nothing hangs on them: elements are joined by node id, never by walking down the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cuadata.types import States

#: Roles of nodes that a page with any content has; a tree without one of another role is empty.
BARE = frozenset({"RootWebArea", "none", "generic", "StaticText", "InlineTextBox", "Iframe", "paragraph", "LineBreak"})


@dataclass(frozen=True, slots=True)
class Named:
    """What the accessibility tree says of one element."""

    role: str
    name: str
    states: States = field(default_factory=States)
    ignored: bool = False


def by_node(nodes: Iterable[Mapping[str, Any]]) -> dict[int, Named]:
    """Backend node id to what the tree says of it."""
    return {int(node["backendDOMNodeId"]): _named(node) for node in nodes if node.get("backendDOMNodeId") is not None}


def empty(tree: Mapping[int, Named]) -> bool:
    """Whether a tree tells nothing: no node has a role that stands for content."""
    return all(named.ignored or named.role in BARE for named in tree.values())


def _named(node: Mapping[str, Any]) -> Named:
    ignored = bool(node.get("ignored"))
    role = str(node.get("role", {}).get("value") or "")
    name = str(node.get("name", {}).get("value") or "")
    return Named("none" if ignored else role, "" if ignored else name, _states(node), ignored)


def _states(node: Mapping[str, Any]) -> States:
    held = {p["name"]: p.get("value", {}).get("value") for p in node.get("properties", ())}
    value = node.get("value", {}).get("value")
    if value is None and "valuetext" in held and held["valuetext"]:
        value = held["valuetext"]
    return States(
        checked=_three(held.get("checked")),
        disabled=bool(held.get("disabled", False)),
        expanded=_flag(held.get("expanded")),
        selected=_flag(held.get("selected")),
        pressed=_three(held.get("pressed")),
        focused=bool(held.get("focused", False)),
        readonly=bool(held.get("readonly", False)),
        required=bool(held.get("required", False)),
        invalid=held.get("invalid") not in (None, False, "false", ""),
        value=None if value is None else _text(value),
    )


def _three(value: object) -> Any:
    return None if value is None else str(value).lower()


def _flag(value: object) -> bool | None:
    return None if value is None else str(value).lower() == "true"


def _text(value: object) -> str:
    """A number without a needless fraction, anything else as it stands."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
