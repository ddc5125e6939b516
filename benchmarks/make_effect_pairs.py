"""Make the labelled pairs of `tests/effect_pairs`: real pages, real input, the answer known from the DOM.

    python benchmarks/make_effect_pairs.py SITES OUT [--only dev|test] [--bytes N]

SITES is a folder with the pages: `miniwob` (the html folder of the PyPI package miniwob), `todomvc` (the npm package
todomvc, unpacked) and `sb-admin-2` (the npm package startbootstrap-sb-admin-2, unpacked); the pages of the gauntlet are
made from their seeds. For every scenario of
`effect_scenarios.py` the page is opened, the pointer arrives, frames are taken without acting, the input is sent, and
frames are taken after it. The answer is whether what the DOM says of the page, text, boxes, paint and state, differs outside what
moves by itself; it never looks at a picture. A scenario whose answer is not the one that it was written for is left out,
and the run ends with an error. Pictures are stored once, by content, as lossless WebP, frames and the picture
after as patches of the picture before; the states hold only the elements that can tell something. With `--bytes` the pairs
that weigh most are left out until the chosen half fits; nothing but their size and their class is looked at.
"""

from __future__ import annotations

import argparse
import base64
import functools
import hashlib
import io
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from effect_scenarios import SCENARIOS, Scenario, class_of
from PIL import Image, ImageChops
from playwright.sync_api import Error, Page, sync_playwright

HERE = Path(__file__).resolve().parent
DIGEST, AMBIENT = (HERE / "effect_digest.js").read_text(), (HERE / "effect_ambient.js").read_text()
WIDTH, HEIGHT = 1280, 720
FRAMES, FRAME_SECONDS = 6, 0.2
Digest = dict[str, list[str]]


class Quiet(SimpleHTTPRequestHandler):
    """Serves the sites' files without a word."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def serve(folder: Path) -> ThreadingHTTPServer:
    """The folder over http on a free port of 127.0.0.1."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def write_page(path: Path) -> None:
    """A page of the gauntlet, made from the seed in its name."""
    from cuadata.registry import families

    path.parent.mkdir(exist_ok=True)
    path.write_text(families["gauntlet"](int(path.stem)).html or "", encoding="utf-8")


class Stage:
    """One page with a scenario on it."""

    def __init__(self, page: Page, base: str) -> None:
        self.page, self.base = page, base
        self.session = page.context.new_cdp_session(page)

    def shot(self) -> bytes:
        """The viewport as PNG."""
        answer = self.session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
        return base64.b64decode(answer["data"])

    def digest(self) -> Digest:
        """What the DOM says of every rendered element, by its path: what it holds, and how it is painted."""
        found: Digest = json.loads(self.page.evaluate("digest()"))
        return found

    def state(self) -> dict[str, Any]:
        """The elements that take input."""
        found: dict[str, Any] = json.loads(self.page.evaluate("state()"))
        return found

    def open(self, scenario: Scenario) -> None:
        """Load the page and bring it to where the scenario begins."""
        self.page.goto(self.base + scenario.page, wait_until="load")
        self.page.wait_for_timeout(400)
        if scenario.setup:
            self.page.evaluate(scenario.setup + "\n;1")
            self.page.wait_for_timeout(400)
        for step in scenario.before:
            self.play(step)
        for name, x, y in scenario.ambient:
            self.page.evaluate(f"ambient.{name}({x}, {y})")
        self.page.wait_for_timeout(300)

    def point(self, step: tuple[Any, ...]) -> tuple[float, float] | None:
        """Where a step presses; None for steps without a pointer."""
        if step[0] == "at":
            return step[1], step[2]
        if step[0] == "wheel" and len(step) == 4:
            return step[2], step[3]
        if step[0] in ("click", "double", "drag", "over", "wheel"):
            box = self.page.locator(step[2] if step[0] == "wheel" else step[1]).first.bounding_box()
            assert box is not None, step
            return round(box["x"] + box["width"] / 2, 1), round(box["y"] + box["height"] / 2, 1)
        return None

    def play(self, step: tuple[Any, ...]) -> None:
        """Send one real input."""
        kind, mouse, keyboard = step[0], self.page.mouse, self.page.keyboard
        where = self.point(step)
        if where is not None:
            mouse.move(*where)
        if kind in ("at", "click"):
            mouse.down()
            mouse.up()
        elif kind == "double":
            mouse.dblclick(*where or (0, 0))
        elif kind == "drag":
            mouse.down()
            mouse.move(where[0] + step[2], where[1] + step[3], steps=4)  # type: ignore[index]
            mouse.up()
        elif kind == "type":
            keyboard.type(step[1])
        elif kind == "press":
            keyboard.press(step[1])
        elif kind == "wheel":
            mouse.wheel(0, step[1])
        elif kind == "select":
            self.page.locator(step[1]).first.select_option(label=step[2])
        elif kind == "eval":
            self.page.evaluate(step[1] + "\n;1")
        elif kind == "wait":
            self.page.wait_for_timeout(step[1])
        self.page.wait_for_timeout(60)


