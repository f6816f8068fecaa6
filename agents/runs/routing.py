"""WebSocket URLs."""

from django.urls import path

from agents.runs.consumers import ReplayConsumer, RunConsumer

websocket_urlpatterns = [
    path("ws/trajectories/<int:pk>/", ReplayConsumer.as_asgi()),
    path("ws/runs/<int:pk>/", RunConsumer.as_asgi()),
]
