"""Memory snippets for conversations: one per past step, embedded once per encoder."""

from collections.abc import Iterable

from agents.embedding import Encoder
from agents.memory.text import memory_text
from agents.models import MemorySnippet
from annotations.models import Step


def build_snippets(conversation_ids: Iterable[int], encoder: Encoder) -> int:
    """Add what is missing; the number of snippets added. Safe to run twice and side by side."""
    steps = (
        Step.objects.filter(turn__conversation__in=list(conversation_ids))
        .exclude(memory_snippets__in=MemorySnippet.objects.filter(encoder=encoder.name))
        .order_by("id")
        .values_list("id", "turn__conversation_id", "turn__instruction", "action_repr", "operation", "value")
    )
    rows = [(pk, conversation, memory_text(task, [repr_ or f"{operation} {value}".strip()]))
            for pk, conversation, task, repr_, operation, value in steps]  # fmt: skip
    vectors = encoder.encode([text for _, _, text in rows])
    MemorySnippet.objects.bulk_create(
        (
            MemorySnippet(step_id=pk, conversation_id=conversation, encoder=encoder.name, text=text, embedding=vector)
            for (pk, conversation, text), vector in zip(rows, vectors, strict=True)
        ),
        ignore_conflicts=True,
        batch_size=500,
    )
    return len(rows)