def capture(stage: Stage, scenario: Scenario) -> dict[str, Any]:
    """Play one scenario; pictures as bytes, the answer, and the states."""
    stage.open(scenario)
    where = stage.point(scenario.do)
    if where is not None:
        stage.page.mouse.move(*where)
        stage.page.wait_for_timeout(250)
    frames, digests, states = [], [], []
    for number in range(FRAMES):
        digests.append(stage.digest())
        states.append(stage.state())
        frames.append(stage.shot())
        if number < FRAMES - 1:
            stage.page.wait_for_timeout(FRAME_SECONDS * 1000)
    if scenario.do[0] != "none":
        stage.play(scenario.do)
    began, after = time.monotonic(), []
    for moment in scenario.look:
        stage.page.wait_for_timeout(max(0.0, (moment - (time.monotonic() - began)) * 1000))
        after.append((moment, stage.shot()))
    changed = differing(digests, stage.digest(), pressed=where is not None and scenario.do[0] not in ("wheel", "over"))
    return {
        "frames": frames,
        "after": after,
        "point": where,
        "changed": changed,
        "states": [*states, stage.state()],
    }


def differing(earlier: list[Digest], after: Digest, pressed: bool) -> list[str]:
    """Paths whose entry changed, except where it changed before the action as well.

    That the focus moved is a change where it came into a field, or by a key. What a press elsewhere takes from the paint
    of the element that had the focus is none.
    """
    last = earlier[-1]
    moving = {path for one in earlier for path in one.keys() | last.keys() if one.get(path) != last.get(path)}
    found = {path for path in (last.keys() | after.keys()) - moving if last.get(path) != after.get(path)}
    if not after["field"][0]:
        found.discard("field")
    if pressed:
        found.discard("focus")
        lost = last["focus"][0] if last["focus"] != after["focus"] else ""
        if lost:
            own = {p for p in found if p == lost or p.startswith(lost + " > ")}
            found -= {path for path in own if path in last and path in after and last[path][0] == after[path][0]}
    return sorted(found)


class Unexpected(Exception):
    """The DOM does not say what the scenario was written for."""


