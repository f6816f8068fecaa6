"""WebSocket URLs."""

from typing import Any, cast

from django.urls import path

from agents.runs.consumers import ReplayConsumer, RunConsumer

# ASGI applications, where Django's types expect views.
websocket_urlpatterns = [
    path("ws/trajectories/<int:pk>/", cast(Any, ReplayConsumer.as_asgi())),
    path("ws/runs/<int:pk>/", cast(Any, RunConsumer.as_asgi())),
]
