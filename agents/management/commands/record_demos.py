"""Record demonstrations by scripted solvers."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.environments.browser import NoBrowser
from agents.environments.oracles import ORACLES
from agents.environments.process import EnvironmentProcess
from agents.environments.protocol import EnvironmentLost
from agents.live.demonstrating import dataset_of_demonstrations, record_demonstrations
from agents.live.goals import told_tasks
from annotations.models import Split


class Command(BaseCommand):
    """Let the oracles of MiniWoB++ tasks solve them and store what they did as a dataset, page by page, as human
    demonstrations are stored: for training, exemplars and memory. What is there already is not stored twice."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="its name; made where there is none")
        parser.add_argument("--tasks", nargs="+", default=["all"], metavar="TASK", help="all that have an oracle")
        parser.add_argument("--episodes", type=int, default=10, metavar="N", help="of each task, with a seed each")
        parser.add_argument("--first-seed", type=int, default=0, metavar="SEED")
        parser.add_argument("--split", choices=Split.values, default="", help="instead of that of recorded episodes")
        parser.add_argument("--project", default="", help="slug of the project (default: the only or first one)")

    def handle(self, *, dataset: str, **options: Any) -> None:
        if options["episodes"] < 1 or options["first_seed"] < 0:
            raise CommandError("--episodes must be at least 1, and seeds at least 0")
        seeds = range(options["first_seed"], options["first_seed"] + options["episodes"])
        try:
            tasks = told_tasks(sorted(ORACLES), options["tasks"], {})
            process = EnvironmentProcess("miniwob")
        except (ValueError, NoBrowser) as error:
            raise CommandError(str(error)) from error
        try:
            kept = dataset_of_demonstrations(dataset, options["project"])
            solved = record_demonstrations(process, tasks, seeds, kept, options["split"])
        except ValueError as error:
            raise CommandError(str(error)) from error
        except EnvironmentLost as error:
            raise CommandError(f"{error}; what was recorded before is stored") from error
        finally:
            process.close()
        for task in tasks:
            self.stdout.write(f"{task:32}{solved[task]:5} of {len(seeds)} solved")
        self.stdout.write(f"{sum(solved.values()):,} demonstrations in {dataset}")
