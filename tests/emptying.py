"""Empties the database after a test that commits: only the tables with rows, in 30 ms instead of Django's 500.

Django truncates every table, which makes PostgreSQL write hundreds of files, and then makes all content types and
permissions anew. Nothing in the tests changes those two.
"""

from django.db import connection, transaction
from django.test import TransactionTestCase

MANY_DEAD = 1_000  # rows, of which a scan still reads the pages
KEPT = {"django_content_type", "auth_permission"}  # made with the tables


def empty_tables_with_rows() -> None:
    """Triggers and foreign keys are not asked, which takes a superuser; the tests' own database has one."""
    with transaction.atomic(), connection.cursor() as cursor:
        filled = filled_tables()
        cursor.execute("SET LOCAL session_replication_role = replica")
        for table in filled:
            cursor.execute(f"DELETE FROM {table}")


def filled_tables() -> list[str]:
    """The quoted names of tables with rows, but for those that are made with rows."""
    names = set(connection.introspection.django_table_names(only_existing=True, include_views=False)) - KEPT
    quoted = [connection.ops.quote_name(name) for name in sorted(names)]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for name in quoted))
        return [name for (name,) in cursor.fetchall()]


def vacuum_what_is_dead() -> None:
    """Tables in which many rows were rolled back or deleted since this was done last."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_stat_user_tables WHERE n_dead_tup > %s", [MANY_DEAD])
        dead = [connection.ops.quote_name(name) for (name,) in cursor.fetchall()]
        if dead:
            cursor.execute(f"VACUUM {', '.join(dead)}")


def may_skip_triggers() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        return cursor.fetchone()[0]


def use_after_tests() -> None:
    """Let test cases that commit end so, where the tests' database user may."""
    if may_skip_triggers():
        TransactionTestCase._fixture_teardown = lambda self: empty_tables_with_rows()
