"""The outcomes of a live run's episodes, read from its rows, and what they come to."""

from agents.models import Trajectory
from agents.models.trajectories import TrajectoryQuerySet
from evaluation.metrics.episodes import EpisodeOutcome, measure
from evaluation.metrics.outcomes import Metric


def episodes_of(trajectories: TrajectoryQuerySet) -> list[EpisodeOutcome]:
    """Those of a run that have ended, in order; one whose browser was lost again and again has no reward."""
    rows = trajectories.filter(state=Trajectory.State.DONE).with_outcome().order_by("conversation__position", "pk")
    return [
        EpisodeOutcome(row.conversation.extra["task"], row.conversation.extra["seed"], row.reward or 0.0, row.done)
        for row in rows
    ]


def live_metrics(episodes: list[EpisodeOutcome], seed: int) -> list[Metric]:
    """None for no episodes."""
    return measure(episodes, seed) if episodes else []
