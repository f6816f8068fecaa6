"""Pages of one's queue."""

from django.urls import path

from annotations.work.queue import views

urlpatterns = [
    path("", views.queue, name="annotate-queue"),
    path("next/", views.next_item, name="annotate-next"),
    path("assignments/<int:pk>/let-go/", views.give_back, name="annotate-let-go"),
]
