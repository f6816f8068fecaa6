"""Run a recipe under every combination of some settings."""

import json
from argparse import ArgumentParser
from itertools import product
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.management.changes import add_changes, changes_in
from agents.recipes import published
from annotations.management.named import dataset_named
from annotations.models import Dataset, Split
from evaluation.models import Study
from evaluation.reports.formats import objects, to_markdown
from evaluation.reports.tables import report
from evaluation.studies.following import follow
from evaluation.studies.running import create_study, run_inline

TEST_NOTE = "Note: these settings are compared on test data; choose on dev to report a setting on a test split."


class Command(BaseCommand):
    """One study with a run per combination: `sweep self-map sample --over recall.k=1,2,3,4,5` is the paper's Figure 4,
    `--over recall.sort_by=relevance,time recall.state_in_query=false,true` its Figure 6. Prints the study's table."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("recipe")
        parser.add_argument("dataset")
        parser.add_argument("--over", nargs="+", required=True, metavar="key=a,b,c", help="values to try")
        parser.add_argument("--split", choices=Split.values, default=Split.DEV)
        parser.add_argument("--limit", type=int, metavar="N", help="the first N conversations")
        parser.add_argument("--websites", nargs="+", default=[], metavar="NAME", help="conversations on these only")
        parser.add_argument(
            "--searched-sites",
            action="store_true",
            help="on the websites of the split on which the recipe's paper searched its settings (MIMS, Figures 4.1 "
            "to 4.4), as far as they are in the dataset",
        )
        add_changes(parser)
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--preset", choices=Study.Preset.values)
        parser.add_argument("--inline", action="store_true", help="run in this process")
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def handle(self, *, recipe: str, dataset: str, **options: Any) -> None:
        found = dataset_named(dataset)
        try:
            study = create_study(
                user=None,
                dataset=found,
                recipes=[recipe],
                splits=[options["split"]],
                seeds=[options["seed"]],
                limit=options["limit"],
                websites=_searched(recipe, found, options) if options["searched_sites"] else options["websites"],
                overrides=changes_in(options["changes"]),
                variants=_variants(options["over"]),
                preset=options["preset"],
                name=f"{recipe} over {', '.join(options['over'])}",
                publish=not options["inline"],
            )
        except ValueError as error:
            raise CommandError(str(error)) from error
        if options["inline"]:
            run_inline(study, lambda: self.stderr.write(study.summary()))
        else:
            follow(study, self.stderr.write)
        tables = report([study])
        if not tables:
            raise CommandError(study.runs.exclude(error="").values_list("error", flat=True).first() or "no scores")
        on_test = options["split"].startswith("test")
        if options["json"]:
            self.stdout.write(json.dumps({"study": study.pk, "chosen_on_test": on_test, "tables": objects(tables)}))
            return
        self.stdout.write(to_markdown(tables))
        if on_test:
            self.stdout.write(TEST_NOTE)


def _searched(recipe: str, dataset: Dataset, options: dict[str, Any]) -> list[str]:
    """The websites that `--searched-sites` stands for: those on which the paper searched settings of the split.
    ValueError where it names none, or the dataset has none of them."""
    split = options["split"]
    names = published.SEARCHED_SITES.get(recipe, {}).get(split, ())
    rows = dataset.conversations.filter(split=split, website__name__in=names)
    here = set(rows.values_list("website__name", flat=True))
    if not here:
        said = f"; it has {', '.join(names)}" if names else ""
        raise ValueError(f"{dataset.name} has no website on which settings of {recipe} were searched on {split}{said}")
    return [name for name in names if name in here]


def _variants(over: list[str]) -> list[dict[str, str]]:
    """Every combination of "key=a,b" as settings."""
    values = {key: text.split(",") for key, text in changes_in(over, "--over").items()}
    return [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]
