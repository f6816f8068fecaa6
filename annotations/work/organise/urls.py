"""Pages of organising."""

from django.urls import path

from annotations.work.organise import views

urlpatterns = [
    path("campaigns/<int:pk>/organise/", views.organise, name="annotate-organise"),
    path("campaigns/<int:pk>/organise/change/", views.change, name="annotate-organise-change"),
    path("campaigns/<int:pk>/organise/propose/", views.propose, name="annotate-organise-propose"),
    path("campaigns/<int:pk>/organise/peek/", views.peek, name="annotate-organise-peek"),
    path("campaigns/<int:pk>/open/", views.open_work, name="annotate-open-work"),
]
