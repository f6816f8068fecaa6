"""Pages of annotation work: document."""

from django.urls import path

from annotations.work import document_views as views
from annotations.work import page_views

urlpatterns = [
    path("assignments/<int:pk>/", page_views.item, name="annotate-item"),
    path("assignments/<int:pk>/document/", views.show, name="annotate-document"),
    path("assignments/<int:pk>/edits/", views.save, name="annotate-edits"),
    path("assignments/<int:pk>/undo/", views.undo, name="annotate-undo"),
    path("assignments/<int:pk>/redo/", views.redo, name="annotate-redo"),
    path("assignments/<int:pk>/lease/", views.beat, name="annotate-lease"),
    path("assignments/<int:pk>/take/", views.take, name="annotate-take"),
    path("assignments/<int:pk>/submit/", views.submit, name="annotate-submit"),
    path("assignments/<int:pk>/give-back/", views.give_back, name="annotate-give-back"),
    path("assignments/<int:pk>/propose/", views.propose, name="annotate-propose"),
    path("assignments/<int:pk>/history/", views.history, name="annotate-history"),
    path("assignments/<int:pk>/pages/", views.pages, name="annotate-pages"),
    path("assignments/<int:pk>/steps/<int:step_pk>/frame/", views.step_frame, name="annotate-step-frame"),
    path("assignments/<int:pk>/steps/<int:step_pk>/tree/", views.step_tree, name="annotate-step-tree"),
]
