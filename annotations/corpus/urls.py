"""Pages of datasets and what is in them."""

from django.urls import path

from annotations.corpus.browse import rationale_views, views
from annotations.corpus.correct import turn_views as turn_correction_views
from annotations.corpus.correct import views as correction_views

urlpatterns = [
    path("datasets/", views.datasets, name="datasets"),
    path("datasets/<slug:name>/", views.dataset, name="dataset"),
    path("conversations/<int:pk>/", views.conversation, name="conversation"),
    path("conversations/<int:pk>/flag/", turn_correction_views.flag_conversation, name="conversation-flag"),
    path("steps/<int:pk>/", views.step, name="step"),
    path("steps/<int:pk>/tree/", views.step_tree, name="step-tree"),
    path("steps/<int:pk>/changes/", views.step_changes_part, name="step-changes"),
    path("steps/<int:pk>/correction/", correction_views.ask_correction, name="correction-ask"),
    path("steps/<int:pk>/turn-correction/", turn_correction_views.ask_turn_correction, name="turn-correction-ask"),
    path("turn-corrections/<int:pk>/", turn_correction_views.turn_correction, name="turn-correction"),
    path("corrections/", correction_views.corrections, name="corrections"),
    path("corrections/<int:pk>/", correction_views.correction, name="correction"),
    path("steps/<int:pk>/rationale/", rationale_views.explain_step, name="step-rationale"),
]
