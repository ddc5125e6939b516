"""What every document of a page says of its elements, what the debugger and the accessibility tree add."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cuadata.browsing import ax
from cuadata.browsing.frames import Frame, FrameGone, send
from cuadata.browsing.loop import Stuck

#: Closed shadow roots are followed into each other this deep.
DEEPEST_ROOTS = 8


@dataclass(slots=True)
class Measured:
    """What one document said, and what the browser said of it."""

    frame: Frame
    told: dict[str, Any]
    tree: Mapping[int, ax.Named] = field(default_factory=ax.Tree)
    #: Whether closed shadow roots were found in it that were not known before.
    opened: bool = False


async def measure(frame: Frame, notes: list[str], limit: float = 10.0, *, hold: bool = False) -> Measured | None:
    """Measure one document; None, with a note, where it is gone or does not answer.

    `hold` stops its animations and caret until `cuadata.release()` is called.
    """
    opened = False
    try:
        told = await _rows(frame, hold, limit)
        for _ in range(DEEPEST_ROOTS):
            closed = await frame.new_nodes(told["fresh"], limit)
            if not closed:
                break
            opened = True
            await _adopt(frame, [root for _, root in closed], limit)
            told = await _rows(frame, hold, limit)
        else:
            await frame.new_nodes(told["fresh"], limit)
        frame.stopped = told["held"] > 0
        return Measured(frame, told, opened=opened)
    except (FrameGone, Stuck, ValueError) as error:
        notes.append(f"the frame {frame.url[:120]} was not measured: {error}"[:300])
        return None


async def _rows(frame: Frame, hold: bool, limit: float) -> dict[str, Any]:
    """One round of measuring; rows that are as they were are not sent again, and come as the same objects."""
    told: dict[str, Any] = await frame.told(
        f"cuadata.measure({{hold: {'true' if hold else 'false'}, base: {frame.generation}}})", limit
    )
    told["elements"] = [frame.rows[one] if isinstance(one, int) else one for one in told["elements"]]
    frame.rows = {row["id"]: row for row in told["elements"]}
    frame.generation = told["generation"]
    return told


async def _adopt(frame: Frame, roots: list[int], limit: float) -> None:
    for root in roots:
        await frame.call("(root) => cuadata.adopt(root)", [await frame.object_of(root, limit)], limit)


#: Events that make an element one that takes input.
POINTER = frozenset(
    ("click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend", "dblclick", "contextmenu")
    + ("keydown", "dragstart")
)
#: Listeners on more elements than this are not looked into one by one.
MOST_LISTENERS = 2000


async def listeners(held: list[Measured], limit: float = 5.0, *, pierce: bool = True) -> list[Measured]:
    """Tell our worlds which elements have pointer listeners, as the debugger knows; the documents where that was news.

    One call a process tells them all, those in closed shadow roots and in frames of the same process too; without `pierce`
    each document and each shadow root is asked about by itself.
    """
    news: list[Measured] = []
    for top in held:
        frame = top.frame
        if pierce and frame.parent is not None and frame.parent.session is frame.session:
            continue
        local = [m for m in held if m.frame.session is frame.session] if pierce else [top]
        if all(named_as(m) == m.frame.tree_key for m in local):
            continue
        handles = [await frame.root(limit)] if pierce else await frame.roots(limit)
        asks = (_heard(frame, handle, limit, pierce) for handle in handles)
        nodes = set().union(*await asyncio.gather(*asks))
        if not pierce:
            await frame.let_go(limit)
        for measured in local:
            if await _listen(measured.frame, nodes, limit):
                news.append(measured)
        await _listen_unknown(local, nodes, news, limit)
    return news


async def _heard(frame: Frame, handle: str, limit: float, pierce: bool) -> set[int]:
    """Numbers of the nodes with pointer or key listeners under a node of the page's own world."""
    told = await send(frame.session, "DOMDebugger.getEventListeners", limit, objectId=handle, depth=-1, pierce=pierce)
    return {int(one["backendNodeId"]) for one in told["listeners"] if one["type"] in POINTER}


async def _listen(frame: Frame, nodes: set[int], limit: float) -> bool:
    """Mark elements that our world knows by number; takes them out of `nodes`."""
    serials = {node: serial for serial, node in frame.nodes.items()}
    known = nodes & serials.keys()
    nodes -= known
    fresh = known - frame.listening
    if not fresh:
        return False
    frame.listening |= fresh
    return bool(await frame.value(f"cuadata.listenTo({[serials[n] for n in fresh]})", limit))


async def _listen_unknown(local: list[Measured], nodes: set[int], news: list[Measured], limit: float) -> None:
    """Mark elements that nothing else made worth telling, each in the document that it belongs to."""
    for measured in local:
        frame = measured.frame
        fresh = sorted(nodes - frame.listening)[:MOST_LISTENERS]
        if not fresh:
            continue
        frame.listening |= set(fresh)
        objects = await asyncio.gather(*(frame.object_of(n, limit) for n in fresh), return_exceptions=True)
        good = [o for o in objects if isinstance(o, str)]
        if good and await frame.call("(...nodes) => cuadata.listen(...nodes)", good, limit) and measured not in news:
            news.append(measured)


def named_as(measured: Measured) -> str:
    """A text that differs where the accessibility tree may differ: the document, what was entered, what is rendered."""
    told = measured.told
    return "" if told["custom"] else f"{told['pulse'][0]}/{told['pulse'][1]}/{told['shape']}"


async def trees(held: Iterable[Measured], notes: list[str], limit: float = 20.0) -> None:
    """Join each document with its accessibility tree, which is asked for again only where the document changed."""

    async def one(measured: Measured) -> None:
        frame, key = measured.frame, named_as(measured)
        if key and frame.tree_key == key:
            measured.tree = frame.tree
            return
        try:
            nodes = await _nodes(measured, limit)
        except (FrameGone, Stuck) as error:
            notes.append(f"the frame {frame.url[:120]} has no accessibility tree: {error}"[:300])
            return
        measured.tree = frame.tree = ax.by_node(nodes, frame.tree)
        frame.tree_key = key
        if ax.empty(measured.tree) and any(e["acts"] for e in measured.told["elements"]):
            notes.append(f"the accessibility tree of {frame.url[:120]} is empty although the page has controls")

    await asyncio.gather(*(one(m) for m in held))


#: A tree of more elements than this is not asked for as a whole: Chromium needs a second for ten thousand.
LARGE = 5000


async def _nodes(measured: Measured, limit: float) -> list[dict[str, Any]]:
    """Nodes of the accessibility tree: all, or on a large page those of the elements on the screen."""
    frame, told = measured.frame, measured.told
    if told["total"] <= LARGE:
        return list((await send(frame.session, "Accessibility.getFullAXTree", limit, frameId=frame.id))["nodes"])
    wanted = [frame.nodes[r["id"]] for r in told["elements"] if r["inView"] > 0 and r["id"] in frame.nodes]
    found: list[dict[str, Any]] = []
    method = "Accessibility.getPartialAXTree"
    for i in range(0, len(wanted), 32):
        some = (send(frame.session, method, limit, backendNodeId=n, fetchRelatives=False) for n in wanted[i : i + 32])
        found += [node for told in await asyncio.gather(*some) for node in told["nodes"]]
    return found
