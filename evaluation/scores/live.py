"""The outcomes of a live run's episodes, read from its rows, and what they come to."""

from collections.abc import Iterable
from typing import Any

from agents.models import Trajectory
from agents.models.trajectories import TrajectoryQuerySet
from evaluation.metrics.episodes import EpisodeOutcome, measure
from evaluation.metrics.live_turns import LiveTurn, measure_turns
from evaluation.metrics.outcomes import Metric


def episodes_of(trajectories: TrajectoryQuerySet) -> list[EpisodeOutcome]:
    """Those of a run that have ended, in order; one whose browser was lost again and again has no reward."""
    rows = trajectories.filter(state=Trajectory.State.DONE).with_outcome().order_by("conversation__position", "pk")
    return [_outcome(row.conversation.extra, row) for row in rows]


def _outcome(goal: dict[str, Any], row: Trajectory) -> EpisodeOutcome:
    return EpisodeOutcome(goal["task"], goal["seed"], row.reward or 0.0, row.done, row.by_people)


def turns_of(ends: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> list[LiveTurn]:
    """The turns of episodes, of what their goals and the ends of turns say (`TrajectoryStepQuerySet.turn_ends`)."""
    return [
        LiveTurn(goal["task"], **said | {"side_effects": len(said["side_effects"])})  # its other words are the same
        for goal, said in ends
    ]


def live_metrics(episodes: list[EpisodeOutcome], turns: list[LiveTurn], seed: int) -> list[Metric]:
    """None for no episodes."""
    return [*measure_turns(turns, seed), *measure(episodes, seed)] if episodes else []