class Shelf:
    """Pictures by the content of their pixels; what differs little from another picture is stored as a patch of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.first: dict[str, tuple[str, bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def before(self, png: bytes, page: str) -> str:
        """Store the picture before an action: its file name, or a patch of the first one of that page."""
        held = self.first.get(page)
        if held is None:
            name = self._whole(png)
            self.first[page] = (name, png)
            return name
        box = differing_box(png, held[1])
        if box is None:
            return held[0]
        return f"{self._part(png, box)}@{held[0]}" if _area(box) < 0.5 * WIDTH * HEIGHT else self._whole(png)

    def other(self, png: bytes, before: bytes, name: str) -> str:
        """Store a picture as a patch to be laid on the picture before, whose name is `name`."""
        box = differing_box(png, before)
        return name if box is None else self._part(png, box)

    def _whole(self, png: bytes) -> str:
        return self._store(Image.open(io.BytesIO(png)).convert("RGB"))

    def _part(self, png: bytes, box: tuple[int, int, int, int]) -> str:
        return f"{self._store(Image.open(io.BytesIO(png)).convert('RGB').crop(box))}@{box[0]},{box[1]}"

    def _store(self, picture: Image.Image) -> str:
        name = hashlib.sha256(repr(picture.size).encode() + picture.tobytes()).hexdigest()[:16] + ".webp"
        path = self.folder / name
        if not path.exists():
            picture.save(path, "WEBP", lossless=True, quality=60, method=4)
        return name


def differing_box(png: bytes, other: bytes) -> tuple[int, int, int, int] | None:
    """The box (left, top, right, bottom) where two pictures differ; None where they are equal."""
    one, two = (Image.open(io.BytesIO(data)).convert("RGB") for data in (png, other))
    return ImageChops.difference(one, two).getbbox()


def _area(box: tuple[int, int, int, int]) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def telling(states: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The states with the elements left out that are the same in all of them, the focused one kept."""
    seen = [{json.dumps({**e, "id": 0}, sort_keys=True) for e in state["elements"]} for state in states]
    shared = set.intersection(*seen)
    kept = []
    for state in states:
        elements = [
            {**e, "id": number}
            for number, e in enumerate(state["elements"], start=1)
            if json.dumps({**e, "id": 0}, sort_keys=True) not in shared or e["states"]["focused"]
        ]
        focused = next((e["id"] for e in elements if e["states"]["focused"]), None)
        kept.append({**state, "elements": elements, "focused": focused})
    return kept


def pruned(value: Any) -> Any:
    """A state without the entries that say nothing, which reading fills in."""
    if isinstance(value, dict):
        held = {key: pruned(one) for key, one in value.items() if key not in ("viewport", "bbox", "scroll")}
        kept = {key: one for key, one in held.items() if one not in (None, False, "", {}, [])}
        return kept | {key: value[key] for key in ("viewport", "bbox", "scroll") if key in value}
    return [pruned(one) for one in value] if isinstance(value, list) else value


