"""Pages of annotation work: comments, the inbox, webhooks, the audit trail."""

from django.urls import path

from annotations.work import audit_views, talk_views, webhook_views

urlpatterns = [
    path("sessions/<int:pk>/comments/", talk_views.of_session, name="annotate-comments"),
    path("comments/<int:pk>/<slug:what>/", talk_views.change, name="annotate-comment-change"),
    path("audit/", audit_views.audit, name="annotate-audit"),
    path("audit/<slug:slug>/export.jsonl", audit_views.export, {"kind": "jsonl"}, name="annotate-audit-jsonl"),
    path("audit/<slug:slug>/export.csv", audit_views.export, {"kind": "csv"}, name="annotate-audit-csv"),
    path("inbox/", talk_views.inbox, name="annotate-inbox"),
    path("webhooks/", webhook_views.webhooks, name="annotate-webhooks"),
    path("webhooks/add/<slug:slug>/", webhook_views.add, name="annotate-webhook-add"),
    path("webhooks/<int:pk>/", webhook_views.log, name="annotate-webhook"),
    path("webhooks/<int:pk>/secret/", webhook_views.new_secret, name="annotate-webhook-secret"),
    path("webhooks/<int:pk>/pause/", webhook_views.pause, name="annotate-webhook-pause"),
    path("webhooks/<int:pk>/remove/", webhook_views.remove, name="annotate-webhook-remove"),
    path("deliveries/<int:pk>/replay/", webhook_views.replay, name="annotate-delivery-replay"),
    path("inbox/seen/", talk_views.seen, name="annotate-inbox-seen"),
]
