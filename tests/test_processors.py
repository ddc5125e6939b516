"""Against the installed processors and chat templates: the same resized sizes, the same tools in the prompt."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from cuadata import geometry
from cuadata.contracts import View
from cuadata.geometry import Frame
from cuadata.learning.chat import picture_tokens
from cuadata.registry import formats
from cuadata.speaking import tool_prompt
from cuadata.speaking.grid import Grid
from cuadata.types import Size

pytestmark = pytest.mark.train

TOOL = tool_prompt.function("click", 'Click "it" → there.', {"target": {"type": "integer"}}, ["target"])


def sizes(number: int) -> list[tuple[int, int]]:
    """Random heights and widths, from slivers to pictures far over every bound."""
    draw = random.Random(8)
    made = [(draw.randint(1, 6000), draw.randint(1, 6000)) for _ in range(number)]
    return [*made, *((draw.randint(1, 20), draw.randint(200, 2400)) for _ in range(number // 5))]


@pytest.mark.parametrize(("factor", "name"), [(28, "qwen25vl"), (32, "qwen3vl")])
def test_the_resized_size_is_the_processors(factor: int, name: str) -> None:
    from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize

    frame: Frame = formats[name].frame  # type: ignore[attr-defined]
    assert frame.factor == factor
    for bounds in ((frame.min_pixels, frame.max_pixels), (56 * 56, 14 * 14 * 4 * 1280)):
        for tall, wide in sizes(500):
            given: dict[str, Any] = {"factor": factor, "min_pixels": bounds[0], "max_pixels": bounds[1]}
            try:
                wanted = smart_resize(tall, wide, **given)
            except ValueError:
                with pytest.raises(ValueError, match="ratio"):
                    geometry.smart_resize(tall, wide, **given)
                continue
            assert geometry.smart_resize(tall, wide, **given) == tuple(wanted), (tall, wide)


def test_the_grid_is_the_picture_that_a_processor_makes() -> None:
    from transformers import Qwen2VLImageProcessor

    bounds = {"shortest_edge": 3136, "longest_edge": 512 * 28 * 28}
    processor = Qwen2VLImageProcessor(patch_size=14, merge_size=2, size=bounds)
    for tall, wide in ((720, 1280), (1080, 1920), (333, 777), (40, 30)):
        view = View(
            image=Size(wide, tall),
            viewport=Size(wide, tall),
            min_pixels=bounds["shortest_edge"],
            max_pixels=bounds["longest_edge"],
        )
        grid: Grid = formats["qwen25vl"].grid(view)  # type: ignore[attr-defined]
        patches = processor.get_number_of_image_patches(tall, wide, {})
        assert patches == grid.extent[0] * grid.extent[1] / 14 / 14
        tokens = picture_tokens(Size(wide, tall), marks=0, min_pixels=3136, max_pixels=512 * 28 * 28)
        assert tokens == patches / 4


def render(template: str, messages: Any, tools: Any) -> str:
    """What a chat template that TRL ships makes of messages and tools."""
    import trl
    from transformers.utils.chat_template_utils import render_jinja_template

    text = (Path(trl.__file__).parent / "chat_templates" / f"{template}.jinja").read_text()
    rendered, _ = render_jinja_template(conversations=[messages], tools=tools, chat_template=text)
    return str(rendered[0])


def system_of(rendered: str) -> str:
    return rendered.split("<|im_start|>system\n", 1)[1].split("<|im_end|>", 1)[0]


def test_tools_stand_in_the_system_text_as_the_templates_put_them() -> None:
    user = {"role": "user", "content": "Do it."}
    system = {"role": "system", "content": "You act on a web page."}
    for template in ("qwen2_5", "qwen3_vl"):
        shown = system_of(render(template, [system, user], [TOOL]))
        assert tool_prompt.json_block([TOOL], "You act on a web page.") == shown
    assert tool_prompt.json_block([TOOL]) == system_of(render("qwen3_vl", [user], [TOOL]))
    shown = system_of(render("qwen3_5_nothink", [system, user], [TOOL]))
    assert tool_prompt.xml_block([TOOL], "You act on a web page.") == shown


def test_answers_are_written_as_the_templates_write_tool_calls() -> None:
    arguments = {"target": 18}
    call = {"type": "function", "function": {"name": "click", "arguments": arguments}}
    turns = [{"role": "user", "content": "Do it."}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    rendered = render("qwen3_5_nothink", turns, [TOOL]).rsplit("</think>\n\n", 1)[1].split("<|im_end|>")[0]
    from cuadata.types import Action, Element

    view = View(image=Size(9, 9), viewport=Size(9, 9), elements=(Element(id=18, role="button", name="a", seen=1.0),))
    assert formats["qwen35"].write(Action(type="click", element=18), view) == rendered


@pytest.mark.parametrize("name", ["qwen25vl", "qwen3vl", "evocua", "uitars15", "gta1", "smolvlm", "json"])
def test_prompts_render_one_mark_in_their_models_template(name: str) -> None:
    from cuadata.contracts import Prompt
    from cuadata.types import Image

    template = {"qwen3vl": "qwen3_vl", "evocua": "qwen3_vl", "smolvlm": "smolvlm"}.get(name, "qwen2_5_vl")
    mark = "<image>" if name == "smolvlm" else "<|image_pad|>"
    picture = Image(sha256="", width=640, height=480, format="png", phash="")
    size = Size(640, 480)
    prompt = Prompt(instruction="Open it", view=View(image=size, viewport=size), image=picture)
    assert render(template, formats[name].prompt(prompt), []).count(mark) == 1
