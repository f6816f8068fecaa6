"""How many risky steps the guard holds, and how many harmless ones it holds up."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.world_model.predicting import RetrievedEffects
from annotations.management.named import dataset_named
from annotations.models import Dataset
from evaluation.guard.beside import beside_svg
from evaluation.guard.labels import BY_MODELS, CRITERION, NO_PEOPLE, SOURCES
from evaluation.guard.measuring import GOLDS, GuardMeasurement, told_share
from evaluation.guard.report_rows import ALONE, FORESEEN


class Command(BaseCommand):
    """How many risky steps of a dataset the guard holds, and how many harmless ones it holds up, by the labels of its
    steps (docs/guard.md): recall and false alarms with Wilson's 95 % intervals, on train and on
    test splits, which the authors of the guard's words had read, too; what it misses is listed."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="DATASET")
        parser.add_argument(
            "--world-model", action="store_true", help="beside it the guard that asks past transitions too"
        )
        parser.add_argument("--by", choices=SOURCES, default=BY_MODELS, help="whose labels count: default %(default)s")
        parser.add_argument("--plot", type=Path, metavar="FILE", help="write the shares there with intervals, as SVG")
        parser.add_argument("--json", action="store_true", dest="as_json")

    def handle(self, *, dataset: str, world_model: bool, by: str, as_json: bool, **options: Any) -> None:
        found = dataset_named(dataset)
        reports = {ALONE: GuardMeasurement(found, by=by).report()}
        if not reports[ALONE]["steps"]:
            raise CommandError(f"no step of {found} has two labels, risky or harmless, by {SOURCES[by]}")
        if world_model:
            reports[FORESEEN] = GuardMeasurement(found, world_model=self._world_model(found), by=by).report()
        if options["plot"]:
            options["plot"].write_text(beside_svg(reports), "utf-8")
        if as_json:
            self.stdout.write(_dumped(reports if world_model else reports[ALONE]))
        else:
            self.stdout.write("\n".join(_lines(reports)))

    def _world_model(self, dataset: Dataset) -> RetrievedEffects:
        from agents.encoders import weights
        from agents.memory.encoding import encoder_named
        from agents.memory.transitions import PastTransitions

        if not dataset.transitions.exists():
            raise CommandError(f"no transitions of {dataset} are stored")
        return PastTransitions(dataset, encoder_named(weights.MINILM)).world_model()


def _dumped(report: dict[str, Any]) -> str:
    return json.dumps(report, indent=2, ensure_ascii=False)


def _lines(reports: Mapping[str, dict[str, Any]]) -> list[str]:
    report = reports[ALONE]
    kappa = report["kappa"]
    bounds = "" if kappa["low"] is None else f" [{kappa['low']:z.3f}, {kappa['high']:z.3f}]"
    agreed = "none" if kappa["value"] is None else f"{kappa['value']:z.3f}{bounds}"
    whose = SOURCES[report["labels_by"]]
    lines = [f"{report['steps']} labelled steps, {report['disputed']} disputed, kappa of {whose} {agreed}"]
    if report["labels_by"] == BY_MODELS:
        lines += [f"  {NO_PEOPLE}", f"  {CRITERION}"]
    lines.append(f"{'split':8}{'risky where':12}{'guard':18}{'recall':>28}{'false alarms':>30}")
    for split in report["splits"]:
        for gold in GOLDS:
            for guard, found in reports.items():
                shares = found["splits"][split][gold]
                told = f"{told_share(shares['recall']):>28}{told_share(shares['false_alarms']):>30}"
                lines.append(f"{split:8}{gold:12}{guard:18}{told}")
    lines += ["labels that differ:", *(f"  {_step(one)}" for one in report["differing"])]
    for guard, found in reports.items():
        for title in ("missed", "false_alarms"):
            lines += [f"{title.replace('_', ' ')} by {guard}:", *(f"  {_step(one)}" for one in found[title])]
    return lines


def _step(one: dict[str, Any]) -> str:
    return f"{one['split']} {one['conversation']}: {one['action']} ({one['first']}, {one['second']}) {one['held']}"
