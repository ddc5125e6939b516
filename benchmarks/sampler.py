"""Completions a second of the sampler against plain `generate`, with each means of speed added in turn, in one run.

    python benchmarks/sampler.py --base models/smollm2 --completions 512 --group 16 --new-tokens 32      # one GPU
    python benchmarks/sampler.py --base TINY --completions 32 --new-tokens 8                             # shows that it runs

Every row draws the same number of completions of the same length (no end token ends them) after the same prompts, with a LoRA
of rank 16 on all linear layers, as a GRPO step does. The median of `--passes` counts; the ratio is to plain `generate`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from cuadata.learning import training
from cuadata.learning.sampling import Sampler

#: Means of speed, each row with one more than the one above it.
ROWS: dict[str, dict[str, bool]] = {
    "static cache": {"graph": False, "share": False, "merge": False},
    "+ one CUDA graph a token": {"graph": True, "share": False, "merge": False},
    "+ a group's prompt read once": {"graph": True, "share": True, "merge": False},
    "+ LoRA merged into a copy": {"graph": True, "share": True, "merge": True},
}


def seconds(work: Callable[[], Any], passes: int) -> float:
    """The median of several passes; the first, which captures and allocates, does not count."""
    found = []
    for place in range(passes + 1):
        began = time.perf_counter()
        work()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        found += [time.perf_counter() - began] if place else []
    return statistics.median(found)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, help="a text model")
    parser.add_argument("--completions", type=int, default=512)
    parser.add_argument("--group", type=int, default=16, help="completions of one prompt")
    parser.add_argument("--prompt-tokens", type=int, default=184)
    parser.add_argument("--new-tokens", type=int, default=32)
    parser.add_argument("--passes", type=int, default=4)
    asked = parser.parse_args()

    from peft import get_peft_model

    cuda = torch.cuda.is_available()
    loaded = training.load(asked.base, dtype="bfloat16" if cuda else "float32")
    model = get_peft_model(loaded.model, training.lora("all-linear", rank=16, alpha=32)).eval()
    draw = torch.Generator().manual_seed(0)
    count = -(-asked.completions // asked.group)
    drawn = torch.randint(5, len(loaded.tokenizer) - 5, (count, asked.prompt_tokens), generator=draw).tolist()
    prompts = [prompt for prompt in drawn for _ in range(asked.group)][: asked.completions]

    ids = torch.tensor(prompts, device=model.device)
    limits = {"max_new_tokens": asked.new_tokens, "min_new_tokens": asked.new_tokens}

    def plain() -> None:
        with torch.no_grad():
            model.generate(
                input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=True, top_k=0,
                pad_token_id=loaded.tokenizer.pad_token_id, **limits,
            )  # fmt: skip

    base = seconds(plain, asked.passes)
    print(
        f"{asked.completions} completions of {asked.new_tokens} tokens after {asked.prompt_tokens}, groups of {asked.group},"
    )
    print(f"{torch.cuda.get_device_name() if cuda else 'CPU (no graph is captured)'}, median of {asked.passes}\n")
    print("| | completions/s | times plain |\n|---|---|---|")
    print(f"| plain `generate` | {len(prompts) / base:.0f} | 1 |")
    for name, means in ROWS.items():
        sampler = Sampler(model, end_ids=[], pad_id=loaded.tokenizer.pad_token_id, context=2048, **means)
        spent = seconds(lambda s=sampler: s.draw(prompts, new_tokens=asked.new_tokens), asked.passes)  # type: ignore[misc]
        print(f"| {name} | {len(prompts) / spent:.0f} | {base / spent:.2f} |")


if __name__ == "__main__":
    main()
