"""Addresses of live pages that were stored before they told no path of the host."""

import pytest

from agents.models import TrajectoryStep
from tests import factories
from tests.template_database import migrate_back_and_forth


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_stored_paths_become_names_and_other_addresses_stay() -> None:
    steps = list(factories.make_trajectory().steps.order_by("seq")[:2])
    kept = "https://shop.example/a.html"
    urls = ("file:///srv/app/miniwob/html/miniwob/click-test.html", kept)
    for step, url in zip(steps, urls, strict=True):
        TrajectoryStep.objects.filter(pk=step.pk).update(url=url)
    migrate_back_and_forth("agents", "0026")
    found = TrajectoryStep.objects.filter(pk__in=[step.pk for step in steps]).order_by("seq")
    assert list(found.values_list("url", flat=True)) == ["click-test of MiniWoB++", kept]
