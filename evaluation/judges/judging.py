"""Lets a judge say its verdict on the trajectories of a run: each is stored as soon as it is there, so that judging
goes on where it stopped."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial

from django.db.models import Count, Q

from agents.llm.usage import Usage
from agents.models import Run, Trajectory, TrajectoryStep
from annotations.dom.limits import PageError
from annotations.dom.text import page_text
from annotations.dom.tree import parse
from annotations.models import Job
from evaluation.asking.definition import Demand, bounded
from evaluation.asking.of_runs import AskingOfRuns
from evaluation.judges import JUDGES
from evaluation.judges.definition import Evidence, Opinion, SeenAction
from evaluation.models import JudgeVerdict, ScannedRun
from evaluation.models.judges import JudgeVerdictQuerySet


class Judging(AskingOfRuns[JudgeVerdict]):
    """A judge that says its verdict on trajectories. ValueError says what it lacks."""

    kind, asker = Job.Kind.JUDGE.value, "judge"
    noun = ("trajectory", "trajectories")
    verb, doing, done = "judge", "judging", "Judged"
    nothing_left = "Nothing is left to judge: it has said its verdict on every trajectory that is done."

    def find(self, name: str) -> Sequence[str]:
        if name not in JUDGES:
            raise ValueError(f"there is no judge {name!r}; there are {', '.join(JUDGES)}")
        self.judge = JUDGES[name]
        return self.judge.texts

    def count(self, runs: Sequence[Run]) -> int:
        return Trajectory.objects.filter(run__in=runs, state=Trajectory.State.DONE).count()

    def waiting(self, run: Run, since: datetime | None = None) -> list[int]:
        """The run's trajectories that are done, without a verdict of this judge by these texts; all that are done, for
        a judge that asks nobody: that costs nothing, and scans and corrections change what it says."""
        done = run.trajectories.filter(state=Trajectory.State.DONE).in_order()
        told = Q(pk=None) if self.panel is None else Q(error="")
        asked = told if since is None else told | Q(judged_at__gte=since)
        known = JudgeVerdict.objects.fresh().by(self.name, self.asked_with).filter(asked)
        return list(done.exclude(pk__in=known.values("trajectory")).values_list("pk", flat=True))

    def go_through(self, run: Run, since: datetime | None = None) -> Iterator[JudgeVerdict]:
        self.is_stopped = False
        for waiting in self.waiting(run, since):
            # Read again, as others took their time: a verdict counts for what its evidence was read from.
            trajectory = run.trajectories.filter(pk=waiting, state=Trajectory.State.DONE).first()
            if trajectory is None:
                continue
            began = time.monotonic()
            seen = self.evidence(trajectory, self.judge.reads_pages)
            opinion = self.said(partial(self.judge.judge, seen, self.panel), _no_opinion)
            yield JudgeVerdict.objects.keep(
                trajectory,
                self.name,
                self.asked_with,
                {name: getattr(opinion, name) for name in ("success", "said", "answers", "error")},
                opinion.usage,
                time.monotonic() - began,
            )
            if self.is_stopped:
                return

    def demand(self, pieces: Sequence[int]) -> Demand:
        rows = TrajectoryStep.objects.filter(trajectory__in=pieces)
        seen = Count("pk", filter=Q(snapshot__isnull=False) | Q(step__snapshot__isnull=False))
        pages = dict(rows.order_by().values_list("trajectory").annotate(seen=seen))
        each = [self.judge.demand(pages.get(one, 0)) for one in pieces]
        return Demand(sum(one.requests for one in each), sum(one.characters for one in each))

    def answered(self) -> JudgeVerdictQuerySet:
        rows = JudgeVerdict.objects.by(self.name, self.asked_with)
        return rows.filter(trajectory__run__dataset__project=self.project)

    def of_runs(self, runs: Sequence[Run]) -> JudgeVerdictQuerySet:
        rows = self.answered().fresh().filter(trajectory__run__in=runs)
        return rows.select_related("trajectory__conversation")

    def piece_of(self, row: JudgeVerdict) -> int:
        return row.trajectory_id

    @staticmethod
    def evidence(trajectory: Trajectory, with_pages: bool = True) -> Evidence:
        """What is stored of a trajectory, its pages only where they are asked for. Of a recorded conversation the pages
        are the recorded ones, whatever the agent did before."""
        pages = ("snapshot__dictionary", "step__snapshot__dictionary") if with_pages else ()
        rows = trajectory.steps.select_related("turn", "step__turn", *pages).defer(
            "branches", "candidate_ids", "candidate_scores", "step__candidates", "step__extra"
        )
        steps = list(rows.order_by("seq"))
        actions = []
        for row in steps:
            page = (row.snapshot or (row.step.snapshot if row.step else None)) if with_pages else None
            words = row.trace.get("act", {}).get("representation") or str(row)
            actions.append(SeenAction(words, page_words(page.html) if page else "", row.outcome))
        recorded = [row for row in steps if row.step_id is not None]
        rewards = [row.reward for row in steps if row.step_id is None and row.reward is not None]
        scanned = ScannedRun.objects.filter(run=trajectory.run_id).exclude(scanners="").first() if recorded else None
        own = {str(row.pk) for row in steps}
        turns = trajectory.conversation.turns.order_by("index")
        return Evidence(
            tuple(turns.values_list("instruction", flat=True)),
            tuple(actions),
            website=trajectory.conversation.website.name,
            reward=sum(rewards) if rewards else None,
            all_right=all(row.success for row in recorded) if recorded and not rewards else None,
            findings=tuple(key for key, found in scanned.findings.items() if own & found.keys()) if scanned else None,
        )


def _no_opinion(usage: Usage, error: str) -> Opinion:
    return Opinion(None, usage=usage, error=error)


def page_words(html: str) -> str:
    """At most PAGE_CHARACTERS of what a page says (`page_text`); "" where it cannot be read."""
    try:
        words = page_text(parse(html))
    except PageError:
        return ""
    return bounded(words)


def total(verdicts: Iterable[JudgeVerdict]) -> Counter[str]:
    """How many of these verdicts say what."""
    return Counter(one.word for one in verdicts)
