"""Means over live episodes: each task counts once, whatever number of seeds it has, and tasks are what is drawn. Core.

Success is the full reward: MiniWoB++ gives fractions of it for a part of a task, which harnesses that count any reward
above 0 take for the whole.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from evaluation.metrics.bootstrap import intervals
from evaluation.metrics.judged import EstimatedRate, wilson
from evaluation.metrics.outcomes import Metric

FULL_REWARD = 1.0


@dataclass(frozen=True)
class EpisodeOutcome:
    """The outcome of one episode."""

    task: str
    seed: int
    reward: float  # of its end, at most 1; 0 where it had none
    steps: int
    by_people: int = 0  # of the steps: somebody acted in the agent's place
    site: str = ""

    @property
    def human_share(self) -> float:
        return self.by_people / self.steps if self.steps else 0.0

    @property
    def success(self) -> bool:
        return self.reward >= FULL_REWARD


@dataclass(frozen=True)
class TaskLine:
    """The outcomes of one task's episodes: a line of the table."""

    task: str
    episodes: int
    success: float  # the share that reached the goal, with its 95 % interval
    low: float
    high: float
    reward: float  # the mean
    steps: float


def task_table(episodes: Sequence[EpisodeOutcome]) -> list[TaskLine]:
    """The outcomes task by task, by name. Intervals are Wilson's: where all of few episodes end alike, a bootstrap
    would say nothing."""
    of_task = _by_task(episodes)
    return [_line(task, of_task[task]) for task in sorted(of_task)]


def _line(task: str, episodes: Sequence[EpisodeOutcome]) -> TaskLine:
    count = len(episodes)
    won = wilson(sum(episode.success for episode in episodes), count)
    reward = sum(episode.reward for episode in episodes) / count
    steps = sum(episode.steps for episode in episodes) / count
    return TaskLine(task, count, won.value, won.low, won.high, reward, steps)


def mean_success(tasks: Sequence[TaskLine], seed: int = 0) -> EstimatedRate:
    """The mean success of tasks, each of which counts once, with its 95 % interval: tasks are drawn with replacement;
    of a single task its own. As `n` the tasks."""
    if len(tasks) == 1:
        return EstimatedRate(tasks[0].success, tasks[0].low, tasks[0].high, 1)
    values = np.array([[task.success] for task in tasks], dtype=float).reshape(len(tasks), 1)
    low, high = intervals(values, np.ones_like(values), seed)[:, 0]
    return EstimatedRate(float(values.mean()) if tasks else 0.0, float(low), float(high), len(tasks))


def _by_task(episodes: Sequence[EpisodeOutcome]) -> dict[str, list[EpisodeOutcome]]:
    found: dict[str, list[EpisodeOutcome]] = defaultdict(list)
    for episode in episodes:
        found[episode.task].append(episode)
    return found


def measure(episodes: Sequence[EpisodeOutcome], seed: int = 0, least_reward: float = 0.0) -> list[Metric]:
    """Success, reward, steps and, where people acted too, their share of the steps, with 95 % intervals: means over
    tasks, which are drawn with replacement; of a single task over its episodes. Zeros for no episodes. `least_reward`:
    the smallest that the environment gives, below which no interval goes."""
    tasks = _by_task(episodes)
    groups = list(tasks.values()) if len(tasks) > 1 else [[episode] for episode in episodes]
    grouping = "website" if len(tasks) > 1 else "conversation"
    columns = {
        "episode_success": [np.mean([one.success for one in group]) for group in groups],
        "episode_reward": [np.mean([one.reward for one in group]) for group in groups],
        "episode_steps": [np.mean([one.steps for one in group]) for group in groups],
    }
    if any(one.by_people for one in episodes):
        columns["human_share"] = [np.mean([one.human_share for one in group]) for group in groups]
    values = np.array(list(columns.values()), dtype=float).T.reshape(len(groups), len(columns))
    # Steps go on.
    least, most = [0.0, least_reward, nan, 0.0][: len(columns)], [1.0, 1.0, nan, 1.0][: len(columns)]
    bounds = intervals(values, np.ones_like(values), seed, least=least, most=most)
    means = values.mean(axis=0) if groups else np.zeros(len(columns))
    return [
        Metric(name, float(mean), float(low), float(high), len(groups), grouping)
        for name, mean, low, high in zip(columns, means, *bounds, strict=True)
    ]
