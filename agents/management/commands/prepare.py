"""Make what recipes lack here."""

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from agents.cookbook import saved, starters
from agents.management.memory_jobs import end, tell_errors
from agents.recipes.literature import Recipe
from agents.training.prepare import preparing
from agents.training.prepare.preparing import Ingredient, Preparing
from annotations.management.named import dataset_named
from annotations.models import Dataset


class Command(BaseCommand):
    """Make what recipes lack from the dataset at hand: small rankers from MiniLM, workflows by the model that answers
    here. Says first what will be made and about how long that takes; what is there already is not made again. These are
    small models to try the machinery with; docs/embedded.md says what the papers used."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("recipes", nargs="*", metavar="RECIPE")
        parser.add_argument("--all", action="store_true", help="every recipe")
        parser.add_argument("--dataset", default="", help="default: the first with a train split, of each form of data")
        parser.add_argument("--estimate", action="store_true", help="only say what would be made")
        parser.add_argument("--inline", action="store_true", help="work in this process instead of on a worker")
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def handle(self, *, recipes: list[str], **options: Any) -> None:
        chosen = self._chosen(recipes, options["all"])
        datasets = self._datasets(options["dataset"])
        found = Preparing(datasets).offer(*chosen).parts
        self._tell_estimate(found)
        jobs = [] if options["estimate"] else [self._make(part, options["inline"]) for part in found]
        pairs = zip(chosen, starters.missing_of(chosen), strict=True)
        rows = [{"name": r.name, "missing": what, "left": self._left(r, datasets)} for r, what in pairs]
        if options["json"]:
            parts = [{"part": part.key, "says": part.says, "seconds": part.seconds} for part in found]
            self.stdout.write(json.dumps({"parts": parts, "jobs": jobs, "recipes": rows}))
            return
        for row in rows:
            lacking = [*row["missing"], *row["left"]]
            self.stdout.write(f"{row['name']:24}{'needs ' + '; '.join(lacking) if lacking else 'ready'}")

    def _chosen(self, names: list[str], everything: bool) -> list[Recipe]:
        if bool(names) == everything:
            raise CommandError("name recipes, or give --all")
        try:
            return saved.listed() if everything else [saved.get(name) for name in names]
        except ValueError as error:
            raise CommandError(str(error)) from error

    def _datasets(self, name: str) -> dict[str, Dataset]:
        if not name:
            return preparing.datasets_for(None)
        dataset = dataset_named(name)
        return {preparing.reads(dataset): dataset}

    def _tell_estimate(self, found: tuple[Ingredient, ...]) -> None:
        for part in found:
            self.stderr.write(f"{part.says}: about {_minutes(part.seconds)}")
        total = sum(part.seconds for part in found)
        self.stderr.write(f"{len(found)} to make, about {_minutes(total)} on two cores" if found else "nothing to make")

    def _make(self, part: Ingredient, inline: bool) -> dict[str, Any]:
        """Make a part; what its job reports when it is over. A part that fails does not keep the others from being
        made."""
        begun = time.monotonic()
        try:
            job = preparing.start(part, user=None, publish=not inline)
        except ValidationError as error:
            return {"part": part.key, "said": f"failed: {' '.join(error.messages)}", "seconds": 0.0}
        try:
            ended = end(job, inline, self.stderr.write)
            tell_errors(ended, self.stderr.write)
            said = str(ended.report.get("said", ""))
        except CommandError as error:
            job.refresh_from_db()
            if job.cancel_requested:  # by Ctrl-C, which means all of it
                raise
            said = f"failed: {error}"
        seconds = round(time.monotonic() - begun, 1)
        self.stderr.write(f"{part.key}: {said} ({seconds:.0f} s)")
        return {"part": part.key, "said": said, "seconds": seconds}

    def _left(self, recipe: Recipe, datasets: dict[str, Dataset]) -> list[str]:
        """What the recipe lacks that this command cannot make."""
        return [part.says for part in Preparing(datasets).parts(recipe) if part.starter is None]


def _minutes(seconds: int) -> str:
    return f"{seconds} s" if seconds < 90 else f"{seconds / 60:.0f} min"
