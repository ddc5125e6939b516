"""Peak memory of SFT steps on models of 3, 7 and 8 billion weights, by the trainer itself, beside what the formula says.

    python benchmarks/memory.py --presets 3b,7b,8b --batches 1,2,4,8 --work /dev/shm/memory      # one GPU
    python benchmarks/memory.py --tiny --work /tmp/memory                                        # shows that it runs

The weights are random, built from the released configurations; memory depends on shapes alone. The tokenizer is a small one,
the rows are filled up to 1,600 tokens, 1,260 of them a picture of a megapixel. Each row of the table is one run of
`cuadata train sft --preset`, two steps, and the figure is `torch.cuda.max_memory_allocated` out of its run.json: without
the CUDA context and the allocator's gaps.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from cuadata.learning import presets

TOKENS = 1600
#: What the released configurations say of the vision tower and the language model beside presets.SHAPES.
VISION: dict[str, dict[str, Any]] = {
    "3b": {"depth": 32, "hidden_size": 1280, "num_heads": 16, "intermediate_size": 3420, "out_hidden_size": 2048},
    "7b": {"depth": 32, "hidden_size": 1280, "num_heads": 16, "intermediate_size": 3420, "out_hidden_size": 3584},
    "8b": {"depth": 27, "hidden_size": 1152, "num_heads": 16, "intermediate_size": 4304, "out_hidden_size": 4096},
}
SIDES = {"window_size": 112, "fullatt_block_indexes": [7, 15, 23, 31], "patch_size": 14}
NEW_SIDES = {"patch_size": 16, "num_position_embeddings": 2304, "deepstack_visual_indexes": [8, 16, 24]}


def configuration(name: str, words: Any) -> Any:
    """The model's configuration, marks taken from the tokenizer `words`."""
    import transformers as tf

    shape, new = presets.SHAPES[name][1], name == "8b"
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [16, 24, 24]}
    if new:
        rope |= {"rope_theta": 5e6, "mrope_section": [24, 20, 20], "mrope_interleaved": True}
    text = {
        "vocab_size": shape.vocabulary, "hidden_size": shape.hidden, "intermediate_size": shape.inner,
        "num_hidden_layers": shape.layers, "num_attention_heads": shape.heads, "num_key_value_heads": shape.kv,
        "max_position_embeddings": 32768, "rope_parameters": rope, "bos_token_id": None,
        "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id,
        **({"head_dim": shape.head} if new else {}),
    }  # fmt: skip
    marks = {"image": "<|image_pad|>", "video": "<|video_pad|>"}
    marks |= {"vision_start": "<|vision_start|>", "vision_end": "<|vision_end|>"}
    kind = tf.Qwen3VLConfig if new else tf.Qwen2_5_VLConfig
    return kind(
        text_config=text, vision_config={**VISION[name], **(NEW_SIDES if new else SIDES)}, tie_word_embeddings=name == "3b",
        **{f"{mark}_token_id": words.convert_tokens_to_ids(token) for mark, token in marks.items()},
    )  # fmt: skip


def build(name: str, out: Path, *, tiny: bool) -> int:
    """Write a model of the preset's shape with random weights and a small tokenizer; returns how many weights it has."""
    import tiny_models
    import torch
    import transformers as tf
    from transformers.initialization import no_init_weights

    arch = "qwen3_vl" if name == "8b" else "qwen2_5_vl"
    tiny_models.build(arch, out)
    if tiny:
        return 0
    processor = tf.AutoProcessor.from_pretrained(out, min_pixels=3136, max_pixels=12_845_056)
    config = configuration(name, processor.tokenizer)
    kind = tf.Qwen3VLForConditionalGeneration if name == "8b" else tf.Qwen2_5_VLForConditionalGeneration
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"), no_init_weights():
        model = kind(config)
    model.tie_weights()
    torch.set_default_dtype(torch.float32)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.02)
    (out / "model.safetensors").unlink()
    model.save_pretrained(out, max_shard_size="5GB")
    processor.save_pretrained(out)
    return sum(parameter.numel() for parameter in model.parameters())


