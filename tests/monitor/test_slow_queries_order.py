"""The wrapper that times queries beside those that come and go with a request."""

import pghistory
import pytest
from django.contrib.auth import get_user_model
from django.db import connection


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_opens_inside_a_history_works_after_it() -> None:
    connection.close()
    connection.execute_wrappers.clear()
    with pghistory.context(url="/login/"):
        get_user_model().objects.exists()  # opens the connection
    assert [wrapper.__name__ for wrapper in connection.execute_wrappers] == ["_timed"]
    get_user_model().objects.update(first_name="")
