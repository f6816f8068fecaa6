"""Campaigns: one round of annotation of a dataset, its rules and its guidelines."""

import math
from datetime import timedelta
from typing import Any, Self, TypeVar

import pghistory
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import connection, models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.text import slugify

from annotations.models.accounts.projects import Account, Project, User
from annotations.models.corpus.datasets import Dataset

USER = settings.AUTH_USER_MODEL
KEPT = timedelta(days=30)  # how long what lies in the bin can be taken out again
TARGET_FORMAT = "mt-mind2web"
DEFAULT_RUBRIC = [
    {"code": "cut-misplaced", "stage": "decompose", "question": "Every cut lies where the user's intent changes."},
    {"code": "uncovered", "stage": "decompose", "question": "Each sub-instruction asks for all of its steps."},
    {"code": "extra", "stage": "decompose", "question": "No sub-instruction asks for more than its steps do."},
    {"code": "unresolvable", "stage": "rewrite", "question": "Every anaphor and ellipsis can be resolved from before."},
    {"code": "value-lost", "stage": "rewrite", "question": "Every value that is typed or chosen can still be known."},
    {"code": "unnatural", "stage": "rewrite", "question": "It reads as somebody would say it."},
]


def tracked(model: type[models.Model]) -> type[models.Model]:
    """Triggers that record every change of the model's rows, with who made it and on which page."""
    return pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())(model)


K = TypeVar("K", bound=models.Model)


class Kept(models.QuerySet[K]):
    """A set of rows that may be put into the bin: deleted softly, restored within 30 days."""

    def live(self) -> Self:
        return self.filter(deleted_at=None)

    def deleted(self) -> Self:
        return self.exclude(deleted_at=None)

    def restorable(self) -> Self:
        return self.filter(deleted_at__gt=timezone.now() - KEPT)

    def put_into_bin(self) -> None:
        self.update(deleted_at=timezone.now())

    def take_out_of_bin(self) -> None:
        self.deleted().update(deleted_at=None)


class Binnable(models.Model):
    """A row that may be put into the bin, where nothing that belongs to it is lost."""

    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def put_into_bin(self) -> None:
        self.deleted_at = timezone.now()
        self.save(update_fields=["deleted_at"])

    def take_out_of_bin(self) -> None:
        self.deleted_at = None
        self.save(update_fields=["deleted_at"])


class Stage(models.TextChoices):
    """Stages of work on one session, in order; organising makes the sessions."""

    DECOMPOSE = "decompose", "decompose"
    REWRITE = "rewrite", "rewrite"
    VERIFY = "verify", "verify"

    @property
    def ability(self) -> str:
        """The ability that a member needs to work in this stage."""
        return "review" if self == Stage.VERIFY else "annotate"


