"""Evaluate a recipe on a dataset."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.cookbook import saved
from agents.management.changes import add_changes, add_limits, changes_in, limits_in
from agents.models import Run
from agents.recipes.literature import RECIPES
from agents.training.mismatches import unlike_training
from annotations.management.named import dataset_named
from annotations.models import Dataset, Split
from evaluation.metrics.ood import OOD, OOD_SPLITS, ood_means, splits_of
from evaluation.metrics.printing import lines, numbers
from evaluation.models import Study
from evaluation.scores.reviewed import store_all_scores
from evaluation.studies.expecting import expected
from evaluation.studies.following import follow
from evaluation.studies.running import create_study, run_inline
from evaluation.studies.serializers import ForecastSerializer


class Command(BaseCommand):
    """Queue a study, follow it to its end and print its metrics with 95 % intervals (percentile bootstrap over
    conversations). --inline runs it in this process instead of on workers."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("recipe", help=f"one of {', '.join(RECIPES)}")
        parser.add_argument("dataset")
        parser.add_argument(
            "--split",
            choices=[*Split.values, OOD],
            default="",
            help=f"default: the whole dataset; {OOD}: {', '.join(OOD_SPLITS)} and their mean",
        )
        parser.add_argument("--limit", type=int, metavar="N", help="the first N conversations")
        parser.add_argument("--websites", nargs="+", default=[], metavar="NAME", help="conversations on these only")
        add_changes(parser)
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--preset", choices=Study.Preset.values, help="default: the recipe's own")
        add_limits(parser)
        parser.add_argument("--forecast", action="store_true", help="say what it would take, and start nothing")
        parser.add_argument("--inline", action="store_true", help="run in this process")
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def handle(self, *, recipe: str, dataset: str, **options: Any) -> None:
        found = dataset_named(dataset)
        if options["limit"] is not None and options["limit"] < 1:
            raise CommandError("--limit must be at least 1")
        if options["forecast"]:
            self._forecast(recipe, found, options)
            return
        try:
            study = create_study(
                user=None,
                dataset=found,
                recipes=[recipe],
                splits=list(splits_of(options["split"])),
                seeds=[options["seed"]],
                limit=options["limit"],
                websites=options["websites"],
                overrides=changes_in(options["changes"]),
                preset=options["preset"],
                publish=not options["inline"],
                budget=limits_in(options),
            )
        except ValueError as error:
            raise CommandError(str(error)) from error
        unlike = unlike_training(study.runs.order_by("pk")[0].recipe, found.project_id)
        for said in unlike:
            self.stderr.write(said)
        try:
            if options["inline"]:
                run_inline(study, lambda: self.stderr.write(study.summary()))
            else:
                follow(study, self.stderr.write)
        except KeyboardInterrupt:
            study.cancel(store_all_scores)
            raise CommandError(f"cancelled; what is stored stays in study {study.pk}") from None
        runs = list(study.runs.select_related("dataset").order_by("pk"))
        result = _result(study, runs, options["split"]) | ({"unlike_training": unlike} if unlike else {})
        self.stdout.write(json.dumps(result)) if options["json"] else self._print(result)
        if unfinished := study.runs.ended_early().order_by("pk").first():
            raise CommandError(unfinished.error or "the run failed")

    def _forecast(self, recipe: str, dataset: Dataset, options: dict[str, Any]) -> None:
        preset = {"preset": options["preset"]} if options["preset"] else {}
        try:
            recipes, changes = [saved.get(recipe)], changes_in(options["changes"]) | preset
        except ValueError as error:
            raise CommandError(str(error)) from error
        splits = [split for split in splits_of(options["split"]) if split]
        told = expected(None, dataset, recipes, splits, options["limit"], options["websites"], changes)
        if options["json"]:
            self.stdout.write(json.dumps(ForecastSerializer(told).data))
            return
        for sentence in told.sentences():
            self.stdout.write(sentence)

    def _print(self, result: dict[str, Any]) -> None:
        write = self.stdout.write
        counts = result["counts"]
        write(
            f"study {result['study']}: {result['recipe']} on {result['dataset']} · {result['split'] or 'all splits'} · "
            f"seed {result['seed']} · {result['preset']} · {result['state']}"
        )
        write(", ".join(f"{count:,} {name}" for name, count in counts.items()))
        for line in lines(result["metrics"]):
            write(line)


def _result(study: Study, runs: list[Run], split: str) -> dict[str, Any]:
    """What --json prints, whose keys stay; beside them is `unlike_training` where a model is asked with other inputs
    than it was trained on. `runs`: one, or those of the four splits of `ood`."""
    scores = {run.split: {score.metric: score for score in run.scores.headline(study.preset)} for run in runs}
    first, counts = runs[0], [_counts(run) for run in runs]
    return {
        "study": study.pk,
        "recipe": first.recipe_name,
        "dataset": first.dataset.name,
        "split": split,
        "seed": first.seed,
        "preset": study.preset,
        "state": next((run.state for run in runs if run.state != Run.State.DONE), Run.State.DONE),
        "counts": {name: sum(of_run[name] for of_run in counts) for name in counts[0]},
        "metrics": {
            name: numbers(score) for name, score in (ood_means(scores) if split == OOD else scores[split]).items()
        },
    }


def _counts(run: Run) -> dict[str, int]:
    found = run.counts()
    missing = run.step_count - found["steps"] if run.shards.failed().exists() else 0
    return found | {"failed": run.steps.with_error().count() + missing}
