"""Export a dataset to files."""

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from annotations.corpus.exporting import export_dataset, export_release
from annotations.datasets import WRITERS
from annotations.management.named import dataset_named
from annotations.models import Release, Split


class Command(BaseCommand):
    """Write a dataset in a published format, in constant memory. The same data gives the same bytes."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("format", choices=sorted(WRITERS))
        parser.add_argument("out", type=Path, help="a .json or .jsonl file, or a folder (then one folder per split)")
        parser.add_argument("--split", choices=Split.values, default="")
        parser.add_argument("--release", default="", help="a version: its frozen content, with checksums and datasheet")

    def handle(self, *, name: str, format: str, out: Path, split: str, release: str, **options) -> None:
        dataset = dataset_named(name)
        try:
            counts = (
                export_release(Release.objects.named(dataset, release), format, out, split, warn=self.stderr.write)
                if release
                else export_dataset(
                    dataset,
                    format,
                    out,
                    dataset.conversations.filter(split=split) if split else None,
                    warn=self.stderr.write,
                )
            )
        except (ValueError, OSError) as error:
            raise CommandError(str(error)) from error
        for path, count in counts.items():
            self.stdout.write(f"{path}: {count:,} conversations")
