"""JSON of reviews."""

from rest_framework import serializers

from annotations.corpus.serializers import UsernameField
from evaluation.models import Review


class ReviewSerializer(serializers.ModelSerializer):
    """A person's verdict on a step of a trajectory, or on the whole of it (`step` null)."""

    run = serializers.IntegerField(source="trajectory.run_id", read_only=True)
    seq = serializers.IntegerField(source="step.seq", default=None, read_only=True)
    reason = serializers.CharField(source="reason.text", default=None, read_only=True, allow_null=True)
    reviewer = UsernameField(source="reviewer.username", read_only=True)

    class Meta:
        model = Review
        fields = [
            *("id", "run", "trajectory", "step", "seq", "verdict", "reason", "comment", "reviewer"),
            *("is_counted", "changed_at", "created_at"),
        ]
