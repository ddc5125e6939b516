"""Rollouts an hour with a model in the loop, and the browser's share of the time, in one run.

    python benchmarks/rollouts.py --base models/smollm2 --adapter runs/ladder/sft/adapter      # one GPU
    python benchmarks/rollouts.py --base TINY --rollouts 8 --pages 2 --passes 1 --new-tokens 8   # shows that it runs

A rollout is an episode of the family on a live page, answered by the model at temperature 1 and played to its end or to the end of
the answer. Two ways, every pass on tasks that no pass has seen, so that no plan is remembered:

- plans: groups of `--group` answers to one page, drawn at once and played by processes with a browser each, as a GRPO step does;
  answers of a group that do the same are played once;
- pages: `--pages` pages of the vectorised environment; every page is answered, then all are stepped, as a multi-turn trainer does.

The model and the browsers wait for one another: what is not the browser's time is the model's. Medians over `--passes`; a first
pass, which starts browsers and captures graphs, does not count.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Sequence
from typing import Any

import torch

from cuadata import registry
from cuadata.learning import training
from cuadata.learning.answering import end_ids
from cuadata.learning.sampling import Sampler
from cuadata.playing import environment_vector, plans

FORMAT = "axtree"
#: Seconds of the model, seconds of the browsers, rollouts, answers.
Pass = tuple[float, float, int, int]


class Model:
    """Answers chats at temperature 1."""

    def __init__(self, base: str, adapter: str | None, new_tokens: int) -> None:
        loaded = training.load(
            base, adapter=adapter, trainable=False, dtype="bfloat16" if torch.cuda.is_available() else "float32"
        )
        if adapter:
            loaded = training.Loaded(loaded.model.merge_and_unload(), loaded.processor, loaded.vision)
        self.words, self.new_tokens = loaded.tokenizer, new_tokens
        self.sampler = Sampler(loaded.model, end_ids=end_ids(loaded), pad_id=self.words.pad_token_id, context=1024)

    def answers(self, chats: Sequence[Any]) -> list[str]:
        """One text a chat."""
        asked = [self.words.apply_chat_template(c, tokenize=False, add_generation_prompt=True) for c in chats]
        ids = [self.words(text, add_special_tokens=False)["input_ids"] for text in asked]
        drawn = self.sampler.draw(ids, new_tokens=self.new_tokens, temperature=1.0)
        return [self.words.decode(one.ids, skip_special_tokens=True) for one in drawn]


def by_plans(model: Model, family: str, asked: argparse.Namespace) -> list[Pass]:
    """Groups of answers, each played once."""
    found = []
    tasks = -(-asked.rollouts // asked.group)
    with plans.scorer(FORMAT) as score:
        for number in range(asked.passes + 1):
            rows = plans.task_rows(family, range(number * tasks, (number + 1) * tasks), FORMAT)
            repeated = [row for row in rows for _ in range(asked.group)]
            began = time.perf_counter()
            texts = model.answers([row["prompt"] for row in repeated])
            middle = time.perf_counter()
            score(repeated, texts)
            found.append((middle - began, time.perf_counter() - middle, len(repeated), len(repeated)))
    return found[1:]


def by_pages(model: Model, family: str, asked: argparse.Namespace) -> list[Pass]:
    """Pages in step; every one that has ended begins another task with the next step."""
    form = registry.formats[FORMAT]
    envs: Any = environment_vector.make(
        family, asked.pages, browsers=max(1, (os.cpu_count() or 2) // 2), screenshot=False, effect=False
    )
    found = []
    try:
        for number in range(asked.passes + 1):
            envs.reset(seed=1_000_000 * (number + 1))
            thinking = acting = 0.0
            ended = answers = 0
            while ended < asked.rollouts:
                began = time.perf_counter()
                texts = model.answers([plans.plan_prompt(episode, form) for episode in envs.episodes])
                middle = time.perf_counter()
                _, _, terminated, truncated, _ = envs.step(texts)
                thinking, acting = thinking + middle - began, acting + time.perf_counter() - middle
                ended += int((terminated | truncated).sum())
                answers += asked.pages
            found.append((thinking, acting, ended, answers))
    finally:
        envs.close()
    return found[1:]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, help="a text model")
    parser.add_argument("--adapter", help="LoRA of a finished run")
    parser.add_argument("--family", default="miniwob-click-checkboxes")
    parser.add_argument("--rollouts", type=int, default=512, help="a pass")
    parser.add_argument("--group", type=int, default=16, help="answers to one page, by plans")
    parser.add_argument("--pages", type=int, default=64, help="pages in step")
    parser.add_argument("--new-tokens", type=int, default=48)
    parser.add_argument("--passes", type=int, default=3)
    asked = parser.parse_args()
    model = Model(asked.base, asked.adapter, asked.new_tokens)
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    print(f"{name}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {asked.family}\n")
    print("| | rollouts/hour | model, s a pass | browsers, s a pass | browsers' share |\n|---|---:|---:|---:|---:|")
    ways = {"plans": by_plans, f"{asked.pages} pages in step": by_pages}
    for way, work in ways.items():
        held = work(model, asked.family, asked)
        hourly = statistics.median(3600 * ended / (thinking + acting) for thinking, acting, ended, _ in held)
        share = statistics.median(acting / (thinking + acting) for thinking, acting, _, _ in held)
        parts = [statistics.median(one[place] for one in held) for place in (0, 1)]
        print(f"| {way} | {hourly:,.0f} | {parts[0]:.2f} | {parts[1]:.2f} | {share:.0%} |", flush=True)


if __name__ == "__main__":
    main()
