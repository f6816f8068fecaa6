"""Studies on live goals that are made for them, as a command asks for both at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from django.db import transaction

from agents.cookbook import saved
from agents.environments.process import EnvironmentProcess
from agents.live.chosen_users import ChosenUser
from agents.live.goals import LiveGoals, check_number, goals_name, new_goals, source_id
from agents.models.spending import BudgetLimits
from annotations.models import Dataset, Project
from evaluation.models import Study
from evaluation.studies.running import as_it_runs, check_arguments, create_study, ready


@dataclass(frozen=True)
class WantedGoals:
    """The goals of tasks and seeds; "" as `name`: they are named by `said`, what somebody called the tasks."""

    project: Project
    name: str
    environment: str
    said: str
    tasks: Sequence[str]
    seeds: Sequence[int]
    steps: int
    seconds: int
    talker: ChosenUser | None

    def dataset(self) -> Dataset:
        """Where they are, or will be. ValueError where other goals are there, too."""
        check_number(self.tasks, self.seeds)
        wanted = {source_id(*one) for one in product(self.tasks, self.seeds)}
        stem = goals_name(self.environment, self.said, self.seeds, self.talker)[:90]  # a number may follow
        name = self.name or self.project.datasets.name_holding(stem, wanted)
        found = new_goals(self.project, name, self.environment, self.steps, self.seconds, self.talker)
        if found.conversations.exclude(source_id__in=wanted).exists():
            raise ValueError(f"{found} has other goals too: choose another name with --dataset")
        return found


@dataclass(frozen=True)
class ActingStudy:
    """A study of one recipe on goals that are made once: the same ones for every recipe."""

    goals: WantedGoals
    recipe: str
    overrides: dict[str, str]
    seed: int
    budget: BudgetLimits

    def planned(self, tell: Callable[[int], Any], *, publish: bool) -> Study:
        """The study, once its goals are made. Making them takes a minute, so what would refuse the study is told
        before; where nothing comes of them, no empty dataset stays. ValueError, NoBrowser or EnvironmentLost."""
        with transaction.atomic():
            dataset = self.goals.dataset()
            check_arguments([self.recipe], None, [self.overrides], None, [self.seed])
            Study.budget_fields(**self.budget)
            ready(as_it_runs(saved.get(self.recipe), self.overrides, None), self.overrides, dataset)
        try:
            process = EnvironmentProcess(self.goals.environment)
            try:
                LiveGoals(dataset, process).add(self.goals.tasks, self.goals.seeds, tell)
            finally:
                process.close()
            return create_study(
                user=None,
                dataset=dataset,
                recipes=[self.recipe],
                seeds=[self.seed],
                overrides=self.overrides,
                publish=publish,
                budget=self.budget,
            )
        except BaseException:  # Ctrl-C, too
            if dataset.is_bare():
                dataset.delete()
            raise
