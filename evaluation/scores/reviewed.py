"""Scores by gold as reviewers see it: computed from stored decisions, no run is repeated.

`reviewed` is `corrected` with two differences. A step whose recorded action or page is wrong is in no score. An action
that is acceptable too is judged as gold is, in every run that stored it. Each person counts once, with what they said
last of a recorded step or of an action at it; as many against as for change nothing.

A step whose gold was corrected and verified is judged by the gold that it has now, whatever gold its run was judged by.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from django.db import transaction

from agents.models import Run, TrajectoryStep
from agents.types import Action
from annotations.models import Correction, Step
from evaluation.metrics.outcomes import StepOutcome
from evaluation.metrics.scores import score
from evaluation.models import Review, ReviewedRun, ReviewVerdict, Score, Study
from evaluation.models.reviews import ABOUT_GOLD, ReviewQuerySet
from evaluation.models.scores import REVIEWED
from evaluation.scores.judging import Gold, judge
from evaluation.scores.scoring import RunScores, score_rows

Acted = tuple[str, str, str]  # operation, node id, value


@dataclass(frozen=True)
class ReviewRow:
    """One standing review: of a recorded `step`, at which the agent did `action`."""

    step: int
    reviewer: int
    verdict: str
    action: Acted


@dataclass(frozen=True)
class ReviewedGold:
    """What reviews change in the gold of a recorded step: whether it is left out, and which other actions are
    accepted."""

    is_left_out: bool
    accepted: frozenset[Acted]


@dataclass(frozen=True)
class GoldVotes:
    """By how many people more, than say the opposite, recorded gold is called wrong, and actions are called right."""

    wrong: Counter[int]
    accepted: Counter[tuple[int, Acted]]


def count_votes(rows: Iterable[ReviewRow]) -> GoldVotes:
    """Count what people say in reviews, which are given oldest first: of each reviewer, the last verdict on a step, and
    on an action, counts."""
    of_step: dict[tuple[int, int], bool] = {}
    of_action: dict[tuple[int, Acted, int], bool] = {}
    for row in rows:
        of_step[row.step, row.reviewer] = row.verdict in ABOUT_GOLD
        if row.verdict not in ABOUT_GOLD:
            of_action[row.step, row.action, row.reviewer] = row.verdict == ReviewVerdict.BOTH_ACCEPTABLE
    wrong, accepted = Counter[int](), Counter[tuple[int, Acted]]()
    for (step, _), is_wrong in of_step.items():
        wrong[step] += 1 if is_wrong else -1
    for (step, action, _), is_right in of_action.items():
        accepted[step, action] += 1 if is_right else -1
    return GoldVotes(wrong, accepted)


def reviewed_gold(rows: Iterable[ReviewRow]) -> dict[int, ReviewedGold]:
    """Recorded step -> what reviews, given oldest first, change in its gold; steps that they leave as they are are left
    out."""
    votes = count_votes(rows)
    wrong, actions = votes.wrong, defaultdict(set)
    for (step, action), lead in votes.accepted.items():
        if lead > 0:
            actions[step].add(action)
    changed = {step for step, lead in wrong.items() if lead > 0} | set(actions)
    return {step: ReviewedGold(wrong[step] > 0, frozenset(actions[step])) for step in changed}


class ReviewedScores:
    """Computes the scores of a run by reviewed gold."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def outcomes(self) -> tuple[list[StepOutcome], ReviewedRun]:
        """The facts of every stored step that stays in the scores, and how many steps reviews changed."""
        run = self.run
        gold, mended = reviewed_gold(_rows(Review.objects.of_steps_of(run))), CorrectedGold(run)
        steps = run.steps.filter(step__in=[*gold, *mended.of_step])
        changed = {row.pk: row for row in steps.only("step_id", "operation", "node_id", "value", "candidate_ids")}
        found, counts = [], ReviewedRun(run=run)
        for pk, recorded in RunScores(run).outcomes_by_step(Study.Preset.CORRECTED):
            row = changed.get(pk)
            if row is None or row.step_id is None:
                found.append(recorded)
                continue
            outcome = mended.judged(recorded, row)
            counts.corrected += outcome != recorded  # also where only a part of it is right now
            reviewed = gold.get(row.step_id)
            if reviewed is None:
                found.append(outcome)
            elif reviewed.is_left_out:
                counts.left_out += 1
            else:
                better = _best(outcome, row, reviewed.accepted)
                counts.accepted += better.success and not outcome.success
                found.append(better)
        return found, counts

    def store(self) -> bool:
        """Replace the reviewed scores; whether reviews change anything, as there are none otherwise. Only metrics of
        judged steps are stored: those of WebLINX compare texts that no reviewer replaced."""
        run = self.run
        with transaction.atomic():
            run.locked()
            steps, counts = self.outcomes()
            changed = bool(counts.left_out or counts.accepted or counts.corrected)
            metrics = (
                score(steps, "corrected", seed=run.seed) if changed and run.recipe.get("data") != "weblinx" else []
            )
            Score.objects.filter(run=run, preset=REVIEWED).delete()
            Score.objects.bulk_create(score_rows(metrics, run, REVIEWED))
            kept = {name: getattr(counts, name) for name in ("accepted", "left_out", "corrected")}
            ReviewedRun.objects.update_or_create(run=run, defaults=kept)
        return changed


