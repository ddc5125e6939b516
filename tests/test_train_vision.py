"""The vision side of the trainers on tiny models: the loss on a repeated example falls, rewards come and go through."""

from __future__ import annotations

import importlib
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tiny_models import build

from cuadata import image, registry, rows, schema
from cuadata.errors import CallError, DataError
from cuadata.learning import training, training_rows
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
    pairs = [pair(n, kind) for n, kind in enumerate(("scale", "crop", "theme"))]
    (out / "pairs").mkdir()
    table = pa.Table.from_pylist([schema.to_row(one) for one in pairs], schema=schema.arrow_schema(rows.Pair))
    pq.write_table(table, out / "pairs" / "train-00000-of-00001.parquet")
    return out


def pair(number: int, kind: str) -> rows.Pair:
    """The example's picture half as large, or without its left and upper edge, or on a theme that is no map."""
    from PIL import Image

    with Image.open(io.BytesIO(picture(number))) as opened:
        changed = opened.resize((80, 60)) if kind == "scale" else opened.crop((10, 8, 160, 120))
    data = io.BytesIO()
    changed.save(data, "PNG")
    affine = {"scale": [0.5, 0, 0, 0, 0.5, 0], "crop": [1, 0, -10, 0, 1, -8], "theme": None}[kind]
    held = example(number)
    shared = {name: getattr(held, name) for name in held.__dataclass_fields__}
    return rows.Pair(
        **shared, transformed=image.from_bytes(data.getvalue(), phash=False), transformed_target=held.target, kind=kind,
        transform=json.dumps({"kind": kind, "affine": affine}),
    )  # fmt: skip


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
    assert losses[-1] < 0.7 * losses[0]
    config = json.loads((tmp_path / "adapter_config.json").read_text())
    import safetensors.torch

    weights = safetensors.torch.load_file(tmp_path / "adapter_model.safetensors")
    assert not [name for name in weights if "visual" in name or "vision" in name or "connector" in name]
    assert config["r"] == 16
    assert json.loads((tmp_path / "run.json").read_text())["guard"]["n"] == 4
    from cuadata.learning import merging

    merging.save_merged(tmp_path, tmp_path / "merged")
    assert training.load(str(tmp_path / "merged")).vision


def test_the_pair_loss_pulls_the_coordinates_of_both_pictures_together(
    arch: str, base: Path, data: Path, tmp_path: Path
) -> None:
    run("sft", "--base", str(base), "--data", str(data), "--format", ARCHS[arch], "--out", str(tmp_path), "--no-bf16",
        "--steps", "6", "--batch", "2", "--lr", "1e-2", "--consistency-weight", "1")  # fmt: skip
    log = [e for e in map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines()) if "consistency/answers" in e]
    assert len(log) == 6
    assert log[-1]["consistency/answers"] < 0.8 * log[0]["consistency/answers"]
    assert all(0 <= entry["consistency/distance"] < 4 for entry in log)


def test_the_pair_loss_is_zero_for_answers_that_the_map_joins(arch: str, base: Path, data: Path) -> None:
    """Certain of the right digits on both sides: no distance. Certain of a neighbour digit on one: its worth in shares."""
    import torch

    from cuadata.learning import consistency

    loaded = training.load(str(base))
    pairs = training_rows.examples(data, "pairs", "train")
    joined, left = consistency.mapped(pairs, registry.formats[ARCHS[arch]], loaded.processor)
    assert (len(joined), left) == (2, 1), "the pair without a map is left out"
    loss = consistency.PairLoss(joined, loaded.tokenizer, seed=0)
    for pair in joined[:1]:
        texts = [side.row["completion"][0]["content"] for side in (pair.first, pair.second)]
        ids = [loaded.tokenizer(text)["input_ids"] for text in texts]
        labels = torch.full((2, 1 + max(map(len, ids))), -100)
        for row, tokens in enumerate(ids):
            labels[row, 1 : 1 + len(tokens)] = torch.tensor(tokens)
        logits = torch.zeros(*labels.shape, len(loaded.tokenizer))
        for row, tokens in enumerate(ids):
            logits[row, torch.arange(len(tokens)), torch.tensor(tokens)] = 50.0
        entropy, apart = loss([pair], logits, labels)
        assert float(entropy) == pytest.approx(0, abs=1e-4)
        # Numbers are written in whole steps of the grid, so the map holds to about a step of each picture and side.
        step = sum(0.5 / extent for side in (pair.first, pair.second) for extent in side.extent)
        assert 0 <= float(apart) <= (step * 2 if "smolvlm" not in arch else 1e-3)
        wrong = logits.clone()
        place = max(i for i, token in enumerate(ids[1]) if loaded.tokenizer.decode([token]).isdigit())
        digit = int(loaded.tokenizer.decode([ids[1][place]]))
        wrong[1, place] = 0
        wrong[1, place, loss.digits[(digit + 5) % 10]] = 50.0
        assert float(loss([pair], wrong, labels)[1]) > float(apart)


