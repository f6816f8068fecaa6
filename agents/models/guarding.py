"""What the guard goes by on a project's websites, and the actions that wait for a person."""

from datetime import datetime, timedelta
from typing import Any, Self, TypedDict
from unicodedata import category

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone

from agents.guard.policy import KINDS, OF, PolicyRule, Risk
from agents.models.trajectories import Trajectory
from annotations.models import Operation, Project, Snapshot, Website
from annotations.models.accounts.projects import User

RISK_KINDS = list(KINDS.items())
MAX_PATTERN, MAX_WHY = 200, 500
NAMED_WEBSITES = 5


class DoneInstead(TypedDict):
    """An action as it is stored: what is done instead of the held one."""

    operation: str
    node_id: str | None
    value: str


class CannotDecide(ValueError):
    """A held step cannot be decided so; the message says why."""


class DecidedAlready(CannotDecide):
    """Somebody was first, or the time to decide is over."""


class PassesEveryClick(ValueError):
    """A rule calls every click harmless, and nobody has said that this is meant."""


class GuardRuleQuerySet(models.QuerySet["GuardRule"]):
    def policy(self, project: Project | int) -> list[PolicyRule]:
        """The rules of a project as the guard reads them."""
        return [row.rule for row in self.filter(project=project)]

    def website_names(self, project: Project | int) -> list[str]:
        """The names of the project's websites, for `warning` of its rules."""
        rows = Website.objects.filter(dataset__project=project).order_by("name")
        return list(rows.values_list("name", flat=True).distinct())

    def add(self, sure: bool = False, **fields: Any) -> "GuardRule":
        """A new rule; ValidationError where it is not valid, PassesEveryClick where nothing would be held with it and
        nobody has said that they are `sure`. A rule about a price has no pattern, and spaces in a row become one."""
        fields |= {name: " ".join(fields[name].split()) for name in ("website", "pattern")}
        row = self.model(**fields | ({"pattern": ""} if fields.get("of") == "price" else {}))
        row.full_clean()
        if row.rule.passes_every_click and not sure:
            where = f"on {row.website}" if row.website else "on any website"
            told = f"{row.of} {row.pattern} says harmless"
            raise PassesEveryClick(f"{told}: with this rule the guard holds hardly any click {where}.")
        row.save()
        return row


class GuardRule(models.Model):
    """One rule of a project's policy for a website, or for every one."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="guard_rules")
    website = models.CharField(max_length=200, blank=True, help_text="Its name. Empty: every website.")
    of = models.CharField(max_length=12, choices=[(one, one) for one in OF], help_text="What is compared.")
    pattern = models.CharField(max_length=MAX_PATTERN, blank=True, help_text="* stands for anything. None for a price.")
    kind = models.CharField(max_length=12, choices=RISK_KINDS, blank=True, help_text="Empty: harmless.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = GuardRuleQuerySet.as_manager()

    class Meta:
        ordering = ["website", "id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "website", "of", "pattern"], name="guard_rule_once"),
            models.CheckConstraint(condition=Q(of="price") | ~Q(pattern=""), name="guard_rule_compares"),
        ]

    def __str__(self) -> str:
        return f"{self.rule}: {self.kind or 'harmless'}"

    @property
    def rule(self) -> PolicyRule:
        return PolicyRule(self.of, self.pattern, self.kind, self.website)

    def warning(self, names: list[str]) -> str:
        """That the rule holds nothing so far, as no website is called so; "" where one is. `names`: those of the
        project's websites."""
        if not self.website or self.website.casefold() in {name.casefold() for name in names}:
            return ""
        first = ", ".join(names[:NAMED_WEBSITES])
        more = f" and {len(names) - NAMED_WEBSITES:,} more" if len(names) > NAMED_WEBSITES else ""
        there = f"names there are: {first}{more}" if names else "the project has no website yet"
        return f"no website is called {self.website} yet; {there}"

    def clean(self) -> None:
        """Refuses texts that are read otherwise than they are compared: with characters that cannot be seen, or that
        turn the direction of others. A rule of anything but a price says what it is compared with."""
        if self.of in OF and self.of != "price" and not self.pattern:
            raise ValidationError({"pattern": f"Say which {self.of} it is about: * stands for anything."})
        for name in ("website", "pattern"):
            if any(category(one) in ("Cc", "Cf") for one in getattr(self, name)):
                raise ValidationError({name: "It holds characters that cannot be seen."})

    def lift(self) -> None:
        """Runs that a worker takes up from now on do without it."""
        self.delete()


class HeldStepQuerySet(models.QuerySet["HeldStep"]):
    def waiting(self) -> Self:
        return self.filter(state=HeldStep.State.WAITING)

    def just_decided(self, since: datetime) -> Self:
        """Those that people have decided lately: they wait for what comes of it."""
        return self.filter(state__in=HeldStep.BY_PEOPLE, decided_at__gt=since)

    def hold(
        self, trajectory: Trajectory, action: DoneInstead, words: str, risk: Risk, seconds: float, **seen: Any
    ) -> "HeldStep":
        """Hold an action of an episode until a person decides; `seen`: the url and the snapshot of its page."""
        return self.create(
            trajectory=trajectory,
            seq=trajectory.step_count,
            operation=action["operation"],
            node_id=action["node_id"] or "",
            value=action["value"],
            representation=words,
            kind=risk.kind,
            why=risk.why[:MAX_WHY],
            by=risk.by,
            sure=risk.sure,
            until=timezone.now() + timedelta(seconds=seconds),
            **seen,
        )

    def withdraw(self, trajectory: Trajectory) -> None:
        """Withdraw what waits of an episode that begins anew or has ended."""
        rows = self.waiting().filter(trajectory=trajectory)
        rows.update(state=HeldStep.State.WITHDRAWN, decided_at=timezone.now())


