"""Pages of campaigns."""

from django.urls import path

from annotations.campaigns import assign_views, row_views, views, work_views

urlpatterns = [
    path("bin/", views.bin_page, name="annotate-bin"),
    path("campaigns/", views.campaigns, name="annotate-campaigns"),
    path("campaigns/new/", views.new, name="annotate-campaign-new"),
    path("campaigns/<int:pk>/", views.campaign, name="annotate-campaign"),
    path("campaigns/<int:pk>/edit/", views.edit, name="annotate-campaign-edit"),
    path("campaigns/<int:pk>/close/", views.close, name="annotate-campaign-close"),
    path("campaigns/<int:pk>/delete/", views.delete, name="annotate-campaign-delete"),
    path("campaigns/<int:pk>/restore/", views.restore, name="annotate-campaign-restore"),
    path("campaigns/<int:pk>/guidelines/", views.guideline, name="annotate-guidelines"),
    path("campaigns/<int:pk>/table/", work_views.work, name="annotate-campaign-work"),
    path("campaigns/<int:pk>/places/", row_views.places, name="annotate-campaign-places"),
    path("campaigns/<int:pk>/proposals/", row_views.proposals, name="annotate-campaign-proposals"),
    path("campaigns/<int:pk>/assign/", assign_views.assign, name="annotate-assign"),
    path("campaigns/<int:pk>/assign/take-back/", assign_views.take_back, name="annotate-take-back"),
    path("sessions/<int:pk>/restore/", views.restore_session, name="annotate-session-restore"),
]
