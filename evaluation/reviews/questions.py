"""Questions to the team about steps: who may ask and read them; the same for pages and
API."""

from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from agents.models import Trajectory
from annotations.access import rules
from annotations.models.choices import MAX_REASON
from evaluation.models import BadReview, ReviewQueue, ReviewTask, Study
from evaluation.models.review_queues import ReviewTaskQuerySet
from evaluation.reviews.deciding import SaidOfStep, require_may_review

GOLD = ("trajectory__conversation__split", "queue__project")  # from a question to its split and project


class TeamQuestion(NamedTuple):
    """What somebody asks the reviewers of a project about step `seq` of a trajectory."""

    seq: int
    words: str

    def ask(self, user: User, found: Trajectory) -> ReviewTask:
        """Put the step into the queue of questions of its study. BadReview where that cannot be."""
        require_may_review(user, found)
        study, words = found.run.newest_study(), self.words.strip()
        if not isinstance(study, Study):
            raise BadReview("This run is of no study, whose reviewers could be asked.")
        if not words or len(words) > MAX_REASON:
            raise BadReview(f"A question has 1 to {MAX_REASON:,} characters.")
        step = SaidOfStep(self.seq, "", None, "").step_of(found)
        assert step is not None  # a number was given
        with transaction.atomic():
            Study.objects.select_for_update().get(pk=study.pk)  # one after the other: there is one queue
            return ReviewQueue.objects.of_questions(study).put(step, user, words)


def questions_for(user: User) -> ReviewTaskQuerySet:
    """The questions that the user may read: answers tell the gold of their steps."""
    return rules.gold_filter(user, rules.visible(user, ReviewTask.objects.of_questions()), *GOLD)


def answered_for(user: User) -> list[ReviewTask]:
    """What the user has asked and others have answered since they last looked, the newest answer first."""
    return list(questions_for(user).answered_for(user).select_related("trajectory__conversation"))
