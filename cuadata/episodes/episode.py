"""One attempt at one task: actions in, what they earned and how it ended out; at the end a Trajectory."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from cuadata.browsing.recycled import stands_for_another
from cuadata.contracts import Prompt
from cuadata.episodes.stage import Judgement, Stage
from cuadata.episodes.terms import Ledger, succeeds
from cuadata.errors import CallError
from cuadata.speaking import prompts
from cuadata.splitting import examples
from cuadata.types import Action, Ended, Observation, Outcome, Reward, Step, Task, Trajectory

#: Steps that an episode may take where the task does not say; never fewer than the solution needs twice over.
MAX_STEPS = 30
#: Actions told in a prompt.
HISTORY = 5
#: First word of the error of a step whose text could not be read.
MISREAD = "parse_failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one action did."""

    step: Annotated[Step | None, "None where a text could not be read, so that nothing was done"]
    reward: Annotated[float, "sum of what the step earned"]
    exact: Annotated[bool, "success by the exact criterion, now"]
    default: Annotated[bool, "success by the lenient criterion (raw reward above zero), now"]
    raw: Annotated[float, "the page's own reward, else the sum of all terms so far"]
    ended: Annotated[Ended, "why it ended; running where it goes on"]
    failure: Annotated[str | None, "why the text could not be read"] = None


def budget(task: Task, given: int | None = None) -> int:
    """Steps that an episode may take; one where the task is only to point at an element, or clicking all would earn it.

    CallError for a number given that is none, or below 1.
    """
    if given is not None:
        if not isinstance(given, (int, np.integer)) or isinstance(given, bool) or given < 1:
            raise CallError(f"max_steps: wanted a whole number of 1 or more, or None for the task's own, got {given!r}")
        return int(given)
    pointing = len(task.solution) == 1 and bool(task.success) and all(c.state == "focused" for c in task.success)
    return 1 if pointing else max(MAX_STEPS, 2 * len(task.solution))


