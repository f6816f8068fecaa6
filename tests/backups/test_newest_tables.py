"""The rows that the drill of a restore stores last."""

import pytest
from django.urls import reverse

from agents.models import GuardRule
from evaluation.models import ReviewQueue
from tests import factories
from tests.backups.newest_tables import TABLES, fill_newest_tables, seen_of_newest_tables
from tests.signed_in import client_of


@pytest.mark.slow
@pytest.mark.django_db
def test_they_are_stored_and_shown() -> None:
    olga = factories.make_superuser(username="olga")
    fill_newest_tables(olga)
    assert seen_of_newest_tables()["key"] == "sk-of-the-drill"
    client = client_of(olga)
    queue, rule = ReviewQueue.objects.get(), GuardRule.objects.select_related("project").get()
    addresses = (reverse("held-steps"), reverse("review-queue", args=[queue.pk]), reverse("recipe", args=["wide"]))
    for page in (*addresses, reverse("guard-rules", args=[rule.project.slug])):
        assert client.get(page).status_code == 200, page
    assert all(table.objects.exists() for table in TABLES)
