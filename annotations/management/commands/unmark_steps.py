"""Recorder's marks out of pages and candidates that were imported before imports took them away."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from annotations.corpus.unmarking import unmark_steps


class Command(BaseCommand):
    """Search the stored steps for marks that tell their gold element; stopped at any time, it goes on where it was.

    A worker does the same in the background, some hundred steps a minute.
    """

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--limit", type=int, help="search at most so many steps")

    def handle(self, *, limit: int | None, **options) -> None:
        searched = unmark_steps(limit, self.told if self.stderr.isatty() else lambda _: None)
        self.stdout.write(f"{searched:,} steps searched")

    def told(self, count: int) -> None:
        """Over the last count, which a terminal alone can take back."""
        self.stderr.write(f"{count:,} steps", ending="\r")
