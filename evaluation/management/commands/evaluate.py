"""Evaluate a recipe on a dataset."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.models import Run
from agents.recipes import RECIPES
from annotations.models import Dataset, Split
from evaluation.following import follow, progress
from evaluation.models import Shard, Study
from evaluation.studies import cancel_study, create_study, run_inline


class Command(BaseCommand):
    """Queue a study, follow it to its end and print its metrics with 95 % intervals (percentile bootstrap over
    conversations). --inline runs it in this process instead of on workers."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("recipe", help=f"one of {', '.join(RECIPES)}")
        parser.add_argument("dataset")
        parser.add_argument("--split", choices=Split.values, default="", help="default: the whole dataset")
        parser.add_argument("--limit", type=int, metavar="N", help="the first N conversations")
        parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="key=value", dest="changes")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--preset", choices=Study.Preset.values, help="default: the recipe's own")
        for unit, kind in (("tokens", int), ("cost", float), ("seconds", int)):
            parser.add_argument(f"--max-{unit}", type=kind, metavar="N", help="hard limit on its model calls")
        parser.add_argument("--inline", action="store_true", help="run in this process")
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def handle(self, *, recipe: str, dataset: str, **options: Any) -> None:
        found = Dataset.objects.filter(name=dataset).first()
        if found is None:
            known = ", ".join(Dataset.objects.values_list("name", flat=True)) or "none yet"
            raise CommandError(f"there is no dataset {dataset!r}; there are: {known}")
        if options["limit"] is not None and options["limit"] < 1:
            raise CommandError("--limit must be at least 1")
        try:
            study = create_study(
                user=None, dataset=found, recipes=[recipe], splits=[options["split"]], seeds=[options["seed"]],
                limit=options["limit"], overrides=pairs(options["changes"]), preset=options["preset"],
                publish=not options["inline"],
                budget={unit: options[f"max_{unit}"] for unit in ("tokens", "cost", "seconds")},
            )  # fmt: skip
        except ValueError as error:
            raise CommandError(str(error)) from error
        try:
            if options["inline"]:
                run_inline(study, lambda: self.stderr.write(progress(study)))
            else:
                follow(study, self.stderr.write)
        except KeyboardInterrupt:
            cancel_study(study)
            raise CommandError(f"cancelled; what is stored stays in study {study.pk}") from None
        run = study.runs.get()
        result = _result(study, run)
        self.stdout.write(json.dumps(result)) if options["json"] else self._print(result)
        if run.state == Run.State.FAILED:
            raise CommandError(run.error or "the run failed")

    def _print(self, result: dict[str, Any]) -> None:
        write = self.stdout.write
        counts = result["counts"]
        write(
            f"study {result['study']}: {result['recipe']} on {result['dataset']} · {result['split'] or 'all splits'} · "
            f"seed {result['seed']} · {result['preset']} · {result['state']}"
        )
        write(", ".join(f"{count:,} {name}" for name, count in counts.items()))
        write(f"{'metric':22}{'value':>8}   {'95 % interval':16} {'n':>6}  mean over")
        for name, metric in result["metrics"].items():
            interval = f"{metric['low']:.3f} – {metric['high']:.3f}"
            write(f"{name:22}{metric['value']:8.3f}   {interval:16} {metric['n']:6}  {metric['grouping']}")


def pairs(settings: list[str]) -> dict[str, str]:
    """ "key=value" texts as a dictionary; CommandError for another form."""
    found = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise CommandError(f"--set takes key=value, got {setting!r}")
        found[key] = value
    return found


def _result(study: Study, run: Run) -> dict[str, Any]:
    """The JSON contract of design.md section 4."""
    trajectories = run.trajectories.filter(steps__isnull=False).distinct()
    return {
        "study": study.pk,
        "recipe": run.recipe_name,
        "dataset": run.dataset.name,
        "split": run.split,
        "seed": run.seed,
        "preset": study.preset,
        "state": run.state,
        "counts": {
            "conversations": trajectories.count(),
            "turns": run.steps.values("step__turn").distinct().count(),
            "steps": run.steps.count(),
            "failed": run.steps.exclude(error="").count() + _missing_steps(run),
        },
        "metrics": {
            score.metric: {
                "value": score.value, "low": score.low, "high": score.high, "n": score.n, "grouping": score.grouping
            }
            for score in run.scores.headline(study.preset)
        },
    }  # fmt: skip


def _missing_steps(run: Run) -> int:
    lost = run.shards.filter(state=Shard.State.FAILED).exists()
    return run.step_count - run.steps.count() if lost else 0
