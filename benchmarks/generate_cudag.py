"""The peer of `generate.py --cudag PYTHON`: pages drawn without a browser, through the classes of PyPI `cudag`, as its users write it.

Run by a Python that has cudag 0.2.1 and nothing of this project: generate_cudag.py PAGES.json FOLDER. PAGES holds for each page its
size, the boxes with their labels, and its questions with the points that answer them: where things lie and what can be asked of
them is given to it. Each page is drawn once, by Pillow, and all its questions become samples of that picture. Prints as JSON how
many pages there were, and the CPU and wall seconds of `DatasetBuilder.build`; a first build of the same pages is not measured.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cudag import BaseRenderer, BaseState, BaseTask, DatasetBuilder, DatasetConfig, Screen, ToolCall
from cudag.core.task import TaskContext, TaskSample, TestCase
from PIL import Image, ImageDraw, ImageFont


class PageScreen(Screen):
    """A blank page; what lies on it is its state's."""

    name = "page"
    base_image = "blank.png"
    size = (1280, 720)


@dataclass
class PageState(BaseState):
    """What lies on one page."""

    elements: list[dict[str, Any]] = field(default_factory=list)


class PageRenderer(BaseRenderer[PageState]):
    """Boxes with labels."""

    screen_class = PageScreen

    def load_assets(self) -> None:
        self.font = ImageFont.load_default(size=14)

    def render(self, state: PageState) -> tuple[Image.Image, dict[str, Any]]:
        image = self.load_base_image()
        draw = ImageDraw.Draw(image)
        for one in state.elements:
            x, y, width, height = one["box"]
            draw.rectangle([x, y, x + width, y + height], fill="#e8eefc", outline="#30507c")
            draw.text((x + width / 2, y + height / 2), one["label"], font=self.font, fill="#101010", anchor="mm")
        return image, self.build_metadata(state)


class PageTask(BaseTask):
    """One page after the other, each with all of its questions."""

    task_type = "click"

    def __init__(self, config: DatasetConfig, renderer: PageRenderer, pages: list[dict[str, Any]]) -> None:
        super().__init__(config, renderer)
        self.pages = pages

    def generate_samples(self, ctx: TaskContext) -> list[TaskSample]:
        page = self.pages[ctx.index % len(self.pages)]
        image, metadata = self.renderer.render(PageState(elements=page["elements"]))
        path = self.save_image(image, ctx, extension="png")
        return [
            TaskSample(
                id=self.build_id(ctx, f"_{number}"),
                image_path=path,
                human_prompt=asked["instruction"],
                tool_call=ToolCall.left_click(tuple(asked["point"])),
                pixel_coords=tuple(asked["point"]),
                metadata={"task_type": self.task_type, **metadata},
                image_size=PageScreen.size,
            )
            for number, asked in enumerate(page["questions"])
        ]

    def generate_sample(self, ctx: TaskContext) -> TaskSample:
        return self.generate_samples(ctx)[0]

    def generate_test(self, ctx: TaskContext) -> TestCase:
        sample = self.generate_sample(ctx)
        return TestCase(
            test_id=sample.id,
            screenshot=sample.image_path,
            prompt=sample.human_prompt,
            expected_action=sample.tool_call.to_dict(),
            tolerance=(10, 10),
        )


def main(pages: list[dict[str, Any]], folder: Path) -> None:
    """Build twice, measure the second time."""
    (folder / "assets").mkdir(parents=True)
    Image.new("RGB", PageScreen.size, "white").save(folder / "assets" / "blank.png")
    renderer = PageRenderer(folder / "assets")
    spent = (0.0, 0.0)
    for number in range(2):
        config = DatasetConfig(
            name_prefix="page",
            task_counts={"click": len(pages)},
            output_dir=folder / f"set-{number}",
            image_format="png",
        )
        builder = DatasetBuilder(config, [PageTask(config, renderer, pages)])
        cpu, wall = time.process_time(), time.perf_counter()
        with contextlib.redirect_stdout(sys.stderr):
            builder.build()
        spent = time.process_time() - cpu, time.perf_counter() - wall
    print(json.dumps({"pages": len(pages), "cpu": spent[0], "wall": spent[1]}))


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2]))
