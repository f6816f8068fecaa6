"""Import a dataset from files."""

import json
from argparse import ArgumentParser
from pathlib import Path

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from annotations.corpus.importing import ImportProgress, ImportReport, dataset_for_import, import_files
from annotations.datasets import READERS, files_of
from annotations.models import Split


class Command(BaseCommand):
    """Read files into a dataset. Running it again skips what is already there; bad records are reported with file,
    record and field, and the good ones land. Exit status 1 when none did."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("format", choices=sorted(READERS))
        parser.add_argument("path", type=Path, help="a file, or a folder with files of that format")
        parser.add_argument("--name", required=True, help="dataset to create or to add to")
        parser.add_argument("--split", choices=Split.values, default="", help="instead of the split the files imply")
        parser.add_argument("--limit", type=int, metavar="N", help="the first N records in all")
        parser.add_argument("--project", default="", help="slug of the project (default: the only or first one)")
        losing = "replace conversations that changed also where that loses corrections, labels, rationales, redactions"
        parser.add_argument("--replace-judged", action="store_true", help=losing)
        parser.add_argument("--json", action="store_true", help="print the report as one line of JSON")

    def handle(self, *, format: str, path: Path, name: str, split: str, limit: int | None, **options) -> None:
        if limit is not None and limit < 1:
            raise CommandError("--limit must be at least 1")
        if not path.exists():
            raise CommandError(f"{path} does not exist")
        try:
            if not files_of(format, path):  # before a dataset is made
                raise CommandError(f"{path} holds no {format} files")
            with dataset_for_import(name, format, options["project"]) as dataset:
                chosen = {"split": split, "limit": limit, "replace_judged": options["replace_judged"]}
                report = import_files(format, path, dataset, progress=self._progress, **chosen)
        except ValidationError as error:
            raise CommandError(f"--name {name}: {' '.join(error.messages)}") from error
        except (ValueError, OSError) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(report.to_dict(), ensure_ascii=False))
        else:
            self._print(report)
        if report.nothing_landed:
            raise SystemExit(1)

    def _progress(self, progress: ImportProgress) -> None:
        report = progress.report
        rate = report.records / report.seconds if report.seconds else 0.0
        self.stderr.write(
            f"{report.records:,} records, {report.conversations:,} new conversations, {rate:,.0f} records/s, "
            f"file {min(progress.position.file + 1, progress.files)} of {progress.files}"
        )

    def _print(self, report: ImportReport) -> None:
        write = self.stdout.write
        write(
            f"{report.dataset}: {report.conversations:,} conversations, {report.turns:,} turns, "
            f"{report.steps:,} steps, {report.snapshots:,} new pages in {report.seconds:.1f} s"
        )
        for reason, count in report.reasons.most_common():
            write(f"  skipped {count:,}: {reason}")
        for warning in report.warnings:
            write(self.style.WARNING(f"  warning: {warning}"))
        for error in report.errors:
            write(self.style.ERROR(f"  {error['file']} {error['record']} {error['field']}: {error['message']}"))
        if report.error_count > len(report.errors):
            write(self.style.ERROR(f"  … and {report.error_count - len(report.errors):,} more errors"))
