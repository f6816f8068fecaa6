"""Pages of the agents app: recipes, runs; replay pages are in `replay_views`."""

from django.urls import path

from agents import replay_views, views

urlpatterns = [
    path("agents/", views.recipes, name="recipes"),
    path("runs/", views.runs, name="runs"),
    path("runs/<int:pk>/", views.run, name="run"),
    path("runs/<int:pk>/state/", views.run_state, name="run-state"),
    path("trajectories/<int:pk>/", replay_views.trajectory, name="trajectory"),
    path("trajectories/<int:pk>/steps/<int:seq>/", replay_views.trajectory_step, name="trajectory-step"),
    path("trajectories/<int:pk>/steps/<int:seq>/view/", replay_views.step_view, name="trajectory-step-view"),
    path("trajectories/<int:pk>/steps/<int:seq>/tree/", replay_views.step_tree, name="trajectory-step-tree"),
]
