"""After a test that commits, the database is as empty as Django would leave it."""

import pytest
from django.apps import apps
from django.db import DatabaseError, IntegrityError, connection, transaction

from annotations.models import Release, Step, Website
from tests import factories
from tests.annotations.test_release_making import released, small_dataset
from tests.emptying import MANY_DEAD, empty_tables_with_rows, vacuum_what_is_dead

pytestmark = pytest.mark.django_db(transaction=True)


def rows() -> set[str]:
    models = (model for model in apps.get_models() if model._meta.managed and not model._meta.proxy)
    return {model._meta.label for model in models if model._base_manager.exists()}


@pytest.mark.slow
def test_every_row_goes_even_those_that_triggers_protect() -> None:
    released(small_dataset())
    factories.make_assignment()
    factories.make_study()
    assert rows() > {"annotations.Release", "annotations.Assignment", "evaluation.Study", "auth.User"}
    empty_tables_with_rows()
    assert rows() == {"contenttypes.ContentType", "auth.Permission"}


@pytest.mark.slow
def test_triggers_and_foreign_keys_hold_again_afterwards() -> None:
    empty_tables_with_rows()
    release = released(small_dataset())
    with pytest.raises(DatabaseError):
        Release.objects.filter(pk=release.pk).update(version="2.0")
    with pytest.raises(IntegrityError):
        Step.objects.create(turn_id=0, index=0, operation="CLICK")


def size(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_size(%s::regclass)", [table])
        return cursor.fetchone()[0]


def test_rows_that_are_gone_leave_their_pages_between_two_files_and_never_while_a_test_runs() -> None:
    dead = MANY_DEAD + 1
    with transaction.atomic():
        dataset = factories.make_dataset()
        Website.objects.bulk_create(Website(name=f"site {number}", dataset=dataset) for number in range(dead))
        transaction.set_rollback(True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace "
            "AND NOT 'autovacuum_enabled=false' = ANY (coalesce(reloptions, '{}'))"
        )
        assert cursor.fetchall() == []
    assert size("annotations_website") > 0
    vacuum_what_is_dead()
    assert size("annotations_website") == 0
