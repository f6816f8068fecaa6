"""A pipeline runs the kinds of a recipe's eight stages, one after another, for many steps at once. Core.

Models, memory and encoders are passed in; `agents/runs/building.py` puts a pipeline together.
"""

import time
from collections.abc import Callable, Collection, Sequence
from itertools import groupby

from agents.llm.deadline import go_on
from agents.recipes.literature import Recipe
from agents.stages.kind import CannotRun, Parts, StageKind
from agents.stages.registry import planner_of, recipe_kinds, unfit
from agents.stages.state import StepState
from agents.types import STAGES, Decision, Observation, RankedCandidate
from annotations.monitor.spans import span

BEFORE = ("observe", "rank", "recall")  # in the order that the kinds ask for
ROUNDS = ("simplify", "compose", "plan")  # again and again, until the planner has an action or none


Wanted = Callable[[Observation, Sequence[RankedCandidate]], bool]


def every_one(observation: Observation, ranking: Sequence[RankedCandidate]) -> bool:
    return True


class Pipeline:
    """Decides steps as a recipe says. It takes a batch of steps at once; a live episode is a batch of one."""

    def __init__(self, recipe: Recipe, kinds: Sequence[StageKind], seed: int = 0) -> None:
        self.recipe, self.seed = recipe, seed
        self.kinds = list(kinds)
        groups = [(stage, list(group)) for stage, group in groupby(kinds, key=lambda kind: kind.stage)]
        self.stages = dict(groups)
        if len(groups) > len(self.stages):  # `before` of a planner of another package
            order = ", ".join(stage for stage, _ in groups)
            raise CannotRun(f"kinds of one stage stand apart, and each stage is run once: {order}")

    @classmethod
    def of(cls, parts: Parts, stages: Collection[str] = STAGES) -> "Pipeline":
        """The pipeline of the kinds that a recipe chooses. With only some `stages` it is for a training: `reminded`, or
        what is asked of the planner. CannotRun says what a kind lacks."""
        kinds = recipe_kinds(parts.recipe)
        if said := unfit(parts.recipe, parts.words):
            raise CannotRun(said)
        for kind in kinds:
            if kind.runs and kind.run is StageKind.run:
                raise CannotRun(f"{kind.__module__}.{kind.__name__}, a kind of {kind.stage}, has no run(states)")
        parts.planner_asks = planner_of(parts.recipe).asks
        parts.shown = frozenset().union(*(kind.takes for kind in kinds if kind.stage == "compose"))
        parts.ranker_embeds = any(kind.embeds_memory for kind in kinds)
        made = cls(parts.recipe, [kind(parts) for kind in kinds if kind.runs and kind.stage in stages], parts.seed)
        parts.planned = made.planned
        return made

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        """Prepare what stages need of these conversations: embed what they search, read what they ask for."""
        for kind in self.kinds:
            kind.prepare(conversation_ids)

    def reminded(self, observations: Sequence[Observation], wanted: Wanted = every_one) -> list[StepState]:
        """The states of these steps after the stages before the rounds, up to `recall`: a training composes its samples
        from them."""
        states = [StepState.of(observation, self.seed) for observation in observations]
        for stage in [stage for stage in self.stages if stage in BEFORE]:
            self._run(stage, states)
            if stage == "rank":
                self._leave(states, wanted)
        return states

    def planned(self, observations: Sequence[Observation], wanted: Wanted = every_one) -> list[StepState]:
        """The states of these steps up to what the planner does: a stage that looks further has imagined pages planned
        in the same way."""
        states = self.reminded(observations, wanted)
        while any(state.open for state in states):
            for stage in ROUNDS:
                self._run(stage, states)
        return states

    def decide(self, observations: Sequence[Observation], wanted: Wanted = every_one) -> list[Decision]:
        """One decision per observation. What fails for one (a page, a reply) is its `error`; what would fail for all
        (endpoint down, budget used up) raises `LlmError`.

        Where a ranking is not `wanted`, nothing is asked about its step, which gets no action.
        """
        states = self.planned(observations, wanted)
        self._run("imagine", states, ended=True)
        self._run("act", states, ended=True)
        return [state.decision() for state in states]

    def _leave(self, states: Sequence[StepState], wanted: Wanted) -> None:
        for state in states:
            if state.open and not wanted(state.observation, state.ranking):
                for stage in ("recall", "plan"):  # a trace says something of every stage
                    state.note(stage, not_asked=True)
                state.close(None)

    def _run(self, stage: str, states: Sequence[StepState], ended: bool = False) -> None:
        """Run one stage for the states that are open (or, with `ended`, for all); its time is shared equally among
        them."""
        go_on()
        if stage not in self.stages:
            return
        begun, asked = time.perf_counter(), [state for state in states if ended or state.open]
        for state in asked:
            state.stage = stage
        with span("stage", stage=stage, steps=len(asked)):
            for kind in self.stages[stage]:
                kind.run([state for state in asked if ended or state.open])
        share = (time.perf_counter() - begun) / max(1, len(asked))
        for state in asked:
            state.seconds[stage] = state.seconds.get(stage, 0.0) + share
