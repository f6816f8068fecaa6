"""The composition of prompted agents as one batch: rank, recall, simplify, compose, plan, act. Core.

Ranker, memory, encoder, planner and language model are passed in; `agents/runs/building.py` puts them together.
"""

import random
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents.encoders.embedding import Encoder
from agents.llm.protocol import Llm
from agents.recipes.literature import Recipe
from agents.stages.plan.prepared import Planned, Planner, Prepared
from agents.stages.recall.recall import Recalled, Recaller
from agents.stages.simplify.snippets import PastStep
from agents.trace import traced_ranking
from agents.types import Action, Decision, Memory, Observation, RankedCandidate, Ranker, RecordedStep
from agents.weblinx.documents import is_ranked, ranked_turns
from annotations.observe.spans import span

KEPT_RANKINGS = 4_000  # of past steps, for their pages in memory and prompts


@dataclass
class _StagedWork:
    """One observation on its way through the stages."""

    observation: Observation
    ranking: tuple[RankedCandidate, ...] = ()
    ranked_turn: int | None = None  # WebLINX: of an earlier turn, where this one has no page
    error: str = ""
    recalled: Recalled = field(default_factory=Recalled)
    seconds: dict[str, float] = field(default_factory=dict)


class StagedPolicy:
    """Any recipe with a prompted planner, or none (`plan.kind` first)."""

    def __init__(
        self,
        recipe: Recipe,
        ranker: Ranker,
        memory: Memory | None,
        encoder: Encoder | None,
        planner: Planner,
        llm: Llm | None,
        seed: int = 0,
    ) -> None:
        self.recipe = recipe
        self.encoder = encoder  # of memory
        self.ranker = ranker
        self.planner = planner
        self.seed = seed
        self.recaller = Recaller(recipe, memory, encoder, llm)
        self._ranks: OrderedDict[int, dict[str, int]] = OrderedDict()  # step -> node id -> rank

    def decide(self, observations: list[Observation]) -> list[Decision]:
        """One decision per observation. What fails for one (a page, a reply) is an `error` in its trace; what would
        fail for all (endpoint down, budget used up) raises `LlmError`."""
        work = [_StagedWork(observation) for observation in observations]
        with _Timed(work, "rank"):
            self._rank(work)
        ready = [item for item in work if not item.error]
        with _Timed(ready, "recall"):
            seen, rankings = [item.observation for item in ready], [item.ranking for item in ready]
            for item, recalled in zip(ready, self.recaller.recall(seen, rankings), strict=True):
                item.recalled = recalled
            self._rank_past(ready)
        with _Timed(ready, "plan"):
            planned = self.planner.plan([self._prepared(item) for item in ready])
        decided = {id(item): self._decision(item, plan) for item, plan in zip(ready, planned, strict=True)}
        return [decided.get(id(item)) or self._decision(item, Planned(error=item.error)) for item in work]

    def _rank(self, work: Sequence[_StagedWork]) -> None:
        sources = [_with_page(item.observation) for item in work]
        for item, source, found in zip(work, sources, self._rankings(sources), strict=True):
            if isinstance(found, str):
                item.error = found
                continue
            item.ranking = found
            item.ranked_turn = source.demo_turn if source is not item.observation else None
            self._keep(item.observation.key, found)

    def _rankings(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...] | str]:
        """Rankings, or in words why a page cannot be ranked; such a page does not keep the others from it."""
        if not observations:
            return []
        try:
            return list(self.ranker.rank(observations))
        except (ValueError, IndexError) as error:  # PageError is a ValueError
            if len(observations) == 1:
                return [f"its elements cannot be ranked: {error}"]
            return [found for observation in observations for found in self._rankings([observation])]

    def _rank_past(self, work: Sequence[_StagedWork]) -> None:
        """Rank the past steps whose pages will be shown, each once."""
        past = {step.observation.key: step.observation for item in work for step in _shown_steps(item)}
        unknown = [observation for key, observation in past.items() if key not in self._ranks]
        for observation, ranking in zip(unknown, self._rankings(unknown), strict=True):
            self._keep(observation.key, () if isinstance(ranking, str) else ranking)

    def _keep(self, key: int, ranking: Iterable[RankedCandidate]) -> None:
        self._ranks[key] = {candidate.node_id: candidate.rank for candidate in ranking}
        self._ranks.move_to_end(key)
        while len(self._ranks) > KEPT_RANKINGS:
            self._ranks.popitem(last=False)

    def _prepared(self, item: _StagedWork) -> Prepared:
        observation, recalled = item.observation, item.recalled
        keys = {step.observation.key for step in _shown_steps(item)}
        return Prepared(
            observation,
            item.ranking,
            random.Random(f"{self.seed} {observation.key}"),
            recalled.instruction or observation.instruction,
            tuple(self._past_step(step) for step in recalled.memory),
            observation.turn_steps,
            recalled.exemplars,
            recalled.workflows,
            item.ranked_turn,
            {key: self._ranks[key] for key in keys if key in self._ranks},
        )

    def _past_step(self, step: RecordedStep) -> PastStep:
        return PastStep.of(step, self._ranks[step.observation.key].items())

    def _decision(self, item: _StagedWork, plan: Planned) -> Decision:
        recalled, action = item.recalled, plan.action
        trace = {
            "observe": {"candidates": len(item.ranking)} | ({"error": plan.error} if plan.error else {}),
            "rank": {
                "kind": self.recipe.rank.kind,
                "top": traced_ranking(item.ranking),
            },
            "recall": recalled.trace,
            **plan.trace,
            "act": {"representation": _told(action, item.ranking) if action else "none"},
        }
        return Decision(
            (action,) if action else (),
            item.ranking,
            recalled.snippets,
            tuple(exemplar.key for exemplar in recalled.exemplars),
            tuple(workflow.key for workflow in recalled.workflows),
            recalled.usage + plan.usage,
            trace,
            item.seconds,
        )


