"""Admin of what is forecast of the guard, and labelled."""

from django.contrib import admin

from annotations.admin_base import MadeElsewhere, ShowsGold
from evaluation.models import (
    RiskForecast,
    RiskLabel,
)


@admin.register(RiskForecast)
class RiskForecastAdmin(MadeElsewhere, ShowsGold):
    list_display = ["step_id", "looks_risky", "place", "transitions", "made_at"]
    list_filter = ["looks_risky"]
    search_fields = ["=step__id"]


@admin.register(RiskLabel)
class RiskLabelAdmin(MadeElsewhere, ShowsGold):
    list_display = ["step_id", "person", "kind", "created_at"]
    list_select_related = ["person"]
    list_filter = ["kind"]
    search_fields = ["=step__id", "person__username"]
