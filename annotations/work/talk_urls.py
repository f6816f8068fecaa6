"""Pages of annotation work: comments, the inbox, webhooks, the audit trail."""

from django.urls import path

from annotations.work import talk_views

urlpatterns = [
    path("sessions/<int:pk>/comments/", talk_views.of_session, name="annotate-comments"),
    path("comments/<int:pk>/<slug:what>/", talk_views.change, name="annotate-comment-change"),
    path("inbox/", talk_views.inbox, name="annotate-inbox"),
    path("inbox/seen/", talk_views.seen, name="annotate-inbox-seen"),
]
