"""Run the benchmarks."""

import json
import os
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from evaluation.bench import BENCHMARKS
from evaluation.bench.measures import Measure, table
from evaluation.bench.scratch import BenchSetting, scratch_database


class Command(BaseCommand):
    """Measure the product in a database of its own, which is dropped afterwards. Prints a table and writes
    bench.json below var/."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(BENCHMARKS)} (default: all)")
        parser.add_argument("--quick", action="store_true", help="small sizes: shows that it works, not how fast")

    def handle(self, *, names: list[str], quick: bool, **options) -> None:
        unknown = set(names) - set(BENCHMARKS)
        if unknown:
            raise CommandError(f"unknown benchmark {', '.join(unknown)}; choose from {', '.join(BENCHMARKS)}")
        measures: list[Measure] = []
        try:
            with scratch_database(), TemporaryDirectory() as folder:
                setting = BenchSetting(Path(folder), quick, lambda line: self.stderr.write(line))
                for name in names or BENCHMARKS:
                    measures += BENCHMARKS[name](setting)
        except DatabaseError as error:
            raise CommandError(f"the database refused: {error}".strip()) from error
        out = settings.VAR_DIR / "bench.json"
        out.write_text(json.dumps([measure.to_dict() for measure in measures], indent=1, ensure_ascii=False) + "\n")
        self.stdout.write("\n".join(table(measures)))
        load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
        self.stdout.write(f"· load average {load} on {os.cpu_count()} cores; written to {out}")
