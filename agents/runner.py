"""Run a policy over the recorded steps of conversations: build observations, decide in batches, store, tell viewers.

Offline evaluation is teacher-forced: every step is decided on the gold page after the gold earlier steps, so
resuming means deciding the steps that have no row yet.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from agents import events, recipes
from agents.embedding import load_encoder
from agents.memory.build import build_snippets
from agents.memory.retrieve import ConversationMemory
from agents.models import DIMENSIONS, Run, Trajectory, TrajectoryStep
from agents.policy import POLICIES
from agents.types import Decision, Observation, PastAction, Policy
from annotations.models import Conversation, Step

logger = logging.getLogger(__name__)

STORED_CANDIDATES = 200


class Verdict(Protocol):
    """What a judge says of a decision; `evaluation.judging.Judgement` is one."""

    element_correct: bool
    operation_f1: float
    success: bool
    gold_rank: int | None


Judge = Callable[[Decision, Step], Verdict]


@dataclass(frozen=True)
class Sample:
    """One gold step to decide, and where its result goes."""

    trajectory: Trajectory
    step: Step
    seq: int
    observation: Observation


@lru_cache(maxsize=4)
def _encoder(name: str):
    return load_encoder(name)


def build_policy(recipe: recipes.Recipe) -> Policy:
    """The policy of a recipe; encoders are loaded once per process. ValueError says what is missing."""
    lacking = recipes.missing(recipe)
    if lacking:
        raise ValueError(f"{recipe.name} cannot run: it needs {'; '.join(lacking)}")
    try:
        encoder = _encoder(recipe.rank.model)
    except OSError as error:  # no such folder, no such name, or no network to fetch it
        raise ValueError(f"rank.model={recipe.rank.model!r} could not be loaded: {error}") from error
    if encoder.dimensions != DIMENSIONS:
        raise ValueError(f"rank.model={recipe.rank.model!r} has {encoder.dimensions} dimensions, memory {DIMENSIONS}")
    return POLICIES[recipe.plan.kind](recipe, encoder, ConversationMemory(encoder.name))


def run_conversations(
    run: Run,
    conversation_ids: list[int],
    judge: Judge,
    fenced: Callable[[], AbstractContextManager[None]],
    on_batch: Callable[[], Any] = lambda: None,
) -> int:
    """Decide the missing steps of some conversations; the number of results stored.

    Every batch is stored inside `fenced()`, which raises when this worker may no longer write.
    """
    recipe = recipes.from_dict(run.recipe)
    policy = build_policy(recipe)
    if recipe.recall.memory != "none":
        build_snippets(conversation_ids, policy.encoder)
    stored = 0
    for batch in _batches(run, conversation_ids, recipe.batch_size):
        begun = time.perf_counter()
        decisions = policy.decide([sample.observation for sample in batch])
        share = (time.perf_counter() - begun) * 1000 / len(batch)
        rows = [_row(s, d, judge(d, s.step), share) for s, d in zip(batch, decisions, strict=True)]
        with fenced():
            TrajectoryStep.objects.bulk_create(rows, ignore_conflicts=True)
            _update_trajectories(batch)
        stored += len(rows)
        _tell(run, batch)
        on_batch()
    return stored


def _batches(run: Run, conversation_ids: list[int], size: int) -> Iterator[list[Sample]]:
    batch: list[Sample] = []
    for conversation_id in conversation_ids:
        for sample in _samples(run, conversation_id):
            batch.append(sample)
            if len(batch) == size:
                yield batch
                batch = []
    if batch:
        yield batch


def _samples(run: Run, conversation_id: int) -> Iterator[Sample]:
    """The steps of a conversation without a result, in order, one page in memory at a time."""
    trajectory = run.trajectories.get(conversation_id=conversation_id)
    done = set(trajectory.steps.values_list("step_id", flat=True))
    conversation = Conversation.objects.select_related("website").get(pk=conversation_id)
    steps = list(
        Step.objects.filter(turn__conversation=conversation)
        .select_related("turn")
        .prefetch_related("targets")
        .order_by("turn__index", "index")
        .defer("candidates")
    )
    instructions = {step.turn.index: step.turn.instruction for step in steps}
    for seq, step in enumerate(steps):
        if step.pk in done:
            continue
        turn = step.turn
        past = [s for s in steps[:seq] if s.turn_id == step.turn_id]
        full = Step.objects.select_related("snapshot__dictionary").only("candidates", "snapshot").get(pk=step.pk)
        positives, negatives = full.candidate_records()
        observation = Observation(
            key=step.pk, conversation=conversation.pk, turn_index=turn.index, step_index=step.index,
            website=conversation.website.name, domain=conversation.website.domain,
            subdomain=conversation.website.subdomain, instruction=turn.instruction,
            html=full.snapshot.html if full.snapshot else "",
            candidate_ids=tuple(sorted({c.node_id for c in (*positives, *negatives)})),  # sorted: order tells nothing
            turn_actions=tuple(_past(s) for s in past),
            earlier_instructions=tuple(text for index, text in sorted(instructions.items()) if index < turn.index),
        )  # fmt: skip
        yield Sample(trajectory, step, seq, observation)


def _past(step: Step) -> PastAction:
    target = next(iter(step.targets.all()), None)
    text = step.action_repr or f"{step.operation} {step.value}".strip()
    return PastAction(text, step.operation, target.node_id if target else None, step.value)


def _row(sample: Sample, decision: Decision, verdict: Verdict, milliseconds: float) -> TrajectoryStep:
    action = decision.actions[0] if decision.actions else None
    shown = decision.ranking[:STORED_CANDIDATES]
    seconds = {stage: round(value, 5) for stage, value in decision.seconds.items()}
    return TrajectoryStep(
        run_id=sample.trajectory.run_id, trajectory=sample.trajectory, step=sample.step, seq=sample.seq,
        operation=action.operation if action else "", node_id=(action.node_id or "") if action else "",
        value=action.value if action else "", candidate_ids=[c.node_id for c in shown],
        candidate_scores=[round(c.score, 5) for c in shown], gold_rank=verdict.gold_rank,
        element_correct=verdict.element_correct, operation_f1=verdict.operation_f1, success=verdict.success,
        error=decision.trace.get("observe", {}).get("error", ""), calls=decision.usage.calls,
        prompt_tokens=decision.usage.prompt_tokens, completion_tokens=decision.usage.completion_tokens,
        milliseconds=round(milliseconds, 3), trace=decision.trace | {"seconds": seconds},
    )  # fmt: skip


def _update_trajectories(batch: list[Sample]) -> None:
    for trajectory in {sample.trajectory.pk: sample.trajectory for sample in batch}.values():
        complete = trajectory.steps.count() >= trajectory.step_count
        trajectory.state = Trajectory.State.DONE if complete else Trajectory.State.RUNNING
        trajectory.save(update_fields=["state", "updated_at"])


def _tell(run: Run, batch: list[Sample]) -> None:
    for trajectory in {sample.trajectory.pk: sample.trajectory for sample in batch}.values():
        events.publish(events.trajectory_group(trajectory.pk), trajectory.steps.count(), trajectory.state)
    events.publish(events.run_group(run.pk), run.steps.count(), run.state)
