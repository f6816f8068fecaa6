"""Pages of the agents app: recipes, models, runs, replay, workflows and memory."""

from django.urls import path

from agents.connections import views as connection_views
from agents.holding import driving_views
from agents.holding import views as holding_views
from agents.live import views as live_views
from agents.memory import views as workflow_views
from agents.packs import views as pack_views
from agents.recipe_pages import views as recipe_views
from agents.replay import file_views as replay_file_views
from agents.replay import views as replay_views
from agents.runs import views
from agents.training.trained import views as training_views

urlpatterns = [
    path("recipes/", recipe_views.recipes, name="recipes"),
    path("recipes/<slug:name>/", recipe_views.recipe, name="recipe"),
    path("recipes/<slug:name>/derive/", recipe_views.derive, name="recipe-derive"),
    path("prompts/", pack_views.prompt_packs, name="prompt-packs"),
    path("prompts/webnav/", pack_views.packaged_pack, name="prompt-pack-packaged"),
    path("prompts/new/", pack_views.prompt_pack_new, name="prompt-pack-new"),
    path("prompts/<int:pk>/", pack_views.prompt_pack, name="prompt-pack"),
    path("prompts/<int:pk>/edit/", pack_views.prompt_pack_edit, name="prompt-pack-edit"),
    path("prompts/steps/<int:pk>/", pack_views.prompt_preview, name="prompt-preview"),
    path("recipes/<slug:name>/prepare/", recipe_views.prepare, name="recipe-prepare"),
    path("prepare-recipes/", recipe_views.prepare, name="recipes-prepare"),
    path("models/", training_views.models, name="models"),
    path("models/<slug:name>/", training_views.model, name="model"),
    path("models/<slug:name>/curve.csv", training_views.model_curve, name="model-curve"),
    path("models/<slug:name>/state/", training_views.model_state, name="model-state"),
    path("models/<slug:name>/delete/", training_views.model_delete, name="model-delete"),
    path("connections/", connection_views.connections, name="connections"),
    path("connections/<slug:name>/", connection_views.connection, name="connection"),
    path("connections/<slug:name>/test/", connection_views.connection_test, name="connection-test"),
    path("connections/<slug:name>/delete/", connection_views.connection_delete, name="connection-delete"),
    path("embedded-model/test/", connection_views.embedded_test, name="embedded-test"),
    path("live-goals/", live_views.goals_new, name="live-goals"),
    path("held/", holding_views.held_steps, name="held-steps"),
    path("held/<int:pk>/", holding_views.held_step_decide, name="held-step-decide"),
    path("guard/<slug:slug>/", holding_views.guard_rules, name="guard-rules"),
    path("runs/", views.runs, name="runs"),
    path("runs/<int:pk>/", views.run, name="run"),
    path("runs/<int:pk>/state/", views.run_state, name="run-state"),
    path("trajectories/<int:pk>/", replay_views.trajectory, name="trajectory"),
    path("trajectories/<int:pk>/steps/<int:seq>/", replay_views.trajectory_step, name="trajectory-step"),
    path("trajectories/<int:pk>/steps/<int:seq>/view/", replay_views.step_view, name="trajectory-step-view"),
    path("trajectories/<int:pk>/steps/<int:seq>/tree/", replay_views.step_tree, name="trajectory-step-tree"),
    path("trajectories/<int:pk>/steps/<int:seq>/changes/", replay_views.step_changes, name="trajectory-step-changes"),
    path("trajectories/<int:pk>/steps/<int:seq>/place/", replay_views.step_place, name="trajectory-step-place"),
    path(
        "trajectories/<int:pk>/steps/<int:seq>/change-marks/",
        replay_views.step_change_marks,
        name="trajectory-step-change-marks",
    ),
    path("trajectories/<int:pk>/file/", replay_file_views.trajectory_file, name="trajectory-file"),
    path("trajectories/<int:pk>/share/", replay_file_views.trajectory_share, name="trajectory-share"),
    path("shared-replays/<str:signed>/", replay_file_views.shared_replay, name="shared-replay"),
    path("trajectories/<int:pk>/drive/", driving_views.drive, name="trajectory-drive"),
    path("trajectories/<int:pk>/drive/window/", driving_views.drive_window, name="trajectory-drive-window"),
    path("datasets/<slug:name>/workflows/", workflow_views.workflows, name="dataset-workflows"),
    path("datasets/<slug:name>/workflows/new/", workflow_views.workflow_new, name="dataset-workflow-new"),
    path("datasets/<slug:name>/memory/", workflow_views.memory, name="dataset-memory"),
    path("datasets/<slug:name>/memory/<slug:kind>/", workflow_views.memory_start, name="dataset-memory-start"),
    path("workflows/<int:pk>/", workflow_views.workflow, name="dataset-workflow"),
    path("workflows/<int:pk>/delete/", workflow_views.workflow_delete, name="dataset-workflow-delete"),
]
