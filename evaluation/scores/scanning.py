"""Gives stored decisions to scanners and keeps what they find, for the page of failures. Nothing is run again."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import asdict
from functools import cached_property
from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet

from agents.models import Run, TrajectoryStep
from agents.models.runs import RunTally
from annotations.models import Step
from evaluation.models import ScannedRun
from evaluation.scanners import SCANNERS
from evaluation.scanners.clusters import Clusters, scan
from evaluation.scanners.step import FailedStep, RecalledAction, ScannedAction

AT_ONCE = 100  # failed steps with their pages and traces in memory


def names() -> str:
    """The names of all scanners, as a scanned run keeps them."""
    return " ".join(SCANNERS)


def to_scan() -> QuerySet[Run]:
    """Runs over recorded steps that are over and were not scanned since, with the scanners that there are now. Those
    whose scan ended with an error, which have no scanners stored, come last."""
    rows = Run.objects.exclude(state__in=Run.OPEN).filter(dataset__live={})
    stored = rows.annotate(stored=RunTally.total("done", run=OuterRef("pk"))).filter(stored__gt=0)
    is_scanned = Q(scanned__isnull=False, scanned__scanners=names(), scanned__step_count=F("stored"))
    return stored.exclude(is_scanned).order_by(F("scanned__scanners").desc(nulls_first=True), "pk")


def scan_next() -> bool:
    """Scan one run that waits for it, unless another process does; whether there was one."""
    run = to_scan().first()
    if run is None:
        return False
    claimed = ScannedRun.objects.filter(run=run)
    ScannedRun.objects.get_or_create(run=run, defaults={"step_count": 0, "scanners": ""})
    try:
        with transaction.atomic():
            if not claimed.select_for_update(skip_locked=True).exists():
                return False
            RunScan(run).store()
    except Exception:
        claimed.update(scanners="")
        raise
    return True


class RunScan:
    """Reads the failed steps of a run for scanners, and stores what they find."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def store(self) -> ScannedRun:
        """Scan the run, and replace what was found before."""
        count = self.run.steps.count()
        findings: dict[str, dict[str, str]] = {key: {} for key in SCANNERS}
        clusters = Clusters()
        for pk, step in self.steps():
            found = scan(step)
            for key, seen in found.items():
                findings[key][str(pk)] = seen
            clusters.add(pk, step, found)
        kept: dict[str, Any] = {"step_count": count, "scanners": names(), "findings": findings}
        kept["clusters"] = [asdict(cluster) for cluster in clusters.largest()]
        return ScannedRun.objects.update_or_create(run=self.run, defaults=kept)[0]

    def steps(self, among: Collection[int] | None = None) -> Iterator[tuple[int, FailedStep]]:
        """Each failed step by key, or each of some, in the order of the split; a few pages at a time are in memory."""
        failed = self.run.steps.failed()
        rows = (
            (failed if among is None else failed.filter(pk__in=among))
            .select_related("step__turn", "step__snapshot__dictionary", "trajectory__conversation__website")
            .prefetch_related("step__targets", "step__turn__conversation__turns")
            .defer("branches", "candidate_scores", "step__candidates", "step__extra")
            .order_by("trajectory__conversation__position", "trajectory_id", "seq")
        )
        for row in rows.iterator(chunk_size=AT_ONCE):
            assert row.step is not None  # only those with gold were asked for
            own = self._actions[row.trajectory_id, row.step.turn_id]
            yield row.pk, self._read(row, row.step, tuple(action for seq, action in own if seq < row.seq))

    @cached_property
    def _actions(self) -> dict[tuple[int, int], list[tuple[int, ScannedAction]]]:
        """(trajectory, turn) -> (place, action) of what the agent did there, in order."""
        found: dict[tuple[int, int], list[tuple[int, ScannedAction]]] = defaultdict(list)
        rows = self.run.steps.with_gold().order_by("trajectory", "seq")
        columns = ("trajectory", "step__turn", "seq", "operation", "node_id", "value")
        for trajectory, turn, seq, *action in rows.values_list(*columns):
            found[trajectory, turn].append((seq, ScannedAction(*action)))
        return found

    def _read(self, row: TrajectoryStep, step: Step, before: tuple[ScannedAction, ...]) -> FailedStep:
        said = {stage: found for stage, found in row.trace.items() if isinstance(found, dict)}
        turn, reply = step.turn, said.get("plan", {}).get("reply")
        shown = said.get("recall", {}).get("snippets") or []
        return FailedStep(
            instruction=turn.instruction,
            gold=ScannedAction(step.operation, "", step.value, step.action_repr),
            gold_ids=tuple(step.gold_ids()),
            done=ScannedAction(row.operation, row.node_id, row.value, said.get("act", {}).get("representation", "")),
            website=row.trajectory.conversation.website.name,
            gold_rank=row.gold_rank,
            ranked=len(row.candidate_ids),
            given=self.run.top_k,
            earlier=tuple(
                other.instruction
                for other in sorted(turn.conversation.turns.all(), key=lambda other: other.index)
                if other.index < turn.index
            ),
            before=before,
            memory=tuple(
                RecalledAction(one["turn_index"], one["instruction"], one["action"])
                for one in shown
                if one["turn_index"] < turn.index
            ),
            reply=reply if isinstance(reply, str) else None,
            error=row.error,
            html=step.snapshot.html if step.snapshot else "",
        )
