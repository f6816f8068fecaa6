"""How annotations come about: every edit that was made, and what models proposed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q, prefetch_related_objects
from django.utils import timezone

from annotations.models.accounts.projects import User
from annotations.models.corpus.conversations import Step
from annotations.models.work.assignments import Assignment
from annotations.models.work.campaigns import Campaign
from annotations.models.work.sessions import Session

USER = settings.AUTH_USER_MODEL
SINCE_SQL = """
SELECT * FROM annotations_edit WHERE assignment_id = %s AND (version > %s OR op_id = ANY(%s)) ORDER BY version
"""


def stacks(rows: Iterable[tuple[int, int | None]]) -> tuple[list[int], list[int]]:
    """(edits that can be undone, undos that can be redone), oldest first, from rows of (edit, the one it undoes)."""
    done: list[int] = []
    undone: list[int] = []
    for pk, undoes in rows:
        if undoes is None:
            done.append(pk)
            undone.clear()
        elif undoes in undone:  # a redo
            undone.remove(undoes)
            done.append(pk)
        else:
            done = [other for other in done if other != undoes]
            undone.append(pk)
    return done, undone


def origins(rows: Iterable[tuple[int, int | None, int | None]]) -> dict[int, int | None]:
    """The proposal that each edit came of, also where it undoes or redoes one that did; from rows of (edit, the one it
    undoes, its proposal), oldest first."""
    found: dict[int, int | None] = {}
    for pk, undoes, proposal in rows:
        found[pk] = proposal if undoes is None else found.get(undoes)
    return found


def together(stack: Iterable[int], came_of: Mapping[int, int | None]) -> list[list[int]]:
    """A stack of edits in the portions that are taken back at once: each edit for itself, but what was accepted of one
    proposal without anything in between as a whole."""
    found: list[list[int]] = []
    for pk in stack:
        proposal = came_of[pk]
        if found and proposal is not None and came_of[found[-1][-1]] == proposal:
            found[-1].append(pk)
        else:
            found.append([pk])
    return found


class EditQuerySet(models.QuerySet["Edit"]):
    def since(self, assignment: Assignment, version: int, op_ids: list[UUID]) -> "list[Edit]":
        """Edits of an annotation after a version, and those with these ids, of which most are not there yet.

        In SQL, as every save asks for them: 0.3 ms where Django's own query takes 1.6 ms.
        """
        rows: list[Any] = list(self.raw(SINCE_SQL, [assignment.pk, version, op_ids]))
        prefetch_related_objects(rows, "user")
        return rows

    def stacks_of(self, user: User) -> tuple[list[list[int]], list[list[int]]]:
        """What this person can undo and redo in one annotation, in the portions that are taken back at once. An edit
        that changed nothing, as its change was there already, is left out."""
        changing = self.filter(user=user, is_carried=False).exclude(before__isnull=False, before=F("after"))
        changing = changing.exclude(before__isnull=True, after__isnull=True)
        rows = list(changing.order_by("version").values_list("pk", "undoes_id", "proposal_id"))
        came_of = origins(rows)
        done, undone = stacks((pk, undoes) for pk, undoes, _ in rows)
        return together(done, came_of), together(undone, came_of)

    def writers_of(self, verifications: Iterable[int]) -> dict[int, set[int]]:
        """Keys of the people who wrote what each of these items judges: others than who has it now, where it was given
        on."""
        found: dict[int, set[int]] = defaultdict(set)
        rows = self.filter(assignment__verified_as__in=list(verifications), is_carried=False).order_by()
        for item, user in rows.values_list("assignment__verified_as", "user").distinct():
            found[item].add(user)
        return found

    def accepted_proposals(self) -> set[int]:
        """Proposals that were accepted by an edit of one annotation which is not taken back."""
        named = self.filter(Q(proposal__isnull=False) | Q(undoes__isnull=False)).order_by("version")
        rows = list(named.values_list("pk", "undoes_id", "proposal_id"))
        came_of = origins(rows)
        done, _ = stacks((pk, undoes) for pk, undoes, _ in rows)
        return {proposal for pk in done if (proposal := came_of[pk]) is not None}


class Edit(models.Model):
    """One change of an annotation, as the browser made it: what autosave, undo, merging and history are made of."""

    class Kind(models.TextChoices):
        CUT = "cut", "cut before a step"
        JOIN = "join", "join with the part before"
        TEXT = "text", "change a text"
        MENTIONS = "mentions", "mark mentions"

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="edits")
    version = models.PositiveIntegerField(help_text="1, 2, 3 … within the annotation.")
    op_id = models.UUIDField(help_text="Chosen by the browser: an edit sent twice is made once.")
    user = models.ForeignKey(USER, models.PROTECT, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    step = models.ForeignKey(Step, models.PROTECT, related_name="+", help_text="First step of the part.")
    field = models.CharField(max_length=20, blank=True, help_text="instruction or rewrite, for texts.")
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)
    undoes = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="undone_by")
    proposal = models.ForeignKey("Proposal", models.SET_NULL, null=True, blank=True, related_name="+")
    is_carried = models.BooleanField(
        default=False, help_text="Made when cuts were mended, or two versions became one: nobody can undo it."
    )
    at = models.DateTimeField(auto_now_add=True)

    objects = EditQuerySet.as_manager()

    class Meta:
        ordering = ["version"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "version"], name="edit_version_once"),
            models.UniqueConstraint(fields=["assignment", "op_id"], name="edit_once"),
        ]

    def __str__(self) -> str:
        return f"{self.version}: {self.kind} {self.field}".strip()

    def take_back(self, parts: dict[int, dict[str, Any]]) -> None:
        """Undo this edit in `parts`, contents by first step."""
        if self.kind == self.Kind.CUT:
            parts.pop(self.step_id, None)
        elif self.kind == self.Kind.JOIN:
            parts[self.step_id] = {"instruction": "", "rewrite": "", "mentions": []} | (self.before or {})
        elif self.step_id in parts:
            field = "mentions" if self.kind == self.Kind.MENTIONS else self.field
            empty: Any = [] if field == "mentions" else ""
            parts[self.step_id][field] = self.before if self.before is not None else empty


@dataclass(frozen=True)
class PassRate:
    """How a model's proposals of one kind ended. `rate`: passed verification as they were proposed, of those whose
    sessions verifiers judged; `distance`: mean edit distance of the results to them, 0 … 1, of those `measured`; None
    where there are none.
    """

    kind: str
    model: str
    unchanged: int
    edited: int
    rejected: int
    open: int
    judged: int
    passed: int
    measured: int
    rate: float | None
    distance: float | None


class ProposalQuerySet(models.QuerySet["Proposal"]):
    def unjudged(self) -> Self:
        """Proposals that people have decided about and that no verifier has judged yet."""
        return self.exclude(outcome=Proposal.Outcome.OPEN).filter(has_passed=None)

    def of_sessions(self) -> Self:
        """Proposals of sessions that are not decided yet."""
        return self.filter(kind=Proposal.Kind.SESSIONS, outcome=Proposal.Outcome.OPEN)

    def decide(self, outcome: "Proposal.Outcome") -> None:
        """Set the outcome of these proposals; OPEN: not decided."""
        decided = None if outcome == Proposal.Outcome.OPEN else timezone.now()
        self.update(outcome=outcome, decided_at=decided)

    def make_into(self, made: Iterable[tuple["Proposal", Session]]) -> None:
        """Keep which session was made of each proposal."""
        pairs = list(made)
        for proposal, session in pairs:
            proposal.session = session
        Proposal.objects.bulk_update([proposal for proposal, _ in pairs], ["session"])

    @transaction.atomic
    def propose_sessions(self, campaign: Campaign, model_name: str, contents: list[dict[str, Any]]) -> None:
        """Store new proposals of sessions for a campaign, in place of those that are not decided yet."""
        self.filter(campaign=campaign).of_sessions().delete()
        Proposal.objects.bulk_create(
            Proposal(campaign=campaign, kind=Proposal.Kind.SESSIONS, model_name=model_name, content=content)
            for content in contents
        )

    def settle(self, distances: "dict[Proposal, float]", accepted: set[int]) -> None:
        """Set the outcome of proposals by the distance of the result from each: unchanged at 0; else edited for
        accepted ones, and rejected for the others."""
        for proposal, distance in distances.items():
            used = Proposal.Outcome.EDITED if proposal.pk in accepted else Proposal.Outcome.REJECTED
            proposal.outcome = Proposal.Outcome.UNCHANGED if distance == 0 else used
            proposal.distance, proposal.decided_at = distance, timezone.now()
        Proposal.objects.bulk_update(distances, ["outcome", "distance", "decided_at"])

    def judge(self, passed: "dict[Proposal, bool]") -> None:
        """Keep whether verifiers accepted what each proposal proposed."""
        for proposal, has_passed in passed.items():
            proposal.has_passed = has_passed
        Proposal.objects.bulk_update(passed, ["has_passed"])

    def pass_rates(self) -> list[PassRate]:
        """The pass rate of every model and kind of proposals, the most used first."""
        rows: dict[tuple[str, str], list[tuple[str, float | None, bool | None]]] = defaultdict(list)
        for kind, model, *ended in self.values_list("kind", "model_name", "outcome", "distance", "has_passed"):
            rows[kind, model].append((ended[0], ended[1], ended[2]))
        rates = []
        for (kind, model), found in rows.items():
            count = {outcome: sum(other == outcome for other, _, _ in found) for outcome in Proposal.Outcome}
            judged = [passed for _, _, passed in found if passed is not None]
            distances = [distance for _, distance, _ in found if distance is not None]
            rates.append(
                PassRate(
                    kind,
                    model,
                    count[Proposal.Outcome.UNCHANGED],
                    count[Proposal.Outcome.EDITED],
                    count[Proposal.Outcome.REJECTED],
                    count[Proposal.Outcome.OPEN],
                    len(judged),
                    sum(judged),
                    len(distances),
                    sum(judged) / len(judged) if judged else None,
                    sum(distances) / len(distances) if distances else None,
                )
            )
        return sorted(rates, key=lambda r: (-(r.unchanged + r.edited + r.rejected), r.kind, r.model))


class Proposal(models.Model):
    """A model's proposal, and what became of it."""

    class Kind(models.TextChoices):
        SESSIONS = "sessions", "sessions"
        CUTS = "cuts", "cuts"
        REWRITE = "rewrite", "rewrite"

    class Outcome(models.TextChoices):
        OPEN = "", "not decided"
        UNCHANGED = "unchanged", "accepted unchanged"
        EDITED = "edited", "accepted, then edited"
        REJECTED = "rejected", "rejected"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="proposals")
    session = models.ForeignKey(Session, models.CASCADE, null=True, blank=True, related_name="proposals")
    assignment = models.ForeignKey(Assignment, models.CASCADE, null=True, blank=True, related_name="proposals")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    model_name = models.CharField(max_length=200)
    score = models.FloatField(null=True, blank=True, help_text="How sure the model said it was, 0 … 1.")
    provenance = models.JSONField(default=dict, blank=True, help_text="What a model from elsewhere said of itself.")
    content = models.JSONField()
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.OPEN, blank=True)
    distance = models.FloatField(null=True, blank=True, help_text="Edit distance of the result to it, 0 … 1.")
    has_passed = models.BooleanField(
        null=True, blank=True, help_text="Whether verifiers passed what was proposed, as it was. Empty: not judged yet."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    objects = ProposalQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.kind} by {self.model_name}"

    def describe(self, score: float | None, provenance: dict[str, Any]) -> None:
        """Keep how sure a model from elsewhere was of its proposal, and what it said of itself."""
        self.score, self.provenance = score, provenance
        self.save(update_fields=["score", "provenance"])
