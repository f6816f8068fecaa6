"""Vectors in the database, shared by every worker and kept between runs: those of embedding endpoints, and those that
were computed here."""

from typing import TYPE_CHECKING

import numpy as np

from agents.llm.errors import NotConfigured
from agents.llm.stored_endpoints import endpoint_of
from agents.models import Connection, TextEmbedding

if TYPE_CHECKING:
    from agents.llm.embeddings import EndpointEncoder

MOST_COMPUTED = 300_000  # about half a gigabyte where each has 384 dimensions


class DatabaseVectors:
    """`agents.encoders.kept.VectorStore` over `TextEmbedding`; an older vector stays when two workers asked."""

    computed = False

    def get_many(self, keys: list[str]) -> dict[str, np.ndarray]:
        rows = TextEmbedding.objects.filter(key__in=keys).values_list("key", "vector")
        return {key: np.frombuffer(vector, dtype="<f4") for key, vector in rows}

    def put_many(self, model: str, vectors: dict[str, np.ndarray]) -> None:
        rows = [
            TextEmbedding(key=key, model=model[:200], vector=_bytes(vector), computed=self.computed)
            for key, vector in vectors.items()
        ]
        TextEmbedding.objects.bulk_create(rows, ignore_conflicts=True)


class ComputedVectors(DatabaseVectors):
    """Vectors and scores that weights here gave. As they can be computed again, the newest alone are kept."""

    computed = True

    def __init__(self, most: int = MOST_COMPUTED) -> None:
        self.most, self._unseen = most, 0  # how many this process may still put before it counts them all

    def put_many(self, model: str, vectors: dict[str, np.ndarray]) -> None:
        super().put_many(model, vectors)
        self._unseen -= len(vectors)
        if self._unseen < 0:
            TextEmbedding.objects.computed().forget_all_but(self.most)
            self._unseen = self.most // 50


COMPUTED = ComputedVectors()


def _bytes(vector: np.ndarray) -> bytes:
    return vector.astype("<f4").tobytes()


def encoder_at_endpoint(model: str) -> "EndpointEncoder":
    """The connection of that name, else a model of the environment's embedding endpoint, with what it was paid for
    before. ValueError where neither is set."""
    from agents.llm.embeddings import EndpointEncoder, from_environment  # their client takes a while; only workers ask

    if (connection := Connection.objects.answering(Connection.Kind.EMBEDDING, model)) is not None:
        return EndpointEncoder(endpoint_of(connection), DatabaseVectors())
    try:
        return from_environment(model, DatabaseVectors())
    except NotConfigured as error:
        raise ValueError(str(error)) from error
