"""How the guard judges controls, some of which its rules were not made by."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.environments.browser import NoBrowser
from agents.environments.pieces import piece_reader
from evaluation.guard.controls import PARTS, WRITTEN_BY, controls_report, judged_controls, packaged_controls
from evaluation.guard.labels import CRITERION
from evaluation.guard.measuring import GOLDS, told_share


class Command(BaseCommand):
    """How many risky uses of controls the guard holds, and how many harmless ones it holds up, on small pages that were
    written and labelled by language models which had not seen it (docs/guard.md): recall and false alarms with
    Wilson's 95 % intervals, and what it gets wrong. The pages are read in a Chromium, as live ones are."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--part", choices=PARTS, help="of these alone; default: every part")
        parser.add_argument("--json", action="store_true", dest="as_json")

    def handle(self, *, part: str | None, as_json: bool, **options: object) -> None:
        controls = [one for one in packaged_controls() if part in (None, one.part)]
        try:
            with piece_reader() as read:
                report = controls_report(list(judged_controls(controls, read)))
        except NoBrowser as error:
            raise CommandError(str(error)) from error
        self.stdout.write(json.dumps(report, indent=2, ensure_ascii=False) if as_json else "\n".join(_lines(report)))


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
        agreed = "none" if kappa["low"] is None else f"{kappa['value']:.3f} [{kappa['low']:.3f}, {kappa['high']:.3f}]"
        yield f"{part} ({PARTS[part]}): {found['disputed']} of {found['controls']} disputed, kappa {agreed}"
        kinds = found["recall_by_kind"].items()
        yield "  held: " + ", ".join(f"{kind} {one['hits']}/{one['n']}" for kind, one in kinds)
    for title in ("missed", "false_alarms"):
        yield f"{title.replace('_', ' ')}:"
        for one in report[title]:
            labels = f"({one['first']}, {one['second']})"
            yield f"  {one['part']} {one['key']} {one['site']} {labels} {one['why']} {one['held']}"
