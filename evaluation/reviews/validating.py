"""Measures how often scanners are right, by what people said of the same steps."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from django.db.models import Exists, OuterRef

from annotations.access import rules
from annotations.access.rules import User
from annotations.models import Project
from evaluation.metrics.judged import EstimatedRate, wilson
from evaluation.models import Review, ReviewReason, ReviewTask, ReviewVerdict, ScannedRun
from evaluation.models.review_queues import BY_SCANNERS
from evaluation.scanners import SCANNERS
from evaluation.scanners.definition import Scanner

AGENT_RIGHT = (ReviewVerdict.BOTH_ACCEPTABLE, ReviewVerdict.GOLD_WRONG)  # then it is no failure, whatever the reason


@dataclass(frozen=True)
class ScannerValidation:
    """Precision and recall of a scanner on the failed steps that people judged. None: not judged yet.

    People give one reason a step, so that of a step that fails in two ways one scanner is counted wrong: precision is a
    lower bound.
    """

    precision: EstimatedRate | None  # of what it found, how much people say too
    recall: EstimatedRate | None  # of what people say, how much it found

    @classmethod
    def of_reasons(cls, user: User, project: Project, answers: Mapping[int, str]) -> Self:
        """Of what names a reason of failed steps (key -> reason, "" for none), by those that most people give."""
        judged = _judged(user, project)
        truth = {pk: said for pk, step in judged.items() if pk in answers and (said := _main_reason(step)) is not None}
        confirmed = [truth[pk] == answers[pk] for pk in truth if answers[pk]]
        looked_for = [truth[pk] == answers[pk] for pk in truth if truth[pk] and not judged[pk].is_chosen]
        return cls(
            wilson(sum(confirmed), len(confirmed)) if confirmed else None,
            wilson(sum(looked_for), len(looked_for)) if looked_for else None,
        )


@dataclass(frozen=True)
class _JudgedStep:
    run: int
    is_chosen: bool  # people were asked for it because of what a scanner found, and for nothing else
    said: tuple[tuple[str, str], ...]  # (verdict, reason) of each person


def validate(user: User, project: Project) -> dict[str, ScannerValidation]:
    """Every scanner measured by all reviews of a project's failed steps whose gold the user may see."""
    judged = _judged(user, project)
    runs = {row.run_id: row for row in ScannedRun.objects.filter(run__in={step.run for step in judged.values()})}
    known = set(ReviewReason.objects.filter(project=project).values_list("text", flat=True))
    judged = {key: step for key, step in judged.items() if step.run in runs}
    return {
        key: _validated(scanner, {pk for row in runs.values() for pk in row.steps_found(key)}, judged)
        if known & set(scanner.said)  # people cannot have said what they were not offered
        else ScannerValidation(None, None)
        for key, scanner in SCANNERS.items()
    }


def _validated(scanner: Scanner, found: set[int], judged: dict[int, _JudgedStep]) -> ScannerValidation:
    truth = {pk: said for pk, step in judged.items() if (said := _majority(scanner, step)) is not None}
    confirmed = [truth[pk] for pk in truth if pk in found]
    # Steps that were chosen because a scanner found them say nothing of what it misses.
    looked_for = [pk in found for pk, said in truth.items() if said and not judged[pk].is_chosen]
    return ScannerValidation(
        wilson(sum(confirmed), len(confirmed)) if confirmed else None,
        wilson(sum(looked_for), len(looked_for)) if looked_for else None,
    )


def _main_reason(step: _JudgedStep) -> str | None:
    """The reason that more people give than any other, "" where most say that it is no failure; None where they do not
    say why, or in a tie."""
    votes = Counter(
        "" if verdict in AGENT_RIGHT else why for verdict, why in step.said if why or verdict in AGENT_RIGHT
    )
    (first, most), (_, next_most), *_ = [*votes.most_common(2), ("", 0), ("", 0)]
    return first if most > next_most else None


def _majority(scanner: Scanner, step: _JudgedStep) -> bool | None:
    """Whether most people say that the step failed in the scanner's way; None where they do not say why, or in a
    tie."""
    votes = Counter(vote for verdict, reason in step.said if (vote := _vote(scanner, verdict, reason)) is not None)
    return None if votes[True] == votes[False] else votes[True] > votes[False]


def _vote(scanner: Scanner, verdict: str, reason: str) -> bool | None:
    if verdict in AGENT_RIGHT:
        return False
    return reason in scanner.said if reason else None


def _judged(user: User, project: Project) -> dict[int, _JudgedStep]:
    """The failed steps of a project that people judged, by key, with what they said."""
    tasks = ReviewTask.objects.filter(step=OuterRef("step"))
    by_scanner = tasks.filter(queue__choice__in=BY_SCANNERS)
    rows = Review.objects.standing().filter(trajectory__run__dataset__project=project, step__success=False)
    rows = rules.gold_filter(user, rows, "trajectory__conversation__split", "trajectory__run__dataset__project")
    rows = rows.annotate(by_scanner=Exists(by_scanner), otherwise=Exists(tasks.exclude(queue__choice__in=BY_SCANNERS)))
    said: dict[tuple[int, int, bool], list[tuple[str, str]]] = defaultdict(list)
    columns = ("step", "trajectory__run", "by_scanner", "otherwise", "verdict", "reason__text")
    for step, run, scanner, other, verdict, reason in rows.values_list(*columns):
        if step is not None:
            said[step, run, scanner and not other].append((verdict, reason or ""))
    return {step: _JudgedStep(run, chosen, tuple(votes)) for (step, run, chosen), votes in said.items()}
