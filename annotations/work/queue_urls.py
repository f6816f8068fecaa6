"""Pages of annotation work: my queue, campaigns, assignment, the bin."""

from django.urls import path

from annotations.work import assign_views, campaign_views, queue_views

urlpatterns = [
    path("", queue_views.queue, name="annotate-queue"),
    path("next/", queue_views.next_item, name="annotate-next"),
    path("assignments/<int:pk>/let-go/", queue_views.give_back, name="annotate-let-go"),
    path("bin/", campaign_views.bin_page, name="annotate-bin"),
    path("campaigns/", campaign_views.campaigns, name="annotate-campaigns"),
    path("campaigns/new/", campaign_views.new, name="annotate-campaign-new"),
    path("campaigns/<int:pk>/", campaign_views.campaign, name="annotate-campaign"),
    path("campaigns/<int:pk>/edit/", campaign_views.edit, name="annotate-campaign-edit"),
    path("campaigns/<int:pk>/close/", campaign_views.close, name="annotate-campaign-close"),
    path("campaigns/<int:pk>/delete/", campaign_views.delete, name="annotate-campaign-delete"),
    path("campaigns/<int:pk>/restore/", campaign_views.restore, name="annotate-campaign-restore"),
    path("campaigns/<int:pk>/guidelines/", campaign_views.guideline, name="annotate-guidelines"),
    path("campaigns/<int:pk>/assign/", assign_views.assign, name="annotate-assign"),
    path("campaigns/<int:pk>/assign/take-back/", assign_views.take_back, name="annotate-take-back"),
    path("sessions/<int:pk>/restore/", campaign_views.restore_session, name="annotate-session-restore"),
]
