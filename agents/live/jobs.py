"""Making live goals as a background job: started by people, worked on where browsers are. Queue `gpu`, as live runs."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from django.core.exceptions import ValidationError

from agents.environments.browser import NoBrowser
from agents.environments.process import EnvironmentProcess
from agents.environments.protocol import NoSuchTask
from agents.environments.task_sets import TASK_SETS, TASKS, episode_steps, tasks_among
from agents.live.chosen_users import ChosenUser
from agents.live.goals import (
    FORMAT,
    MOST_GOALS,
    MOST_SECONDS,
    MOST_STEPS,
    SECONDS,
    LiveGoals,
    goal_fields,
    told_tasks,
)
from annotations.access import rules
from annotations.jobs import running as work
from annotations.models import Dataset, Job, Project, Split
from annotations.models.accounts.projects import Account

STARTING, OPENING, BEGINNING = 2.0, 0.25, 0.06  # seconds of a browser, a task's page and an episode (docs/live.md)
MOST_EPISODES = 10_000


def start_goals(
    *,
    user: Account,
    project: Project,
    name: str,
    environment: str,
    tasks: Sequence[str],
    episodes: int,
    first_seed: int = 0,
    split: str = Split.DEV,
    steps: int = 0,
    seconds: int = SECONDS,
    talker: ChosenUser | None = None,
) -> Job:
    """A queued job that makes the goals of tasks with so many seeds each, for a user. Raises ValidationError."""
    rules.require(user, Job.Kind.GOALS, project)
    steps, tasks = steps or episode_steps(environment), list(dict.fromkeys(tasks))
    errors = work.named_wrongly(name, project)
    limits: dict[str, Any] = {"environment": environment, "steps": steps, "seconds": seconds}
    limits |= talker.kept_unless(errors, environment, project) if talker else {}
    found = Dataset.objects.filter(name=name, project=project).first()
    if found is not None and (differs := found.differs_from(limits)):
        errors["name"] = f"{differs[0].upper()}{differs[1:]}."
    try:
        chosen = chosen_tasks(environment, tasks)
    except ValueError as error:
        chosen, errors["tasks"] = [], f"{error}."
    if split not in Split.values:
        errors["split"] = f"Choose one of {', '.join(Split.values)}."
    if not 1 <= episodes <= MOST_EPISODES or first_seed < 0 or steps < 1 or seconds < 1:
        errors["episodes"] = f"1 to {MOST_EPISODES:,} episodes of at least one step and one second, seeds from 0."
    elif steps > MOST_STEPS or seconds > MOST_SECONDS:
        errors["episodes"] = f"At most {MOST_STEPS:,} steps and {MOST_SECONDS:,} seconds an episode."
    elif len(chosen) * episodes > MOST_GOALS:
        errors["episodes"] = f"{len(chosen) * episodes:,} goals; a dataset holds at most {MOST_GOALS:,}."
    work.check_quota(user, errors)
    if errors:
        raise ValidationError(errors)
    params = dict(limits, name=name, format=FORMAT, tasks=tasks, episodes=episodes, first_seed=first_seed, split=split)
    return work.queue(Job(kind=Job.Kind.GOALS, project=project, created_by=user, params=params))


def chosen_tasks(environment: str, tasks: Sequence[str]) -> list[str]:
    """The tasks of an environment that somebody names. ValueError, with what there is, for one unknown."""
    if environment not in TASKS:
        raise ValueError(f"there is no environment {environment!r}; choose one of {', '.join(TASKS)}")
    chosen = told_tasks(tasks_among(environment, tasks), tasks, TASK_SETS[environment])
    if not chosen:
        raise ValueError("name at least one task")
    return chosen


def expected_seconds(environment: str, tasks: int, goals: int) -> float:
    """The seconds that making the goals will take: by the pace of the last ones made in this environment, else by a
    measured one."""
    last = Job.objects.filter(kind=Job.Kind.GOALS, state=Job.State.DONE, params__environment=environment).first()
    if last is not None and last.report.get("landed") and last.report.get("seconds"):
        return goals * last.report["seconds"] / last.report["landed"]
    return STARTING + tasks * OPENING + goals * BEGINNING


class _SliceUsed(Exception):
    """The time of a slice is over. What was made is stored."""


class GoalMaking:
    """The making of goals that a job asks for. Begun anew after a kill, it makes only those that are not stored yet."""

    def __init__(self, job: Job) -> None:
        self.job, self.params = job, job.params
        self.tasks = chosen_tasks(self.params["environment"], self.params["tasks"])
        first = self.params["first_seed"]
        self.seeds = range(first, first + self.params["episodes"])
        self.wanted = len(self.tasks) * len(self.seeds)
        self.before = job.progress.get("seconds", 0.0)
        self.began = time.monotonic()

    def work(self) -> bool:
        """Make goals until the slice is over; True where another slice must go on."""
        params = self.params
        fields = goal_fields(params["environment"], params["steps"], params["seconds"], params.get("user"))
        dataset = self.job.made_dataset(**fields)
        if differs := dataset.differs_from(fields["live"]):
            raise ValueError(differs)
        self.first = dataset.conversations.count()
        self._tell("opening a browser", self.first)
        try:
            process = EnvironmentProcess(params["environment"])
        except (NoBrowser, NoSuchTask) as error:
            raise ValueError(str(error)) from error  # for whoever started it to read: trying again would not help
        try:
            made = LiveGoals(dataset, process).add(self.tasks, self.seeds, self._stored, params["split"])
        except _SliceUsed:
            return self.job.hand_back()
        finally:
            process.close()
        said = f"{made:,} goals of {len(self.tasks):,} tasks"
        report = {"said": said, "landed": made, "seconds": round(self.seconds, 1)}
        self.job.finish(Job.State.DONE, report=report | {"counts": {"goals": made, "tasks": len(self.tasks)}})
        return False

    @property
    def seconds(self) -> float:
        """The seconds that the job has worked, over all slices."""
        return self.before + time.monotonic() - self.began

    def _stored(self, done: int) -> None:
        spent = time.monotonic() - self.began
        self._tell("beginning episodes", done, round((done - self.first) / spent, 1) or None)
        if work.is_slice_over(self.began):
            raise _SliceUsed

    def _tell(self, phase: str, done: int, pace: float | None = None) -> None:
        progress = {"phase": phase, "done": done, "total": max(self.wanted, done), "unit": "goals"}
        self.job.go_on(progress | {"per_second": pace, "seconds": self.seconds})


RUNNERS: dict[str, Callable[[Job], bool]] = {Job.Kind.GOALS: lambda job: GoalMaking(job).work()}
