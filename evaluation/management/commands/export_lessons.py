"""Export what people taught."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotations.management.named import dataset_named
from evaluation.teaching.collecting import Teaching
from evaluation.teaching.records import FORMS, LessonLines, count


class Command(BaseCommand):
    """Write what verdicts and corrections teach of the train split of a dataset as JSON lines that TRL reads:
    demonstrations (sft), pairs of a better and a worse answer (dpo), answers that are right or wrong (process)."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("form", choices=FORMS)
        parser.add_argument("out", type=Path, help="a file, ending in .jsonl")
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def handle(self, *, dataset: str, form: str, out: Path, **options: Any) -> None:
        found, number = dataset_named(dataset), 0
        part = out.with_name(f".{out.name}.partial")  # a reader never sees half a file
        try:
            with part.open("w", encoding="utf-8") as file:
                for number, row in enumerate(FORMS[form](LessonLines(found)), 1):  # noqa: B007  # counted
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
            part.replace(out)
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}.") from error
        finally:
            part.unlink(missing_ok=True)
        counts = count(Teaching(found).counted())
        left_out = {"left_out": counts.left_out, "reworded": counts.reworded}
        if options["json"]:
            told = {"dataset": found.name, "form": form, "lines": number, "file": str(out)}
            self.stdout.write(json.dumps(told | left_out))
        else:
            self.stdout.write(f"{out}: {number:,} lines")
            self.stdout.write(
                f"left out: {counts.left_out:,} steps whose gold or page is called wrong, and {counts.reworded:,} "
                "verdicts on actions by words that were corrected since"
            )
