"""Two versions of one item, by two people, and the further person who makes one of them."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Count, Q, Sum
from django.utils import timezone

from annotations.models.accounts.projects import Account
from annotations.models.corpus.conversations import Step
from annotations.models.work.assignments import Assignment
from annotations.models.work.campaigns import Stage, tracked
from annotations.models.work.disputes import Dispute
from annotations.models.work.queue import NotReady, VerdictRefused
from annotations.text.versions import TEXTS, PartSays, PlacedPart, Stretch, reworded, stretches

MAX_WORDS = 10_000  # characters of one text, as in an edit
LONGEST = 1_800  # seconds of one decision
MAX_LOG = 2_000  # decisions, those that others replaced included


class CurationQuerySet(models.QuerySet["Curation"]):
    def live(self) -> Self:
        session = "first__item__session"
        return self.filter(**{f"{session}__deleted_at": None, f"{session}__campaign__deleted_at": None})

    def finished(self) -> Self:
        return self.exclude(finished_at=None)

    def by_curator(self) -> models.QuerySet["Curation", Any]:
        """(name, how many were made one, seconds at work) of each person who finished one, by name."""
        rows = self.finished().order_by("user__username").values_list("user__username")
        return rows.annotate(made=Count("pk"), seconds=Sum("active_seconds"))

    def with_people(self) -> Self:
        return self.select_related("first__user", "second__user", "user", "first__item__session__campaign__project")

    def of(self, user: Account, first: Assignment, second: Assignment) -> "Curation":
        """This person's curation of two versions as they are now; one that is not stored where they have not begun.

        Where somebody has finished one of the two, it is that one.
        """
        pair = self.filter(first=first, second=second)
        now = {"first_version": first.version, "second_version": second.version}
        known = pair.finished().first() or pair.filter(user=user, **now).first()
        found: Curation = known or Curation(user=user, **now)
        found.first, found.second = first, second  # with what was read beside them
        return found

    def begin(self, user: Account, first: Assignment, second: Assignment) -> "Curation":
        """As `of`, stored. VerdictRefused where this person cannot curate these versions."""
        found = self.of(user, first, second)
        if why_not := found.why_not():
            raise VerdictRefused(why_not)
        if found.pk is None:
            keys = {"first": first, "second": second, "user": user}
            versions = {"first_version": first.version, "second_version": second.version}
            found, _ = self.get_or_create(**keys, **versions)
        return found


@tracked
class Curation(models.Model):
    """Two versions of one item on their way to be one: what both say stands, and in each stretch in which they
    differ a person who made neither takes the first one's words, the second one's, or writes others.

    Each person has their own; whoever finishes first decides.
    """

    first = models.ForeignKey(Assignment, models.CASCADE, related_name="curated_first", help_text="Version a.")
    second = models.ForeignKey(Assignment, models.CASCADE, related_name="curated_second", help_text="Version b.")
    first_version = models.PositiveIntegerField(help_text="Of the annotation, as it was compared.")
    second_version = models.PositiveIntegerField(help_text="Of the annotation, as it was compared.")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    begun_at = models.DateTimeField(auto_now_add=True)
    active_seconds = models.PositiveIntegerField(default=0, help_text="Time at work, as the curator's page tells.")
    finished_at = models.DateTimeField(null=True, blank=True)
    taken = models.ForeignKey(
        Assignment,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="curated_into",
        help_text="The version that passed, with what was taken from the other one.",
    )

    objects = CurationQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["first", "second", "user", "first_version", "second_version"], name="one_curation_per_person"
            ),
            models.UniqueConstraint(
                fields=["first", "second"], condition=Q(finished_at__isnull=False), name="curated_once"
            ),
            models.CheckConstraint(
                condition=Q(finished_at=None, taken=None) | Q(finished_at__isnull=False, taken__isnull=False),
                name="a_finished_curation_took_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.first} and {self.second}"

    @cached_property
    def stretches(self) -> list[Stretch]:
        """What both versions say, as they were compared, stretch by stretch."""
        order = list(self.first.item.session.places())
        first = self.first.contents_at(self.first_version)
        return stretches(order, first, self.second.contents_at(self.second_version))

    def differing(self) -> dict[int, Stretch]:
        """The stretches in which the versions differ, by their first steps, in order."""
        return {one.step: one for one in self.stretches if one.differs_in}

    def standing(self) -> "dict[int, CurationChoice]":
        """What was decided, by the first step of the stretch: the last word on each."""
        if self.pk is None:
            return {}
        return {choice.step_id: choice for choice in self.choices.all()}

    def why_not(self) -> str:
        """Why its curator cannot decide anything in it; "" when they can. Whoever may do so at all reviews."""
        item = self.first.item
        if self.finished_at is not None:
            return f"{self.user} has made one of both."
        if why_not := item.why_not_made_one():
            return why_not
        for version in (self.first, self.second):
            if version.state != Assignment.State.SUBMITTED or version.review == Assignment.Reviewed.NOT_TAKEN:
                return f"The version of {version.user} is not handed in now."
        wrote = Q(user=self.user) | Q(edits__user=self.user, edits__is_carried=False)
        if item.assignments.active().filter(wrote).exists():
            return "You have written in a version of it: somebody else decides."
        if (self.first.version, self.second.version) != (self.first_version, self.second_version):
            return "A version has changed since you began: open both again."
        told = (one.why_not_decided_by(self.user) for one in self.disputes_about())
        return next(filter(None, told), "")

    def disputes_about(self) -> models.QuerySet[Dispute, Any]:
        """Open disputes between verifiers about one of the versions."""
        return Dispute.objects.open().filter(assignment__in=(self.first, self.second))

    def decide(self, step: int, take: str, parts: Sequence[PartSays] = ()) -> None:
        """Take the first version's words (a) or the second's (b) in the stretch that begins at this step, or the
        curator's own `parts`: [{"step", "instruction", "rewrite"}]. The same said again is said once. Of a locked
        curation; VerdictRefused for whoever cannot, and for what makes no sense."""
        if why_not := self.why_not():
            raise VerdictRefused(why_not)
        stretch = self.differing().get(step)
        if stretch is None:
            raise VerdictRefused("Both versions say the same there, or no stretch begins there.")
        if take not in CurationChoice.Take.values:
            raise VerdictRefused("Take a, b, or other words of your own.")
        needed = TEXTS if self.first.item.stage == Stage.REWRITE else TEXTS[:1]
        own = _own_parts(parts, stretch, needed) if take == CurationChoice.Take.OWN else []
        last = self.standing().get(step)
        if last is not None and (last.take, last.parts) == (take, own):
            return
        if self.choices.count() >= MAX_LOG:
            raise VerdictRefused("You have changed your mind too often: undo some of it.")
        self.choices.create(step_id=step, take=CurationChoice.Take(take), parts=own)

    def spend(self, seconds: int) -> None:
        """Count time at work since the last decision. No more than LONGEST is believed."""
        self.active_seconds += max(0, min(seconds, LONGEST))
        self.save(update_fields=["active_seconds"])

    def undo(self) -> int | None:
        """Take the last decision back, so that the one before it stands again; the first step of its stretch, None
        where there is none."""
        if why_not := self.why_not():
            raise VerdictRefused(why_not)
        last = self.choices.last()
        if last is None:
            return None
        last.delete()
        return last.step_id

    def merged(self) -> tuple[Assignment, dict[int, PartSays]]:
        """The version from which more was taken (the first of equals), and its parts by first step once all that was
        decided is in it. NotReady while something is not decided."""
        choices = self.standing()
        if left := [one for step, one in self.differing().items() if step not in choices]:
            raise NotReady([f"Not decided yet: {len(left)} of {len(self.differing())}."])
        sides = self.tally()
        is_first = sides[CurationChoice.Take.FIRST] >= sides[CurationChoice.Take.SECOND]
        found: list[PlacedPart] = []
        for one in self.stretches:
            choice = choices.get(one.step) if one.differs_in else None
            if choice is not None and choice.take == CurationChoice.Take.OWN:
                found += reworded(choice.parts, one)
            else:
                from_first = is_first if choice is None else choice.take == CurationChoice.Take.FIRST
                found += one.first if from_first else one.second
        return (self.first if is_first else self.second), dict(found)

    def tally(self) -> "Counter[str]":
        """How many differences were decided in which way."""
        return Counter(choice.take for choice in self.standing().values())

    def finish(self, taken: Assignment) -> Assignment:
        """Note which version passes, of a locked curation, and close the other one as not taken: it is returned.
        Verifiers who differed about one of them have nothing left to be decided."""
        other = self.second if taken.pk == self.first_id else self.first
        self.disputes_about().update(curation=self)
        other.write(review=Assignment.Reviewed.NOT_TAKEN)
        self.taken, self.finished_at = taken, timezone.now()
        self.save(update_fields=["taken", "finished_at"])
        return other


@tracked
class CurationChoice(models.Model):
    """A decision of a curator about one stretch. A later one about the same stretch replaces it, until it is undone."""

    class Take(models.TextChoices):
        FIRST = "a", "the first version"
        SECOND = "b", "the second version"
        OWN = "own", "other words"

    curation = models.ForeignKey(Curation, models.CASCADE, related_name="choices")
    step = models.ForeignKey(Step, models.PROTECT, related_name="+", help_text="The first step of the stretch.")
    take = models.CharField(max_length=3, choices=Take.choices)
    parts = models.JSONField(
        default=list, blank=True, help_text='Of other words: [{"step", "instruction", "rewrite"}], a part each.'
    )
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.take} from step {self.step_id}"


def _own_parts(parts: Sequence[PartSays], stretch: Stretch, needed: Sequence[str]) -> list[dict[str, Any]]:
    """The parts as they are stored: in order, each with the texts that are needed. VerdictRefused unless the first one
    begins with the stretch and all in it."""
    by_step = {part.get("step"): part for part in parts}
    if stretch.step not in by_step or len(by_step) < len(parts) or not by_step.keys() <= set(stretch.steps):
        raise VerdictRefused("Your parts begin with the stretch, and each at another step of it.")
    found: list[dict[str, Any]] = []
    for step in stretch.steps:
        if step in by_step:
            texts = {name: str(by_step[step].get(name) or "").replace("\0", "").strip() for name in TEXTS}
            if not all(texts[name] for name in needed):
                raise VerdictRefused(f"Write {' and '.join(f'the {name}' for name in needed)} of each part.")
            if any(len(text) > MAX_WORDS for text in texts.values()):
                raise VerdictRefused(f"A text has at most {MAX_WORDS:,} characters.")
            found.append({"step": step, **texts})
    return found
