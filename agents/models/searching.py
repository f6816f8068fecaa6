"""Search by distance in pgvector: exact in small pools, HNSW in large ones."""

from collections.abc import Iterable
from typing import Any, ClassVar, TypeVar

from django.db import connection, models, transaction

EF_SEARCH = 500  # measured: recall@10 of at least 0.99 among 100,000 exemplars (`manage.py bench retrieval`)
MAX_EF_SEARCH = 1000  # pgvector's limit
HNSW_FROM = 50_000  # rows of a pool from which its index is used
Row = TypeVar("Row", bound=models.Model)


class NearestQuerySet(models.QuerySet[Row]):
    """Rows with an `embedding`; DISTANCE is what their index is for."""

    DISTANCE: ClassVar[Any]

    def nearest(self, query: Any, k: int, ef_search: int = EF_SEARCH) -> list[Row]:
        """The k rows nearest to the query, `distance` on each.

        Exact in pools below HNSW_FROM rows, where it takes milliseconds, and where no index fits the distance. In
        larger pools HNSW filters after its search; iterative scan goes on until k rows pass the filter or
        hnsw.max_scan_tuples are seen. When that leaves too few, the filter is rare, and an exact search over what
        passes it is cheap.
        """
        exact = self[:HNSW_FROM].count() < HNSW_FROM
        rows: Any = self.annotate(distance=self.DISTANCE("embedding", query)).order_by("distance")
        with transaction.atomic(), connection.cursor() as cursor:
            if exact:
                cursor.execute("SET LOCAL enable_indexscan = off")  # the HNSW index; bitmap scans of the others stay
                return _in_order(rows[:k])
            cursor.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
            cursor.execute(f"SET LOCAL hnsw.ef_search = {min(int(max(ef_search, k)), MAX_EF_SEARCH)}")
            found: Any = list(rows[:k])
            if len(found) < k:
                cursor.execute("SET LOCAL enable_indexscan = off")
                found = list(rows[:k])
        return _in_order(found)


def _in_order(found: Iterable[Any]) -> list[Any]:
    return sorted(found, key=lambda row: (row.distance, row.pk))
