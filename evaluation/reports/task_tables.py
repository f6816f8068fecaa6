"""Live runs on MiniWoB++ task by task, beside the numbers of other systems that `agents/recipes/miniwob_table.py` has.

Ours and theirs are compared over the same tasks: of each system those that it reports and that all runs have played.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.http import QueryDict

from agents.environments.task_sets import MINIWOB, miniwob_task
from agents.models import Run, Trajectory
from agents.models.trajectories import TrajectoryQuerySet
from agents.recipes.miniwob_table import CAUTION, SYSTEMS, WHERE, printed, reported
from agents.training.trained_tasks import trained_tasks
from annotations.access import rules
from annotations.access.rules import User
from annotations.text.amounts import amount
from evaluation.metrics.apart import FEW, caution
from evaluation.metrics.episodes import TaskLine, mean_success, task_table
from evaluation.metrics.judged import EstimatedRate
from evaluation.models import Study
from evaluation.scores.live import episodes_of
from evaluation.scores.plots import RunPlots

MOST_RUNS = 4  # side by side
OURS = ("task", "run", "recipe", "seed", "trained", "episodes", "success", "low", "high", "reward", "steps", "caution")
COLUMNS = (*OURS, *SYSTEMS)
ALL, TRAINED, UNTRAINED = "Every task", "Tasks of its training", "Tasks without training"


class RunTasks:
    """What came of a run's episodes of MiniWoB++, task by task."""

    def __init__(self, run: Run, label: str, episodes: TrajectoryQuerySet) -> None:
        """`episodes`: those of its trajectories that may be told of."""
        environment = run.dataset.live.get("environment", "")
        named = [(one, miniwob_task(environment, one.task)) for one in episodes_of(episodes)]
        found = task_table([replace(one, task=task) for one, task in named if task is not None])
        self.run, self.label, self.lines = run, label, {line.task: line for line in found}

    @cached_property
    def trained(self) -> frozenset[str] | None:
        """The tasks that its weights have seen in their training, by MiniWoB++'s names; None where nobody knows."""
        seen = trained_tasks(self.run.recipe, self.run.dataset.project_id)
        if seen is None:
            return None
        return frozenset(miniwob_task("browsergym", task) or task for task in seen)

    def is_trained(self, task: str) -> bool | None:
        return None if self.trained is None else task in self.trained

    def mean(self, tasks: Collection[str]) -> "MeanOfRun | None":
        """Over those of the tasks that it has played; None without any."""
        played = [line for task, line in self.lines.items() if task in tasks]
        return MeanOfRun(self.run.pk, mean_success(played, self.run.seed)) if played else None


@dataclass(frozen=True)
class MeanOfRun:
    """A mean over tasks of the run with this number."""

    run: int
    rate: EstimatedRate

    @property
    def told(self) -> dict[str, Any]:
        return {"run": self.run} | self.rate._asdict()


@dataclass(frozen=True)
class TaskCell:
    """A run, by its number, at a task, and whether its weights had seen the task in training."""

    run: int
    line: TaskLine
    is_trained: bool | None

    @property
    def caution(self) -> str:
        """Where its interval rests on too few episodes; else empty."""
        return caution(self.line.episodes, what="episode")


@dataclass(frozen=True)
class TaskRow:
    """A task: what each run came to, and each system is published with; None for what there is not."""

    task: str
    cells: list[TaskCell | None]
    published: dict[str, float | None]

    @property
    def played(self) -> list[TaskCell]:
        return [cell for cell in self.cells if cell]


@dataclass(frozen=True)
class TaskMean:
    """Means over the same tasks: of a system as published, and of each run. `system` is empty for means of ours
    alone."""

    name: str
    system: str
    tasks: int | None  # None where each run has its own
    value: float | None
    ours: list[MeanOfRun | None]

    @property
    def about(self) -> str:
        return SYSTEMS.get(self.system, "")

    @property
    def played(self) -> list[MeanOfRun]:
        return [mean for mean in self.ours if mean]


