"""Admin of what people wrote, and of each edit."""

from django.contrib import admin

from annotations.admin_base import MadeElsewhere, ShowsGold
from annotations.models import (
    Edit,
    Part,
)


@admin.register(Part)
class PartAdmin(MadeElsewhere, ShowsGold):
    list_display = ["pk", "assignment_id", "first_step_id", "instruction", "rewrite"]
    search_fields = ["instruction", "rewrite"]


@admin.register(Edit)
class EditAdmin(MadeElsewhere, ShowsGold):
    list_display = ["assignment_id", "version", "kind", "field", "user", "at"]
    list_select_related = ["user"]
    list_filter = ["kind"]
    search_fields = ["user__username", "assignment__item__session__name"]
