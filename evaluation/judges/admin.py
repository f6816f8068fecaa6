"""Admin of what judges said."""

from django.contrib import admin

from annotations.admin_base import MadeElsewhere, ShowsGold
from evaluation.models import (
    JudgeVerdict,
)


@admin.register(JudgeVerdict)
class JudgeVerdictAdmin(MadeElsewhere, ShowsGold):
    heavy = ("answers",)
    list_display = ["judge", "model", "trajectory_id", "success", "cost", "judged_at"]
    list_filter = ["judge", "success"]
    search_fields = ["=trajectory__id"]
