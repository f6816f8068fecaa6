"""Lets a scanner that asks a language model look at the failed steps of a run: each answer is stored as soon as it is
there."""

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property, partial

from django.db.models import Q

from agents.llm.usage import Usage
from agents.models import Run, TrajectoryStep
from annotations.models import Job
from evaluation.asking.definition import Demand
from evaluation.asking.of_runs import AskingOfRuns
from evaluation.models import ReviewReason, ReviewVerdict, ScannerAnswer
from evaluation.models.scanner_answers import ScannerAnswerQuerySet
from evaluation.scanners.asking import ASKING, Explanation
from evaluation.scores.scanning import RunScan

OF_FAILURES = (ReviewVerdict.AGENT_WRONG, ReviewVerdict.PAGE_BROKEN)  # the verdicts whose reasons it may choose
AT_ONCE = 20  # steps read together


class Explaining(AskingOfRuns[ScannerAnswer]):
    """A scanner that says why steps failed. ValueError says what it lacks."""

    kind, asker = Job.Kind.EXPLAIN.value, "scanner"
    noun = ("failed step", "failed steps")
    verb, doing, done = "explain", "explaining", "Explained"
    nothing_left = "Nothing is left to explain: it has answered for every failed step."

    def find(self, name: str) -> Sequence[str]:
        if name not in ASKING:
            raise ValueError(f"there is no scanner {name!r} that asks; there are {', '.join(ASKING)}")
        self.scanner = ASKING[name]
        return self.scanner.texts

    @cached_property
    def reasons(self) -> list[str]:
        """What it may choose from: the reasons by which the project's reviewers say that a step failed."""
        rows = ReviewReason.objects.ensured_for(self.project).offered().filter(verdict__in=OF_FAILURES)
        return list(dict.fromkeys(rows.order_by("pk").values_list("text", flat=True)))

    def count(self, runs: Sequence[Run]) -> int:
        return TrajectoryStep.objects.failed().filter(run__in=runs).count()

    def waiting(self, run: Run, since: datetime | None = None) -> list[int]:
        asked = Q(error="") if since is None else Q(error="") | Q(asked_at__gte=since)
        known = ScannerAnswer.objects.by(self.name, self.asked_with).filter(asked, step__run=run)
        rows = run.steps.failed().exclude(pk__in=known.values("step"))
        return list(
            rows.order_by("trajectory__conversation__position", "trajectory", "seq").values_list("pk", flat=True)
        )

    def go_through(self, run: Run, since: datetime | None = None) -> Iterator[ScannerAnswer]:
        self.is_stopped = False
        scan, panel = RunScan(run), self.panel
        assert panel is not None  # it has texts
        waiting = self.waiting(run, since)
        for first in range(0, len(waiting), AT_ONCE):
            for pk, step in list(scan.steps(waiting[first : first + AT_ONCE])):
                began = time.monotonic()
                found = self.said(partial(self.scanner.explain, step, self.reasons, panel), _no_explanation)
                told = {name: getattr(found, name) for name in ("reason", "said", "error")}
                seconds = time.monotonic() - began
                yield ScannerAnswer.objects.keep(pk, self.name, self.asked_with, told, found.usage, seconds)
                if self.is_stopped:
                    return

    def demand(self, pieces: Sequence[int]) -> Demand:
        each = self.scanner.demand()
        return Demand(len(pieces) * each.requests, len(pieces) * each.characters)

    def answered(self) -> ScannerAnswerQuerySet:
        rows = ScannerAnswer.objects.by(self.name, self.asked_with)
        return rows.filter(step__run__dataset__project=self.project)

    def of_runs(self, runs: Sequence[Run]) -> ScannerAnswerQuerySet:
        return self.answered().filter(step__run__in=runs).select_related("step__trajectory__conversation")

    def piece_of(self, row: ScannerAnswer) -> int:
        return row.step_id


def _no_explanation(usage: Usage, error: str) -> Explanation:
    return Explanation(usage=usage, error=error)
