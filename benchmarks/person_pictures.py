"""Which picture shows the state before an input: one asked for when the input is heard, or the last frame of a screencast?

python benchmarks/person_pictures.py [--headed] [--presses 20]

A page changes its colour at every pointerdown; a press lasts 80 ms. Both pictures are judged by that colour.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import statistics
from typing import Any

from cuadata import image
from cuadata.browsing import browser_find
from cuadata.browsing.frames import send
from cuadata.browsing.serve import Server
from cuadata.people.person_ears import Ring, Shown

LISTEN = """globalThis.heard ??= addEventListener('pointerdown', e => report(JSON.stringify(performance.timeOrigin + e.timeStamp)), true)"""
PAGE = """<!doctype html><style>body{margin:0}#b{position:absolute;left:100px;top:100px;width:200px;height:100px;background:rgb(0,0,200)}
@keyframes s{to{transform:rotate(360deg)}}#s{position:absolute;left:500px;top:100px;width:80px;height:80px;border:8px solid red;
border-left-color:blue;animation:s 1s linear infinite}</style><div id=b></div>%s
<script>let n=0;b.addEventListener('pointerdown',()=>{b.style.background=`rgb(0,${++n*4},200)`})</script>"""


async def measure(context: Any, address: str, presses: int) -> tuple[int, int, float]:
    """How often the capture and the frame show the state before, and the median delay until the input is heard, ms."""
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    ring, heard, shots = Ring(), list[float](), list[bytes]()
    delays: list[float] = []

    async def capture() -> None:
        shots.append(
            base64.b64decode(
                (await send(session, "Page.captureScreenshot", 10, format="png", optimizeForSpeed=True))["data"]
            )
        )

    def on_input(told: dict[str, Any]) -> None:
        import time

        heard.append(json.loads(told["payload"]) / 1000)
        delays.append((time.time() - heard[-1]) * 1000)
        tasks.append(asyncio.ensure_future(capture()))

    def on_frame(told: dict[str, Any]) -> None:
        ring.add(Shown(told["metadata"]["timestamp"], told["data"]))
        acks.append(asyncio.ensure_future(send(session, "Page.screencastFrameAck", sessionId=told["sessionId"])))

    tasks: list[asyncio.Task[Any]] = []
    acks: list[asyncio.Task[Any]] = []
    session.on("Runtime.bindingCalled", on_input)
    session.on("Page.screencastFrame", on_frame)
    await send(session, "Runtime.enable")
    await send(session, "Page.enable")
    await send(session, "Runtime.addBinding", name="report", executionContextName="bench")
    await send(session, "Page.addScriptToEvaluateOnNewDocument", source=LISTEN, worldName="bench")
    await page.goto(address)
    await send(session, "Page.startScreencast", format="png", everyNthFrame=1)
    await page.mouse.move(150, 150)
    await asyncio.sleep(0.5)
    late = shown = 0
    for number in range(presses):
        await page.mouse.down()
        await asyncio.sleep(0.08)
        await page.mouse.up()
        await asyncio.sleep(0.4)
        await asyncio.gather(*tasks)
        tasks.clear()
        frame = ring.at(heard[-1])
        late += int(image.rgb(shots[-1])[150, 150, 1]) == number * 4
        shown += frame is not None and int(image.rgb(frame.png)[150, 150, 1]) == number * 4
    await send(session, "Page.stopScreencast")
    await asyncio.gather(*acks, return_exceptions=True)
    await page.close()
    return late, shown, statistics.median(delays)


async def main() -> None:
    from playwright.async_api import async_playwright

    parser = argparse.ArgumentParser()
    parser.add_argument("--headed", action="store_true")
    parser.add_argument("--presses", type=int, default=20)
    given = parser.parse_args()
    found = browser_find.find(headed=given.headed)
    pages = {"/still": PAGE % "", "/moving": PAGE % "<div id=s></div>"}
    with Server(None, pages) as server:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=str(found.path), headless=not given.headed)
            context = await browser.new_context(viewport={"width": 1280, "height": 720})
            print(
                f"{found.kind} {browser.version}, {'headed' if given.headed else 'headless'}, {given.presses} presses"
            )
            print(
                "| page | capture at the input shows before | last frame shows before | heard after, ms |\n|---|---|---|---|"
            )
            for name in pages:
                late, shown, delay = await measure(context, server.address + name, given.presses)
                print(f"| {name[1:]} | {late} | {shown} | {delay:.0f} |")
            await browser.close()


asyncio.run(main())
