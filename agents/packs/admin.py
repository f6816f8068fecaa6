"""Admin of prompts."""

from django.contrib import admin

from agents.models import (
    PromptPack,
)
from annotations.admin_base import MadeElsewhere


@admin.register(PromptPack)
class PromptPackAdmin(MadeElsewhere):
    heavy = ("texts",)
    list_display = ["name", "version", "base", "source", "note", "project", "created_by", "created_at"]
    list_select_related = ["project", "created_by"]
    list_filter = ["project"]
    search_fields = ["name", "source", "note", "sha256__startswith"]
    fields = ["project", "name", "version", "base", "source", "note", "sha256", "texts", "created_by", "created_at"]
