"""Measure how well the world model of a dataset predicts."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.encoders.weights import MINILM
from agents.memory.encoding import encoder_named
from agents.memory.jobs import endpoint
from agents.memory.measuring import Measured, measure
from agents.memory.transitions import PastTransitions
from agents.world_model.plotting import reliability_svg
from annotations.agreement import Agreement
from annotations.management.named import dataset_named
from annotations.models import Split


class Command(BaseCommand):
    """Predict what held-out recorded actions changed, by the past transitions of the train split (made where they are
    missing), and compare with three guesses: that nothing changes, the most frequent change, and the most frequent one
    of the same operation and role. --model adds a model trained by train_world_model, --connection a language model,
    which is asked for the whole next page. F1 is of single changes, exact of whole differences; what is gained over a
    guess is told by operation too, as paired differences with intervals that draw conversations; ECE is of the
    confidence, which was fitted on the dev split, else on train steps."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--split", action="append", choices=Split.values, help="default: test_task, test_website")
        parser.add_argument("--limit", type=int, default=300, metavar="N", help="steps of each split (default: 300)")
        parser.add_argument("--encoder", default=MINILM, metavar="NAME", help="default: %(default)s")
        parser.add_argument("--model", default="", metavar="NAME", help="also this one, trained here")
        parser.add_argument(
            "--connection",
            nargs="?",
            const="",
            metavar="NAME",
            help="also a language model, prompted; without NAME, what answers here",
        )
        parser.add_argument(
            "--across-turns",
            action="store_true",
            help="count last steps of turns too, by the first page of the next, as if nothing happened between",
        )
        parser.add_argument("--plot", type=Path, metavar="FILE", help="write the reliability plot there, as SVG")
        parser.add_argument("--json", action="store_true", help="print one line of JSON")

    def handle(self, *, dataset: str, **options: Any) -> None:
        past = PastTransitions(dataset_named(dataset), encoder_named(options["encoder"]))
        connection = options["connection"]
        try:
            llm = None if connection is None else endpoint(connection)
            past.prepare()
            splits = options["split"] or [Split.TEST_TASK, Split.TEST_WEBSITE]
            asked = options["limit"], options["model"], options["across_turns"], llm
            found = [measure(past, split, *asked) for split in splits]
        except ValueError as error:
            raise CommandError(str(error)) from error
        found = [one for one in found if one.steps]
        if options["plot"]:
            options["plot"].write_text(reliability_svg({one.split: one.bins for one in found}), "utf-8")
        if options["json"]:
            self.stdout.write(json.dumps([one.to_dict() for one in found]))
            return
        for one in found:
            self._print(one)

    def _print(self, one: Measured) -> None:
        write = self.stdout.write
        write(f"{one.split}: {one.steps:,} steps, {one.changing:.1%} of which change the page")
        if one.across_turns:
            write(
                f"  {one.across_turns:,} of them end a turn: the page after is taken to be the first of the next turn"
            )
        else:
            write("  last steps of turns are left out where no page after them was recorded (--across-turns)")
        write(f"  {'':26}{'F1':>8}{'exact':>8}  of those that change: {'F1':>8}{'exact':>8}")
        for name, score in one.scores.items():
            all_of_them = f"{score.f1:8.3f}{score.exact:8.3f}"
            unread = f"  {score.unread:,} answers could not be read" if score.unread else ""
            write(f"  {name:26}{all_of_them}{'':24}{score.changing_f1:8.3f}{score.changing_exact:8.3f}{unread}")
        chance = f"{one.error_by_chance:.3f} of so few steps by chance"
        for gain in one.gains:
            said = f"  {gain.model} over {gain.guess}" if not gain.operation else f"    {gain.operation}"
            right = f"exact at {gain.model_exact} and {gain.guess_exact} of {gain.exact.n}"
            write(f"{said}: {right}, {_told(gain.exact)}; F1 {_told(gain.f1)}")
        if few := next((few for gain in one.gains if (few := gain.exact.too_few_of("conversation"))), ""):
            write(f"  Where there is no interval: {few}")
        write(f"  calibration error (ECE) {one.calibration_error:.3f}; {chance}")


def _told(difference: Agreement) -> str:
    """A paired difference with its interval, where there are conversations enough for one."""
    if difference.value is None:
        return "nothing to compare"
    if difference.low is None or difference.high is None:
        return f"{difference.value:+z.3f}"
    return f"{difference.value:+z.3f} [{difference.low:+z.3f}, {difference.high:+z.3f}]"
