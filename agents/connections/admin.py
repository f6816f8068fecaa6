"""Admin of endpoints, and of what they answered."""

from django.contrib import admin

from agents.models import (
    Connection,
    LlmReply,
    TextEmbedding,
)
from annotations.admin_base import MadeElsewhere, ShowsGold, SuperuserOnly, as_json


@admin.register(Connection)
class ConnectionAdmin(SuperuserOnly, MadeElsewhere):
    """Connections, read only: they are made and changed on their own pages, which encrypt the key and never show it."""

    list_display = ["name", "kind", "model", "base_url", "private", "is_default", "tested_at", "created_by"]
    list_select_related = ["created_by"]
    list_filter = ["kind"]
    search_fields = ["name", "model", "base_url"]
    exclude = ["sealed_key"]


@admin.register(TextEmbedding)
class TextEmbeddingAdmin(MadeElsewhere):
    heavy = ("vector",)
    list_display = ["key", "model", "created_at"]
    list_filter = ["model"]
    search_fields = ["key__startswith"]
    date_hierarchy = "created_at"
    fields = ["key", "model", "created_at"]


@admin.register(LlmReply)
class LlmReplyAdmin(MadeElsewhere, ShowsGold):
    heavy = ("request", "reply")
    list_display = ["key", "model", "created_at"]
    list_filter = ["model"]
    search_fields = ["key", "model"]
    date_hierarchy = "created_at"
    readonly_fields = ["request_text", "reply_text"]
    exclude = ["request", "reply"]

    @admin.display(description="request")
    def request_text(self, row: LlmReply) -> str:
        return as_json(row.request)

    @admin.display(description="reply")
    def reply_text(self, row: LlmReply) -> str:
        return as_json(row.reply)
