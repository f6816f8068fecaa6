"""What a reviewer decides of a held step: read, checked and told to viewers in one way for its page and for REST."""

from django.db import transaction
from rest_framework import serializers
from rest_framework.generics import get_object_or_404

from agents.models import CannotDecide, HeldStep
from agents.models.guarding import MAX_WHY
from agents.runs import events
from annotations.access import rules
from annotations.access.requests import RequestSerializer
from annotations.dom.limits import PageError
from annotations.models import Operation
from annotations.models.accounts.projects import User
from annotations.sandbox import page_questions

GOLD = ("trajectory__conversation__split", "trajectory__run__dataset__project")  # the ways to split and project
DECIDED = (HeldStep.State.APPROVED, HeldStep.State.CHANGED, HeldStep.State.REFUSED)
ELSEWHERE = f"It is {', '.join(DECIDED)}. Taking over is done where the browser is: in the replay of the episode."


class DoneInsteadSerializer(RequestSerializer):
    """An action that is done instead of the held one."""

    operation = serializers.ChoiceField(choices=Operation.choices)
    node_id = serializers.CharField(
        max_length=64, allow_blank=True, allow_null=True, default=None, help_text="An element of the page, if any."
    )
    value = serializers.CharField(allow_blank=True, allow_null=True, default="", trim_whitespace=False)

    def validate_node_id(self, value: str | None) -> str | None:
        return value or None

    def validate_value(self, value: str | None) -> str:
        return value or ""


class StepDecisionSerializer(RequestSerializer):
    """What becomes of a held step."""

    state = serializers.ChoiceField(choices=DECIDED, error_messages={"invalid_choice": ELSEWHERE})
    reason = serializers.CharField(max_length=MAX_WHY, allow_blank=True, default="")
    instead = DoneInsteadSerializer(
        allow_null=True, default=None, help_text="What is done instead, where it is changed; else null."
    )

    def decide(self, row: HeldStep, user: User) -> None:
        """Decide the step so, and tell viewers once that is stored. Raises CannotDecide, and DecidedAlready where it is
        too late."""
        instead = self.validated_data["instead"]
        page = row.snapshot.html if row.snapshot and instead else ""
        if instead and page and not _is_on(page, instead["node_id"]):
            raise CannotDecide(f"There is no element {instead['node_id']} on this page.")
        row.decide(user, **self.validated_data)
        group, episode = events.trajectory_group(row.trajectory_id), row.trajectory
        transaction.on_commit(lambda: events.publish(group, episode.step_count, episode.state))


def open_held_step(user: User, pk: int | str) -> HeldStep:
    """A held step for who is about to decide it. Raises Http404 for one of another project, and PermissionDenied where
    its gold is hidden or they are no reviewer."""
    rows = HeldStep.objects.select_related("trajectory__run__dataset__project", "trajectory__conversation")
    row: HeldStep = get_object_or_404(rules.visible(user, rows), pk=pk)
    project = row.trajectory.run.dataset.project
    rules.require_gold(user, project, row.trajectory.conversation.split)
    rules.require(user, "review", project)
    return row


def _is_on(page: str, node_id: str | None) -> bool:
    """Whether a page has this element, if any is named; a page that cannot be read tells nothing."""
    try:
        return not node_id or node_id in page_questions.tags(page)
    except PageError:
        return True
