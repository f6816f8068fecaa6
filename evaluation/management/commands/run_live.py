"""Let a recipe act in an environment."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.environments.browser import NoBrowser
from agents.environments.protocol import EnvironmentLost
from agents.environments.task_sets import MINIWOB, TALKING, TASK_SETS, episode_steps, miniwob_task
from agents.live.chosen_users import TEMPERATURE, WORDS, ChosenUser
from agents.live.goals import SECONDS
from agents.live.jobs import chosen_tasks
from agents.management.changes import add_changes, changes_in
from agents.models import Run, UserLedger
from agents.models.spending import BudgetLimits
from agents.prompts.packs import PACKAGED
from agents.recipes.literature import RECIPES
from agents.recipes.miniwob_table import SYNAPSE, printed
from annotations.management.named import project_named
from evaluation.management.acting import ActingStudy, WantedGoals
from evaluation.metrics.apart import caution
from evaluation.metrics.episodes import TaskLine, task_table
from evaluation.metrics.printing import lines, numbers
from evaluation.models import Study
from evaluation.reports.task_tables import TasksBesidePublished
from evaluation.scores.live import episodes_of
from evaluation.scores.reviewed import store_all_scores
from evaluation.studies.following import follow
from evaluation.studies.running import run_inline


class Command(BaseCommand):
    """Queue live episodes of a recipe, follow them to their end and print what came of each task. Goals are made once:
    the same tasks and seeds are the same goals for every recipe. --inline acts in this process instead of on
    workers."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("recipe", help=f"one of {', '.join(RECIPES)}")
        parser.add_argument("environment", choices=sorted(TASK_SETS))
        parser.add_argument(
            *("--tasks", "--conversations"),
            nargs="+",
            default=["all"],
            metavar="TASK",
            help="all, the name of a set (synapse), or by name; of sample-sites a task is a conversation, "
            "of open-web an address with what is to be done: 'https://example.org/ Find the opening hours'",
        )
        parser.add_argument(
            *("--episodes",),
            type=int,
            metavar="N",
            help="of each task, with a seed each (default: 10; 2 of a conversation, the second with disturbances)",
        )
        parser.add_argument("--first-seed", type=int, default=0, metavar="SEED")
        parser.add_argument("--steps", type=int, help="of an episode, at most (default: 20; 200 of conversations)")
        parser.add_argument("--seconds", type=int, default=SECONDS, help="of an episode, at most")
        parser.add_argument("--dataset", metavar="NAME", help="what the goals are called; named by tasks and seeds")
        parser.add_argument("--project", default="", help="slug of the project (default: the only or first one)")
        parser.add_argument(
            "--user",
            default="",
            metavar="CONNECTION",
            help="the language model that is the user of conversations: a connection, or embedded:smollm2-135m "
            "(default: scripted)",
        )
        parser.add_argument("--user-words", choices=sorted(WORDS), default="own", help="how it says instructions")
        parser.add_argument("--user-temperature", type=float, default=TEMPERATURE, metavar="T")
        parser.add_argument("--user-prompts", default=PACKAGED, metavar="PACK", help="the words that it is asked by")
        parser.add_argument("--user-max-cost", type=float, metavar="N", help="hard limit on what it costs, of a run")
        add_changes(parser)
        parser.add_argument("--seed", type=int, default=0, help="of the agent")
        for unit, kind in (("tokens", int), ("cost", float)):
            parser.add_argument(f"--max-{unit}", type=kind, metavar="N", help="hard limit on its model calls")
        parser.add_argument("--inline", action="store_true", help="act in this process")
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def handle(self, *, recipe: str, environment: str, **options: Any) -> None:
        if options["episodes"] is None:
            options["episodes"] = 2 if environment in TALKING else 10
        if options["steps"] is None:
            options["steps"] = episode_steps(environment)
        if not 1 <= options["episodes"] <= 10_000 or options["first_seed"] < 0:
            raise CommandError("--episodes must be 1 to 10,000, and seeds at least 0")
        try:
            study = self._planned(recipe, environment, options)
        except (ValueError, NoBrowser, EnvironmentLost) as error:
            raise CommandError(str(error)) from error
        try:
            if options["inline"]:
                run_inline(study, lambda: None)
            else:
                follow(study, self.stderr.write)
        except KeyboardInterrupt:
            study.cancel(store_all_scores)
            raise CommandError(f"cancelled; what is stored stays in study {study.pk}") from None
        run = study.runs.select_related("dataset").get()
        table = task_table(episodes_of(run.trajectories.all()))
        if options["json"]:
            self.stdout.write(json.dumps(self._result(study, run, table)))
        else:
            self._print(study, run, table)
        if study.runs.ended_early().exists():
            raise CommandError(run.error or "the run failed")

    def _planned(self, recipe: str, environment: str, options: dict[str, Any]) -> Study:
        tasks, first = chosen_tasks(environment, options["tasks"]), options["first_seed"]
        goals = WantedGoals(
            project_named(options["project"]),
            options["dataset"] or "",
            environment,
            options["tasks"][0] if len(options["tasks"]) == 1 else f"{len(tasks)}-tasks",
            tasks,
            range(first, first + options["episodes"]),
            options["steps"],
            options["seconds"],
            _talker(options),
        )
        budget = BudgetLimits(tokens=options["max_tokens"], cost=options["max_cost"])
        wanted = ActingStudy(goals, recipe, changes_in(options["changes"]), options["seed"], budget)
        return wanted.planned(lambda done: self.stderr.write(f"{done:,} goals"), publish=not options["inline"])

    def _print(self, study: Study, run: Run, table: Sequence[TaskLine]) -> None:
        write = self.stdout.write
        write(f"study {study.pk}: {run.recipe_name} on {run.dataset.name} · seed {run.seed} · {run.state}")
        environment, beside = run.dataset.live["environment"], _beside(run)
        head = f"{'task':32}{'episodes':>9}{'success':>9}   {'95 % interval':16}{'reward':>8}{'steps':>7}"
        write(head + (f"{SYNAPSE:>9}" if beside else ""))
        for row in table:
            interval, theirs = f"{row.low:.2f} – {row.high:.2f}", _published(environment, row.task) if beside else ""
            line = f"{row.task:32}{row.episodes:9}{row.success:9.2f}   {interval:16}{row.reward:8.2f}{row.steps:7.1f}"
            write(line + theirs)
        for line in lines(self._metrics(study, run)):
            write(line)
        if said := caution(sum(row.episodes for row in table)):
            write(said)
        for said in _means(beside) if beside else ():
            write(said)
        if user := UserLedger.objects.told_of([run]):
            write(f"user: {user['connection']}, {user['tokens']:,} tokens, {user['cost']:.4f} in money")

    def _metrics(self, study: Study, run: Run) -> dict[str, dict[str, Any]]:
        return {score.metric: numbers(score) for score in run.scores.headline(study.preset)}

    def _result(self, study: Study, run: Run, table: Sequence[TaskLine]) -> dict[str, Any]:
        found = {
            "study": study.pk,
            "recipe": run.recipe_name,
            "dataset": run.dataset.name,
            "environment": run.dataset.live["environment"],
            "seed": run.seed,
            "state": run.state,
            "limits": {"steps": run.dataset.live["steps"], "seconds": run.dataset.live["seconds"]},
            "episodes": sum(row.episodes for row in table),
            "metrics": self._metrics(study, run),
            "caution": caution(sum(row.episodes for row in table)),
            "tasks": [asdict(row) for row in table],
        }
        if beside := _beside(run):
            found["published"] = beside.published()
        return found | ({"user": user} if (user := UserLedger.objects.told_of([run])) else {})


def _talker(options: dict[str, Any]) -> ChosenUser | None:
    """The language model that is the user of conversations; None where they are scripted."""
    if not options["user"]:
        return None
    asked = {name: options[f"user_{name}"] for name in ("words", "temperature", "max_cost")}
    return ChosenUser(options["user"], pack=options["user_prompts"], **asked)


def _beside(run: Run) -> TasksBesidePublished | None:
    return TasksBesidePublished([run]) if run.dataset.live["environment"] in MINIWOB else None


def _published(environment: str, task: str) -> str:
    """What Synapse is published with at a task, as a column."""
    named = miniwob_task(environment, task)
    value = printed().get(named, {}).get(SYNAPSE) if named else None
    return f"{'–' if value is None else f'{value:.2f}':>9}"


def _means(beside: TasksBesidePublished) -> Iterator[str]:
    """Published means over the tasks of this run, line by line, with what they are of."""
    yield f"{'published over the same tasks':32}{'tasks':>9}{'mean':>9}{'ours':>9}"
    for mean in beside.means:
        if mean.value is not None:
            (ours,) = mean.played
            yield f"{mean.name:32}{mean.tasks:9}{mean.value:9.2f}{ours.rate.value:9.2f}"
    yield f"{beside.where}. {beside.caution}"
