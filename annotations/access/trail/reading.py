"""Reads the trail of access: what a user may see of it, filters, and all of it as rows to download."""

from collections.abc import Iterator
from typing import Any

import django_filters
from django.db.models import Q, QuerySet

from annotations.access import rules
from annotations.models import AccessEvent

COLUMNS = (
    *("id", "at", "action", "ok", "what", "actor_id", "actor_name", "subject", "project_id", "project_name"),
    *("door", "address", "client"),
)
CHUNK = 500


def visible(user: rules.User) -> QuerySet[AccessEvent]:
    """Superusers see everything; admins what happened in their projects."""
    rows = AccessEvent.objects.all()
    if user.is_active and user.is_superuser:
        return rows
    return rows.filter(project_id__in=rules.project_ids(user, "manage"))


class TrailFilter(django_filters.FilterSet):
    """Filters of the trail of access, the same over the API and on the page."""

    who = django_filters.CharFilter(method="by_person", label="Who it was or whom it is about.")
    after = django_filters.IsoDateTimeFilter("at", "gte")
    before = django_filters.IsoDateTimeFilter("at", "lt")
    project = django_filters.NumberFilter("project_id")

    class Meta:
        model = AccessEvent
        fields = ["action", "ok", "door", "address"]

    def by_person(self, rows: QuerySet, name: str, value: str) -> QuerySet:
        return rows.filter(Q(actor_name=value) | Q(subject=value))


def stream(rows: QuerySet[AccessEvent]) -> Iterator[dict[str, Any]]:
    """The events as rows for a download, oldest first, in constant memory."""
    for row in rows.order_by("id").values(*COLUMNS).iterator(CHUNK):
        yield row | {"at": row["at"].isoformat()}
