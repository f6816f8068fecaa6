"""What the verdicts of a queue say: of recorded gold, of how well it judges, and of the true success rate."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Q

from agents.models import Run, Trajectory
from annotations.models import Dataset
from evaluation.metrics.episodes import FULL_REWARD
from evaluation.metrics.judged import EstimatedRate, JudgedByPeople, corrected_rate, labels_wanted, sampled_rate, wilson
from evaluation.models import Review, ReviewQueue, ReviewVerdict
from evaluation.models.reviews import ABOUT_GOLD, RIGHT

WIDTH = 0.1  # of the interval that the page says the needed labels for
PREDICTION = "prediction: "  # how reasons begin that say what is wrong with a prediction


class RunRate(NamedTuple):
    """The success rate of a run by recorded gold or reward, and corrected for the errors of that."""

    run: Run
    by_gold: EstimatedRate
    corrected: EstimatedRate | None


@dataclass(frozen=True)
class QueueEstimate:
    """Estimates from what was judged of a queue, steps or whole trajectories. That on which as many people say one
    thing as another is counted nowhere."""

    judged: int
    undecided: int
    agreement: EstimatedRate  # of what has several verdicts, how much is unanimous
    noise: EstimatedRate  # gold or page is wrong
    calibration: JudgedByPeople  # of recorded gold, or the reward, as a judge
    by_gold: EstimatedRate
    true_rate: EstimatedRate | None  # of a random queue alone
    wanted: tuple[int, int] | None  # right and wrong ones to judge for an interval of WIDTH
    reasons: dict[str, EstimatedRate]  # of the verdicts with a reason, the share that each has, most given first


class _VerdictByGold(NamedTuple):
    verdict: str
    by_gold: bool | None  # None: an episode without a reward


def estimate(queue: ReviewQueue) -> QueueEstimate:
    """Compute the estimates from stored verdicts and judgements; nothing is run again."""
    given = _verdicts(queue)
    decided = [one for one in map(_majority, given.values()) if one is not None]
    several = [said for said in given.values() if len(said) > 1]
    unanimous = sum(len({one.verdict for one in said}) == 1 for said in several)
    usable = [one for one in decided if one.verdict != ReviewVerdict.PAGE_BROKEN and one.by_gold is not None]
    right = [one for one in usable if one.verdict in RIGHT]
    wrong = [one for one in usable if one.verdict not in RIGHT]
    strict, lenient = sum(not one.by_gold for one in right), sum(bool(one.by_gold) for one in wrong)
    known = JudgedByPeople(len(right), len(right) - strict, len(wrong), len(wrong) - lenient)
    is_random = queue.is_random
    by_gold = wilson(queue.said_right, queue.population)
    return QueueEstimate(
        judged=len(given),
        undecided=len(given) - len(decided),
        agreement=wilson(unanimous, len(several)),
        noise=wilson(sum(one.verdict in ABOUT_GOLD for one in decided), len(decided)),
        calibration=known,
        by_gold=by_gold,
        true_rate=sampled_rate(queue.said_right, queue.population, len(usable), strict, lenient) if is_random else None,
        wanted=labels_wanted(queue.said_right, queue.population, known, WIDTH) if is_random else None,
        reasons=_shares(queue.reviews().by_reason()),
    )


def kinds_of_error(split: str, dataset: Dataset) -> dict[str, EstimatedRate]:
    """Of the verdicts that call predictions on a split wrong, whoever made them, the share of each kind of error."""
    rows = Review.objects.filter(trajectory__run__dataset=dataset, trajectory__conversation__split=split)
    return _shares(rows.filter(reason__text__startswith=PREDICTION).by_reason())


def _shares(counts: Counter[str]) -> dict[str, EstimatedRate]:
    return {reason: wilson(count, counts.total()) for reason, count in counts.most_common()}


def run_rates(known: JudgedByPeople, queue: ReviewQueue) -> list[RunRate]:
    """For each run of the queue's study, the success rate of its steps, or trajectories, that recorded gold or the
    reward gives, and the rate corrected for the errors of these. None for a queue that was not drawn at random."""
    found = []
    for run in queue.study.runs.order_by("pk") if queue.is_random else ():
        if queue.is_whole:
            done = run.trajectories.filter(state=Trajectory.State.DONE).with_metric(FULL_REWARD).filter(~Q(right=None))
            right, n = done.filter(Q(right=True)).count(), done.count()
        else:
            steps = run.steps.filter(step__isnull=False)
            right, n = steps.filter(success=True).count(), steps.count()
        found.append(RunRate(run, wilson(right, n), corrected_rate(right, n, known)))
    return found


def _verdicts(queue: ReviewQueue) -> dict[int, list[_VerdictByGold]]:
    """Step of a trajectory, or whole trajectory -> what people said of it."""
    found: dict[int, list[_VerdictByGold]] = defaultdict(list)
    asked = Trajectory.objects.filter(review_tasks__queue=queue, review_tasks__step=None)
    right = {one.pk: one.right for one in asked.with_metric(FULL_REWARD)}
    for step, whole, verdict, success in queue.reviews().values_list("step", "trajectory", "verdict", "step__success"):
        key, by_gold = (whole, right[whole]) if step is None else (step, success)
        found[key].append(_VerdictByGold(verdict, by_gold))
    return dict(found)


def _majority(said: list[_VerdictByGold]) -> _VerdictByGold | None:
    counted = Counter(one.verdict for one in said).most_common(2)
    if len(counted) > 1 and counted[0][1] == counted[1][1]:
        return None
    return _VerdictByGold(counted[0][0], said[0].by_gold)
