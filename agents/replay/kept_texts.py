"""Where texts and pages of conversations stand in what agents have kept of them, for who takes a private one out."""

from django.db.models import Q

from agents.models import (
    Drive,
    Exemplar,
    HeldStep,
    LlmReply,
    MemorySnippet,
    Run,
    Trajectory,
    TrajectoryStep,
    Transition,
    Workflow,
)
from annotations.releases.keeping import KeptTexts

OF_EPISODE = "trajectory__conversation"
KEPT = (
    KeptTexts(
        TrajectoryStep,
        OF_EPISODE,
        ("url", "outcome", "branches", "value", "error", "trace", "snapshot", "snapshot_after"),
        ("url", "outcome", "value"),
        Q(step=None),  # others decide on recorded pages, after recorded words
    ),
    KeptTexts(
        HeldStep,
        OF_EPISODE,
        ("value", "representation", "url", "why", "reason", "changed_to", "snapshot"),
        ("value", "url", "why", "reason"),
    ),
    KeptTexts(Drive, OF_EPISODE, ("said", "question", "proposed", "window", "asked"), ("said", "question")),
    KeptTexts(
        Run,
        "trajectories__conversation",
        ("error", "websites"),
        growing=Q(trajectories__state=Trajectory.State.RUNNING),
    ),
    KeptTexts(MemorySnippet, "conversation", ("text",)),
    KeptTexts(Exemplar, "conversation", ("key_text",)),
    KeptTexts(
        Transition, "conversation", ("key_text", "name", "value", "effects", "refined", "rationale", "next_state")
    ),
    KeptTexts(Workflow, "dataset__conversations", ("name", "description", "body")),
    KeptTexts(LlmReply, "", ("request", "reply")),
)
