"""Roles, names and states as Chromium's accessibility tree computes them, by backend node id.

One `Accessibility.getFullAXTree` a frame gives them all. Ignored nodes (role none, wrappers) are kept out of the result, but
nothing hangs on them: elements are joined by node id, never by walking down the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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


class Tree(Mapping[int, Named]):
    """Backend node id to what the tree says of it, read where it is asked for: of most nodes nobody wants to know.

    What a tree before said of a node that is as it was is the same object.
    """

    def __init__(self, nodes: Iterable[Mapping[str, Any]] = (), before: Tree | None = None) -> None:
        self._nodes = {int(n["backendDOMNodeId"]): n for n in nodes if n.get("backendDOMNodeId") is not None}
        self._named: dict[int, Named] = {}
        if before is not None:
            held = self._nodes
            self._named = {id: named for id, named in before._named.items() if held.get(id) == before._nodes[id]}

    def __getitem__(self, id: int) -> Named:
        named = self._named.get(id)
        if named is None:
            named = self._named[id] = _named(self._nodes[id])
        return named

    def __iter__(self) -> Iterator[int]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)


def by_node(nodes: Iterable[Mapping[str, Any]], before: Tree | None = None) -> Tree:
    """Backend node id to what the tree says of it; `before`: the tree of the same document as it was asked for last."""
    return Tree(nodes, before)


def empty(tree: Mapping[int, Named]) -> bool:
    """Whether a tree tells nothing: no node has a role that stands for content."""
    return all(named.ignored or named.role in BARE for named in tree.values())


def _named(node: Mapping[str, Any]) -> Named:
    ignored = bool(node.get("ignored"))
    role = str(node.get("role", {}).get("value") or "")
    # What is left of white space around hidden parts is no part of a name.
    name = str(node.get("name", {}).get("value") or "").strip()
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
