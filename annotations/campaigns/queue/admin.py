"""Admin of who does which work."""

from django.contrib import admin

from annotations.admin_base import MadeElsewhere
from annotations.models import (
    Assignment,
    Item,
)


@admin.register(Item)
class ItemAdmin(MadeElsewhere):
    list_display = ["session", "stage", "state", "overlap", "opened_at", "finished_at"]
    list_select_related = ["session"]
    list_filter = ["stage", "state"]
    search_fields = ["session__name"]


@admin.register(Assignment)
class AssignmentAdmin(MadeElsewhere):
    list_display = ["session", "stage", "user", "slot", "state", "review", "round", "version", "lease_until"]
    list_select_related = ["item__session", "user"]
    list_filter = ["item__stage", "state", "review"]
    search_fields = ["item__session__name", "user__username"]

    @admin.display(ordering="item__session__name")
    def session(self, assignment: Assignment) -> str:
        return assignment.item.session.name

    @admin.display(ordering="item__stage")
    def stage(self, assignment: Assignment) -> str:
        return assignment.item.stage
