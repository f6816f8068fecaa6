"""Reads the outcomes of a live run's episodes and turns from its rows, and computes their metrics."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from agents.models.trajectories import TrajectoryQuerySet
from evaluation.metrics.episodes import EpisodeOutcome, measure
from evaluation.metrics.live_turns import LiveTurn, measure_turns
from evaluation.metrics.outcomes import Metric


def episodes_of(trajectories: TrajectoryQuerySet) -> list[EpisodeOutcome]:
    """The outcomes of a run's ended episodes, in order. An episode whose browser was lost again and again has no
    reward."""
    return [
        EpisodeOutcome(goal["task"], goal["seed"], reward or 0.0, steps, by_people, site)
        for goal, reward, steps, by_people, site in trajectories.outcomes()
    ]


def turns_of(ends: Iterable[tuple[str, dict[str, Any], dict[str, Any]]]) -> list[LiveTurn]:
    """The turns of live episodes, from their site, their goal and what was stored at the turn's end
    (`TrajectoryStepQuerySet.turn_ends`)."""
    return [
        LiveTurn(goal["task"], site=site, **said | {"side_effects": len(said["side_effects"])})  # other words: the same
        for site, goal, said in ends
    ]


def live_metrics(
    episodes: list[EpisodeOutcome], turns: list[LiveTurn], seed: int, least_reward: float = 0.0
) -> list[Metric]:
    """The metrics of turns and of episodes; [] without episodes. `least_reward`: of the environment."""
    return [*measure_turns(turns, seed), *measure(episodes, seed, least_reward)] if episodes else []


def metrics_by_site(episodes: list[EpisodeOutcome], turns: list[LiveTurn], seed: int) -> dict[str, dict[str, Metric]]:
    """Site -> metric -> its mean over the episodes and turns on that site, by name of the site."""
    of_site: dict[str, tuple[list[EpisodeOutcome], list[LiveTurn]]] = defaultdict(lambda: ([], []))
    for episode in episodes:
        of_site[episode.site][0].append(episode)
    for turn in turns:
        of_site[turn.site][1].append(turn)
    return {
        site: {metric.name: metric for metric in live_metrics(*found, seed)} for site, found in sorted(of_site.items())
    }
