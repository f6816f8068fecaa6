"""Probe how well models know where actions lead."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.encoders.weights import MINILM
from agents.llm.errors import NotConfigured
from agents.memory.encoding import encoder_named
from agents.memory.jobs import endpoint
from agents.memory.transitions import PastTransitions
from agents.prompts.packs import webnav
from annotations.management.named import dataset_named
from annotations.models import Split
from evaluation.metrics.judged import EstimatedRate
from evaluation.probes.measuring import Probe, Probed, probe
from evaluation.reviews.estimating import kinds_of_error


class Command(BaseCommand):
    """Ask on held-out recorded steps: which of two pages comes next (the other is the most similar next page on the
    same website), which of ten actions on the page was taken, without and with what past transitions expect of each,
    and how much of the true difference is foretold. Asked are past transitions, guesses that know nothing, with --model
    a world model trained here, and with --connection a language model. Intervals are Wilson's, of 95 %. Which kinds of
    error people found in wrong predictions, in queues of review made of them, is told at the end."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--split", action="append", choices=Split.values, help="default: test_task, test_website")
        parser.add_argument("--limit", type=int, default=100, metavar="N", help="steps of each split (default: 100)")
        parser.add_argument("--encoder", default=MINILM, metavar="NAME", help="default: %(default)s")
        parser.add_argument("--model", default="", metavar="NAME", help="also this one, trained here")
        parser.add_argument(
            "--connection",
            nargs="?",
            const="",
            metavar="NAME",
            help="also a language model; without NAME, what answers here",
        )
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def handle(self, *, dataset: str, **options: Any) -> None:
        past = PastTransitions(dataset_named(dataset), encoder_named(options["encoder"]))
        asked = options["connection"]
        try:
            llm = None if asked is None else endpoint(asked)
            past.prepare()
            splits = options["split"] or [Split.TEST_TASK, Split.TEST_WEBSITE]
            found = [probe(past, split, options["limit"], options["model"], llm, webnav()) for split in splits]
        except (ValueError, NotConfigured) as error:
            raise CommandError(str(error)) from error
        found = [one for one in found if one.steps]
        errors = {split: kinds_of_error(split, past.dataset) for split in splits}
        if options["json"]:
            self.stdout.write(
                json.dumps([one.to_dict() | {"errors": _rates_as_json(errors[one.split])} for one in found])
            )
            return
        for one in found:
            self.stdout.write("\n".join(_lines(one, errors[one.split])))


def _rates_as_json(errors: dict[str, EstimatedRate]) -> dict[str, Any]:
    return {reason: rate._asdict() for reason, rate in errors.items()}


def _lines(one: Probed, errors: dict[str, EstimatedRate]) -> list[str]:
    lines = [f"{one.split}: {one.steps:,} steps"]
    for title, found in (
        ("the next page of two", one.pages),
        ("the action of ten", one.actions),
        ("the action of ten, with what is expected of each", one.actions_foreseen),
    ):
        lines += [f"  {title}", *(f"    {name:30}{_share(probed)}" for name, probed in found.items())]
    lines += ["  foretold of what changed", *(f"    {name:30}{share:.3f}" for name, share in one.coverage.items())]
    lines.append("  what people call wrong predictions" if errors else "  nobody has judged wrong predictions yet")
    return lines + [f"    {reason:30}{_interval(rate)}" for reason, rate in errors.items()]


def _share(probed: Probe) -> str:
    unread = f", {probed.unread} answers unread" if probed.unread else ""
    return f"{_interval(probed.share)}{unread}"


def _interval(rate: EstimatedRate) -> str:
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}] of {rate.n}"
