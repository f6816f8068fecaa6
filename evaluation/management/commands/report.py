"""Print studies as tables."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.models import Study
from evaluation.reports.formats import FORMATS
from evaluation.reports.tables import report


class Command(BaseCommand):
    """Studies as tables, as in the papers: rows recipes, columns splits × metrics with 95 % intervals, and beneath each
    recipe what the papers print for it. Runs of several studies on one dataset share a table."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("studies", nargs="+", type=int, metavar="STUDY", help="numbers of studies")
        parser.add_argument("--format", choices=FORMATS, default="md")
        parser.add_argument("--preset", choices=Study.Preset.values, default="", help="default: the first study's")

    def handle(self, *, studies: list[int], format: str, preset: str, **options: Any) -> None:
        found = Study.objects.in_bulk(studies)
        if lost := [str(pk) for pk in studies if pk not in found]:
            raise CommandError(f"there is no study {', '.join(lost)}")
        tables = report([found[pk] for pk in studies], preset)
        if not tables:
            raise CommandError("no run of these studies has scores yet")
        self.stdout.write(FORMATS[format](tables))