class FirstPlanner:
    """No planner: the best-ranked element, without an operation (the DeBERTa row; dense markup ranking)."""

    def plan(self, steps: Sequence[Prepared]) -> list[Planned]:
        return [self._first(step) for step in steps]

    def _first(self, step: Prepared) -> Planned:
        trace = {"plan": {"kind": "first"}}
        if step.ranking:
            return Planned(Action("", step.ranking[0].node_id), trace=trace)
        if _has_own_page(step.observation):
            return Planned(error="the page has no element to choose from")
        return Planned(trace=trace)  # an utterance before the first page: nothing to rank, and nothing wrong


def _has_own_page(observation: Observation) -> bool:
    """Every step but a WebLINX turn whose elements are not ranked, such as an utterance."""
    demo = observation.demo
    return demo is None or is_ranked(demo, demo.turns[observation.demo_turn])


def _with_page(observation: Observation) -> Observation:
    """The observation whose elements are ranked: itself, or for a WebLINX turn without a page (an utterance) the
    nearest earlier turn that has one, as in the published prompts (dmr_wma.md A6.1)."""
    demo = observation.demo
    if demo is None or _has_own_page(observation):
        return observation
    earlier = [turn.index for turn in ranked_turns(demo) if turn.index < observation.demo_turn]
    return replace(observation, demo_turn=earlier[-1]) if earlier else observation


def _shown_steps(item: _StagedWork) -> list[RecordedStep]:
    """Past steps whose page a prompt shows."""
    exemplars = [step for exemplar in item.recalled.exemplars for step in exemplar.steps]
    return [*item.recalled.memory, *item.observation.turn_steps, *exemplars]


def _told(action: Action, ranking: Sequence[RankedCandidate]) -> str:
    """ "button Search → CLICK", as people read an action; the id stands in for an element that was not ranked."""
    text = next((candidate.text for candidate in ranking if candidate.node_id == action.node_id), "")
    done = action.operation + (f": {action.value}" if action.value else "")
    return f"{text or action.node_id or ''} → {done}".removesuffix(" → ").strip()


class _Timed:
    """Adds the time of a block to every step of a batch, in equal shares."""

    def __init__(self, work: Sequence[_StagedWork], stage: str) -> None:
        self.work, self.stage = work, stage

    def __enter__(self) -> None:
        self.begun = time.perf_counter()
        self.span = span("stage", stage=self.stage, steps=len(self.work))
        self.span.__enter__()

    def __exit__(self, *raised: Any) -> None:
        self.span.__exit__(*raised)
        share = (time.perf_counter() - self.begun) / max(1, len(self.work))
        for item in self.work:
            item.seconds[self.stage] = share
