"""Rows that are put back are those that were made."""

import pytest
from django.db import transaction

from tests import factories
from tests.emptying import filled_tables
from tests.web.kept_rows import keep_rows

pytestmark = pytest.mark.django_db


def test_rows_and_sequences_are_as_they_were() -> None:
    with transaction.atomic():
        trajectory = factories.make_trajectory()
        kept = keep_rows()
        transaction.set_rollback(True)
    assert filled_tables() == []
    kept.put_back()
    assert keep_rows() == kept
    assert type(trajectory).objects.get() == trajectory
    assert factories.make_run(trajectory.run.dataset).pk == trajectory.run_id + 1
