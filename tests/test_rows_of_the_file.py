"""Rows that a file's fixture stores once are the same for each of its tests, whatever the one before did to them."""

import pytest
from django.contrib.auth.models import User

from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def kept(rows_of_the_file: None) -> User:
    return factories.make_user(username="kept")


@pytest.mark.parametrize("time", [1, 2])
def test_a_row_is_there_unchanged_each_time(kept: User, time: int) -> None:
    assert list(User.objects.values_list("username", flat=True)) == ["kept"]
    User.objects.filter(pk=kept.pk).update(username="changed")
    factories.make_user()


@pytest.mark.parametrize("time", [1, 2])
def test_a_deleted_row_is_back(kept: User, time: int) -> None:
    assert User.objects.filter(pk=kept.pk).delete()[0] == 1
