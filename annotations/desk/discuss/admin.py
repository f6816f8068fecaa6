"""Admin of comments."""

from django.contrib import admin

from annotations.admin_base import MadeElsewhere, ShowsGold
from annotations.models import (
    Comment,
    Mention,
)


@admin.register(Comment)
class CommentAdmin(MadeElsewhere, ShowsGold):
    list_display = ["__str__", "session", "author", "created_at", "resolved_at", "deleted_at"]
    list_select_related = ["session", "author"]
    list_filter = ["resolved_at", "deleted_at"]
    search_fields = ["text", "author__username", "session__name"]


@admin.register(Mention)
class MentionAdmin(MadeElsewhere, ShowsGold):
    list_display = ["user", "comment", "seen_at"]
    list_select_related = ["user", "comment"]
    search_fields = ["user__username", "comment__text"]
