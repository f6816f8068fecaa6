"""Pages of the audit trail and of webhooks."""

from django.urls import path

from annotations.tell import audit_views, webhook_views

urlpatterns = [
    path("audit/", audit_views.audit, name="annotate-audit"),
    path("audit/<slug:slug>/export.jsonl", audit_views.export, {"kind": "jsonl"}, name="annotate-audit-jsonl"),
    path("audit/<slug:slug>/export.csv", audit_views.export, {"kind": "csv"}, name="annotate-audit-csv"),
    path("webhooks/", webhook_views.webhooks, name="annotate-webhooks"),
    path("webhooks/add/<slug:slug>/", webhook_views.add, name="annotate-webhook-add"),
    path("webhooks/<int:pk>/", webhook_views.log, name="annotate-webhook"),
    path("webhooks/<int:pk>/secret/", webhook_views.new_secret, name="annotate-webhook-secret"),
    path("webhooks/<int:pk>/pause/", webhook_views.pause, name="annotate-webhook-pause"),
    path("webhooks/<int:pk>/remove/", webhook_views.remove, name="annotate-webhook-remove"),
    path("deliveries/<int:pk>/again/", webhook_views.send_again, name="annotate-delivery-again"),
]
