"""Admin of scores."""

from django.contrib import admin

from annotations.admin_base import MadeElsewhere
from evaluation.models import (
    Score,
)


@admin.register(Score)
class ScoreAdmin(MadeElsewhere):
    list_display = ["run_id", "metric", "grouping", "preset", "headline", "value", "low", "high", "n"]
    list_filter = ["preset", "headline", "metric", "grouping"]
    search_fields = ["=run__id", "metric", "run__recipe_name"]
    search_help_text = "A run's number, a metric or a recipe."
