"""Store what an agent does where no path was recorded: each action with its own observation, time, reward, outcome."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction

from agents.environments.protocol import TurnEnd
from agents.models import Trajectory, TrajectoryStep
from agents.models.steps import TURN
from agents.runs.runner import STORED_CANDIDATES
from agents.types import Action, Decision
from annotations.models import Turn
from annotations.pages.store import PageStore


@dataclass(frozen=True)
class Seen:
    """What the agent was shown before it decided."""

    html: str  # "": nothing, the browser was lost
    url: str
    elements: int  # of the page
    at: datetime


@dataclass(frozen=True)
class Outcome:
    """What came of one action."""

    reward: float | None = None
    words: str = ""
    turn: TurnEnd | None = None  # a turn is over with it


@dataclass(frozen=True)
class Episode:
    """What an agent does in a trajectory after the instruction of one turn."""

    trajectory: Trajectory
    turn: Turn

    def store(self, seen: Seen, decision: Decision, outcomes: Sequence[Outcome]) -> list[TrajectoryStep]:
        """The actions of one decision, a step each, in order; without an action one step says so. ValueError unless
        every action has its outcome. What the decision took stands at its first step, and is counted once."""
        actions: list[Action | None] = [*decision.actions] or [None]
        if len(outcomes) != len(actions):
            raise ValueError(f"{len(actions)} actions have {len(outcomes)} outcomes")
        shown = [(seen.html, seen.elements)] if seen.html else []
        pages = PageStore().store(self.trajectory.conversation.website, shown)
        rows = [_row(seen, decision, *done) for done in zip(actions, outcomes, strict=True)]
        for row in rows:
            row.run_id, row.trajectory, row.turn = self.trajectory.run_id, self.trajectory, self.turn
            row.snapshot = pages.get(seen.html)
        for row in rows[1:]:
            row.trace = {stage: record for stage, record in row.trace.items() if stage != "act"}  # of the first action
        for row, outcome in zip(rows, outcomes, strict=True):
            if outcome.turn is not None:
                row.trace = row.trace | {TURN: asdict(outcome.turn)}
        _count_once(decision, rows[0])
        self._append(rows)
        return rows

    @transaction.atomic
    def _append(self, rows: Sequence[TrajectoryStep]) -> None:
        """Behind those that are there, as one more call."""
        Trajectory.objects.select_for_update().get(pk=self.trajectory.pk)
        last = self.trajectory.steps.order_by("seq").last()
        first, call = (last.seq + 1, last.call_index + 1) if last else (0, 0)
        for seq, row in enumerate(rows, first):
            row.seq, row.call_index = seq, call
        TrajectoryStep.objects.bulk_create(rows)
        self.trajectory.step_count = first + len(rows)
        self.trajectory.save(update_fields=["step_count", "updated_at"])


def _row(seen: Seen, decision: Decision, action: Action | None, outcome: Outcome) -> TrajectoryStep:
    shown = decision.ranking[:STORED_CANDIDATES]
    return TrajectoryStep(
        url=seen.url,
        happened_at=seen.at,
        reward=outcome.reward,
        outcome=outcome.words,
        operation=action.operation if action else "",
        node_id=(action.node_id or "") if action else "",
        value=action.value if action else "",
        candidate_ids=[candidate.node_id for candidate in shown],
        candidate_scores=[round(candidate.score, 5) for candidate in shown],
        error=decision.trace.get("observe", {}).get("error", ""),
        trace=decision.trace,
        branches=[asdict(branch) for branch in decision.branches],
    )


def _count_once(decision: Decision, row: TrajectoryStep) -> None:
    usage = decision.usage
    row.calls, row.cost = usage.calls, usage.cost
    row.prompt_tokens, row.completion_tokens = usage.prompt_tokens, usage.completion_tokens
    row.exemplar_ids, row.workflow_ids = list(decision.exemplar_ids), list(decision.workflow_ids)
    row.milliseconds = round(1000 * sum(decision.seconds.values()), 3)
