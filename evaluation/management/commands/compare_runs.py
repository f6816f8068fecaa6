"""Compare two studies step by step."""

import json
from argparse import ArgumentParser
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.cookbook import sentences
from agents.models import Run
from agents.recipes.differences import changed_settings
from evaluation.comparing.steps import RunDifferences
from evaluation.models import Study


class Command(BaseCommand):
    """Print the paired difference of step success of the second study to the first, each of one run over the same
    split, with its 95 % interval (bootstrap over conversations), and where it is gained and lost: by website, and by
    the operation of the gold action. Each run is named with the settings that differ from its recipe's."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("first", type=int, metavar="STUDY")
        parser.add_argument("second", type=int, metavar="STUDY")
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def handle(self, *, first: int, second: int, **options: Any) -> None:
        runs = [_run(number) for number in (first, second)]
        differences = RunDifferences(runs)
        found = differences.paired()
        if not found:
            raise CommandError("they share no steps: compare runs over the same split of one dataset")
        paired, where = found[0], differences.slices()
        changed = [changed_settings(run.recipe) for run in runs]
        result = {"recipes": [run.recipe_name for run in runs], "split": runs[0].split, **vars(paired)}
        result["settings"] = [{name: str(now) for name, (_, now) in one.items()} for one in changed]
        result["seeds"] = [run.seed for run in runs]
        result["where"] = [asdict(one) for one in where]
        if options["json"]:
            self.stdout.write(json.dumps(result))
            return
        names = [sentences.label(run.recipe_name, settings) for run, settings in zip(runs, changed, strict=True)]
        self.stdout.write(
            f"{names[1]} less {names[0]} on {runs[0].dataset.name} {runs[0].split}: "
            f"{100 * paired.value:+z.1f} points of step success [{100 * paired.low:+z.1f}, {100 * paired.high:+z.1f}], "
            f"{paired.only_this} steps gained, {paired.only_first} lost, of {paired.steps:,} in "
            f"{paired.conversations:,} conversations"
        )
        if names[0] == names[1]:
            texts = {run.recipe.get("prompts", {}).get("sha256", "") for run in runs}
            self.stdout.write(f"  the same settings, {_alike([run.seed for run in runs], texts)}")
        for one in where:
            here = one.paired
            self.stdout.write(
                f"  {one.kind} {one.name:24} {one.right_first:4} and {one.right_this:4} right of {here.steps:5,}, "
                f"{100 * here.value:+z6.1f} [{100 * here.low:+z.1f}, {100 * here.high:+z.1f}], "
                f"{here.only_this} gained {here.only_first} lost"
            )


def _alike(seeds: Sequence[int], texts: Collection[str]) -> str:
    """What else may tell runs apart whose settings do not: their seeds and the texts that models were given."""
    same = "the same texts of prompts" if len(texts) == 1 else "other texts of prompts"
    return f"seeds {' and '.join(map(str, seeds))}, {same}"


def _run(number: int) -> Run:
    study = Study.objects.filter(pk=number).first()
    run = study.runs.select_related("dataset").order_by("pk").first() if study else None
    if run is None:
        raise CommandError(f"there is no study {number} with a run")
    return run
