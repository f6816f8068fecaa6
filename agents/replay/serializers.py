"""JSON of trajectories and their steps. Traces are left out of lists."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.models import Run, Trajectory
from annotations.models import Operation


class TrajectorySerializer(serializers.ModelSerializer):
    conversation_source_id = serializers.CharField(source="conversation.source_id", read_only=True)
    split = serializers.CharField(source="conversation.split", read_only=True)

    class Meta:
        model = Trajectory
        fields = ["id", "run", "conversation", "conversation_source_id", "split", "state", "step_count", "updated_at"]


class GoldActionSerializer(serializers.Serializer):
    operation = serializers.ChoiceField(choices=Operation.choices)
    value = serializers.CharField()
    node_ids = serializers.ListField(child=serializers.CharField())
    action_repr = serializers.CharField()


class StepResultSerializer(serializers.Serializer):
    """A decided step. Where gold is hidden, all that was decided is null."""

    seq = serializers.IntegerField(help_text="Place in the conversation, from 0.")
    step = serializers.IntegerField(allow_null=True, help_text="Id of the gold step; null without a recorded path.")
    turn_index = serializers.IntegerField()
    step_index = serializers.IntegerField(allow_null=True, help_text="Within the turn, of a recorded step.")
    instruction = serializers.CharField()
    operation = serializers.CharField(allow_null=True)
    value = serializers.CharField(allow_null=True)
    node_id = serializers.CharField(allow_null=True)
    action_repr = serializers.CharField(allow_null=True)
    element_correct = serializers.BooleanField(allow_null=True)
    operation_f1 = serializers.FloatField(allow_null=True)
    success = serializers.BooleanField(allow_null=True)
    gold_rank = serializers.IntegerField(allow_null=True)
    milliseconds = serializers.FloatField(
        allow_null=True, help_text="Of a recorded step the mean of those decided together: see the run's batch_size."
    )
    gold = GoldActionSerializer(allow_null=True)
    screenshot = serializers.CharField(
        allow_null=True, default=None, help_text="SHA-256 of the recorded step's, or of the episode's, if there is one."
    )
    last_page = serializers.BooleanField(
        default=False, help_text="Whether the page after it is kept as that with which the episode ended."
    )
    url = serializers.CharField(allow_null=True, help_text="Where it was, without a recorded path.")
    happened_at = serializers.DateTimeField(allow_null=True)
    reward = serializers.FloatField(allow_null=True)
    outcome = serializers.CharField(allow_null=True, help_text="What came of the action.")
    done_by = serializers.CharField(allow_null=True, help_text="Who acted in the agent's place; empty: the agent.")


class OutlineTurnSerializer(serializers.Serializer):
    index = serializers.IntegerField()
    instruction = serializers.CharField()
    step_count = serializers.IntegerField(help_text="While the episode goes on, with the step that is decided next.")


class TrajectoryStepsSerializer(serializers.Serializer):
    trajectory = serializers.IntegerField()
    state = serializers.ChoiceField(choices=Trajectory.State.choices)
    run_state = serializers.ChoiceField(choices=Run.State.choices)
    waits = serializers.CharField(help_text="How long it waits for a worker, and for what; empty where one has it.")
    step_count = serializers.IntegerField(help_text="Steps that the trajectory has when complete.")
    stored = serializers.IntegerField(help_text="Steps decided so far.")
    turns = OutlineTurnSerializer(
        many=True,
        allow_null=True,
        help_text="Of an episode, which grows; null where its conversation is recorded.",
    )
    steps = StepResultSerializer(many=True)
    ends = serializers.CharField(
        help_text="How its user has ended the conversation, until a worker stores that as its last step; empty else."
    )
    lost = serializers.CharField(
        help_text="Why a conversation is over that its user has not ended: its browser was lost; empty else."
    )
    held = serializers.DictField(allow_null=True, help_text="The risky action that waits for a person.")
    drive = serializers.DictField(allow_null=True, help_text="Who keeps the agent from going on, and its window.")
    kept = serializers.DictField(allow_null=True, help_text="Where what people showed is kept: dataset, split, url.")


@extend_schema_field({"type": "array", "items": {"type": "object"}})
class ObjectsField(serializers.ListField):
    """A list of JSON objects whose fields the help text names."""


class StepResultDetailSerializer(StepResultSerializer):
    """A decided step with what each stage recorded: the ranked candidates, the memory and the trace."""

    verdict = serializers.ListField(child=serializers.CharField(), help_text="Empty where gold is hidden.")
    corrections = ObjectsField(help_text="Of its gold, the newest first: url, account, is_later.")
    before = serializers.DictField(
        help_text="What was corrected since the step was decided, as it was then: gold, in words, and the instruction."
    )
    candidates = ObjectsField(help_text="node_id, score and text, best first; at most 200.")
    candidate_total = serializers.IntegerField(allow_null=True, help_text="How many elements were ranked.")
    marks = ObjectsField(help_text="What is outlined in the page, most important first: id, kind and label.")
    memory = ObjectsField(help_text="The recalled snippets with their similarity.")
    trace = serializers.DictField(help_text="By stage word: what it recorded.")
    branches = ObjectsField(
        help_text="Actions considered: action, representation, prediction, value, chosen and, in further, what follows."
    )
    error = serializers.CharField()
    call_index = serializers.IntegerField(allow_null=True, help_text="Model call that gave this action.")
    calls = serializers.IntegerField(allow_null=True)
    prompt_tokens = serializers.IntegerField(allow_null=True)
    completion_tokens = serializers.IntegerField(allow_null=True)
