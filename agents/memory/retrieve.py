"""Search in pgvector: exact within a conversation, HNSW in the shared pools."""

import random
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from django.db import connection, transaction
from django.db.models import QuerySet
from pgvector.django import CosineDistance, L2Distance

from agents import types
from agents.models import Exemplar, Run, Workflow
from agents.observations import RecordedConversation
from agents.types import Observation, RecordedStep, Snippet
from annotations.models import Dataset, Split

EF_SEARCH = 500  # measured: recall@10 of at least 0.99 among 100,000 exemplars (`manage.py bench retrieval`)
MAX_EF_SEARCH = 1000  # pgvector's limit
HNSW_FROM = 50_000  # rows of a pool from which its index is used
KEPT_CONVERSATIONS = 16

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
    """The `Memory` that policies get. `form` is what snippets of this kind are stored under (`build.SnippetForm`)."""

    def __init__(self, form: str) -> None:
        self.form = form

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
                    self.form,
                    k,
                ],
            )
            for n, *values in cursor.fetchall():
                found[n].append(Snippet(*values))
        return found


class DatasetMemory(ConversationMemory):
    """Memory of the conversation, and the exemplars and workflows of its dataset's train split.

    `run`: whose online workflows are recalled, for recipes with `recall.induction` online.
    """

    def __init__(self, form: str, dataset: Dataset, encoder: str, seed: int = 0, run: Run | None = None) -> None:
        super().__init__(form)
        self.dataset = dataset
        self.encoder = encoder
        self.seed = seed
        self.run = run
        self._conversations: OrderedDict[int, RecordedConversation] = OrderedDict()

    def earlier_steps(self, observation: Observation) -> list[RecordedStep]:
        """All steps of earlier turns, oldest first, without their pages."""
        recorded = self._recorded(observation.conversation)
        earlier = [step for step in recorded.steps if step.turn.index < observation.turn_index]
        return [recorded.recorded(step, page=False) for step in earlier]

    def with_pages(self, steps: Sequence[RecordedStep]) -> list[RecordedStep]:
        """The same steps with their pages."""
        found = []
        for step in steps:
            recorded = self._recorded(step.observation.conversation)
            row = next(s for s in recorded.steps if s.pk == step.observation.key)
            found.append(recorded.recorded(row))
        return found

    def exemplars(
        self, observation: Observation, query: np.ndarray | None, k: int, how: str
    ) -> list[types.PromptExemplar]:
        """Train trajectories: nearest to the query, k of the site, else of the subdomain, else of all (planners.md
        8.3), or the same k for every task (`fixed`). Drawn with the seed, so that a run can be repeated."""
        rows = Exemplar.objects.filter(dataset=self.dataset, encoder=self.encoder)
        if how == "semantic":
            chosen = nearest(rows, query, k, CosineDistance)  # unit vectors: the same order as by L2
        else:
            pool = rows if how == "fixed" else _nearest_environment(rows, observation)
            drawn = "fixed" if how == "fixed" else f"{observation.conversation} {observation.turn_index}"
            chosen = _draw(pool, k, f"{self.seed} {drawn}")
        return [self._shown(row) for row in chosen]

    def workflows(
        self, observation: Observation, query: np.ndarray | None, k: int, how: str
    ) -> list[types.PromptWorkflow]:
        """Workflows of the train split: nearest to the query by description, or those of the site; where it has none,
        k of the same domain, or of all."""
        rows = Workflow.objects.filter(dataset=self.dataset).select_related("website")
        rows = rows.filter(run=self.run) if self.run else rows.filter(run=None)
        if how == "semantic":
            chosen = nearest(rows.filter(encoder=self.encoder, embedding__isnull=False), query, k, L2Distance)
        else:
            chosen = list(rows.filter(website__name=observation.website))
            if not chosen and not self.run:
                domain = rows.filter(website__domain=observation.domain)
                drawn = f"{self.seed} {observation.conversation} {observation.turn_index}"
                chosen = _draw(domain if domain.exists() else rows, k, drawn)
        return [
            types.PromptWorkflow(
                row.pk,
                row.name,
                row.description,
                row.body,
                row.website.name if row.website else "",
                getattr(row, "distance", None),
            )
            for row in chosen
        ]

    def _shown(self, row: Exemplar) -> types.PromptExemplar:
        if row.split != Split.TRAIN:
            raise AssertionError(f"exemplar {row.pk} is not of the train split")
        recorded = self._recorded(row.conversation_id)
        steps = [step for step in recorded.steps if row.turn_id is None or step.turn_id == row.turn_id]
        if row.turn_id is None and steps:
            steps = [step for step in steps if step.turn_id == steps[0].turn_id]
        instruction = steps[0].turn.instruction if steps else ""
        shown = tuple(recorded.recorded(step) for step in steps)
        return types.PromptExemplar(
            row.pk, recorded.conversation.source_id, instruction, shown, getattr(row, "distance", None)
        )

    def _recorded(self, conversation_id: int) -> RecordedConversation:
        if conversation_id not in self._conversations:
            self._conversations[conversation_id] = RecordedConversation(conversation_id)
            while len(self._conversations) > KEPT_CONVERSATIONS:
                self._conversations.popitem(last=False)
        self._conversations.move_to_end(conversation_id)
        return self._conversations[conversation_id]