def named(elements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Elements with a name and a role, which are always written."""
    return [{"name": "", **element} for element in elements]


def state_of(state: dict[str, Any]) -> dict[str, Any]:
    """A state as it is written."""
    kept: dict[str, Any] = pruned(state)
    return kept | {"elements": named(kept.get("elements", []))}


def record(scenario: Scenario, taken: dict[str, Any], shelf: Shelf) -> dict[str, Any]:
    """The line of `labels.jsonl`."""
    effect = bool(taken["changed"])
    if scenario.effect is not None and effect != scenario.effect:
        raise Unexpected(f"written as effect {scenario.effect}, the DOM says {taken['changed'][:5]}")
    before = taken["frames"][-1]
    name = shelf.before(before, scenario.page)
    still = [shelf.other(frame, before, name) for frame in taken["frames"][:-1]]
    states = telling([*taken["states"][:: FRAMES - 1][:1], *taken["states"][-2:]])
    after = [[moment, shelf.other(png, before, name)] for moment, png in taken["after"]]
    return {
        "id": scenario.id,
        "site": scenario.site,
        "half": scenario.half,
        "class": class_of(scenario.kind),
        "effect": effect,
        "why": [path.split(" > ")[-1] or "address, title or scroll" for path in taken["changed"][:3]],
        "before": name,
        "ambient": [frame for number, frame in enumerate(still) if frame != name or number == 0],
        "after": after[-1][1],
        "frames": after if len(after) > 1 else [],
        "point": taken["point"],
        "state_still": state_of(states[0]) if states[0] != states[1] else None,
        "state_before": state_of(states[1]),
        "state_after": state_of(states[2]),
    }


def fitted(made: list[dict[str, Any]], folder: Path, most: int) -> list[dict[str, Any]]:
    """The pairs without those that weigh most, pictures that no other pair shares and the label, until `most` bytes hold them.

    Three pairs of every class stay.
    """
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    kept = {line["id"]: line for line in made}
    shown = {id: files_of(line) for id, line in kept.items()}
    while True:
        users = Counter(name for id in kept for name in shown[id])
        label = {id: len(json.dumps(line, ensure_ascii=False)) for id, line in kept.items()}
        if sum(sizes[name] for name in users) + sum(label.values()) <= most:
            return list(kept.values())
        classes = Counter(line["class"] for line in kept.values())
        able = [id for id, line in kept.items() if classes[line["class"]] > 3]
        weight = {id: label[id] + sum(sizes[name] / users[name] for name in shown[id]) for id in able}
        del kept[max(able, key=weight.__getitem__)]


def files_of(line: dict[str, Any]) -> set[str]:
    """The files under `pictures` that a pair needs."""
    names = [line["before"], line["after"], *line["ambient"], *(name for _, name in line["frames"])]
    parts = [name.split("@") for name in names]
    return {part[0] for part in parts} | {part[2] for part in parts if len(part) > 2}


def lines(scenarios: list[Scenario], sites: Path, shelf: Shelf, failed: list[str]) -> Iterator[dict[str, Any]]:
    """Every scenario in a context of its own; what could not be played as written goes to `failed`."""
    for path in {scenario.page for scenario in scenarios if scenario.site == "gauntlet"}:
        write_page(sites / path)
    server = serve(sites)
    base = f"http://127.0.0.1:{server.server_address[1]}/"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell")
        for scenario in scenarios:
            context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
            context.set_default_timeout(4000)
            context.add_init_script(DIGEST)
            context.add_init_script(AMBIENT)
            # The texture of TodoMVC's page makes every picture ten times as large: one of the applications keeps it.
            if not any(app in scenario.page for app in ("/ractive/",)):
                context.route("**/bg.png", lambda route: route.abort())
            try:
                taken = capture(Stage(context.new_page(), base), scenario)
                print(f"{scenario.id:44} {'effect' if taken['changed'] else '-':8} {len(taken['changed'])}", flush=True)
                yield record(scenario, taken, shelf)
            except (Error, Unexpected, AssertionError) as error:
                failed.append(f"{scenario.id}: {str(error)[:300]}")
            context.close()
        browser.close()
    server.shutdown()


def main() -> None:
    """Make the pairs of one half or of both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sites", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", choices=("dev", "test"))
    parser.add_argument("--match", default="")
    parser.add_argument("--bytes", type=int, help="what the chosen pairs may weigh")
    given = parser.parse_args()
    chosen = [s for s in SCENARIOS if given.only in (None, s.half) and given.match in s.id]
    path = given.out / "labels.jsonl"
    chosen_ids = {scenario.id for scenario in chosen}
    held = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    kept = [line for line in held if line["id"] not in chosen_ids]
    failed: list[str] = []
    made = list(lines(chosen, given.sites, Shelf(given.out / "pictures"), failed))
    if given.bytes is not None:
        made = fitted(made, given.out / "pictures", given.bytes)
    ordered = sorted([*kept, *made], key=lambda line: (line["half"], line["site"], line["id"]))
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in ordered))
    needed = {name for line in ordered for name in files_of(line)}
    for picture in (given.out / "pictures").iterdir():
        if picture.name not in needed:
            picture.unlink()
    print(f"{len(ordered)} pairs in {path}")
    if failed:
        raise SystemExit("\n".join(failed))


if __name__ == "__main__":
    main()
