"""Rollouts an hour with a model in the loop, and the browser's share of the time, in one run.

    python benchmarks/rollouts.py --base models/smollm2 --adapter runs/ladder/sft/adapter      # one GPU
    python benchmarks/rollouts.py --base TINY --rollouts 8 --pages 2 --passes 1 --new-tokens 8   # shows that it runs

A rollout is an episode of the family on a live page, answered by the model at temperature 1 and played to its end or to the end of
the answer. Two ways, every pass on tasks that no pass has seen, so that no plan is remembered:

- plans: groups of `--group` answers to one page, drawn at once and played by processes with a browser each, as a GRPO step does;
  answers of a group that do the same are played once, and those that have ended are played while others are still drawn
  (`--wait` plays them all afterwards, to measure what that is worth);
- pages: `--pages` pages of the vectorised environment; every page is answered, then all are stepped, as a multi-turn trainer does;
  then two such sets, of which one steps while the other is answered.

The browsers' time is what the model waits for them, the rest is the model's. Medians over `--passes`; a first pass, which starts
browsers and captures graphs, does not count.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
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

    def answers(self, chats: Sequence[Any], told: Callable[[dict[int, str]], None] | None = None) -> list[str]:
        """One text a chat; `told` is told of texts, by place, while others are still drawn."""

        def ended(found: Mapping[int, Sequence[int]]) -> None:
            assert told is not None
            told({place: self._text(tokens) for place, tokens in found.items()})

        asked = [self.words.apply_chat_template(c, tokenize=False, add_generation_prompt=True) for c in chats]
        ids = [self.words(text, add_special_tokens=False)["input_ids"] for text in asked]
        drawn = self.sampler.draw(ids, new_tokens=self.new_tokens, temperature=1.0, ended=ended if told else None)
        return [self._text(one.ids) for one in drawn]

    def _text(self, ids: Sequence[int]) -> str:
        return str(self.words.decode(ids, skip_special_tokens=True))


def by_plans(model: Model, family: str, asked: argparse.Namespace) -> list[Pass]:
    """Groups of answers, each played once."""
    found = []
    tasks = -(-asked.rollouts // asked.group)
    with plans.scorer(FORMAT) as score:
        for number in range(asked.passes + 1):
            rows = plans.task_rows(family, range(number * tasks, (number + 1) * tasks), FORMAT)
            repeated = [row for row in rows for _ in range(asked.group)]

            def told(found: dict[int, str], asked_of: Sequence[dict[str, Any]] = repeated) -> None:
                score.start([asked_of[place] for place in found], list(found.values()))

            began = time.perf_counter()
            texts = model.answers([row["prompt"] for row in repeated], None if asked.wait else told)
            middle = time.perf_counter()
            score(repeated, texts)
            found.append((middle - began, time.perf_counter() - middle, len(repeated), len(repeated)))
    return found[1:]


def by_pages(model: Model, family: str, asked: argparse.Namespace, sets: int = 1) -> list[Pass]:
    """Pages in step; every one that has ended begins another task with the next step. Of two sets one steps while the other is answered."""
    form = registry.formats[FORMAT]
    browsers = max(1, (os.cpu_count() or 2) // 2 // sets)
    every: list[Any] = [
        environment_vector.make(family, asked.pages, browsers=browsers, screenshot=False, effect=False)
        for _ in range(sets)
    ]
    found = []
    try:
        with ThreadPoolExecutor(sets) as pool:
            for number in range(asked.passes + 1):
                for place, envs in enumerate(every):
                    envs.reset(seed=1_000_000 * (number + 1) + place * asked.pages)
                stepping: list[Future[Any] | None] = [None] * sets
                thinking = acting = 0.0
                ended = answers = 0
                while ended < asked.rollouts:
                    for place, envs in enumerate(every):
                        began = time.perf_counter()
                        step = stepping[place]
                        if step is not None:
                            _, _, terminated, truncated, _ = step.result()
                            ended += int((terminated | truncated).sum())
                        middle = time.perf_counter()
                        texts = model.answers([plans.plan_prompt(episode, form) for episode in envs.episodes])
                        thinking, acting = thinking + time.perf_counter() - middle, acting + middle - began
                        stepping[place] = pool.submit(envs.step, texts)
                        answers += asked.pages
                began = time.perf_counter()
                for step in stepping:
                    _, _, terminated, truncated, _ = step.result()  # type: ignore[union-attr]
                    ended += int((terminated | truncated).sum())
                found.append((thinking, acting + time.perf_counter() - began, ended, answers))
    finally:
        for envs in every:
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
    parser.add_argument("--wait", action="store_true", help="play plans only after all are drawn")
    parser.add_argument("--pages", type=int, default=64, help="pages in step")
    parser.add_argument("--new-tokens", type=int, default=48)
    parser.add_argument("--passes", type=int, default=3)
    asked = parser.parse_args()
    model = Model(asked.base, asked.adapter, asked.new_tokens)
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    print(f"{name}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {asked.family}\n")
    print("| | rollouts/hour | model, s a pass | browsers, s a pass | browsers' share |\n|---|---:|---:|---:|---:|")
    ways = {
        "plans": by_plans,
        f"{asked.pages} pages in step": by_pages,
        f"twice {asked.pages} pages, a set in step while the other is answered": partial(by_pages, sets=2),
    }
    for way, work in ways.items():
        held = work(model, asked.family, asked)
        hourly = statistics.median(3600 * ended / (thinking + acting) for thinking, acting, ended, _ in held)
        share = statistics.median(acting / (thinking + acting) for thinking, acting, _, _ in held)
        parts = [statistics.median(one[place] for one in held) for place in (0, 1)]
        print(f"| {way} | {hourly:,.0f} | {parts[0]:.2f} | {parts[1]:.2f} | {share:.0%} |", flush=True)


if __name__ == "__main__":
    main()
