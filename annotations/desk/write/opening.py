"""Looks up annotations for a user, with the rights that reading or writing needs, for the workbench and for the API."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.shortcuts import get_object_or_404

from annotations.access import rules
from annotations.access.api_rules import ReadOnlyViewSet
from annotations.desk.write.document import readable
from annotations.models import Assignment, NotYours, Stage
from annotations.models.accounts.projects import User

RELATED = ("user", "guideline", "item__session__website", "item__session__campaign__project")


def to_read(user: User, pk: int) -> Assignment:
    """The annotation, for a user who may see it and its gold; Http404 and PermissionDenied otherwise."""
    found: Assignment = get_object_or_404(readable(user, Assignment.objects.select_related(*RELATED)), pk=pk)
    check_gold(user, found)
    return found


def to_take(user: User, pk: int) -> Assignment:
    """An assignment whose lease the user may ask for, somebody else's too: `take` says whether that one has run out.
    Raises as `to_read`."""
    live = Assignment.objects.filter(item__session__deleted_at=None, item__session__campaign__deleted_at=None)
    found: Assignment = get_object_or_404(rules.visible(user, live.select_related(*RELATED)), pk=pk)
    check_gold(user, found)
    return found


def own(user: User, pk: int) -> Assignment:
    """The user's own annotation, under way; NotYours once it was handed in. Raises as `to_read`."""
    found = to_read(user, pk)
    if found.user_id != user.pk:
        raise PermissionDenied("Only the person who does an item writes in it.")
    rules.require(user, "annotate", found.item.session.campaign.project)
    if found.state not in Assignment.UNFINISHED:
        raise NotYours("submitted", "It has been submitted.")
    return found


def locked(user: User, pk: int) -> Assignment:
    """The assignment, locked for writing. 404 where the user may not see it, 403 for others' work.

    Who had it before somebody took it over is not refused here: `check_lease` tells them who has it now.
    """
    found = Assignment.objects.for_saving(pk, user)
    if found is None or found.role is None:
        raise Http404("no such annotation")
    if found.user_id != user.pk and not found.events.filter(user=user).exists():
        get_object_or_404(readable(user), pk=pk)
        raise PermissionDenied("Only the person who does an item writes in it.")
    if "annotate" not in rules.ABILITIES[found.role]:
        rules.require(user, "annotate", found.item.session.campaign.project)
    check_gold(user, found)
    return found


def verification(user: User, pk: int) -> Assignment:
    """A verification of the user's projects; only for those who may review and see its gold."""
    related = (*RELATED, "item__subject__user")
    rows = Assignment.objects.filter(item__stage=Stage.VERIFY, item__session__deleted_at=None)
    found: Assignment = get_object_or_404(rules.visible(user, rows.select_related(*related)), pk=pk)
    rules.require(user, "review", found.item.session.campaign.project)
    check_gold(user, found)
    return found


def two_versions(user: User, pk: int, other: int) -> tuple[Assignment, Assignment]:
    """Two people's versions of one item, the older first; only for those who may review and see its gold."""
    live = Assignment.objects.filter(item__session__deleted_at=None, item__session__campaign__deleted_at=None)
    rows = rules.visible(user, live.exclude(item__stage=Stage.VERIFY).filter(pk__in=(pk, other)))
    found = list(rows.select_related(*RELATED).order_by("pk"))
    if len(found) != 2 or found[0].item_id != found[1].item_id:
        raise Http404("no two versions of one item")
    first, second = found
    rules.require(user, "review", first.item.session.campaign.project)
    check_gold(user, first)
    return first, second


class AboutAnnotations(ReadOnlyViewSet):
    """REST views of rows that belong to an `assignment`, for those who may read that."""

    gold_split = "assignment__item__session__split"
    gold_project = "assignment__item__session__campaign__project"

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(assignment__in=readable(self.request.user))


def check_gold(user: User, assignment: Assignment) -> None:
    """Raise PermissionDenied where the session's split hides its gold from the user."""
    session = assignment.item.session
    rules.require_gold(user, session.campaign.project_id, session.split)
