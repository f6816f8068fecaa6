"""Search in pgvector: exact within a conversation, HNSW in the shared pools."""

from collections.abc import Sequence

import numpy as np
from django.db import connection, transaction
from pgvector.django import CosineDistance

from agents.models import Exemplar
from agents.types import Observation, Snippet
from annotations.models import Dataset

EF_SEARCH = 500  # measured: recall@10 of at least 0.99 among 100,000 exemplars (`manage.py bench retrieval`)
MAX_EF_SEARCH = 1000  # pgvector's limit

# One round trip for a whole batch. Ties go to the later step, as in the published code (planners.md 5.2).
SNIPPETS_SQL = """
SELECT q.n, found.step_id, found.turn_index, found.step_index, found.instruction, found.action, found.similarity
FROM unnest(%s::int[], %s::bigint[], %s::int[], %s::text[]) AS q(n, conversation, turn_index, embedding)
CROSS JOIN LATERAL (
    SELECT snippet.step_id, turn.index AS turn_index, step.index AS step_index, turn.instruction,
           COALESCE(NULLIF(step.action_repr, ''), step.operation || ' ' || step.value) AS action,
           1 - (snippet.embedding <=> q.embedding::vector) AS similarity
    FROM agents_memorysnippet snippet
    JOIN annotations_step step ON step.id = snippet.step_id
    JOIN annotations_turn turn ON turn.id = step.turn_id
    WHERE snippet.conversation_id = q.conversation AND snippet.encoder = %s
      AND turn.index < q.turn_index  -- earlier turns only: never the gold future
    ORDER BY snippet.embedding <=> q.embedding::vector, turn.index DESC, step.index DESC
    LIMIT %s
) found
ORDER BY q.n, found.similarity DESC, found.turn_index DESC, found.step_index DESC
"""


class ConversationMemory:
    """The `Memory` that policies get: snippets of one encoder in the database."""

    def __init__(self, encoder_name: str) -> None:
        self.encoder_name = encoder_name

    def snippets(self, observations: list[Observation], queries: Sequence[np.ndarray], k: int) -> list[list[Snippet]]:
        """The k nearest snippets of earlier turns per observation, most similar first."""
        found: list[list[Snippet]] = [[] for _ in observations]
        if not observations or k == 0:
            return found
        with connection.cursor() as cursor:
            cursor.execute(
                SNIPPETS_SQL,
                [
                    list(range(len(observations))),
                    [observation.conversation for observation in observations],
                    [observation.turn_index for observation in observations],
                    [_literal(query) for query in queries],
                    self.encoder_name,
                    k,
                ],
            )
            for n, *values in cursor.fetchall():
                found[n].append(Snippet(*values))
        return found


def _literal(vector: np.ndarray) -> str:
    return "[" + ",".join(f"{value:.7g}" for value in vector) + "]"


def nearest_exemplars(
    dataset: Dataset, encoder_name: str, query: np.ndarray, k: int, domain: str = "", ef_search: int = EF_SEARCH
) -> list[Exemplar]:
    """The k nearest train exemplars by cosine, `distance` on each; within one domain when it is given.

    HNSW filters after its search; iterative scan goes on until k rows pass the filter or hnsw.max_scan_tuples are
    seen. When that leaves too few, the filter is rare, and an exact search over what passes it is cheap.
    """
    rows = Exemplar.objects.filter(dataset=dataset, encoder=encoder_name)
    if domain:
        rows = rows.filter(domain=domain)
    rows = rows.annotate(distance=CosineDistance("embedding", query)).order_by("distance")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
        cursor.execute(f"SET LOCAL hnsw.ef_search = {min(int(max(ef_search, k)), MAX_EF_SEARCH)}")
        found = list(rows[:k])
        if len(found) < k:
            cursor.execute("SET LOCAL enable_indexscan = off")  # the HNSW index; bitmap scans of the others stay
            found = list(rows[:k])
    return sorted(found, key=lambda row: row.distance)
