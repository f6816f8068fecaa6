"""How the guard judges controls, some of which its rules were not made by."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.environments.browser import NoBrowser
from agents.environments.pieces import piece_reader
from agents.guard import learned
from annotations.models import Dataset
from evaluation.guard import learning
from evaluation.guard.controls import PARTS, WRITTEN_BY, controls_report, judged_controls, packaged_controls
from evaluation.guard.labels import CRITERION
from evaluation.guard.measuring import GOLDS, GuardMeasurement, told_share


class Command(BaseCommand):
    """How many risky uses of controls the guard holds, and how many harmless ones it holds up, on small pages that were
    written and labelled by language models which had not seen it (docs/guard.md): recall and false alarms with
    Wilson's 95 % intervals, and what it gets wrong. The pages are read in a Chromium, as live ones are."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--part", choices=PARTS, help="of these alone; default: every part")
        parser.add_argument("--rules", action="store_true", help="by the rules alone, without the learned part")
        parser.add_argument("--json", action="store_true", dest="as_json")
        parser.add_argument(
            "--train",
            metavar="DATASET",
            help="train the learned part anew on these controls and the labelled steps of this dataset (the sample), "
            "try it on those left out, and write its numbers",
        )

    def handle(self, *, part: str | None, rules: bool, as_json: bool, train: str | None, **options: object) -> None:
        controls = [one for one in packaged_controls() if part in (None, one.part)]
        try:
            if train is not None:
                self._train(train)
                return
            with piece_reader() as read:
                report = controls_report(list(judged_controls(controls, read, None if rules else learned.packaged())))
        except NoBrowser as error:
            raise CommandError(str(error)) from error
        self.stdout.write(json.dumps(report, indent=2, ensure_ascii=False) if as_json else "\n".join(_lines(report)))

    def _train(self, name: str) -> None:
        dataset = Dataset.objects.filter(name=name).first()
        examples = list(learning.of_steps(GuardMeasurement(dataset))) if dataset is not None else []
        if not examples:
            raise CommandError(f"{name!r} is no dataset with labelled steps: learned.json is made with the sample")
        with piece_reader() as read:  # which asks no database meanwhile
            examples = [*learning.of_controls(packaged_controls(), read), *examples]
        self.stdout.write(f"{len(learning.learned_from(examples))} examples, tried by numbers that had not seen them:")
        for part, found in learning.trial(examples).items():
            for by, one in found.items():
                said = f"{told_share(one['recall']):>28}{told_share(one['false_alarms']):>30}"
                self.stdout.write(f"{part:9}{'rules alone' if by == 'rules' else 'with it':12}{said}")
        learning.write(learned.PACKAGED, learning.train(examples), examples)
        self.stdout.write(f"written to {learned.PACKAGED}")


def _lines(report: dict[str, Any]) -> Iterator[str]:
    yield f"{report['controls']} controls. {WRITTEN_BY}"
    yield CRITERION
    yield f"{'part':9}{'risky where':12}{'recall':>28}{'false alarms':>30}"
    for part, found in report["parts"].items():
        for gold in GOLDS:
            one = found[gold]
            yield f"{part:9}{gold:12}{told_share(one['recall']):>28}{told_share(one['false_alarms']):>30}"
    for part, found in report["parts"].items():
        kappa = found["kappa"]
        agreed = (
            "none" if kappa["low"] is None else f"{kappa['value']:z.3f} [{kappa['low']:z.3f}, {kappa['high']:z.3f}]"
        )
        yield f"{part} ({PARTS[part]}): {found['disputed']} of {found['controls']} disputed, kappa {agreed}"
        kinds = found["recall_by_kind"].items()
        yield "  held: " + ", ".join(f"{kind} {one['hits']}/{one['n']}" for kind, one in kinds)
    for title in ("missed", "false_alarms"):
        yield f"{title.replace('_', ' ')}:"
        for one in report[title]:
            labels = f"({one['first']}, {one['second']})"
            yield f"  {one['part']} {one['key']} {one['site']} {labels} {one['why']} {one['held']}"
