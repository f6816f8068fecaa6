"""Admin of what waits for a person, and of the rules of the guard."""

from django.contrib import admin

from agents.models import (
    Drive,
    GuardRule,
    HeldStep,
)
from annotations.admin_base import MadeElsewhere, ShowsGold


@admin.register(HeldStep)
class HeldStepAdmin(MadeElsewhere, ShowsGold):
    list_display = ["__str__", "trajectory_id", "kind", "state", "decided_by", "held_at", "decided_at"]
    list_select_related = ["decided_by"]
    list_filter = ["state", "kind", "by"]
    search_fields = ["=trajectory__id", "representation", "why", "reason"]
    search_help_text = "A trajectory's number, or words of the action or the reasons."
    date_hierarchy = "held_at"
    raw_id_fields = ["trajectory", "snapshot"]


@admin.register(Drive)
class DriveAdmin(MadeElsewhere, ShowsGold):
    heavy = ("picture", "window")
    list_display = ["__str__", "trajectory_id", "person", "state", "began_at", "ended_at"]
    list_select_related = ["person"]
    list_filter = ["state"]
    search_fields = ["=trajectory__id", "person__username"]
    search_help_text = "A trajectory's number, or a name."
    date_hierarchy = "began_at"
    raw_id_fields = ["trajectory", "person"]
    exclude = ["picture"]


@admin.register(GuardRule)
class GuardRuleAdmin(admin.ModelAdmin):
    list_display = ["__str__", "project", "website", "of", "pattern", "kind"]
    list_select_related = ["project"]
    list_filter = ["of", "kind", "project"]
    search_fields = ["website", "pattern"]
