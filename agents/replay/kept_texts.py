"""Where texts of recorded conversations stand in what agents have kept of them, for who takes a private one out."""

from collections.abc import Iterator

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from agents.models import Exemplar, HeldStep, LlmReply, MemorySnippet, TrajectoryStep, Transition, Workflow
from annotations.models import Conversation, Rationale


def kept_of(conversation: Conversation, text: str) -> Iterator[tuple[QuerySet, tuple[str, ...]]]:
    """Rows, and the columns of them that may hold its text: of runs, memory, transitions and rationales about a
    conversation; and of replies of language models, which belong to none, those with this text."""
    of_step = {"step__turn__conversation": conversation}
    steps = TrajectoryStep.objects.filter(trajectory__conversation=conversation)
    yield steps, ("url", "outcome", "branches", "value", "error", "trace")
    held = HeldStep.objects.filter(trajectory__conversation=conversation)
    yield held, ("value", "representation", "url", "reason", "changed_to")
    yield MemorySnippet.objects.filter(conversation=conversation), ("text",)
    yield Exemplar.objects.filter(conversation=conversation), ("key_text",)
    told = ("key_text", "name", "value", "effects", "refined", "rationale", "next_state")
    yield Transition.objects.filter(conversation=conversation), told
    yield Workflow.objects.filter(dataset=conversation.dataset), ("description", "body")
    yield Rationale.objects.filter(**of_step), ("text",)
    replies = LlmReply.objects.annotate(asked=Cast("request", TextField()), said=Cast("reply", TextField()))
    yield replies.filter(Q(asked__contains=text) | Q(said__contains=text)), ("request", "reply")
