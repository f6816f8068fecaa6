"""Store what an agent does where no path was recorded: each action with its own observation, time, reward, outcome."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from agents.environments.protocol import TurnEnd, WindowPicture
from agents.models import StepPicture, Trajectory, TrajectoryStep
from agents.models.steps import TURN
from agents.models.trajectories import USER
from agents.runs.decided_rows import count_once, decided_row
from agents.types import Action, Decision
from annotations.datasets.records import ImageRecord
from annotations.models import Turn
from annotations.pages.store import PageStore, store_screenshot


@dataclass(frozen=True)
class Seen:
    """The page that the agent was shown before it decided."""

    html: str  # "": nothing, the browser was lost
    url: str
    elements: int  # of the page
    at: datetime
    picture: WindowPicture | None = None  # as it looked, where that is kept


@dataclass(frozen=True)
class ActionOutcome:
    """What came of one action of an episode."""

    reward: float | None = None
    words: str = ""
    turn: TurnEnd | None = None  # a turn is over with it
    user: dict[str, Any] | None = None  # what a user that is a language model said


@dataclass(frozen=True)
class Episode:
    """Stores what an agent does in one turn of a trajectory."""

    trajectory: Trajectory
    turn: Turn

    def store(
        self, seen: Seen, decision: Decision, outcomes: Sequence[ActionOutcome], done_by: int | None = None
    ) -> list[TrajectoryStep]:
        """Store the actions of one decision, a step each, in order; a decision without an action becomes one step.
        ValueError unless every action has its outcome. What the decision took is written to its first step. `done_by`:
        the account of the person who acted in the agent's place."""
        actions: list[Action | None] = [*decision.actions] or [None]
        if len(outcomes) != len(actions):
            raise ValueError(f"{len(actions)} actions have {len(outcomes)} outcomes")
        shown = [(seen.html, seen.elements)] if seen.html else []
        pages = PageStore().store(self.trajectory.conversation.website, shown)
        rows = [
            decided_row(
                decision,
                action,
                run_id=self.trajectory.run_id,
                trajectory=self.trajectory,
                turn=self.turn,
                snapshot=pages.get(seen.html),
                url=seen.url,
                happened_at=seen.at,
                reward=outcome.reward,
                outcome=outcome.words,
                done_by_id=done_by,
            )
            for action, outcome in zip(actions, outcomes, strict=True)
        ]
        for row in rows[1:]:
            row.trace = {stage: record for stage, record in row.trace.items() if stage != "act"}  # of the first action
        for row, outcome in zip(rows, outcomes, strict=True):
            if outcome.turn is not None:
                row.trace = row.trace | {TURN: asdict(outcome.turn)}
            if outcome.user is not None:
                row.trace = row.trace | {USER: outcome.user}
        count_once(decision, rows[0])
        rows[0].milliseconds = round(1000 * sum(decision.seconds.values()), 3)
        self._append(rows, seen.picture)
        return rows

    def end_with(self, html: str, elements: int) -> None:
        """Keep the page that the episode ended with, behind its last step."""
        pages = PageStore().store(self.trajectory.conversation.website, [(html, elements)])
        self.trajectory.steps.filter(seq=self.trajectory.step_count - 1).update(snapshot_after=pages.get(html))

    @transaction.atomic
    def _append(self, rows: Sequence[TrajectoryStep], picture: WindowPicture | None) -> None:
        """Store the rows as one more call, behind the steps that are there, each with the picture of their page."""
        Trajectory.objects.select_for_update().get(pk=self.trajectory.pk)
        last = self.trajectory.steps.order_by("seq").last()
        first, call = (last.seq + 1, last.call_index + 1) if last else (0, 0)
        for seq, row in enumerate(rows, first):
            row.seq, row.call_index = seq, call
        TrajectoryStep.objects.bulk_create(rows)
        if picture is not None:
            shot = store_screenshot(ImageRecord(picture.media_type, picture.data))
            pictures = StepPicture.of_steps(rows, shot.pk, (picture.width, picture.height), picture.boxes)
            StepPicture.objects.bulk_create(pictures)
        self.trajectory.step_count = first + len(rows)
        self.trajectory.save(update_fields=["step_count", "updated_at"])
