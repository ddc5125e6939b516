"""The vision side of the trainers on tiny models: the loss on a repeated example falls, rewards come and go through."""

from __future__ import annotations

import importlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tiny_models import build

from cuadata import image, registry, rows, schema, training
from cuadata.types import Action, BBox, Point

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
pytestmark = [pytest.mark.train, pytest.mark.filterwarnings("ignore")]
ARCHS = {"qwen2_5_vl": "qwen25vl", "qwen3_vl": "qwen3vl", "smolvlm": "smolvlm"}


def picture(number: int) -> bytes:
    from PIL import Image, ImageDraw

    made = Image.new("RGB", (160, 120), "white")
    ImageDraw.Draw(made).rectangle((20 + 10 * number, 40, 50 + 10 * number, 60), fill="navy")
    out = io.BytesIO()
    made.save(out, "PNG")
    return out.getvalue()


def example(number: int) -> rows.Example:
    held = image.from_bytes(picture(number), phash=False)
    box = BBox(20.0 + 10 * number, 40.0, 31.0, 21.0)
    return rows.Example(
        id=f"t/{number}", trajectory_id="t", step_index=number, image=held, image_width=160, image_height=120,
        viewport_width=160, viewport_height=120, device_pixel_ratio=1.0, instruction="Click the navy box",
        action=Action(type="click", point=box.center), target=rows.Target(role="button", name="navy", bbox=box, point=Point(30.0, 50.0)),
    )  # fmt: skip


@pytest.fixture(scope="module", params=sorted(ARCHS))
def arch(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def base(arch: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(arch, tmp_path_factory.mktemp("models") / arch)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("data")
    for config in ("actions", "grounding"):
        kind = rows.CONFIGS[config]
        held = [example(n) for n in range(4)]
        made = [kind(**{name: getattr(e, name) for name in e.__dataclass_fields__}) for e in held]
        table = pa.Table.from_pylist([schema.to_row(row) for row in made], schema=schema.arrow_schema(kind))
        (out / config).mkdir()
        for split in ("train", "test"):
            pq.write_table(table, out / config / f"{split}-00000-of-00001.parquet")
    return out


def run(room: str, *words: str) -> Any:
    from typer.testing import CliRunner

    done = CliRunner().invoke(importlib.import_module(f"cuadata.train.{room}").app, list(words))
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_sft_learns_a_repeated_example_and_loads_again(arch: str, base: Path, data: Path, tmp_path: Path) -> None:
    run("sft", "--base", str(base), "--data", str(data), "--format", ARCHS[arch], "--out", str(tmp_path), "--no-bf16",
        "--steps", "12", "--batch", "4", "--lr", "1e-2", "--guard", str(data))  # fmt: skip
    losses = [e["loss"] for e in map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines()) if "loss" in e]
    assert losses[-1] < 0.6 * losses[0]
    config = json.loads((tmp_path / "adapter_config.json").read_text())
    import safetensors.torch

    weights = safetensors.torch.load_file(tmp_path / "adapter_model.safetensors")
    assert not [name for name in weights if "visual" in name or "vision" in name or "connector" in name]
    assert config["r"] == 16
    loaded = training.load(str(base), adapter=str(tmp_path), trainable=False)
    merged = loaded.model.merge_and_unload()
    merged.save_pretrained(tmp_path / "merged")
    loaded.processor.save_pretrained(tmp_path / "merged")
    assert training.load(str(tmp_path / "merged")).vision


def test_grpo_pays_the_pure_rewards(arch: str, base: Path, data: Path, tmp_path: Path) -> None:
    run("grpo", "--base", str(base), "--data", str(data), "--format", ARCHS[arch], "--out", str(tmp_path), "--no-bf16",
        "--terms", "format_reward:0.1,point_in_box:1", "--steps", "2", "--prompts", "1", "--group", "4", "--new-tokens", "8")  # fmt: skip
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [e for e in log if "reward" in e], "no reward was logged"
    assert (tmp_path / "adapter_model.safetensors").is_file()
    assert json.loads((tmp_path / "run.json").read_text())["processor"]["class"]


def test_coordinates_are_in_the_frame_that_the_processor_makes(arch: str, base: Path) -> None:
    loaded = training.load(str(base))
    form = registry.formats[ARCHS[arch]]
    view = training.view_of(example(2), loaded.processor)
    action = Action(type="click", point=Point(80.0, 60.0))
    back = form.read(form.write(action, view), view)
    assert back.point is not None
    assert (back.point.x, back.point.y) == pytest.approx((80, 60), abs=1)