class TasksBesidePublished:
    """The table of several runs, of those of their episodes that `seen` lets through."""

    where, caution = WHERE, CAUTION
    systems = [{"name": name, "about": about} for name, about in SYSTEMS.items()]

    def __init__(
        self, runs: Sequence[Run], seen: Callable[[TrajectoryQuerySet], TrajectoryQuerySet] = lambda rows: rows
    ) -> None:
        labels = RunPlots(list(runs), "corrected").labels
        self.runs = [RunTasks(run, labels[run.pk], seen(run.trajectories.all())) for run in runs]

    @cached_property
    def rows(self) -> list[TaskRow]:
        tasks = sorted({task for run in self.runs for task in run.lines})
        return [TaskRow(task, [_cell(run, task) for run in self.runs], _published(task)) for task in tasks]

    @property
    def few(self) -> str:
        """How many tasks have too few episodes for their intervals to be trusted, in words; "" where none has."""
        found = sum(any(cell.caution for cell in row.played) for row in self.rows)
        if not found:
            return ""
        having = "has" if found == 1 else "have"
        return f"{found} of {amount(len(self.rows), 'task')} {having} fewer than {FEW} episodes: too few to trust"

    @cached_property
    def common(self) -> list[str]:
        """The tasks that all runs have played; runs that have played none are left aside."""
        played = [set(run.lines) for run in self.runs if run.lines]
        return sorted(set.intersection(*played)) if played else []

    @cached_property
    def means(self) -> list[TaskMean]:
        """Of all common tasks, apart by training where it is known of a run, and of those that each system reports."""
        if not self.common:
            return []
        means = [self._ours(ALL, len(self.common), [self.common for _ in self.runs])]
        known = [run.trained for run in self.runs]
        if any(trained is not None for trained in known):
            seen = [[task for task in self.common if of and task in of] for of in known]
            new = [[task for task in self.common if of is not None and task not in of] for of in known]
            means += [self._ours(TRAINED, None, seen), self._ours(UNTRAINED, None, new)]
        for system in SYSTEMS:
            value, tasks = reported(system, self.common)
            if tasks:
                ours = [run.mean(tasks) for run in self.runs]
                means.append(TaskMean(system, system, len(tasks), value, ours))
        return means

    def _ours(self, name: str, count: int | None, tasks: Sequence[Collection[str]]) -> TaskMean:
        ours = [run.mean(own) for run, own in zip(self.runs, tasks, strict=True)]
        return TaskMean(name, "", count, None, ours)

    def published(self) -> dict[str, Any]:
        """What stands beside ours, as commands print it: of each task, and means over the same tasks."""
        means = [
            {"name": one.name, "tasks": one.tasks, "published": one.value, "ours": [mean.told for mean in one.played]}
            for one in self.means
        ]
        of_tasks = {row.task: row.published for row in self.rows}
        return {"where": self.where, "caution": self.caution, "means": means, "tasks": of_tasks}

    def lines(self) -> Iterator[dict[str, Any]]:
        """A row for each task and run, as a CSV."""
        for row in self.rows:
            for of, cell in zip(self.runs, row.cells, strict=True):
                if cell:
                    run = {"run": of.run.pk, "recipe": of.run.recipe_name, "seed": of.run.seed}
                    yield vars(cell.line) | run | {"trained": cell.is_trained, "caution": cell.caution} | row.published


def _cell(run: RunTasks, task: str) -> TaskCell | None:
    return TaskCell(run.run.pk, run.lines[task], run.is_trained(task)) if task in run.lines else None


def _published(task: str) -> dict[str, float | None]:
    return {system: printed().get(task, {}).get(system) for system in SYSTEMS}


class StudyTasks:
    """The table of a study as a user may see it: of the runs that the query names by their numbers, else of the
    first."""

    def __init__(self, user: User, study: Study, query: QueryDict) -> None:
        self.user, self.study = user, study
        found = study.runs.select_related("dataset").order_by("pk")
        self.runs = [run for run in found if run.dataset.live.get("environment") in MINIWOB]
        asked = {name.strip() for name in ",".join(query.getlist("runs")).split(",")} - {""}
        self.unknown = sorted(asked - {str(run.pk) for run in self.runs})
        self.left_out = max(len(asked) - len(self.unknown) - MOST_RUNS, 0)
        self.chosen = ([run for run in self.runs if str(run.pk) in asked] or self.runs)[:MOST_RUNS]

    @cached_property
    def table(self) -> TasksBesidePublished:
        return TasksBesidePublished(self.chosen, self._seen)

    @property
    def problem(self) -> str:
        """What of the query cannot be shown, in a sentence; "" where all can."""
        if self.unknown:
            return f"No such runs of MiniWoB++ in this study: {', '.join(self.unknown)[:200]}."
        return f"Up to {MOST_RUNS} runs are shown: {self.left_out} more were asked for." if self.left_out else ""

    @property
    def hidden(self) -> bool:
        """Whether goals of test splits are left out."""
        every = Trajectory.objects.filter(run__in=self.chosen)
        return self._seen(every).count() < every.count()

    def _seen(self, rows: TrajectoryQuerySet) -> TrajectoryQuerySet:
        return rules.gold_filter(self.user, rows, "conversation__split", "run__dataset__project")
