"""How fast `cuadata build` is, what bounds it, and whether its memory stays flat: `python benchmarks/build.py`.

Recordings are made first, and not timed: trajectories of ten actions on 1280x720 pages of some sixty elements, with
pictures of screenshot size, every one with bytes of its own. Then each number of trajectories is built in a process of its
own. Its seconds are those from its start to its end, imports included; its processor time (user and system, workers
included) says the same on a busy machine too, and its resident memory is sampled together with that of its workers.
"""

from __future__ import annotations

import argparse
import contextlib
import cProfile
import hashlib
import io
import json
import os
import pstats
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

from cuadata import build, recording
from cuadata.types import Action, BBox, Effect, Element, Evidence, Locator, Observation, Outcome, Size, Step

VIEWPORT = Size(1280, 720)
STEPS = 10
SITES = 40


def main() -> None:
    """Make the recordings, build, and print one line for each number of trajectories."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--trajectories", type=int, nargs="+", default=[200, 2000])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--configs", default="actions,rejected", help="configs to write, or 'all'")
    parser.add_argument("--folder", type=Path, help="keep the recordings here, and use those that are there")
    parser.add_argument("--profile", action="store_true", help="profile one build in this process instead")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        for count in asked.trajectories:
            recordings = make(folder, count)
            if asked.profile:
                profile(recordings, folder / "out", asked.configs)
            else:
                print(measured(recordings, folder / "out", asked.workers, asked.configs), flush=True)


def make(folder: Path, count: int) -> Path:
    """`count` recordings: `SITES` are recorded, the others are copies of them with pictures and ids of their own."""
    target = folder / f"recordings-{count}"
    if target.is_dir():
        return target
    models = [record(folder / "models" / f"site-{site:02d}", site) for site in range(min(SITES, count))]
    for number in range(count):
        copy(models[number % len(models)], target / f"t{number:05d}", number)
    return target


def record(path: Path, site: int) -> Path:
    """One recording of a site of its own."""
    if path.is_dir():
        return path
    chance = random.Random(site)
    elements = tuple(_element(number, chance) for number in range(60))
    shots = [_picture(elements, site, number) for number in range(STEPS + 1)]
    seen = [
        Observation(
            screenshot=shot, viewport=VIEWPORT, url=f"https://site-{site}.test/", time=1.7e9 + number, elements=elements
        )
        for number, shot in enumerate(shots)
    ]
    with recording.create(
        path, id=path.name, instruction="", source="oracle", viewport=VIEWPORT, site=f"site-{site}.test"
    ) as writer:
        for number in range(STEPS):
            target = elements[number * 5]
            assert target.point is not None
            action = Action(type="click", element=target.id, point=target.point)
            effect = Effect(kind="local", similarity=0.4, region=target.bbox, reason="the picture changed")
            writer.add(
                Step(
                    index=number,
                    time=1.7e9 + number + 0.5,
                    observation=seen[number],
                    after=seen[number + 1],
                    action=action,
                    target=target,
                    effect=effect,
                )
            )
        writer.close(Outcome(ended="success", success=True))
    return path


def _element(number: int, chance: random.Random) -> Element:
    left, top = number % 6 * 210 + 10, number // 6 * 70 + 10
    box = BBox(float(left), float(top), float(chance.randrange(90, 190)), 42.0)
    return Element(
        id=number,
        role="button",
        name=f"Button {number}",
        text=f"Button {number}",
        tag="button",
        bbox=box,
        point=box.center,
        seen=1.0,
        hit=1.0,
        interactive=True,
        locator=Locator(css=f"#button-{number}"),
        evidence=Evidence(rects=(box,), in_viewport=1.0, spread=120.0),
    )


def _picture(elements: tuple[Element, ...], site: int, step: int):  # type: ignore[no-untyped-def]
    """A page as a browser paints it: flat areas, text, and a photograph of noise that makes up most of the bytes."""
    from PIL import Image, ImageDraw

    from cuadata import image

    chance = random.Random(site * 1000 + step)
    page = Image.new("RGB", (VIEWPORT.width, VIEWPORT.height), (255, 255, 255))
    draw = ImageDraw.Draw(page)
    ground = tuple(chance.randrange(120, 256) for _ in range(3))
    draw.rectangle((0, 0, 1279, 719), fill=ground)
    for one in elements:
        assert one.bbox is not None
        draw.rectangle(
            (one.bbox.x, one.bbox.y, one.bbox.right, one.bbox.bottom), fill=(240, 240, 240), outline=(60, 60, 60)
        )
        draw.text((one.bbox.x + 8, one.bbox.y + 14), f"{one.name} {chance.randrange(10**6)}", fill=(20, 20, 20))
    photo = Image.frombytes("L", (180, 180), chance.randbytes(180 * 180)).convert("RGB")
    page.paste(photo, (1050, 500))
    out = io.BytesIO()
    page.save(out, "PNG")
    return image.from_bytes(out.getvalue())


def copy(model: Path, path: Path, number: int) -> None:
    """The same trajectory with another id, instruction and pictures of other bytes."""
    (path / "blobs").mkdir(parents=True)
    steps = (model / "steps.jsonl").read_text()
    for blob in sorted((model / "blobs").iterdir()):
        if blob.suffix != ".png":
            shutil.copy(blob, path / "blobs" / blob.name)
            continue
        data = _stamped(blob.read_bytes(), number)
        name = hashlib.sha256(data).hexdigest()
        (path / "blobs" / f"{name}.png").write_bytes(data)
        steps = steps.replace(blob.stem, name)
    (path / "steps.jsonl").write_text(steps)
    header = json.loads((model / "header.json").read_text())
    header.update(id=f"t{number:05d}", instruction=f"Press the buttons of order {number}")
    (path / "header.json").write_text(json.dumps(header))
    shutil.copy(model / "outcome.json", path / "outcome.json")


def _stamped(png: bytes, number: int) -> bytes:
    """The picture with a text chunk before its end: other bytes, the same pixels."""
    body = b"tEXt" + f"Comment\0{number}".encode()
    return png[:-12] + struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body)) + png[-12:]


def run(recordings: Path, out: Path, workers: int, configs: str) -> dict[str, object]:
    """One build, in this process."""
    made = build.MADE if configs == "all" else tuple(configs.split(","))
    report = build.build([("recordings", recordings)], out, workers=workers, force=True, configs=made)
    rows = {config: sum(held.values()) for config, held in report.kept.items()}
    size = sum(file["bytes"] for file in report.manifest["files"])
    return {
        "steps": report.manifest["counts"]["steps"],
        "rows": rows,
        "bytes": size,
        "rejected": report.rejected,
    }


def measured(recordings: Path, out: Path, workers: int, configs: str) -> str:
    """One build in a process of its own: its line of the table."""
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); import build as b; from pathlib import Path; "
        "print(json.dumps(b.run(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), sys.argv[5])))"
    )
    words = [sys.executable, "-c", code, str(Path(__file__).parent), str(recordings), str(out), str(workers), configs]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        peak = [0]
        done = threading.Event()
        watcher = threading.Thread(target=_watch, args=(child.pid, peak, done))
        watcher.start()
        text, _ = child.communicate()
        done.set()
        watcher.join()
    seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    held = json.loads(text.splitlines()[-1])
    count = sum(1 for _ in recordings.iterdir())
    return (
        f"{count:6d} trajectories  {held['steps']:7d} examples  {seconds:7.1f} s  {held['steps'] / seconds:7.0f} examples/s  "
        f"user {user:.2f} s, system {system:.2f} s: {1000 * (user + system) / held['steps']:.2f} CPU ms an example  "
        f"{held['bytes'] / 1e6 / seconds:6.0f} MB/s written  peak {peak[0] / 1e6:5.0f} MB  load {os.getloadavg()[0]:.1f}  "
        f"rows {held['rows']} rejected {held['rejected']}"
    )


def _watch(pid: int, peak: list[int], done: threading.Event) -> None:
    """The largest resident memory of a process and those below it, shared pages counted once (PSS)."""
    while not done.wait(0.05):
        peak[0] = max(peak[0], sum(_memory(p) for p in family(pid)))


def family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):  # any of them may end meanwhile
            for thread in Path(f"/proc/{one}/task").glob(
                "*/children"
            ):  # a process is the child of the thread that began it
                found.extend(map(int, thread.read_text().split()))
    return found


def _memory(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0


def profile(recordings: Path, out: Path, configs: str) -> None:
    """Where the time of a build with one worker goes."""
    held = cProfile.Profile()
    held.enable()
    print(run(recordings, out, 1, configs))
    held.disable()
    pstats.Stats(held).sort_stats("tottime").print_stats(30)
    pstats.Stats(held).sort_stats("cumtime").print_stats(60)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
