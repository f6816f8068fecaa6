"""Who may do what, and what is shown to whom: the one place that pages, API, WebSocket and exports ask.

Objects of other projects do not exist for a user: every queryset is narrowed by `visible`, so they give 404.

**The gold boundary.** The gold of test splits is for admins and for members with the right to see it. A conversation
of a test split is *hidden* from everybody else: they are shown its ids, site, split and place, what its user said, how
many steps it has, and its *opening*: the page, the screenshot and the candidates (which ones are gold is not told,
neither by a flag nor by their order) of its first step. All else is gold and is not shown (`Sight`): actions and
targets; every later page, as it shows what the gold action before it did; the recorder's ids; rationales and memory;
whatever an agent did at any of its steps, as it was given earlier gold actions; whether it was right; and messages of
jobs and runs that may quote any of this. A step whose pages were never searched for recorder's marks shows no page.

Told on purpose, because they are about whole runs, splits and releases and not about one step: scores and their
intervals, numbers of steps, decided steps and failed ones, tokens, time and cost of a run; checksums; the statistics
and the datasheet of a release; which of its conversations a release changed. Aggregates below a run (by reason, by
site, by turn) are gold.

Annotating test data needs the right too, in the queue, when work is given by name, and again at every request: who
loses it keeps the assignment and sees nothing of it. There is no exception for the holder of an item.

Addresses of rendered pages carry the permissions of whom they were made for (`Rights.epoch`) and die with them.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import cached_property, reduce
from operator import or_
from typing import Any, TypeVar

from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest

from annotations.datasets.records import CandidateRecord
from annotations.models import Job, Membership, Project, Role, Split, Step
from annotations.models.accounts.projects import ABILITIES, User

# From each model to its project.
Rows = TypeVar("Rows", bound=QuerySet[Any])

PROJECT_PATHS = {
    "Project": "",
    "Membership": "project",
    "Invite": "project",
    "AccessEvent": "project_id",
    "Dataset": "project",
    "Job": "project",
    "TrainedModel": "project",
    "PromptPack": "project",
    "Study": "project",
    "Website": "dataset__project",
    "SourceTask": "dataset__project",
    "Conversation": "dataset__project",
    "Turn": "conversation__dataset__project",
    "Step": "turn__conversation__dataset__project",
    "Target": "step__turn__conversation__dataset__project",
    "Rationale": "step__turn__conversation__dataset__project",
    "MemorySnippet": "conversation__dataset__project",
    "Exemplar": "dataset__project",
    "Workflow": "dataset__project",
    "Campaign": "project",
    "Guideline": "campaign__project",
    "Session": "campaign__project",
    "SessionTask": "campaign__project",
    "Proposal": "campaign__project",
    "Item": "session__campaign__project",
    "Assignment": "item__session__campaign__project",
    "Part": "assignment__item__session__campaign__project",
    "Edit": "assignment__item__session__campaign__project",
    "Verdict": "assignment__item__session__campaign__project",
    "Correction": "step__turn__conversation__dataset__project",
    "TurnCorrection": "turn__conversation__dataset__project",
    "SentBack": "rewrite__item__session__campaign__project",
    "BulkAccept": "campaign__project",
    "HeldBack": "bulk__campaign__project",
    "Dispute": "assignment__item__session__campaign__project",
    "Curation": "first__item__session__campaign__project",
    "CurationChoice": "curation__first__item__session__campaign__project",
    "Defect": "verdict__assignment__item__session__campaign__project",
    "Comment": "session__campaign__project",
    "Webhook": "project",
    "Delivery": "webhook__project",
    "Release": "dataset__project",
    "ReleasedConversation": "release__dataset__project",
    "Redaction": "dataset__project",
    "Run": "dataset__project",
    "Trajectory": "run__dataset__project",
    "TrajectoryStep": "run__dataset__project",
    "StepPicture": "step__run__dataset__project",
    "GuardRule": "project",
    "HeldStep": "trajectory__run__dataset__project",
    "Drive": "trajectory__run__dataset__project",
    "Shard": "run__dataset__project",
    "Score": "run__dataset__project",
    "Review": "trajectory__run__dataset__project",
    "ReviewMention": "review__trajectory__run__dataset__project",
    "JudgeVerdict": "trajectory__run__dataset__project",
    "ReviewReason": "project",
    "ReviewQueue": "project",
    "ReviewTask": "queue__project",
    "RiskForecast": "step__turn__conversation__dataset__project",
    "RiskLabel": "step__turn__conversation__dataset__project",
}
# Pages are stored once by content, whatever the project: one exists for a user when a step of theirs shows it.
PAGE_FIELDS = {"Snapshot": ("snapshot", "raw_snapshot"), "Screenshot": ("screenshot",)}
PAGES_AFTER = {"Snapshot": ("snapshot_after",), "Screenshot": ()}
SPLIT, PROJECT = "turn__conversation__split", "turn__conversation__dataset__project"  # of a step
# Jobs that read the train split and nothing else, so that their messages quote no test data.
READ_TRAIN_ONLY = (Job.Kind.TRAIN, Job.Kind.INDUCE, Job.Kind.TRANSITION)
HIDDEN_MESSAGE = "Hidden with the gold of test splits, which it may quote."
# The step that no gold action precedes, as the fields of a step and as a condition on its rows.
OPENING = Q(turn__index=0, index=0, marks__isnull=False)


class Sight(IntEnum):
    """How much of a step is shown to a user."""

    PLACE = 0  # that it is there, and the words of its turn
    OPENING = 1  # its page, its screenshot and its candidates without flags
    GOLD = 2  # everything


def projects(user: User, ability: str | None = None) -> QuerySet[Project]:
    """Projects that the user belongs to, or in which they have an ability."""
    if not user.is_authenticated or not user.is_active:
        return Project.objects.none()
    return Project.objects.all() if user.is_superuser else Project.objects.filter(pk__in=project_ids(user, ability))


def project_ids(user: User, ability: str | None = None) -> QuerySet:
    """The keys of `projects`, as a subquery without joins, since it is part of nearly every query there is. Not for
    superusers, who are no members."""
    if not user.is_authenticated or not user.is_active:
        return Membership.objects.none().values("project")
    rows = Membership.objects.filter(user_id=user.pk)
    if ability is not None:
        rows = rows.able(ability)
    return rows.values("project")


def visible(user: User, queryset: Rows) -> Rows:
    """The rows of a queryset that the user may know of: those of their projects, all for superusers."""
    if user.is_authenticated and user.is_active and user.is_superuser:
        return queryset
    if queryset.model.__name__ in PAGE_FIELDS:
        return _visible_pages(user, queryset)
    path = PROJECT_PATHS[queryset.model.__name__]
    return queryset.filter(**{f"{path}__in" if path else "pk__in": project_ids(user)})


def _visible_pages(user: User, queryset: Rows) -> Rows:
    """The stored pages and images of steps that the user may see: of hidden steps, only those of the opening."""
    steps, open_ones = visible(user, Step.objects.order_by()), shows_gold(user, SPLIT, PROJECT)
    name = queryset.model.__name__
    ways = [(field, open_ones | OPENING) for field in PAGE_FIELDS[name]]
    ways += [(field, open_ones) for field in PAGES_AFTER[name]]
    shown = [Q(Exists(steps.filter(seen, **{field: OuterRef("pk")}))) for field, seen in ways]
    return queryset.filter(reduce(or_, shown))


def can(user: User, ability: str, project: Project) -> bool:
    return project.lets(user, ability)


def require(user: User, ability: str, project: Project) -> None:
    """Raise PermissionDenied (403) unless the user has the ability; foreign projects never get this far."""
    project.require(user, ability)


def sees_gold(user: User, project: Project | int, split: str) -> bool:
    """Gold actions of test splits are shown only to those who may see them; the project, or its number."""
    of = project if isinstance(project, Project) else Project(pk=project)
    return of.shows_gold(user, split)


def require_gold(user: User, project: Project | int, split: str) -> None:
    """Raise PermissionDenied (403) where the steps of this split may not be shown to the user."""
    if not sees_gold(user, project, split):
        raise PermissionDenied("Its steps show the gold actions of a test split.")


def may_download(user: User, job: Job) -> bool:
    """Whether the user may download a job's export: one that they made and that holds no gold of test splits, or any
    where they see that gold. An export holds what its maker might see when it was made, which can be more than this
    user may see now."""
    own = job.created_by_id == user.pk and job.report.get("test_gold") is False
    return can(user, "export", job.project) and (own or sees_gold(user, job.project_id, Split.TEST_TASK))


def require_download(user: User, job: Job) -> None:
    """PermissionDenied says why a result cannot be had."""
    require(user, "export", job.project)
    if not may_download(user, job):
        raise PermissionDenied("This export may hold gold of test splits; start one of your own.")


def told_of(rights: "Rights", job: Job) -> tuple[dict[str, Any], str]:
    """Report and last error of a job as they are shown to the user: where the job read test data that they may not see,
    messages that may quote it are replaced."""
    own = job.created_by_id == rights.user.pk and job.kind in (Job.Kind.EXPORT, Job.Kind.PROPOSE)
    if own or job.kind in READ_TRAIN_ONLY or rights.sees_gold(job.project_id, Split.TEST_TASK):
        return job.report, job.last_error
    report = {name: value for name, value in job.report.items() if name != "bytes"}  # of an export: what it holds
    if "errors" in report:
        report["errors"] = [error | {"message": HIDDEN_MESSAGE} for error in report["errors"]]
    return report, rights.message(job.last_error, job.project_id, Split.TEST_TASK)


def gold_filter(user: User, queryset: Rows, split_path: str, project_path: str) -> Rows:
    """Leave out rows of test splits whose gold the user may not see, for exports and bulk reads."""
    return queryset if user.is_superuser else queryset.filter(shows_gold(user, split_path, project_path))


def shows_gold(user: User, split_path: str, project_path: str) -> Q:
    """The condition that gold may be shown to the user, on rows from which these paths lead to split and project."""
    if user.is_superuser:
        return ~Q(pk=None)
    open_projects: Any = Membership.objects.filter(user_id=user.pk or 0).seeing_test_gold().values("project")
    return ~Q(**{f"{split_path}__startswith": "test"}) | Q(**{f"{project_path}__in": open_projects})


class Rights:
    """What a user may do and see, read in one query when it is first asked. `rights_of` gives that of a request."""

    def __init__(self, user: User) -> None:
        self.user = user

    @cached_property
    def _memberships(self) -> dict[int, tuple[str, bool]]:
        """Project -> role, whether its gold is seen."""
        rows = Membership.objects.filter(user_id=self.user.pk or 0).order_by("project_id")
        memberships = rows.values_list("project_id", "role", "sees_test_gold")
        return {project: (role, gold) for project, role, gold in memberships}

    @property
    def _is_superuser(self) -> bool:
        return self.user.is_authenticated and self.user.is_active and self.user.is_superuser

    def can(self, ability: str, project_id: int) -> bool:
        if self._is_superuser:
            return True
        role, _ = self._memberships.get(project_id, ("", False))
        return self.user.is_active and ability in ABILITIES.get(role, ())

    def can_somewhere(self, ability: str) -> bool:
        """Whether the ability is theirs in any project."""
        roles = () if self._is_superuser else [role for role, _ in self._memberships.values()]
        return self._is_superuser or (self.user.is_active and any(ability in ABILITIES[role] for role in roles))

    def sees_gold(self, project_id: int, split: str) -> bool:
        """Whether the gold of this split is shown; "" stands for every split."""
        if split and not split.startswith("test"):
            return True
        if self._is_superuser:
            return True
        role, gold = self._memberships.get(project_id, ("", False))
        return role == Role.ADMIN or gold

    def sight(self, project_id: int, split: str, *, opening: bool) -> Sight:
        """How much of a step is shown. `opening`: it is the first one, and was searched for marks (`OPENING`)."""
        if self.sees_gold(project_id, split):
            return Sight.GOLD
        return Sight.OPENING if opening else Sight.PLACE

    def message(self, text: str, project_id: int, split: str) -> str:
        """A job's or a run's message, replaced where it may quote data of its split that the user may not see; ""
        stands for every split."""
        return text if not text or self.sees_gold(project_id, split) else HIDDEN_MESSAGE

    @property
    def epoch(self) -> str:
        """A digest that changes with everything that decides what the user is shown, so that addresses signed with it
        stop working."""
        memberships = [] if self._is_superuser else [(project, *facts) for project, facts in self._memberships.items()]
        return _epoch(self.user.pk, self.user.is_active, self._is_superuser, memberships)


def _epoch(user_id: int | None, is_active: bool, is_superuser: bool, memberships: Sequence[tuple]) -> str:
    return hashlib.sha256(repr((user_id, is_active, is_superuser, list(memberships))).encode()).hexdigest()[:16]


def rights_of(request: HttpRequest) -> Rights:
    """The rights of who asks, read once per request."""
    bare = vars(getattr(request, "_request", request))  # REST framework wraps it
    if (known := bare.get("_rights")) is None or known.user != request.user:
        known = bare["_rights"] = Rights(request.user)
    return known


def holds(user_id: int, epoch: str) -> bool:
    """Whether the permissions of a user are still those of an epoch. One query, for where there is no session."""
    columns = ("project_id", "role", "sees_test_gold")
    rows = get_user_model().objects.filter(pk=user_id).order_by("memberships__project_id")
    found = list(rows.values_list("is_active", "is_superuser", *(f"memberships__{column}" for column in columns)))
    if not found:
        return False
    is_active, is_superuser = found[0][:2]
    everything = is_active and is_superuser
    memberships = [] if everything else [tuple(row[2:]) for row in found if row[2] is not None]
    return _epoch(user_id, is_active, everything, memberships) == epoch


def is_opening(step: Step) -> bool:
    """`OPENING` of a step that comes with its turn."""
    return step.turn.index == 0 and step.index == 0 and step.marks is not None


def unflagged(candidates: Iterable[CandidateRecord], places: Mapping[str, int]) -> list[CandidateRecord]:
    """The candidates of an opening as those see them who may not know which ones are gold: in the order of the page
    (`places` of elements in it), each once. One that is not on the page would tell: only gold elements are kept
    although they were pruned away."""
    found = {candidate.node_id: candidate for candidate in sorted(candidates, key=lambda one: one.attributes)}
    return sorted((one for one in found.values() if one.node_id in places), key=lambda one: places[one.node_id])
