"""Turn a published score pickle into a score file."""

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from agents.stages.rank.score_file import SUFFIX, ScoreFile
from agents.stages.rank.score_pickle import read_pickle


class Command(BaseCommand):
    """Turn a published score pickle (scores_all_data.pkl) into JSON or safetensors. The only place that reads a
    pickle: one that holds anything but dicts, texts and numbers is refused before any of it is made."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pickle", type=Path)
        parser.add_argument("out", type=Path, help=f"a name ending in {SUFFIX} is written as that, any other as JSON")

    def handle(self, *, pickle: Path, out: Path, **options) -> None:
        try:
            file = ScoreFile.from_content(read_pickle(pickle))
        except (OSError, ValueError) as error:
            raise CommandError(f"{pickle.name}: {error}") from error
        file.write(out)
        candidates = sum(map(len, file.scores.values()))
        self.stdout.write(f"{len(file.scores):,} steps, {candidates:,} candidates written to {out}")