def write_rows(work: Path, base: Path, count: int, tokens: int, pixels: tuple[int, int]) -> Path:
    """Rows of exactly `tokens` tokens, picture included, as the trainer counts them."""
    import numpy as np
    import transformers as tf
    from PIL import Image

    from cuadata.learning import training, training_rows

    work.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(0).integers(0, 255, (pixels[1], pixels[0], 3), dtype=np.uint8)
    Image.fromarray(noise).save(work / "picture.png")
    loaded = training.Loaded(None, tf.AutoProcessor.from_pretrained(base), True)

    def row(filling: int) -> dict[str, Any]:
        content = [{"type": "image"}, {"type": "text", "text": "click" + " page" * filling}]
        answer = '{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [123, 456]}}'
        return {
            "prompt": [{"role": "user", "content": content}],
            "completion": [{"role": "assistant", "content": answer}],
            "images": ["picture.png"],
        }

    picture = [{"bytes": (work / "picture.png").read_bytes(), "path": None}]
    short = training_rows.token_count({**row(0), "images": picture}, loaded)
    if short > tokens:
        raise SystemExit(f"the picture and the answer have {short} tokens, more than {tokens}")
    held = row(tokens - short)
    counted = training_rows.token_count({**held, "images": picture}, loaded)
    print(f"rows of {counted} tokens", file=sys.stderr, flush=True)
    (work / "rows.jsonl").write_text((json.dumps(held) + "\n") * count)
    return work / "rows.jsonl"


def measure(name: str, base: Path, rows: Path, batch: int, out: Path, *, tiny: bool) -> dict[str, Any]:
    """One run of the trainer; its batch, peak and seconds, or what it died of."""
    words = [sys.executable, "-m", "cuadata.train.sft", "--base", base, "--data", rows, "--out", out, "--preset", name]
    words += ["--batch", batch, "--accumulate", 1, "--steps", 2, "--format", "qwen25vl", "--force"]
    words += ["--no-bf16"] if tiny else []
    run = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    if run.returncode:
        return {"preset": name, "batch": batch, "failed": run.stderr[-600:]}
    held = json.loads((out / "run.json").read_text())["gpu"] or {"name": "CPU", "peak_gib": None}
    entries = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    shutil.rmtree(out)
    shape = presets.SHAPES[name][1]
    worked_out = sum(presets.gigabytes(shape, rank=16, batch=batch, tokens=TOKENS).values())
    seconds = next((entry["train_runtime"] for entry in entries if "train_runtime" in entry), None)
    return {"preset": name, "batch": batch, **held, "worked_out_gib": round(worked_out, 2), "seconds": seconds}


def main() -> None:
    """Measure, a line of JSON a run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", default="3b,7b,8b")
    parser.add_argument("--batches", default="1,2,4,8")
    parser.add_argument("--work", type=Path, required=True, help="folder for models of up to 18 GB, one at a time")
    parser.add_argument("--out", type=Path, help="append the results here, as JSON lines")
    parser.add_argument("--tiny", action="store_true", help="models of 0.2 million weights, on any machine")
    asked = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    found = []
    for name in asked.presets.split(","):
        base = asked.work / name
        weights = build(name, base, tiny=asked.tiny)
        if weights and weights != presets.SHAPES[name][1].weights:
            raise SystemExit(
                f"{name}: {weights} weights were built, presets.SHAPES says {presets.SHAPES[name][1].weights}"
            )
        pixels, tokens = ((112, 112), 400) if asked.tiny else ((1280, 784), TOKENS)
        rows = write_rows(asked.work, base, 16, tokens, pixels)
        for batch in map(int, asked.batches.split(",")):
            found.append(measure(name, base, rows, batch, asked.work / "run", tiny=asked.tiny))
            print(json.dumps(found[-1]), file=sys.stderr, flush=True)
            if asked.out:
                with asked.out.open("a") as file:
                    file.write(json.dumps(found[-1]) + "\n")
        shutil.rmtree(base)
    print("| preset | batch | peak allocated, GiB | worked out without the allowance |\n|---|---|---|---|")
    for one in found:
        print(
            f"| {one['preset']} | {one['batch']} | {one.get('peak_gib', 'failed')} | {one.get('worked_out_gib', '')} |"
        )


if __name__ == "__main__":
    main()
