"""What the verdicts of a queue say: of recorded gold, of how well it judges, and of the true success rate."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from agents.models import Run
from annotations.models import Dataset
from evaluation.metrics.judged import EstimatedRate, JudgedByPeople, corrected_rate, labels_wanted, sampled_rate, wilson
from evaluation.models import Review, ReviewChoice, ReviewQueue, ReviewVerdict, Study
from evaluation.models.reviews import ABOUT_GOLD, RIGHT

WIDTH = 0.1  # of the interval that the page says the needed labels for
PREDICTION = "prediction: "  # how reasons begin that say what is wrong with a prediction


class RunRate(NamedTuple):
    """The success rate of a run by recorded gold, and corrected for the errors of that gold."""

    run: Run
    by_gold: EstimatedRate
    corrected: EstimatedRate | None


@dataclass(frozen=True)
class QueueEstimate:
    """Estimates from the steps of a queue that were judged. A step on which as many people say one thing as another is
    counted nowhere."""

    judged: int
    undecided: int
    agreement: EstimatedRate  # of steps with several verdicts, how many are unanimous
    noise: EstimatedRate  # gold or page is wrong
    calibration: JudgedByPeople  # of recorded gold as a judge
    by_gold: EstimatedRate
    true_rate: EstimatedRate | None  # of a random queue alone
    wanted: tuple[int, int] | None  # right and wrong steps to judge for an interval of WIDTH
    reasons: dict[str, EstimatedRate]  # of the verdicts with a reason, the share that each has, most given first


class _VerdictByGold(NamedTuple):
    verdict: str
    by_gold: bool


def estimate(queue: ReviewQueue) -> QueueEstimate:
    """Compute the estimates from stored verdicts and judgements; nothing is run again."""
    given = _verdicts(queue)
    decided = [one for one in map(_majority, given.values()) if one is not None]
    several = [said for said in given.values() if len(said) > 1]
    unanimous = sum(len({one.verdict for one in said}) == 1 for said in several)
    usable = [one for one in decided if one.verdict != ReviewVerdict.PAGE_BROKEN]
    right = [one for one in usable if one.verdict in RIGHT]
    wrong = [one for one in usable if one.verdict not in RIGHT]
    strict, lenient = sum(not one.by_gold for one in right), sum(one.by_gold for one in wrong)
    known = JudgedByPeople(len(right), len(right) - strict, len(wrong), len(wrong) - lenient)
    is_random = queue.choice == ReviewChoice.RANDOM
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
        reasons=_shares(Review.objects.filter(step__review_tasks__queue=queue).by_reason()),
    )


def kinds_of_error(split: str, dataset: Dataset) -> dict[str, EstimatedRate]:
    """Of the verdicts that call predictions on a split wrong, whoever made them, the share of each kind of error."""
    rows = Review.objects.filter(trajectory__run__dataset=dataset, trajectory__conversation__split=split)
    return _shares(rows.filter(reason__text__startswith=PREDICTION).by_reason())


def _shares(counts: Counter[str]) -> dict[str, EstimatedRate]:
    return {reason: wilson(count, counts.total()) for reason, count in counts.most_common()}


def run_rates(known: JudgedByPeople, study: Study) -> list[RunRate]:
    """For each run of a study, the success rate that recorded gold gives, and the rate corrected for the errors of
    gold."""
    found = []
    for run in study.runs.order_by("pk"):
        steps = run.steps.filter(step__isnull=False)
        right, n = steps.filter(success=True).count(), steps.count()
        found.append(RunRate(run, wilson(right, n), corrected_rate(right, n, known)))
    return found


def _verdicts(queue: ReviewQueue) -> dict[int, list[_VerdictByGold]]:
    """Step of a trajectory -> what people said of it."""
    rows = Review.objects.standing().filter(step__review_tasks__queue=queue)
    found: dict[int, list[_VerdictByGold]] = defaultdict(list)
    for step, verdict, success in rows.values_list("step", "verdict", "step__success"):
        if step is not None:
            found[step].append(_VerdictByGold(verdict, bool(success)))
    return dict(found)


def _majority(said: list[_VerdictByGold]) -> _VerdictByGold | None:
    counted = Counter(one.verdict for one in said).most_common(2)
    if len(counted) > 1 and counted[0][1] == counted[1][1]:
        return None
    return _VerdictByGold(counted[0][0], said[0].by_gold)