@tracked
class Campaign(Binnable):
    """One round of annotation of a dataset: its rules, and where the verified conversations go."""

    class Mode(models.TextChoices):
        OPEN = "open", "open pool: whoever asks gets the next item"
        ASSIGNED = "assigned", "assigned: everyone sees only their own items"

    class Proposer(models.TextChoices):
        NONE = "", "no proposals"
        EMBEDDED = "embedded", "the embedded model"
        ENDPOINT = "endpoint", "a language model"

    RULES = tuple("overlap verify_overlap second_look cap steps_per_part blind proposer connection rubric".split())
    """Its columns that people choose, in the order in which they are shown, after its mode."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="campaigns")
    name = models.CharField(max_length=200)
    source = models.ForeignKey(
        Dataset, models.PROTECT, related_name="campaigns", help_text="Where the tasks come from."
    )
    target = models.ForeignKey(
        Dataset,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="filled_by",
        help_text="Gets the verified conversations; made when the first one passes.",
    )
    mode = models.CharField(max_length=10, choices=Mode.choices, default=Mode.OPEN)
    overlap = models.PositiveSmallIntegerField(default=1, help_text="How many people decompose and rewrite an item.")
    verify_overlap = models.PositiveSmallIntegerField(default=1, help_text="How many people verify it.")
    second_look = models.PositiveSmallIntegerField(
        default=10,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text="Percent of the items accepted at once that is held back for a second look; at least one.",
    )
    cap = models.PositiveIntegerField(default=0, help_text="The most items that one person gets per stage; 0: no cap.")
    steps_per_part = models.PositiveSmallIntegerField(default=4, help_text="n steps aim at ⌈n / this⌉ parts.")
    blind = models.BooleanField(default=True, help_text="Annotators of one item do not see each other's work.")
    proposer = models.CharField(max_length=10, choices=Proposer.choices, default=Proposer.EMBEDDED, blank=True)
    connection = models.CharField(
        max_length=60, blank=True, help_text="Which connection a language model proposes by; empty: what answers here."
    )
    rubric = models.JSONField(default=list, help_text="Questions of the checklist: [{code, stage, question}].")
    created_by = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    objects = Kept.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="campaign_name_once_per_project"),
            models.CheckConstraint(
                condition=Q(overlap__gte=1, verify_overlap__gte=1, steps_per_part__gte=1), name="campaign_counts"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        """Whether work is handed out."""
        return self.deleted_at is None and self.closed_at is None

    def begin(self, user: Account, guidelines: str) -> None:
        """Store a new campaign, as made by a person, with the first version of its guidelines."""
        self.created_by = user
        self.save()
        self.guidelines.create(version=1, text=guidelines, created_by=user)

    def ask_for(self, people: int) -> None:
        """Give each session to this many people from now on."""
        self.overlap = people
        self.save(update_fields=["overlap"])

    def close(self) -> None:
        """Close the campaign: no more items are handed out."""
        self.closed_at = timezone.now()
        self.save(update_fields=["closed_at"])

    def reopen(self) -> None:
        self.closed_at = None
        self.save(update_fields=["closed_at"])

    def ensure_target(self) -> Dataset:
        """The dataset that verified conversations go to; made when the first one passes."""
        if self.target is None:  # locked and read again, so that two verdicts at once make one dataset
            self.refresh_from_db(from_queryset=Campaign.objects.select_for_update(of=("self",)))
        if self.target is None:
            self.target = Dataset.objects.create(
                project=self.project,
                name=Dataset.objects.free_name(slugify(self.name)[:90] or f"campaign-{self.pk}"),
                source_format=TARGET_FORMAT,
                licence=self.source.licence,
                description=f"Verified conversations of the campaign “{self.name}” on {self.source}.",
            )
            self.save(update_fields=["target"])
        return self.target

    def codes_of(self, stage: str) -> set[str]:
        """The codes of the rubric for defects that are mended in this stage."""
        return {entry["code"] for entry in self.rubric if entry.get("stage") == stage}

    def able_people(self, stage: str) -> list[Any]:
        """Members of the project who may work on a stage, by name."""
        members = self.project.memberships.able(Stage(stage).ability).filter(user__is_active=True)
        return [member.user for member in members.select_related("user").order_by("user__username")]

    def take_turns(self, user: User) -> None:
        """Lock this person's claims in this campaign until the transaction ends, so that somebody who asks twice at
        once gets one item, and no more than the cap."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [self.pk, user.pk])

    def next_position(self) -> int:
        """The position for a new session: after all others."""
        return (self.sessions.aggregate(n=models.Max(F("position")))["n"] or 0) + 1

    def target_parts(self, steps: int) -> int:
        """How many parts `steps` steps should become."""
        return max(1, math.ceil(steps / self.steps_per_part))


@tracked
class Guideline(models.Model):
    """One version of a campaign's guidelines; never changed, only followed by the next version."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    text = models.TextField(help_text="Markdown.")
    created_by = models.ForeignKey(USER, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(fields=["campaign", "version"], name="guideline_version_once")]

    def __str__(self) -> str:
        return f"guidelines v{self.version} of {self.campaign}"

    def followed_by(self, text: str, user: Account) -> "Guideline":
        """The next version; IntegrityError when somebody made one at the same moment."""
        return self.campaign.guidelines.create(version=self.version + 1, text=text, created_by=user)
