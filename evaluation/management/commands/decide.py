"""Let a recipe decide for an agent of another harness."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.cookbook import saved
from agents.live.elsewhere import HARNESSES, EpisodesElsewhere
from agents.live.goals import new_goals
from agents.management.changes import add_changes, changes_in
from agents.models import Run
from agents.recipes import literature
from agents.runs.building import build_pipeline
from agents.stages import registry
from agents.stages.kind import CannotRun
from annotations.management.named import project_named
from evaluation.studies.budgets import unlimited_llm
from evaluation.studies.running import as_it_runs, ready


class Command(BaseCommand):
    """Read pages from the standard input, as BrowserGym or CUBE observes them, a line of JSON each, and print what the
    recipe would do there: `docs/examples/browsergym_agent.py` and `cube_agent.py` are the agents that ask. Nothing is
    stored."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("recipe")
        parser.add_argument("--harness", choices=sorted(HARNESSES), default="browsergym", help="which one asks")
        parser.add_argument("--dataset", help="live goals, whose memory and exemplars it has (default: the harness's)")
        parser.add_argument("--project", default="", help="slug of the project (default: the only or first one)")
        add_changes(parser)

    def handle(
        self, *, recipe: str, harness: str, project: str, dataset: str | None, changes: list[str], **_: object
    ) -> None:
        told = changes_in(changes)
        try:
            goals = new_goals(project_named(project), dataset or harness, harness)
            chosen = ready(as_it_runs(saved.get(recipe, None), told, None), told, goals)
            run = Run(recipe_name=chosen.name, recipe=literature.to_dict(chosen), dataset=goals)
            pipeline = build_pipeline(run, unlimited_llm(chosen))
            pipeline.prepare([])
        except (ValueError, CannotRun) as error:
            raise CommandError(str(error)) from error
        episodes = EpisodesElsewhere(pipeline, "history" in registry.told(chosen), harness)
        self._say({"ready": chosen.name})
        for line in sys.stdin:
            try:
                said = episodes.answer(json.loads(line))
            except (ValueError, KeyError) as error:
                said = {"action": None, "said": f"{type(error).__name__}: {error}"}
            self._say(said)

    def _say(self, told: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(told))
        self.stdout.flush()