def _nearest_environment(rows: QuerySet[Exemplar], observation: Observation) -> QuerySet[Exemplar]:
    """Exemplars of the same site, else of the same domain and subdomain, else all."""
    same_domain = rows.filter(conversation__website__domain=observation.domain)
    for pool in (
        same_domain.filter(conversation__website__name=observation.website),
        same_domain.filter(conversation__website__subdomain=observation.subdomain),
    ):
        if pool.exists():
            return pool
    return rows


def _draw(rows: QuerySet, k: int, seed: str) -> list:
    """k rows at random, the same ones for the same seed."""
    keys = list(rows.order_by("pk").values_list("pk", flat=True))
    chosen = random.Random(seed).sample(keys, min(k, len(keys)))
    found = rows.in_bulk(chosen)
    return [found[key] for key in chosen]


def _literal(vector: np.ndarray) -> str:
    return "[" + ",".join(f"{value:.7g}" for value in vector) + "]"


def nearest_exemplars(
    dataset: Dataset, encoder_name: str, query: np.ndarray, k: int, domain: str = "", ef_search: int = EF_SEARCH
) -> list[Exemplar]:
    """The k nearest train exemplars by cosine, `distance` on each; within one domain when it is given."""
    rows = Exemplar.objects.filter(dataset=dataset, encoder=encoder_name)
    if domain:
        rows = rows.filter(domain=domain)
    return nearest(rows, query, k, CosineDistance, ef_search)


def nearest(rows: QuerySet, query: np.ndarray, k: int, distance: type, ef_search: int = EF_SEARCH) -> list:
    """The k rows nearest to the query, `distance` on each.

    Exact in pools below HNSW_FROM rows, where it takes milliseconds, and where no index fits the distance. In larger
    pools HNSW filters after its search; iterative scan goes on until k rows pass the filter or hnsw.max_scan_tuples
    are seen. When that leaves too few, the filter is rare, and an exact search over what passes it is cheap.
    """
    exact = rows[:HNSW_FROM].count() < HNSW_FROM
    rows = rows.annotate(distance=distance("embedding", query)).order_by("distance")
    with transaction.atomic(), connection.cursor() as cursor:
        if exact:
            cursor.execute("SET LOCAL enable_indexscan = off")  # the HNSW index; bitmap scans of the others stay
            return sorted(rows[:k], key=lambda row: (row.distance, row.pk))
        cursor.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
        cursor.execute(f"SET LOCAL hnsw.ef_search = {min(int(max(ef_search, k)), MAX_EF_SEARCH)}")
        found = list(rows[:k])
        if len(found) < k:
            cursor.execute("SET LOCAL enable_indexscan = off")
            found = list(rows[:k])
    return sorted(found, key=lambda row: (row.distance, row.pk))
