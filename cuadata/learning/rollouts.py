"""Groups of completions with spread: what GRPO learns from, drawn again where there is none.

A group whose rewards are all equal has no advantage and teaches nothing (P = p^G + (1-p)^G of them at pass rate p). The
groups of a batch that came out equal are replaced by groups of other tasks, those first whose measured pass rate is
nearest to a half, until the batch is full or the tries are used up (dynamic sampling as in DAPO, arXiv 2503.14476;
TRL counts such groups but does not draw again).
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from cuadata.learning.sampling import Sample, Sampler

Terms = Mapping[str, float]
#: Scores answers: rows and their answers in, the reward terms of each out, in order. May raise. One that has a method
#: `start(rows, answers)` is told of answers that have ended while others are still drawn, so that it can begin with them.
Scorer = Callable[[Sequence[Mapping[str, Any]], Sequence[str]], Sequence[Terms]]


@dataclass(frozen=True, slots=True)
class Group:
    """The completions of one task."""

    row: Annotated[Mapping[str, Any], "the task's row"]
    samples: tuple[Sample, ...]
    texts: tuple[str, ...]
    terms: Annotated[tuple[Terms, ...], "reward terms of each completion"]
    rewards: Annotated[tuple[float, ...], "weighted sums of the terms"]

    @property
    def spread(self) -> bool:
        """Whether any two rewards differ."""
        return max(self.rewards) - min(self.rewards) > 1e-9


@dataclass(slots=True)
class Tally:
    """What drawing has cost so far, and how often each task was solved."""

    groups: Annotated[int, "groups drawn"] = 0
    flat: Annotated[int, "groups without spread"] = 0
    drawn_again: Annotated[int, "groups drawn in place of flat ones"] = 0
    seconds: Annotated[dict[str, float], "seconds by part: generate; score, as far as it was waited for"] = field(
        default_factory=dict
    )
    passes: Annotated[dict[Any, list[int]], "task -> [successes, tries]"] = field(default_factory=dict)

    def rate(self, key: Any) -> float:
        """Smoothed pass rate of a task; 0.5 where it was never tried (Laplace)."""
        won, tried = self.passes.get(key, [0, 0])
        return (won + 1) / (tried + 2)


class Groups:
    """Draws groups for a trainer's batch."""

    def __init__(
        self,
        sampler: Sampler,
        tokenizer: Any,
        scorer: Scorer,
        *,
        weights: Mapping[str, float],
        pool: Sequence[Mapping[str, Any]],
        new_tokens: int,
        temperature: float,
        rounds: int = 3,
        success: str = "exact",
        seed: int = 0,
    ) -> None:
        self.sampler, self.tokenizer, self.scorer = sampler, tokenizer, scorer
        self.weights, self.pool, self.success = dict(weights), list(pool), success
        self.new_tokens, self.temperature, self.rounds = new_tokens, temperature, rounds
        self.tally = Tally()
        self._chance = random.Random(seed)

    def draw(self, rows: Sequence[Mapping[str, Any]], size: int) -> list[Group]:
        """One group of `size` completions a row; flat ones are replaced for up to `rounds` rounds."""
        groups = self._once(rows, size)
        for _ in range(self.rounds):
            flat = [place for place, group in enumerate(groups) if not group.spread]
            if not flat:
                break
            others = self._promising(len(rows), {self.key(group.row) for group in groups})
            if not others:
                break
            # Always as many as the batch, so that the sampler keeps one shape; the surplus with spread is used too.
            fresh = [group for group in self._once(others, size) if group.spread]
            self.tally.drawn_again += len(others)
            for place, group in zip(flat, fresh, strict=False):
                groups[place] = group
        return groups

    def metrics(self, drawn: Sequence[Group]) -> dict[str, float]:
        """Mean terms of the groups drawn for a batch, shares without spread, seconds by part; counts begin anew."""
        every = [terms for group in drawn for terms in group.terms]
        tally = self.tally
        found = {
            f"terms/{name}": sum(terms.get(name, 0.0) for terms in every) / len(every)
            for name in sorted({name for terms in every for name in terms})
        }
        found["groups/flat_share"] = tally.flat / max(tally.groups, 1)
        found["groups/drawn_again"] = float(tally.drawn_again)
        found["groups/flat_left"] = sum(not group.spread for group in drawn) / len(drawn)
        found |= {f"seconds/{part}": seconds for part, seconds in tally.seconds.items()}
        self.tally = Tally(passes=tally.passes)
        return found

    def state(self) -> Any:
        """What a checkpoint keeps: pass rates, and where the random order stands."""
        return {"passes": list(self.tally.passes.items()), "random": self._chance.getstate()}

    def restore(self, state: Any) -> None:
        """Take up what `state` gave, after a way through JSON."""
        self.tally.passes = {key: list(held) for key, held in state["passes"]}
        version, inner, gauss = state["random"]
        self._chance.setstate((version, tuple(inner), gauss))

    def key(self, row: Mapping[str, Any]) -> Any:
        """What tells tasks apart: the row's id, else its seed."""
        return row.get("id", row.get("seed"))

    def _promising(self, count: int, taken: set[Any]) -> list[Mapping[str, Any]]:
        """Tasks to try instead: nearest to an even chance first, ties in random order."""
        free = [row for row in self.pool if self.key(row) not in taken]
        self._chance.shuffle(free)
        free.sort(key=lambda row: abs(self.tally.rate(self.key(row)) - 0.5))
        return (free * (count // max(len(free), 1) + 1))[:count] if free else []

    def _once(self, rows: Sequence[Mapping[str, Any]], size: int) -> list[Group]:
        repeated = [row for row in rows for _ in range(size)]
        texts: dict[int, str] = {}
        start = getattr(self.scorer, "start", None)

        def ended(found: Mapping[int, Sequence[int]]) -> None:
            texts.update({place: self._text(ids) for place, ids in found.items()})
            start([repeated[place] for place in found], [texts[place] for place in found])  # type: ignore[misc]

        began = time.perf_counter()
        samples = self.sampler.draw(
            [row["prompt_ids"] for row in repeated], new_tokens=self.new_tokens, temperature=self.temperature,
            ended=ended if start is not None else None,
        )  # fmt: skip
        answers = [texts[i] if i in texts else self._text(sample.ids) for i, sample in enumerate(samples)]
        middle = time.perf_counter()
        terms = self.scorer(repeated, answers)
        self._spend("generate", middle - began)
        self._spend("score", time.perf_counter() - middle)
        if len(terms) != len(answers):
            raise ValueError(f"the scorer answered {len(terms)} times to {len(answers)} answers")
        return [self._group(rows[i], i * size, size, samples, answers, terms) for i in range(len(rows))]

    def _text(self, ids: Sequence[int]) -> str:
        return str(self.tokenizer.decode(ids, skip_special_tokens=True))

    def _group(
        self,
        row: Mapping[str, Any],
        start: int,
        size: int,
        samples: list[Sample],
        texts: list[str],
        terms: Sequence[Terms],
    ) -> Group:
        part = slice(start, start + size)
        rewards = tuple(self._sum(t, sample) for t, sample in zip(terms[part], samples[part], strict=True))
        group = Group(row, tuple(samples[part]), tuple(texts[part]), tuple(terms[part]), rewards)
        self.tally.groups += 1
        self.tally.flat += not group.spread
        held = self.tally.passes.setdefault(self.key(row), [0, 0])
        held[0] += sum(t.get(self.success, 0.0) >= 1.0 for t in group.terms)
        held[1] += size
        return group

    def _sum(self, terms: Terms, sample: Sample) -> float:
        """Weighted sum; `ended` is the sampler's own term: the answer stopped by itself."""
        held = {**terms, "ended": float(sample.ended)}
        missing = set(self.weights) - set(held)
        if missing:
            raise ValueError(
                f"no reward term is named {', '.join(sorted(missing))}; there are: {', '.join(sorted(held))}"
            )
        return sum(weight * held[name] for name, weight in self.weights.items())

    def _spend(self, part: str, seconds: float) -> None:
        self.tally.seconds[part] = self.tally.seconds.get(part, 0.0) + seconds


def rollout(groups: Groups, tasks: Sequence[Mapping[str, Any]], size: int) -> Callable[..., Any]:
    """TRL's `rollout_func`: groups with spread, their tokens and log-probabilities, and the rewards already paid."""
    by_prompt = {_words(row["prompt"]): row for row in tasks}

    def draw(prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        rows = [by_prompt[_words(prompts[start])] for start in range(0, len(prompts), size)]
        drawn = groups.draw(rows, size)
        flat = [(group, place) for group in drawn for place in range(size)]
        for name, value in groups.metrics(drawn).items():
            trainer._metrics["train"][name].append(value)
        return {
            "prompt_ids": [list(group.row["prompt_ids"]) for group, _ in flat],
            "completion_ids": [list(group.samples[place].ids) for group, place in flat],
            "logprobs": [list(group.samples[place].logprobs) for group, place in flat],
            "paid": [group.rewards[place] for group, place in flat],
        }

    return draw


def _words(prompt: Any) -> str:
    """What tells prompts apart, whichever keys a table of messages has put in order or filled with None."""

    def held(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: held(part) for key, part in value.items() if part is not None}
        return [held(part) for part in value] if isinstance(value, (list, tuple)) else value

    return json.dumps(held(prompt), sort_keys=True)


def paid(completions: Sequence[Any], paid: Sequence[float], **_: Any) -> list[float]:
    """The rewards that the rollout already computed."""
    return [float(value) for value in paid]
