"""Admin of campaigns: rows are looked up here, and made and changed on the pages."""

from django.contrib import admin

from annotations.admin_base import MadeElsewhere, ShowsGold
from annotations.models import (
    Campaign,
    Guideline,
    Session,
    SessionTask,
)


@admin.register(Campaign)
class CampaignAdmin(MadeElsewhere):
    list_display = ["name", "project", "source", "target", "mode", "overlap", "created_at", "closed_at", "deleted_at"]
    list_select_related = ["project", "source", "target"]
    list_filter = ["project", "mode", "closed_at", "deleted_at"]
    search_fields = ["name", "project__name", "source__name"]


@admin.register(Guideline)
class GuidelineAdmin(MadeElsewhere):
    list_display = ["campaign", "version", "created_by", "created_at"]
    list_select_related = ["campaign", "created_by"]
    search_fields = ["campaign__name", "text"]


@admin.register(Session)
class SessionAdmin(MadeElsewhere, ShowsGold):
    list_display = ["name", "campaign", "website", "split", "batch", "weight", "is_gold", "deleted_at"]
    list_select_related = ["campaign", "website"]
    list_filter = ["campaign", "split", "is_gold", "deleted_at"]
    search_fields = ["name", "batch", "campaign__name"]


@admin.register(SessionTask)
class SessionTaskAdmin(MadeElsewhere):
    list_display = ["session", "position", "conversation"]
    list_select_related = ["session", "conversation"]
    search_fields = ["session__name", "conversation__source_id"]