def store_all_scores(run: Run) -> int:
    """Replace the run's scores of every preset when it ends; the number of steps they rest on."""
    count = RunScores(run).store()
    reviewed = Review.objects.filter(step__step__trajectory_steps__run=run)  # in this run or another
    if reviewed.exists() or Correction.objects.done().filter(step__trajectory_steps__run=run).exists():
        ReviewedScores(run).store()
    return count


class CorrectedGold:
    """The current gold of those steps of a run whose gold was corrected."""

    def __init__(self, run: Run) -> None:
        done = Correction.objects.done().filter(step__trajectory_steps__run=run).values("step")
        rows = Step.objects.filter(pk__in=done).prefetch_related("targets").only("operation", "value")
        self.of_step = {row.pk: Gold(row.operation, row.value, row.reachable_gold()) for row in rows}

    def parts(self, row: TrajectoryStep) -> tuple[bool, float, bool]:
        """How right the stored decision at a corrected step is: its element, the F1 of its operation, all of it."""
        assert row.step_id is not None
        found = judge(_action(row.operation, row.node_id, row.value), (), self.of_step[row.step_id])
        return found.element_correct, found.operation_f1, found.success

    def judged(self, outcome: StepOutcome, row: TrajectoryStep) -> StepOutcome:
        """The outcome of a stored decision by current gold; unchanged where the gold was not corrected."""
        gold = self.of_step.get(row.step_id or 0)
        if gold is None:
            return outcome
        judged = judge(_action(row.operation, row.node_id, row.value), (), gold)
        return replace(
            outcome,
            element_correct=float(judged.element_correct),
            operation_f1=judged.operation_f1,
            success=judged.success,
            gold_rank=next((rank for rank, node in enumerate(row.candidate_ids) if node in gold.node_ids), None),
        )


def _action(operation: str, node_id: str, value: str) -> Action | None:
    return Action(operation, node_id or None, value) if operation or node_id else None


def _rows(reviews: ReviewQuerySet) -> Iterator[ReviewRow]:
    columns = ("step__step", "reviewer", "verdict", "step__operation", "step__node_id", "step__value")
    for step, reviewer, verdict, *action in reviews.values_list(*columns):
        yield ReviewRow(step, reviewer, verdict, (action[0], action[1], action[2]))


def _best(outcome: StepOutcome, row: TrajectoryStep, accepted: frozenset[Acted]) -> StepOutcome:
    """The outcome by recorded gold, or by an accepted action where that is better."""
    action = _action(row.operation, row.node_id, row.value)
    judged = [judge(action, (), Gold(operation, value, (node,))) for operation, node, value in sorted(accepted)]
    places = {node: rank for rank, node in reversed(list(enumerate(row.candidate_ids)))}
    ranks = [outcome.gold_rank, *(places.get(node) for _, node, _ in accepted)]
    return replace(
        outcome,
        element_correct=max(outcome.element_correct, *(float(one.element_correct) for one in judged)),
        operation_f1=max(outcome.operation_f1, *(one.operation_f1 for one in judged)),
        success=outcome.success or any(one.success for one in judged),
        gold_rank=min((rank for rank in ranks if rank is not None), default=None),
    )
