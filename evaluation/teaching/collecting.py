"""What people taught of the recorded steps of a train split: of test and dev steps nothing is ever taught."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import models

from agents.models import TrajectoryStep
from agents.training.lessons import Lesson
from agents.types import Action
from annotations.corpus.wordings import EarlierWords
from annotations.models import Correction, Dataset, Split, Step
from annotations.models.work.corrections import CorrectionQuerySet
from evaluation.models import Review, ReviewVerdict
from evaluation.models.reviews import ABOUT_GOLD, ReviewQuerySet
from evaluation.scores.judging import Gold, judge
from evaluation.scores.reviewed import Acted, ReviewRow, count_votes


@dataclass(frozen=True)
class SaidAction:
    """An action that an agent did at a recorded step, and who says what of it."""

    action: Action
    rows: tuple[Review, ...]  # those that say so, with the step of the trajectory

    @property
    def people(self) -> list[str]:
        return sorted({row.reviewer.get_username() for row in self.rows})

    @property
    def reasons(self) -> list[str]:
        return sorted({row.reason.text for row in self.rows if row.reason})


@dataclass(frozen=True)
class TaughtStep:
    """A recorded step of which people taught something."""

    step: Step
    is_left_out: bool = False  # its gold or its page is called wrong, and nobody has corrected it
    accepted: tuple[SaidAction, ...] = ()  # right besides gold
    refused: tuple[SaidAction, ...] = ()  # wrong
    correction: Correction | None = None  # of its gold, the last that was verified
    mistaken: tuple[Action, ...] = ()  # what was gold before
    vindicated: tuple[SaidAction, ...] = ()  # what agents did, where gold was called wrong, and is gold since
    reworded: int = 0  # verdicts that say nothing of it any more: its turn said something else when the agent acted

    def lesson(self) -> Lesson:
        """What people said of the step, as a training reads it: which actions are right besides gold, and which are
        wrong."""
        wrong = [*(said.action for said in self.refused), *self.mistaken]
        also = tuple(said.action for said in self.accepted)
        return Lesson(self.step.pk, self.is_left_out, also, tuple(dict.fromkeys(wrong)))

    @property
    def judged(self) -> tuple[SaidAction, ...]:
        """What people said of agents' actions there."""
        return (*self.accepted, *self.refused, *self.vindicated)

    @property
    def decisions(self) -> list[int]:
        """The steps of trajectories that this was said of."""
        return [row.step_id for said in self.judged for row in said.rows if row.step_id is not None]

    @property
    def teaches(self) -> bool:
        return self.is_left_out or bool(self.accepted or self.refused or self.correction)


@dataclass(frozen=True)
class Teaching:
    """What people taught of the train split of a dataset."""

    dataset: Dataset

    @classmethod
    def lessons_of(cls, dataset: Dataset) -> list[Lesson]:
        """What trainings take."""
        return [one.lesson() for one in cls(dataset).steps() if one.teaches]

    def counted(self) -> list[TaughtStep]:
        """The steps with what is needed to count them, and nothing of their conversations, people or runs."""
        reviews = Review.objects.select_related("step").only(
            *("reviewer_id", "verdict", "step__step_id", "step__operation", "step__node_id", "step__value"),
            "step__created_at",
        )
        return self._steps(reviews, Correction.objects.all(), Step.objects.only("operation", "value"))

    def steps(self) -> list[TaughtStep]:
        """In the order of the conversations. People count as for scores: each once with what they said last, and as
        many against as for say nothing. What is gold now, or right besides it, is never wrong, whatever was said
        before. What an agent did when the turn said something else is neither, whatever was said of it: such steps are
        among them, even where nothing else is taught of them."""
        rows = Step.objects.select_related("turn__conversation__dataset").defer("candidates", "extra")
        return self._steps(Review.objects.with_decisions(), Correction.objects.with_people(), rows)

    def _steps(
        self, reviews: ReviewQuerySet, mended: CorrectionQuerySet, rows: models.QuerySet[Step]
    ) -> list[TaughtStep]:
        train = Step.objects.filter(turn__conversation__dataset=self.dataset, turn__conversation__split=Split.TRAIN)
        done = mended.done().filter(step__in=train).order_by("decided_at", "pk")
        corrections = {one.step_id: one for one in done}
        decided = TrajectoryStep.objects.with_gold().filter(run__dataset=self.dataset, step__in=train)
        standing = self._by_words(reviews.of_recorded(decided.values("step")))
        overtaken = reviews.standing().filter(verdict=ReviewVerdict.GOLD_WRONG, step__step__in=corrections)
        said = _ReviewsByStep(standing, overtaken.exclude(pk__in=[one.pk for one, _ in standing]))
        rows = rows.filter(pk__in=train.filter(pk__in=[*said.steps(), *corrections])).prefetch_related("targets")
        rows = rows.order_by("turn__conversation__position", "turn__conversation", "turn__index", "index")
        every = (said.taught(step, corrections.get(step.pk)) for step in rows)
        return [one for one in every if one.teaches or one.reworded]

    def _by_words(self, reviews: ReviewQuerySet) -> list[tuple[Review, bool]]:
        """The reviews, each with whether it is of an action that followed words which were corrected since. That gold
        or a page is wrong was said of what is recorded, whatever the words."""
        words = EarlierWords(self.dataset.conversations.filter(split=Split.TRAIN).values_list("pk", flat=True))

        def is_reworded(one: Review) -> bool:
            assert one.step is not None  # of whole trajectories none is read
            assert one.step.step_id is not None
            return one.verdict not in ABOUT_GOLD and words.at(one.step.step_id, one.step.created_at) is not None

        return [(one, is_reworded(one)) for one in reviews]


