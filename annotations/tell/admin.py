"""Admin of webhooks."""

from django.contrib import admin

from annotations.admin_base import MadeElsewhere, SuperuserOnly
from annotations.models import (
    Delivery,
    Webhook,
)


@admin.register(Webhook)
class WebhookAdmin(SuperuserOnly):
    """Webhooks in the admin, for superusers only: their rows hold the secrets that deliveries are signed with."""

    list_display = ["url", "project", "is_active", "created_by", "created_at"]
    list_select_related = ["project", "created_by"]
    search_fields = ["url", "project__name"]


@admin.register(Delivery)
class DeliveryAdmin(MadeElsewhere):
    list_display = ["event", "webhook", "state", "attempts", "created_at", "sent_at"]
    list_select_related = ["webhook"]
    list_filter = ["event", "state"]
    search_fields = ["event", "webhook__url"]