def test_rejection_keeps_what_the_box_accepts_and_trains_on_it(
    arch: str, base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A random model points nowhere, so the answers are made to look as if it did: the right ones of two rows."""
    rejection = importlib.import_module("cuadata.train.rejection")
    form = registry.formats[ARCHS[arch]]

    def answer(part: list[Any], loaded: Any, new_tokens: int, **_: Any) -> list[str]:
        said = []
        for row in part:
            number = int(row["id"].split("/")[1])
            view = training_rows.view_of(example(number), loaded.processor)
            said.append(form.write(example(number).action, view) if number < 2 else "I see nothing")
        return said

    monkeypatch.setattr(rejection, "answer", answer)
    run("rejection", "--base", str(base), "--data", str(data), "--format", ARCHS[arch], "--out", str(tmp_path), "--no-bf16",
        "--samples", "2", "--batch", "4", "--steps", "1", "--train-batch", "2", "--new-tokens", "8")  # fmt: skip
    report = json.loads((tmp_path / "round0" / "report.json").read_text())
    assert (report["tasks"], report["kept"], report["tasks_covered"]) == (4, 2, 2), "equal answers are kept once"
    assert (tmp_path / "round0" / "adapter" / "adapter_model.safetensors").is_file()


def test_a_vision_model_answers_at_a_temperature(arch: str, base: Path, data: Path) -> None:
    from cuadata.learning.answering import answer
    from cuadata.learning.grounding_rows import prompt_row

    loaded = training.load(str(base))
    rows_ = [prompt_row(example(n), registry.formats[ARCHS[arch]], loaded) for n in (0, 0, 1)]
    assert len(set(answer(rows_, loaded, 6, temperature=1.0))) > 1


@pytest.mark.parametrize("algorithm", ["grpo", "rloo"])
def test_grpo_pays_the_pure_rewards(arch: str, algorithm: str, base: Path, data: Path, tmp_path: Path) -> None:
    run("grpo", "--base", str(base), "--data", str(data), "--format", ARCHS[arch], "--out", str(tmp_path), "--no-bf16",
        "--terms", "format_reward:0.1,point_in_box:1,region_consistency:0.1", "--steps", "2", "--prompts", "1", "--group", "4",
        "--new-tokens", "8", "--algorithm", algorithm)  # fmt: skip
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [e for e in log if "reward" in e], "no reward was logged"
    assert (tmp_path / "adapter_model.safetensors").is_file()
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["processor"]["class"]
    assert record["test_time"] is True, "region consistency saw no label"


def test_coordinates_are_in_the_frame_that_the_processor_makes(arch: str, base: Path) -> None:
    from cuadata.learning.grounding_rows import prompt_row
    from cuadata.scores import judged

    loaded = training.load(str(base))
    form = registry.formats[ARCHS[arch]]
    view = training_rows.view_of(example(2), loaded.processor)
    action = Action(type="click", point=Point(80.0, 60.0))
    back = form.read(form.write(action, view), view)
    assert back.point is not None
    assert (back.point.x, back.point.y) == pytest.approx((80, 60), abs=1)
    row = {**prompt_row(example(2), form, loaded), "format": ARCHS[arch]}
    assert judged.view_of(row) == view, "a reward reads an answer in the frame that training wrote it in"


def test_tokens_are_counted_as_the_processor_makes_them(arch: str, base: Path) -> None:
    loaded = training.load(str(base))
    row = training_rows.answer_row(example(1), registry.formats[ARCHS[arch]], loaded.processor)
    text = loaded.processor.apply_chat_template([*row["prompt"], *row["completion"]], tokenize=False)
    pictures = [[training_rows.pillow(one["bytes"]) for one in row["images"]]]
    whole = len(loaded.processor(text=[text], images=pictures)["input_ids"][0])
    assert training_rows.token_count(row, loaded) == whole
    assert training_rows.with_answers_only([row], loaded, whole)[1] == 0
    assert training_rows.with_answers_only([row], loaded, whole - 1)[1] == 1


def test_the_guard_stops_a_run_that_costs_grounding(arch: str, base: Path, data: Path, tmp_path: Path) -> None:
    """What the model hits is given: all before, none after; seven lost of seven is p = 0.016."""
    if arch != "qwen2_5_vl":
        pytest.skip("the guard does not ask which model it is")
    sft = importlib.import_module("cuadata.train.sft")
    answers = iter([[True] * 7, [False] * 7])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sft, "hits", lambda *_: next(answers))
        with pytest.raises(
            DataError, match=r"training cost grounding: direct grounding 7/7 before, 0/7 after, p = 0\.0156"
        ):
            run("sft", "--base", str(base), "--data", str(data), "--format", ARCHS[arch], "--out", str(tmp_path), "--no-bf16",
                "--steps", "1", "--batch", "1", "--guard", str(data))  # fmt: skip
    assert DataError.exit_code == 1


def test_a_chunk_is_taught_whole() -> None:
    form = registry.formats["qwen25vl"]
    shared = {name: getattr(example(0), name) for name in rows.Example.__dataclass_fields__}
    second = Action(type="type", text="12")
    chunk = rows.Chunk(**shared, actions=(example(0).action, second))
    text = training_rows.answer_row(chunk, form, None)["completion"][0]["content"]
    assert [a.type for a in form.read_all(text, training_rows.view_of(chunk, None))] == ["click", "type"]
    unsaid = training_rows.answer_rows([chunk, example(0)], registry.formats["axtree"], None)[1]
    assert sum(unsaid.values()) == 2, "what a format cannot say is counted"


@pytest.fixture(scope="module")
def generated(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As generated sets are: a row in five has no target, and its answer is that there is none."""
    out = tmp_path_factory.mktemp("generated")
    kind = rows.CONFIGS["grounding"]
    held: list[Any] = training_rows.examples(data, "grounding", "train")
    none: dict[str, Any] = {
        "id": "t/9",
        "action": Action(type="infeasible", text="there is no such box"),
        "target": None,
    }
    held.insert(1, replace(held[0], **none))
    table = pa.Table.from_pylist([schema.to_row(row) for row in held], schema=schema.arrow_schema(kind))
    (out / "grounding").mkdir()
    for split in ("train", "test"):
        pq.write_table(table, out / "grounding" / f"{split}-00000-of-00001.parquet")
    return out


@pytest.mark.parametrize(("form", "words"), [("qwen25vl", "cannot judge them"), ("gta1", "no word for 'infeasible'")])
def test_rows_that_no_reward_can_judge_are_left_out_and_counted(
    form: str, words: str, generated: Path, arch: str, base: Path, tmp_path: Path
) -> None:
    if arch != "qwen2_5_vl":
        pytest.skip("what is left out does not depend on the model")
    done = run("grpo", "--base", str(base), "--data", str(generated), "--format", form, "--out", str(tmp_path / "rl"), "--no-bf16",
        "--terms", "gaussian_point:1,format_reward:0.1",
        "--steps", "2", "--prompts", "4", "--group", "2", "--new-tokens", "4")  # fmt: skip
    assert done.exit_code == 0 and "1 rows left out: " in done.output and words in done.output, done.output
    with pytest.raises(DataError, match="none of 8 answers was accepted"):  # all eight were judged
        run("rejection", "--base", str(base), "--data", str(generated), "--format", form, "--out", str(tmp_path / "rft"),
            "--samples", "2", "--new-tokens", "4")  # fmt: skip
    with pytest.raises(CallError, match="none of 5 rows can be trained on: the reward 'exact' cannot judge them"):
        run(
            "grpo",
            "--base",
            str(base),
            "--data",
            str(generated),
            "--format",
            "qwen25vl",
            "--out",
            str(tmp_path / "no"),
            "--terms",
            "exact:1",
        )
    assert not (tmp_path / "no").exists()


def test_a_guard_asks_rows_with_a_target_alone(generated: Path, arch: str, base: Path) -> None:
    sft = importlib.import_module("cuadata.train.sft")
    assert len(sft.guard_rows(generated, ARCHS[arch], training.load(str(base)))) == 4
