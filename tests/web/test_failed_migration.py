"""What an operator reads of a migration that fails, and what it leaves for the next start."""

import time
from collections.abc import Iterator

import psycopg
import pytest
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.signals import pre_migrate

from tests.app_server import database_url
from webnav_site.embedded import services

UNAPPLIED = ("sessions", "0001_initial")
LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7243"


@pytest.fixture
def something_to_migrate(transactional_db: None) -> Iterator[None]:
    MigrationRecorder(connection).record_unapplied(*UNAPPLIED)
    yield
    MigrationRecorder(connection).record_applied(*UNAPPLIED)


def is_let_go(other: psycopg.Connection) -> bool:
    """Whether nobody holds the lock; the process of a connection that was closed ends a moment later."""
    ends = time.monotonic() + 10
    while other.execute(LOCKS).fetchone() != (0,):
        if time.monotonic() > ends:
            return False
        time.sleep(0.05)
    return True


def divide(**_) -> None:
    """Fails within a transaction that PostgreSQL knows of and Django does not, as SQL of a migration can."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN; SELECT 1 / 0")


@pytest.mark.slow
def test_the_reason_is_what_is_told_last_and_the_next_start_may_try(something_to_migrate: None) -> None:
    with psycopg.connect(database_url(connection.settings_dict["NAME"]), autocommit=True) as other:
        pre_migrate.connect(divide)
        try:
            with pytest.raises(DatabaseError) as failed:
                services.migrate_if_needed()
            assert "division by zero" in str(failed.value)
            assert is_let_go(other)
            with pytest.raises(DatabaseError, match="division by zero"):
                services.migrate_if_needed()
        finally:
            pre_migrate.disconnect(divide)


@pytest.mark.slow
def test_who_migrates_lets_go_of_the_lock(something_to_migrate: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE django_session")
    services.migrate_if_needed()
    assert "django_session" in connection.introspection.table_names()
    with psycopg.connect(database_url(connection.settings_dict["NAME"]), autocommit=True) as other:
        assert is_let_go(other)
