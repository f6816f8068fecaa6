"""The rows of a world that takes long to make, put back as they were instead of being made once more."""

from dataclasses import dataclass

from django.db import connection

from tests.emptying import filled_tables


@dataclass(frozen=True)
class KeptRows:
    """Table -> its rows in PostgreSQL's own form, and sequence -> the number given last."""

    tables: dict[str, bytes]
    sequences: dict[str, int]

    def put_back(self) -> None:
        """Into empty tables, within a transaction. Triggers are not asked: what they wrote is among the rows."""
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            for table, rows in self.tables.items():
                with cursor.copy(f"COPY {table} FROM STDIN (FORMAT binary)") as copy:
                    copy.write(rows)
            cursor.execute("SET LOCAL session_replication_role = origin")
            for sequence, number in self.sequences.items():
                cursor.execute("SELECT setval(%s::regclass, %s)", [sequence, number])


def keep_rows() -> KeptRows:
    """All there are, and may have been made by this transaction.

    In the order of their keys: where a table held rows that are gone, new ones take their places in any order.
    """
    with connection.cursor() as cursor:
        tables = {}
        for table in filled_tables():
            with cursor.copy(f"COPY (SELECT * FROM {table} ORDER BY 1) TO STDOUT (FORMAT binary)") as copy:
                tables[table] = b"".join(map(bytes, copy))
        cursor.execute(
            "SELECT format('%I.%I', schemaname, sequencename), last_value FROM pg_sequences"
            " WHERE last_value IS NOT NULL"
        )
        return KeptRows(tables, dict(cursor.fetchall()))
