"""What people call recorded steps: harmless, or risky and how. The guard is measured by steps with two labels."""

from itertools import groupby
from typing import Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import Count, Exists, F, OuterRef, Q

from agents.guard.policy import KINDS
from annotations.models import Correction, Step
from annotations.models.accounts.projects import User
from annotations.models.corpus.conversations import ConversationQuerySet

HARMLESS = "harmless"
CALLED = {HARMLESS: "changes nothing that lasts", **KINDS}
NEEDED = 2  # people who label a step


class BadRiskLabel(ValueError):
    """A label cannot be stored; the message says why."""


class RiskLabelSettled(BadRiskLabel):
    """The step has its labels: they are shown, so that whoever changed one now would know the other."""


class RiskLabelQuerySet(models.QuerySet["RiskLabel"]):
    @transaction.atomic
    def give(self, step: Step, person: User, kind: str) -> "RiskLabel":
        """A person's label of a step, in place of the one that they gave before. BadRiskLabel for no kind,
        RiskLabelSettled once as many as are needed have labelled it; who says again what they said is not refused."""
        if kind not in CALLED:
            raise BadRiskLabel(f"A step is one of: {', '.join(CALLED)}.")
        Step.objects.select_for_update(no_key=True, of=("self",)).get(pk=step.pk)  # two at once do not miss each other
        standing = list(self.filter(step=step).standing())
        if same := next((one for one in standing if (one.person_id, one.kind) == (person.pk, kind)), None):
            return same
        if len(standing) >= NEEDED:
            raise RiskLabelSettled(f"{NEEDED} people have labelled this step, so that its labels stay as they are.")
        return self.update_or_create(step=step, person=person, defaults={"kind": kind})[0]

    def standing(self) -> Self:
        """Labels of actions as they are recorded now: not those given before a correction of the step was verified."""
        since = Correction.objects.done().filter(step=OuterRef("step"), decided_at__gte=OuterRef("changed_at"))
        return self.exclude(Exists(since))

    def of(self, conversations: ConversationQuerySet) -> Self:
        return self.filter(step__turn__conversation__in=conversations)

    def pairs(self) -> dict[int, list[tuple[int, str]]]:
        """Step -> the (person, kind) of its first two standing labels, the people in one order for all; steps with one
        label are left out."""
        found = {}
        rows = self.standing().order_by("step_id", "id").values_list("step_id", "person_id", "kind")
        for step, given in groupby(rows, key=lambda row: row[0]):
            first = [(person, kind) for _, person, kind in given][:NEEDED]
            if len(first) == NEEDED:
                found[step] = sorted(first)
        return found

    def wanted_from(self, person: User, conversations: ConversationQuerySet) -> models.QuerySet[Step]:
        """The steps that this person could label: neither by them nor by two others yet. First those that another
        person has labelled; then, where forecasts have put the dataset in order, by turns one that looks risky and one
        that does not, of each part of the dataset; else in the dataset's order. A label from before a correction counts
        for nothing."""
        standing = self.standing().of(conversations)
        own = standing.filter(step=OuterRef("pk"), person=person)
        rows = Step.objects.filter(turn__conversation__in=conversations).exclude(Exists(own))
        counted = Count("risk_labels", filter=Q(risk_labels__in=standing.values("pk")))
        rows = rows.annotate(labels=counted).filter(labels__lt=NEEDED)
        chosen = (F("risk_forecast__place").asc(nulls_last=True), F("risk_forecast__looks_risky").desc(nulls_last=True))
        recorded = ("turn__conversation__position", "turn__conversation_id", "turn__index", "index")
        return rows.order_by("-labels", *chosen, *recorded)


class RiskLabel(models.Model):
    """What a person calls a recorded step: harmless, or a kind of risk. Each person has one label of each step."""

    step = models.ForeignKey(Step, models.CASCADE, related_name="risk_labels")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="risk_labels")
    kind = models.CharField(max_length=8, choices=list(CALLED.items()))
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = RiskLabelQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["step", "person"], name="step_labelled_once_each"),
            models.CheckConstraint(condition=Q(kind__in=list(CALLED)), name="risk_label_known"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} · {self.person}"
