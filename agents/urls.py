"""Pages of the agents app: recipes, runs; replay pages are in `replay_views`."""

from django.urls import path

from agents import recipe_views, replay_views, views

urlpatterns = [
    path("recipes/", recipe_views.recipes, name="recipes"),
    path("recipes/<slug:name>/", recipe_views.recipe, name="recipe"),
    path("recipes/<slug:name>/derive/", recipe_views.derive, name="recipe-derive"),
    path("runs/", views.runs, name="runs"),
    path("runs/<int:pk>/", views.run, name="run"),
    path("runs/<int:pk>/state/", views.run_state, name="run-state"),
    path("trajectories/<int:pk>/", replay_views.trajectory, name="trajectory"),
    path("trajectories/<int:pk>/steps/<int:seq>/", replay_views.trajectory_step, name="trajectory-step"),
    path("trajectories/<int:pk>/steps/<int:seq>/view/", replay_views.step_view, name="trajectory-step-view"),
    path("trajectories/<int:pk>/steps/<int:seq>/tree/", replay_views.step_tree, name="trajectory-step-tree"),
]
