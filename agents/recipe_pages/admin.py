"""Admin of saved recipes."""

from django.contrib import admin

from agents.models import (
    SavedRecipe,
)
from annotations.admin_base import MadeElsewhere


@admin.register(SavedRecipe)
class SavedRecipeAdmin(MadeElsewhere):
    list_display = ["name", "parent", "description", "project", "created_by", "created_at"]
    list_select_related = ["project", "created_by"]
    list_filter = ["project"]
    search_fields = ["name", "parent", "description"]
