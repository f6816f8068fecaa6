"""What the guard expects of recorded steps, kept so that no page is read again; and the order in which steps are
labelled by it."""

from dataclasses import asdict
from functools import cache
from hashlib import sha256
from inspect import getsource
from itertools import groupby
from typing import Any, Self

from django.db import models
from django.db.models import Exists, OuterRef

from agents.guard import (
    beginnings,
    button_words,
    consequences,
    controls,
    evidence,
    fields,
    judging,
    learned,
    page_words,
    policy,
    pressing,
    vocabulary,
)
from agents.guard.judging import SeenControl
from agents.guard.policy import Risk
from agents.types import Action
from annotations.models import Correction, Dataset, Step

LOOKS_BY = (
    judging,
    pressing,
    consequences,
    evidence,
    learned,
    fields,
    controls,
    vocabulary,
    button_words,
    beginnings,
    page_words,
    policy,
)


def told_action(action: Action) -> str:
    """A hash of an action and of the words and rules by which the guard looks at it."""
    told = repr((action.operation, action.node_id, action.value, _looked_by()))
    return sha256(told.encode()).hexdigest()


@cache
def _looked_by() -> str:
    return "".join(getsource(module) for module in LOOKS_BY) + learned.PACKAGED.read_text("utf-8")


class RiskForecastQuerySet(models.QuerySet["RiskForecast"]):
    def of(self, dataset: Dataset) -> Self:
        return self.filter(step__turn__conversation__dataset=dataset)

    def standing(self) -> Self:
        """Forecasts of actions as they are recorded now: not those made before a correction of the step was
        verified."""
        since = Correction.objects.done().filter(step=OuterRef("step"), decided_at__gte=OuterRef("made_at"))
        return self.exclude(Exists(since))

    def keep(self, step: Step, looked: SeenControl, foreseen: Risk | None, transitions: int | None) -> "RiskForecast":
        fields: dict[str, Any] = {
            "action_sha256": told_action(RiskForecast.action_of(step)),
            "name": looked.name,
            "role": looked.role,
            "by_page": asdict(looked.risk) if looked.risk else None,
            "foreseen": asdict(foreseen) if foreseen else None,
            "transitions": transitions,
            "looks_risky": looked.looks_risky or foreseen is not None,
            "place": None,
        }
        return self.update_or_create(step=step, defaults=fields)[0]

    def put_in_order(self, dataset: Dataset) -> None:
        """Give each a place among those of its stratum, by chance but always the same: people label in this order, so
        that those labelled at any time are a random part of their stratum."""
        rows = self.of(dataset).select_related("step__turn__conversation").defer("step__candidates", "step__extra")
        ordered: list[RiskForecast] = sorted(rows, key=RiskForecast.lot)
        for _, stratum in groupby(ordered, key=RiskForecast.stratum):
            for place, row in enumerate(stratum):
                row.place = place
        RiskForecast.objects.bulk_update(ordered, ["place"], batch_size=500)


class RiskForecast(models.Model):
    """What the page, and past transitions where there are any, say of a recorded action. No rule is in it: policies
    change."""

    step = models.OneToOneField(Step, models.CASCADE, related_name="risk_forecast")
    action_sha256 = models.CharField(max_length=64, help_text="Of the action, which a correction may change.")
    name = models.TextField(blank=True, help_text="Of the control.")
    role = models.CharField(max_length=200, blank=True)
    by_page = models.JSONField(null=True, blank=True, help_text="The risk that the page shows.")
    foreseen = models.JSONField(null=True, blank=True, help_text="The risk that past transitions expect.")
    transitions = models.PositiveIntegerField(null=True, blank=True, help_text="How many were asked; empty: none.")
    looks_risky = models.BooleanField(help_text="A person should look: more likely risky than others.")
    place = models.PositiveIntegerField(null=True, blank=True, help_text="In its stratum, by chance.")
    made_at = models.DateTimeField(auto_now=True)

    objects = RiskForecastQuerySet.as_manager()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.step_id}: {'looks risky' if self.looks_risky else 'looks harmless'}"

    @staticmethod
    def action_of(step: Step) -> Action:
        """The recorded action of a step as the guard judges it; its targets are prefetched."""
        nodes = [target.node_id for target in step.targets.all() if not target.pruned]
        return Action(step.operation, nodes[0] if nodes else None, step.value)

    def stratum(self) -> tuple[str, bool]:
        """The part of the dataset (train, dev or test) and whether it looks risky."""
        return self.step.turn.conversation.split.partition("_")[0], self.looks_risky

    def lot(self) -> tuple[str, bool, str]:
        """Its stratum, and where it is in there: by chance, but always the same."""
        return *self.stratum(), sha256(f"risk labels {self.step_id}".encode()).hexdigest()

    @property
    def looked(self) -> SeenControl:
        risk = Risk(**self.by_page) if self.by_page else None
        return SeenControl(self.step.operation, self.name, self.role, risk, self.looks_risky)

    @property
    def foreseen_risk(self) -> Risk | None:
        return Risk(**self.foreseen) if self.foreseen else None
