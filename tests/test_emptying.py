"""After a test that commits, the database is as empty as Django would leave it."""

import pytest
from django.apps import apps
from django.db import DatabaseError, IntegrityError

from annotations.models import Release, Step
from tests import factories
from tests.annotations.test_release_making import released, small_dataset
from tests.emptying import empty_tables_with_rows

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