class _ReviewsByStep:
    """Reviews by the step and the action that they are of."""

    def __init__(self, standing: Iterable[tuple[Review, bool]], overtaken: Iterable[Review]) -> None:
        """`standing`: each with whether it is of what an agent did by other words, which does not count. `overtaken`:
        those of gold that has been corrected since, which count no more."""
        self.rows: dict[tuple[int, str], dict[Acted, list[Review]]] = defaultdict(lambda: defaultdict(list))
        self._add(overtaken)
        votes = count_votes(self._add(one for one, is_reworded in standing if not is_reworded))
        self.reworded = Counter(one.step.step_id for one, is_reworded in standing if is_reworded and one.step)
        self.wrong = votes.wrong
        self.lead: dict[int, dict[Acted, int]] = defaultdict(dict)
        for (step, acted), lead in votes.accepted.items():
            self.lead[step][acted] = lead

    def _add(self, reviews: Iterable[Review]) -> list[ReviewRow]:
        found = []
        for one in reviews:
            assert one.step is not None  # of whole trajectories none is read
            assert one.step.step_id is not None
            acted = (one.step.operation, one.step.node_id, one.step.value)
            self.rows[one.step.step_id, one.verdict][acted].append(one)
            found.append(ReviewRow(one.step.step_id, one.reviewer_id, one.verdict, acted))
        return found

    def steps(self) -> set[int | None]:
        return {*self.wrong, *self.lead, *self.reworded}

    def taught(self, step: Step, correction: Correction | None) -> TaughtStep:
        gold = Gold(step.operation, step.value, step.reachable_gold())
        lead = {acted: votes for acted, votes in self.lead.get(step.pk, {}).items() if acted[0]}

        def said(verdict: str, actions: Iterable[Acted], is_gold: bool = False) -> tuple[SaidAction, ...]:
            rows = self.rows[step.pk, verdict]
            found = (SaidAction(_action(one), tuple(rows[one])) for one in sorted(actions))
            return tuple(one for one in found if _is_gold(one.action, gold) == is_gold)

        accepted = said(ReviewVerdict.BOTH_ACCEPTABLE, [one for one in lead if lead[one] > 0])
        before = correction.before if correction else {}
        mistaken = [Action(before["operation"], node, before["value"]) for node in before.get("node_ids", ())]
        right, called_wrong = {one.action for one in accepted}, self.rows[step.pk, ReviewVerdict.GOLD_WRONG]
        return TaughtStep(
            step,
            self.wrong[step.pk] > 0,
            accepted,
            said(ReviewVerdict.AGENT_WRONG, [one for one in lead if lead[one] < 0]),
            correction,
            tuple(one for one in mistaken if one not in right and not _is_gold(one, gold)),
            said(ReviewVerdict.GOLD_WRONG, called_wrong, is_gold=True) if correction else (),
            self.reworded[step.pk],
        )


def _action(acted: Acted) -> Action:
    operation, node, value = acted
    return Action(operation, node or None, value)


def _is_gold(action: Action, gold: Gold) -> bool:
    return judge(action, (), gold).success
