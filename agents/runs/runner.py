"""Run a pipeline over the recorded steps of conversations: build observations, decide in batches, store, tell viewers.

Offline evaluation is teacher-forced: every step is decided on the gold page after the gold earlier steps, so
resuming means deciding the steps that have no row yet.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

from agents.encoders.memory_limits import within_memory
from agents.llm.errors import BudgetExceeded
from agents.llm.protocol import Llm
from agents.memory.workflows.induce import induce_online
from agents.models import Run, Trajectory, TrajectoryStep
from agents.observations import RecordedConversation
from agents.pipeline import Pipeline, Wanted
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.runs import events
from agents.runs.building import build_pipeline
from agents.runs.decided_rows import count_once, decided_row
from agents.runs.parsing_ahead import parse_pages, prepared_beside
from agents.runs.weblinx_demos import demo_of
from agents.stages import registry
from agents.types import Decision, Observation
from annotations.models import Step
from annotations.monitor import counters
from annotations.monitor.spans import span

logger = logging.getLogger(__name__)

NAMED_STEPS = 5  # of those that were not decided, in the message


class Judged(Protocol):
    """The judgement of a decision, such as `evaluation.scores.judging.Judgement`."""

    @property
    def element_correct(self) -> bool: ...
    @property
    def operation_f1(self) -> float: ...
    @property
    def success(self) -> bool: ...
    @property
    def gold_rank(self) -> int | None: ...


class Tell(Protocol):
    """Is called with what a worker is doing before the first results; `loaded`: its models are loaded from here on."""

    def __call__(self, phase: str, *, loaded: bool = False) -> Any: ...


Judge = Callable[[Decision, Step], Judged]
Deciding = Callable[[Sequence["UndecidedStep"]], Callable[[Sequence[Observation]], list[Decision]]]


@dataclass(frozen=True)
class UndecidedStep:
    """A recorded step to decide, with its observation and the trajectory and `seq` of its result."""

    trajectory: Trajectory
    step: Step
    seq: int
    observation: Observation


@dataclass(frozen=True)
class UndecidedSteps:
    """The recorded steps of a run's conversations that have no result yet, in order. Only the pages of two batches are
    in memory: of the one that is decided and of the next."""

    run: Run
    recipe: Recipe

    def batches(self, conversation_ids: list[int], split: bool) -> Iterator[list[UndecidedStep]]:
        """Batches of as many steps as the recipe decides together; with `split`, no batch has steps of two
        conversations."""
        batch: list[UndecidedStep] = []
        for conversation_id in conversation_ids:
            for undecided in self.of(conversation_id):
                batch.append(undecided)
                if len(batch) == self.recipe.batch_size:
                    yield batch
                    batch = []
            if split and batch:
                yield batch
                batch = []
        if batch:
            yield batch

    def prepared(self, conversation_ids: list[int], split: bool) -> Iterator[list[UndecidedStep]]:
        """The same batches; while one is decided, the pages of the next are parsed."""
        batches = self.batches(conversation_ids, split)
        return prepared_beside(batches, lambda batch: parse_pages([each.observation for each in batch]))

    def of(self, conversation_id: int) -> Iterator[UndecidedStep]:
        trajectory = self.run.trajectories.get(conversation_id=conversation_id)
        done = set(trajectory.steps.values_list("step_id", flat=True))
        recorded = RecordedConversation(conversation_id)
        demo = demo_of(recorded) if self.recipe.data == "weblinx" else None
        image = "screenshot" in self.told
        for seq, step in enumerate(recorded.steps):
            if step.pk in done:
                continue
            more: dict[str, Any] = {} if demo is None else {"demo": demo, "demo_turn": step.source_index}
            yield UndecidedStep(trajectory, step, seq, recorded.observation(step, image=image, told=self.told, **more))

    def tell(self, batch: list[UndecidedStep]) -> None:
        """Tell viewers that the results of a batch are stored."""
        for trajectory in _trajectories(batch):
            events.publish(events.trajectory_group(trajectory.pk), trajectory.steps.count(), trajectory.state)
        stored = Run.objects.with_progress().get(pk=self.run.pk).done
        events.publish(events.run_group(self.run.pk), stored, self.run.state)

    @cached_property
    def told(self) -> frozenset[str]:
        return registry.told(self.recipe)


def run_conversations(
    run: Run,
    conversation_ids: list[int],
    judge: Judge,
    fenced: Callable[[], AbstractContextManager[None]],
    on_batch: Callable[[], Any] = lambda: None,
    llm: Llm | None = None,
    tell: Tell = lambda phase, *, loaded=False: None,
) -> int:
    """Decide the missing steps of some conversations; the number of results stored. Every batch is stored inside
    `fenced()`, which raises when this worker may no longer write. `llm` answers prompts to endpoints; its errors that
    would meet every step are raised. `tell` hears what comes before the first results."""
    recipe = literature.from_dict(run.recipe)
    tell("loading models")
    pipeline = build_pipeline(run, llm)
    tell("embedding what is recalled")
    pipeline.prepare(conversation_ids)
    tell(f"deciding, {recipe.batch_size} steps at a time", loaded=True)
    decide = _deciding(pipeline, recipe)
    online = registry.induces_online(recipe)
    stored = 0
    undecided = UndecidedSteps(run, recipe)
    for batch in undecided.prepared(conversation_ids, split=online):
        begun = time.perf_counter()
        with span("decide", recipe=recipe.name, run=run.pk, steps=len(batch)):
            batch, decisions, over = _decided(batch, decide)
        share = (time.perf_counter() - begun) * 1000 / max(1, len(batch))
        rows = [_row(s, d, judge(d, s.step), share) for s, d in zip(batch, decisions, strict=True)]
        with fenced():
            TrajectoryStep.objects.bulk_create(rows, ignore_conflicts=True)
            for trajectory in _trajectories(batch):
                trajectory.got_on()
        stored += len(rows)
        _count(recipe, decisions)
        undecided.tell(batch)
        if over is not None:
            raise over
        if online and llm is not None:
            induce_online(run, batch[0].observation.website, llm)
        on_batch()
    return stored


def _deciding(pipeline: Pipeline, recipe: Recipe) -> Deciding:
    """What decides a batch: under Q27, only the steps whose gold element is in reach."""
    if not registry.fails_unasked(recipe):
        return lambda batch: pipeline.decide
    return lambda batch: partial(pipeline.decide, wanted=_in_reach(recipe, batch))


def _decided(
    batch: list[UndecidedStep], decide: Deciding
) -> tuple[list[UndecidedStep], list[Decision], BudgetExceeded | None]:
    """The steps of a batch with their decisions. Where the budget is used up before all are decided: those for which
    all was answered until then, which is in the cache of replies, and the error, which names the others."""
    try:
        return batch, within_memory(decide(batch), [undecided.observation for undecided in batch]), None
    except BudgetExceeded as error:
        over = error
    kept: list[UndecidedStep] = []
    left: list[UndecidedStep] = []
    decisions: list[Decision] = []
    for one in batch:
        try:
            decisions += decide([one])([one.observation])
            kept.append(one)
        except BudgetExceeded:
            left.append(one)
    return (
        kept,
        decisions,
        BudgetExceeded(f"{over} {_left_words(batch[0].trajectory.run_id, left, len(kept))}", over.usage),
    )


def _left_words(run_id: int, left: Sequence[UndecidedStep], kept: int) -> str:
    """How many steps of a run are not decided, in words, with the first that were asked about. `kept`: how many were
    decided beside these, and are stored next."""
    run = Run.objects.with_progress().get(pk=run_id)
    named = [
        f"turn {one.observation.turn_index + 1}, step {one.observation.step_index + 1} of {one.trajectory.conversation}"
        for one in left[:NAMED_STEPS]
    ]
    undecided = run.step_count - run.done - kept
    more = f" and {undecided - len(named):,} more" if undecided > len(named) else ""
    which = f": {'; '.join(named)}{more}" if named else ""
    return f"Not decided are {undecided:,} of {run.step_count:,} steps{which}."


def _in_reach(recipe: Recipe, batch: Sequence[UndecidedStep]) -> Wanted:
    """A function that says whether a gold element is among the first top_k of a step's ranking. Under Q27 this is all
    that a pipeline learns of gold."""
    gold = {undecided.observation.key: {*undecided.step.reachable_gold()} for undecided in batch}
    return lambda seen, ranking: any(found.node_id in gold[seen.key] for found in ranking[: recipe.rank.top_k])


def _row(undecided: UndecidedStep, decision: Decision, verdict: Judged, milliseconds: float) -> TrajectoryStep:
    row = decided_row(
        decision,
        decision.actions[0] if decision.actions else None,
        run_id=undecided.trajectory.run_id,
        trajectory=undecided.trajectory,
        step=undecided.step,
        seq=undecided.seq,
        gold_rank=verdict.gold_rank,
        element_correct=verdict.element_correct,
        operation_f1=verdict.operation_f1,
        success=verdict.success,
        milliseconds=round(milliseconds, 3),
    )
    count_once(decision, row)
    return row


def _count(recipe: Recipe, decisions: list[Decision]) -> None:
    """Count steps and the seconds of their stages for the operator."""
    counters.STEPS.add(recipe.name, amount=len(decisions))
    for stage in {stage for decision in decisions for stage in decision.seconds}:
        seconds = sum(decision.seconds.get(stage, 0.0) for decision in decisions)
        counters.STAGE_SECONDS.add(stage, recipe.name, amount=seconds)


def _trajectories(batch: list[UndecidedStep]) -> list[Trajectory]:
    """The trajectories of a batch, each once."""
    return list({undecided.trajectory.pk: undecided.trajectory for undecided in batch}.values())
