"""Keep what recorded actions did to their pages."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from agents.encoders.weights import MINILM
from agents.management.memory_jobs import end, tell_errors
from agents.memory.describe import with_pages
from agents.memory.jobs import start_transitions
from agents.prompts.packs import PACKAGED, webnav
from agents.recipes.settings import PRESETS
from agents.world_model.records import training_lines
from annotations.management.named import dataset_named


class Command(BaseCommand):
    """Keep the transitions of the train split of a dataset: what each action did to its page, embedded, so that the
    world model of the kind `retrieval` finds them; the same action on the same page once. With --describe, a language
    model puts them into words. --export writes them as records that world models are trained on."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--encoder", default=MINILM, metavar="NAME", help="default: %(default)s")
        parser.add_argument("--describe", action="store_true", help="also have a language model put them into words")
        parser.add_argument("--connection", default="", metavar="NAME", help="whose model; default: what answers here")
        parser.add_argument("--prompts", default=PACKAGED, metavar="PACK", help="whose words ask for it")
        parser.add_argument("--export", type=Path, metavar="FILE", help="write training records there, as JSON lines")
        parser.add_argument(
            "--preset", choices=PRESETS, default="corrected", help="earlier actions as published, or a line each"
        )
        parser.add_argument("--inline", action="store_true", help="work in this process instead of on a worker")
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def handle(self, *, dataset: str, **options: Any) -> None:
        found = dataset_named(dataset)
        asked = {name: options[name] for name in ("encoder", "describe", "connection", "prompts")}
        try:
            job = start_transitions(user=None, dataset=found, publish=not options["inline"], **asked)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        job = end(job, options["inline"], self.stderr.write)
        tell_errors(job, self.stderr.write)
        written = undescribed = 0
        if options["export"]:
            instruction = webnav().texts["world_model"].partition("\n\nOBJECTIVE")[0]
            rows = list(found.transitions.in_order())
            undescribed = sum(not row.rationale for row in rows)
            records = (one.record() for one in with_pages(rows))
            with options["export"].open("w", encoding="utf-8") as file:
                for line in training_lines(records, instruction, options["preset"] == "faithful"):
                    file.write(line)
                    written += 1
        if options["json"]:
            result = {"job": job.pk, "dataset": found.name, "state": job.state, **job.report}
            result |= {"written": written, "undescribed": undescribed}
            self.stdout.write(json.dumps(result, ensure_ascii=False))
            return
        self.stdout.write(f"{job.report['said']} of {found.name} in {job.report['seconds']:.1f} s")
        if options["export"]:
            self.stdout.write(f"{written:,} records in {options['export']}")
        if undescribed:
            told = (
                "with their facts in the place of words and without a rationale: nobody has described them (--describe)"
            )
            self.stdout.write(f"{undescribed:,} of them {told}")
