"""Let a judge say whether the tasks of runs were done, and see how far people agree."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents.models import Run
from agents.prompts.packs import PACKAGED
from evaluation.asking.budget import AskingBudget
from evaluation.judges import JUDGES
from evaluation.judges.agreeing import JudgeAgreement, agreements, as_json
from evaluation.judges.judging import Judging, total
from evaluation.metrics.judged import EstimatedRate
from evaluation.models import JudgeVerdict


class Command(BaseCommand):
    """Let a judge say of each trajectory of runs whether its task was done, and print how far it agrees with people's
    reviews of whole trajectories: kappa, sensitivity and specificity with 95 % intervals, and the success rate
    corrected for the judge's errors. A verdict is stored as soon as it is there: stopped, or after an error, the same
    command goes on with what is missing."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("judge", metavar="NAME", choices=list(JUDGES), help=f"one of {', '.join(JUDGES)}")
        parser.add_argument("runs", metavar="RUN", nargs="+", type=int, help="keys of runs, all of one project")
        parser.add_argument(
            "--connection", default="", metavar="NAME", help="to the language model; default: the default"
        )
        parser.add_argument("--pack", default=PACKAGED, metavar="NAME", help="prompt pack of the project")
        parser.add_argument(
            "--max-cost", type=float, metavar="MONEY", help="stop before it costs more, in the currency of the prices"
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one line of JSON")

    def handle(
        self,
        *,
        judge: str,
        runs: list[int],
        connection: str,
        pack: str,
        max_cost: float | None,
        as_json: bool,
        **options: Any,
    ) -> None:
        wanted = list(dict.fromkeys(runs))
        known = Run.objects.select_related("dataset__project").in_bulk(wanted)
        if missing := [str(pk) for pk in wanted if pk not in known]:
            raise CommandError(f"there is no run {', '.join(missing)}")
        found = [known[pk] for pk in wanted]
        if len({run.dataset.project_id for run in found}) > 1:
            raise CommandError("the runs are of several projects; judge those of one at a time")
        try:
            budget = None if max_cost is None else AskingBudget(max_cost)
            judging = Judging(judge, found[0].dataset.project, connection=connection, pack=pack, budget=budget)
        except ValueError as error:
            raise CommandError(str(error)) from error
        failed = self._judge(judging, found)
        told = [one for one in agreements(*found) if self._is_asked(one, judging)]
        self.stdout.write(_dumped(told) if as_json else "\n".join(line for one in told for line in _lines(one)))
        if failed:
            raise CommandError(f"{len(failed)} without an answer, the first: {failed[0].error} Run it again for them.")

    def _judge(self, judging: Judging, runs: list[Run]) -> list[JudgeVerdict]:
        """Judge what waits, told on standard error; the verdicts that are none."""
        failed: list[JudgeVerdict] = []
        for run in runs:
            waiting, done = len(judging.waiting(run)), []
            for verdict in judging.go_through(run):
                done.append(verdict)
                said = ", ".join(f"{n} {word}" for word, n in total(done).items())
                self.stderr.write(f"run {run.pk}: {len(done)} of {waiting}: {said}")
            failed += [one for one in done if one.error]
            if not waiting:
                self.stderr.write(f"run {run.pk}: nothing is left to judge")
        return failed

    def _is_asked(self, one: JudgeAgreement, judging: Judging) -> bool:
        asked = judging.asked_with
        return (one.judge, one.model, one.pack_sha256) == (judging.name, asked["model"], asked["pack_sha256"])


def _dumped(found: list[JudgeAgreement]) -> str:
    return json.dumps(as_json(found[0]) if found else None)


def _lines(found: JudgeAgreement) -> list[str]:
    lines = [f"{found.name}: {found.unsaid} not said, {found.tokens:,} tokens, {found.cost:.4f} in money"]
    for row in found.rows:
        name = f"run {row.run.pk}" if row.run else "all runs"
        lines.append(f"{name}: calls {_share(row.rate)} a success")
        reviewed = row.known.right + row.known.wrong
        if not reviewed:
            lines.append("  people have reviewed none of these as a whole yet, so nothing is known of its errors")
            continue
        kappa = "none" if row.kappa.value is None else f"{row.kappa.value:z.3f}"
        bounds = f" {row.too_few}" if row.kappa.low is None else f" [{row.kappa.low:z.3f}, {row.kappa.high:z.3f}]"
        lines += [
            f"  kappa with people {kappa}{bounds} ({reviewed} reviewed)",
            f"  sensitivity {_share(row.known.sensitivity)}, specificity {_share(row.known.specificity)}",
            f"  corrected {_share(row.corrected) if row.corrected else 'unknown: no better than chance, or too few'}",
        ]
    if found.wanted:
        lines.append(f"people should review {found.wanted[0]} successes and {found.wanted[1]} failures for 10 points")
    return lines


def _share(rate: EstimatedRate) -> str:
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}] of {rate.n}" if rate.n else "none of 0"
