"""Who may do what: the one place that pages, API, WebSocket and exports ask.

Objects of other projects do not exist for a user: every queryset is narrowed by `visible`, so they give 404.
"""

from functools import reduce
from operator import or_
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotations.models import Membership, Project, Role, Split, Step

User = AbstractBaseUser | AnonymousUser

# What a role may do besides reading; superusers may do everything everywhere. The kinds of jobs are abilities too.
ABILITIES: dict[str, frozenset[str]] = {
    Role.ADMIN: frozenset(
        {
            *("import", "export", "train", "embed", "induce", "refine", "propose", "release"),
            *("evaluate", "review", "annotate", "manage"),
        }
    ),
    Role.REVIEWER: frozenset({"export", "review"}),
    Role.ANNOTATOR: frozenset({"annotate", "propose"}),
    Role.READER: frozenset(),
}
# From each model to its project.
PROJECT_PATHS = {
    "Project": "",
    "Membership": "project",
    "Invite": "project",
    "AccessEvent": "project_id",
    "Dataset": "project",
    "Job": "project",
    "TrainedModel": "project",
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
    "Shard": "run__dataset__project",
    "Score": "run__dataset__project",
}
# Pages are stored once by content, whatever the project: one exists for a user when a step of theirs shows it.
PAGE_FIELDS = {"Snapshot": ("snapshot", "raw_snapshot", "snapshot_after"), "Screenshot": ("screenshot",)}


def projects(user: User, ability: str | None = None) -> QuerySet[Project]:
    """Projects that the user belongs to, or in which they have an ability."""
    if not user.is_authenticated or not user.is_active:
        return Project.objects.none()
    return Project.objects.all() if user.is_superuser else Project.objects.filter(pk__in=project_ids(user, ability))


def project_ids(user: User, ability: str | None = None) -> QuerySet:
    """The same as a subquery without joins, for whoever is no superuser: it is part of nearly every query there is."""
    if not user.is_authenticated or not user.is_active:
        return Membership.objects.none().values("project")
    rows = Membership.objects.filter(user_id=user.pk)
    if ability is not None:
        rows = rows.filter(role__in=[role for role, abilities in ABILITIES.items() if ability in abilities])
    return rows.values("project")


def visible(user: User, queryset: QuerySet) -> QuerySet:
    """The rows of a queryset that exist for this user."""
    if user.is_authenticated and user.is_active and user.is_superuser:
        return queryset
    if fields := PAGE_FIELDS.get(queryset.model.__name__):
        steps = visible(user, Step.objects.order_by())
        shown = [Q(Exists(steps.filter(**{field: OuterRef("pk")}))) for field in fields]
        return queryset.filter(reduce(or_, shown))
    path = PROJECT_PATHS[queryset.model.__name__]
    return queryset.filter(**{f"{path}__in" if path else "pk__in": project_ids(user)})


def can(user: User, ability: str, project: Project) -> bool:
    if user.is_authenticated and user.is_active and user.is_superuser:
        return True
    return project_ids(user, ability).filter(project=project).exists()


def require(user: User, ability: str, project: Project) -> None:
    """Raise PermissionDenied (403) unless the user has the ability; foreign projects never get this far."""
    if not can(user, ability, project):
        raise PermissionDenied(f"This needs a role that may {ability} in {project}; ask one of its admins.")


def sees_gold(user: User, project: Project | int, split: str) -> bool:
    """Gold actions of test splits are shown only to those who may see them; the project, or its number."""
    if not split.startswith("test"):
        return True
    if user.is_superuser:
        return True
    may = Q(role=Role.ADMIN) | Q(sees_test_gold=True)
    return Membership.objects.filter(may, user_id=user.pk, project=project).exists()


def require_gold(user: User, project: Project | int, split: str) -> None:
    """Raise PermissionDenied (403) where the steps of this split may not be shown to the user."""
    if not sees_gold(user, project, split):
        raise PermissionDenied("Its steps show the gold actions of a test split.")


def may_download(user: User, project: Project, maker_id: int | None) -> bool:
    """An export holds what its maker may see, which can be more than this reader may."""
    return can(user, "export", project) and (maker_id == user.pk or sees_gold(user, project, Split.TEST_TASK))


def require_download(user: User, project: Project, maker_id: int | None) -> None:
    """PermissionDenied says why a result cannot be had."""
    require(user, "export", project)
    if not may_download(user, project, maker_id):
        raise PermissionDenied("Others' exports may hold gold of test splits; start one of your own.")


def gold_filter(user: User, queryset: QuerySet, split_path: str, project_path: str) -> QuerySet:
    """Leave out rows of test splits whose gold the user may not see, for exports and bulk reads."""
    if user.is_superuser:
        return queryset
    may = Q(role=Role.ADMIN) | Q(sees_test_gold=True)
    open_projects: Any = Membership.objects.filter(may, user_id=user.pk).values("project")
    return queryset.filter(~Q(**{f"{split_path}__startswith": "test"}) | Q(**{f"{project_path}__in": open_projects}))