class HeldStep(models.Model):
    """A risky action of an episode that waits for a person's decision. If several people decide, the first one
    counts."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        APPROVED = "approved", "approved"
        CHANGED = "changed", "changed"
        REFUSED = "refused", "refused"
        TAKEN = "taken", "taken over"
        EXPIRED = "expired", "nobody decided in time"
        WITHDRAWN = "withdrawn", "the episode began anew"

    BY_PEOPLE = (State.APPROVED, State.CHANGED, State.REFUSED, State.TAKEN)

    trajectory = models.ForeignKey(Trajectory, models.CASCADE, related_name="held_steps")
    seq = models.PositiveIntegerField(help_text="The place that its step gets.")
    operation = models.CharField(max_length=12, choices=Operation.choices)
    node_id = models.CharField("backend node id", max_length=64, blank=True)
    value = models.TextField(blank=True)
    representation = models.TextField(blank=True)
    url = models.TextField(blank=True)
    snapshot = models.ForeignKey(Snapshot, models.PROTECT, null=True, blank=True, related_name="+")
    kind = models.CharField(max_length=12, choices=RISK_KINDS)
    why = models.CharField(max_length=MAX_WHY)
    by = models.CharField(max_length=12, help_text="What found it: policy, page, learned or prediction.")
    sure = models.FloatField(null=True, blank=True, help_text="Of what was learned, or of a prediction.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    held_at = models.DateTimeField(auto_now_add=True)
    until = models.DateTimeField(help_text="When the episode ends unless somebody has decided.")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="held_steps"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(blank=True, max_length=MAX_WHY, help_text="Why, in the words of who decided.")
    changed_to = models.JSONField(null=True, blank=True, help_text="The action that is done instead.")

    objects = HeldStepQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["trajectory"], condition=Q(state="waiting"), name="one_step_held_at_once"),
            models.CheckConstraint(
                condition=~Q(state="changed") | Q(changed_to__isnull=False), name="changed_step_says_to_what"
            ),
        ]
        indexes = [models.Index(fields=["until"], condition=Q(state="waiting"), name="held_step_waiting")]

    def __str__(self) -> str:
        return f"{self.representation or self.operation}: {self.get_state_display()}"

    @property
    def shown(self) -> dict[str, Any]:
        """The held step as the replay page reads it while it waits."""
        names = ("seq", "operation", "node_id", "value", "representation", "kind", "why", "by", "sure")
        is_late = self.until <= timezone.now()
        times = {"held_at": self.held_at.isoformat(), "until": self.until.isoformat(), "is_late": is_late}
        return {"id": self.pk, "words": KINDS[self.kind]} | {name: getattr(self, name) for name in names} | times

    @property
    def action(self) -> DoneInstead:
        """The action to carry out once it is decided: the held one, or the one that a person put in its place."""
        if self.state == self.State.CHANGED and self.changed_to:
            return self.changed_to
        return {"operation": self.operation, "node_id": self.node_id or None, "value": self.value}

    @property
    def done_instead(self) -> str:
        """What a person put in the place of the held action, in words; "" where nobody did."""
        if self.state != self.State.CHANGED:
            return ""
        action = self.action
        parts = (action["operation"], action["node_id"] and f"element {action['node_id']}", action["value"])
        return " ".join(part for part in parts if part)

    @property
    def outcome(self) -> str:
        """Who decided what, in words; "" where it still waits."""
        who = f" by {self.decided_by}" if self.decided_by else ""
        why = f": {self.reason}" if self.reason else ""
        return "" if self.state == self.State.WAITING else f"held, {self.get_state_display()}{who}{why}"

    def decide(self, user: User, state: str, reason: str = "", instead: DoneInstead | None = None) -> None:
        """A person decides, whoever is first. Raises CannotDecide, and DecidedAlready where it is too late."""
        if state not in self.BY_PEOPLE:
            raise CannotDecide(f"A held step is {', '.join(self.BY_PEOPLE)}.")
        if (state == self.State.CHANGED) != (instead is not None):
            raise CannotDecide("A changed step names the action that is done instead, and no other does.")
        if instead is not None and instead["operation"] not in Operation.values:
            raise CannotDecide(f"There is no operation {instead['operation']!r}.")
        if len(reason) > MAX_WHY or "\0" in reason or (instead and "\0" in f"{instead['node_id']}{instead['value']}"):
            raise CannotDecide(f"A reason has at most {MAX_WHY} characters, and no text holds NUL characters.")
        now = timezone.now()
        rows = type(self).objects.waiting().filter(pk=self.pk, until__gt=now)
        if not rows.update(state=state, decided_by=user, decided_at=now, reason=reason, changed_to=instead):
            self.refresh_from_db()
            raise DecidedAlready(self.outcome or "the time to decide is over")
        self.refresh_from_db()

    def look_again(self) -> bool:
        """Read anew whether it is decided, or nobody decided in time; True in both cases."""
        type(self).objects.waiting().filter(pk=self.pk, until__lte=timezone.now()).update(
            state=self.State.EXPIRED, decided_at=timezone.now()
        )
        self.refresh_from_db()
        return self.state != self.State.WAITING