class Episode:
    """An attempt at a task on a stage. Coroutines of the loop of `cuadata.browsing.loop.shared`.

    A step that breaks down (the browser died, the page does not answer) ends the episode as `error`; it never raises.
    """

    def __init__(
        self, stage: Stage, task: Task, *, max_steps: int | None = None, no_effect_lines: bool = False
    ) -> None:
        self.stage = stage
        self.task = task
        self.max_steps = budget(task, max_steps)
        self.no_effect_lines = no_effect_lines
        self.steps: list[Step] = []
        self.turns = 0
        self.earned = 0.0
        self.ended: Ended = "running"
        self.reason: str | None = None
        self.judged: Judgement | None = None
        self.exact = False
        self._observation: Observation | None = None
        self._ledger: Ledger | None = None
        self._scripts = tuple(c for term in task.terms for c in term.when) + task.success

    @property
    def observation(self) -> Observation:
        """What stands now; ValueError before `begin`."""
        if self._observation is None:
            raise ValueError("the episode has not begun")
        return self._observation

    @property
    def raw(self) -> float:
        """The page's own reward where it keeps one, else what was earned."""
        return self.judged.raw if self.judged is not None else self.earned

    @property
    def default(self) -> bool:
        """Success by the lenient criterion that wrappers use: any reward above zero."""
        return self.judged.default if self.judged is not None else self.earned > 0

    async def begin(self) -> Observation:
        """Open the task."""
        self.task, self._observation = await self.stage.begin(self.task)
        values = await self.stage.scripts(self._scripts)
        self._ledger = Ledger.open(self.task.terms, self._observation, values.__getitem__)
        self.exact = succeeds(self.task, self._observation, values.__getitem__)
        return self._observation

    async def play(
        self,
        action: Action,
        *,
        output: str | None = None,
        logprob: float | None = None,
        chosen: Observation | None = None,
    ) -> Turn:
        """Do one action; one that names an element is aimed at it as it is now, wherever it was when it was chosen.

        `chosen` is what stood when it was chosen, where that was before the last action: an element that shows another
        thing since is refused. ValueError where the episode is over or has not begun.
        """
        before = self._go_on()
        if chosen is not None and stands_for_another(action.element, chosen, before):
            return self._stale(action, before, output, logprob)
        if action.element is not None:
            action = replace(action, point=None)
        try:
            step = await self.stage.act(action, before)
            rewards = await self._judge(step)
        except Exception as error:  # noqa: BLE001
            return self._break(f"{type(error).__name__}: {error}"[:300])
        step = replace(
            step, index=len(self.steps), rewards=rewards, output=output or None, logprob=logprob,
            thought=action.text if action.type == "reason" else step.thought,
        )  # fmt: skip
        self.steps.append(step)
        self._observation = step.after or before
        self._end(action)
        return self._turn(step, sum(r.value for r in rewards))

    def _stale(self, action: Action, seen: Observation, output: str | None, logprob: float | None) -> Turn:
        """The turn of an action that was not done: its element shows another thing than when it was chosen."""
        step = Step(
            index=len(self.steps), time=max(time.time(), seen.time), observation=seen, action=action, after=seen,
            output=output or None, logprob=logprob,
            error=f"target_stale: element {action.element} stands for something else now",
        )  # fmt: skip
        self.steps.append(step)
        self._end(action)
        return self._turn(step, 0.0)

    def misread(self, failure: str, *, output: str | None = None, logprob: float | None = None) -> Turn:
        """A text that could not be read: nothing is done, and the turn counts. It is kept as a step with its error."""
        seen = self._go_on()
        step = Step(
            index=len(self.steps), time=max(time.time(), seen.time), observation=seen, action=Action(type="reason"),
            after=seen, output=output or None, logprob=logprob, error=f"{MISREAD}: {failure}",
        )  # fmt: skip
        self.steps.append(step)
        self._end(None)
        return self._turn(None, 0.0, failure)

    def _go_on(self) -> Observation:
        if self.ended != "running":
            raise ValueError(f"the episode is over ({self.ended}); reset it")
        self.turns += 1
        return self.observation

    async def _judge(self, step: Step) -> tuple[Reward, ...]:
        after, ledger = step.after or step.observation, self._ledger
        assert ledger is not None
        self.judged, before = await self.stage.judge(), self.judged
        if self.judged is not None:
            self.exact = self.judged.exact
            gained = self.judged.raw - (before.raw if before is not None else 0.0)
            paid = self.judged.done and gained
            rewards: tuple[Reward, ...] = (Reward(name="raw", value=gained),) if paid else ()
        else:
            values = (await self.stage.scripts(self._scripts)).__getitem__
            rewards = ledger.pay(after, values)
            self.exact = succeeds(self.task, after, values)
        self.earned += sum(r.value for r in rewards)
        return rewards

    def _end(self, action: Action | None) -> None:
        if self.exact and (self.judged is None or self.judged.done):
            self.ended = "success"
        elif self.judged is not None and self.judged.done:
            self.ended, self.reason = "failure", self.judged.reason
        elif action is not None and action.type in ("done", "infeasible"):
            self.ended, self.reason = "failure", action.text or f"the actor said {action.type}"
        elif self.turns >= self.max_steps:
            self.ended, self.reason = "budget", f"{self.max_steps} steps"

    def _break(self, reason: str) -> Turn:
        self.ended, self.reason = "error", reason
        return self._turn(None, 0.0)

    def _turn(self, step: Step | None, reward: float, failure: str | None = None) -> Turn:
        return Turn(
            step=step, reward=reward, exact=self.exact, default=self.default, raw=self.raw, ended=self.ended,
            failure=failure,
        )  # fmt: skip

    def prompt(self, history: int = HISTORY) -> Prompt:
        """What a model is asked now: the same as a training row of this moment."""
        return prompts.of_observation(
            self.observation,
            self.task.instruction,
            history=examples.history_lines(self.steps, history),
            context=examples.no_effect_lines(self.steps) if self.no_effect_lines else (),
        )

    @property
    def outcome(self) -> Outcome:
        """How it ended, or that it is still running."""
        known = self.ended not in ("running", "error", "interrupted")
        return Outcome(
            ended=self.ended,
            success=self.exact if known else None,
            exact=float(self.exact) if known else None,
            raw=self.raw,
            reason=self.reason,
        )

    def trajectory(self, id: str, source: str) -> Trajectory:
        """The attempt as a record."""
        return Trajectory(
            id=id, instruction=self.task.instruction, source=source, task=self.task, steps=tuple(self.steps),
            outcome=self.outcome, site=self.task.family, browser=self.stage.browser,
        )  # fmt: skip
