"""Vectors of embedding endpoints in the database, shared by every worker and kept between runs."""

from typing import TYPE_CHECKING

import numpy as np

from agents.llm.errors import NotConfigured
from agents.llm.stored_endpoints import endpoint_of
from agents.models import Connection, TextEmbedding

if TYPE_CHECKING:
    from agents.llm.embeddings import EndpointEncoder


class DatabaseVectors:
    """`agents.llm.embeddings.VectorStore` over `TextEmbedding`; an older vector stays when two workers asked."""

    def get_many(self, keys: list[str]) -> dict[str, np.ndarray]:
        rows = TextEmbedding.objects.filter(key__in=keys).values_list("key", "vector")
        return {key: np.frombuffer(vector, dtype="<f4") for key, vector in rows}

    def put_many(self, model: str, vectors: dict[str, np.ndarray]) -> None:
        rows = [TextEmbedding(key=key, model=model[:200], vector=_bytes(vector)) for key, vector in vectors.items()]
        TextEmbedding.objects.bulk_create(rows, ignore_conflicts=True)


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
