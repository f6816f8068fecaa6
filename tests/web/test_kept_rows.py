"""Rows that are put back are those that were made."""

import pytest
from django.db import transaction

from tests import factories
from tests.emptying import empty_tables_with_rows, filled_tables, may_skip_triggers
from tests.web.kept_rows import keep_rows

pytestmark = pytest.mark.django_db


def test_rows_and_sequences_are_as_they_were() -> None:
    if not may_skip_triggers():
        pytest.skip("the database user of the tests may not put rows back past triggers")
    empty_tables_with_rows()  # what real processes of other tests have left
    with transaction.atomic():
        trajectory = factories.make_trajectory()
        kept = keep_rows()
        transaction.set_rollback(True)
    assert filled_tables() == []
    kept.put_back()
    assert keep_rows() == kept
    assert type(trajectory).objects.get() == trajectory
    assert factories.make_run(trajectory.run.dataset).pk == trajectory.run_id + 1
