"""Admin of what scanners that ask a language model said."""

from django.contrib import admin

from annotations.admin_base import MadeElsewhere, ShowsGold
from evaluation.models import ScannerAnswer


@admin.register(ScannerAnswer)
class ScannerAnswerAdmin(MadeElsewhere, ShowsGold):
    list_display = ["scanner", "model", "step_id", "reason", "cost", "asked_at"]
    list_filter = ["scanner", "reason"]
    search_fields = ["=step__trajectory__id"]
