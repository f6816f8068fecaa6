"""Admin of keys that people chose."""

from django.contrib import admin

from annotations.admin_base import MadeElsewhere
from annotations.models import (
    KeyMap,
)


@admin.register(KeyMap)
class KeyMapAdmin(MadeElsewhere):
    list_display = ["user"]
    list_select_related = ["user"]
    search_fields = ["user__username"]
