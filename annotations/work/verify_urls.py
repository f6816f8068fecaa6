"""Pages of annotation work: verifying, agreement, feedback on gold items."""

from django.urls import path

from annotations.work import verify_views as views

urlpatterns = [
    path("verify/<int:pk>/", views.verify, name="annotate-verify"),
    path("verify/<int:pk>/judge/", views.judge, name="annotate-verify-judge"),
    path("verify/<int:pk>/give-back/", views.give_back, name="annotate-verify-give-back"),
]
