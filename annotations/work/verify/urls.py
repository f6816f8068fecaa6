"""Addresses of verifying, agreement, and feedback on gold items."""

from django.urls import path

from annotations.work.verify import agreement_views, bulk_views, curation_views, dispute_views, views

urlpatterns = [
    path("verify/<int:pk>/", views.verify, name="annotate-verify"),
    path("verify/<int:pk>/judge/", views.judge, name="annotate-verify-judge"),
    path("verify/<int:pk>/give-back/", views.give_back, name="annotate-verify-give-back"),
    path("disputes/", dispute_views.disputes, name="annotate-disputes"),
    path("disputes/<int:pk>/", dispute_views.dispute, name="annotate-dispute"),
    path("curate/<int:pk>/<int:other>/", curation_views.curate, name="annotate-curate"),
    path("campaigns/<int:pk>/bulk/", bulk_views.bulk_accept, name="annotate-bulk"),
    path("campaigns/<int:pk>/agreement/", agreement_views.agreement, name="annotate-agreement"),
    path("campaigns/<int:pk>/agreement/rows/", agreement_views.comparisons, name="annotate-comparisons"),
    path("sessions/<int:pk>/gold/", agreement_views.make_gold, name="annotate-make-gold"),
    path("feedback/<int:pk>/", agreement_views.feedback, name="annotate-feedback"),
]
