"""What live goals are called where nobody chooses a name: what the address of a page can have."""

from importlib import import_module

import pytest
from django.apps import apps
from django.urls import reverse

from agents.live.goals import goals_name, new_goals, source_id
from annotations.models import Dataset, Project
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
TASK = "http://127.0.0.1:9019/ Click the link"
LIVE = {"environment": "open-web", "steps": 20, "seconds": 300}


def kept(project: Project, name: str, goals: list[str]) -> Dataset:
    dataset = factories.make_dataset(project, name=name, live=LIVE)
    for goal in goals:
        factories.make_conversation(0, dataset=dataset, source_id=goal)
    return dataset


def test_names_are_what_a_page_can_have() -> None:
    assert goals_name("browsergym", "miniwob.click-test", range(10)) == "browsergym-miniwob-click-test-0-9"
    assert goals_name("miniwob", "all", range(50)) == "miniwob-all-0-49"


def test_a_name_that_no_page_can_have_is_refused() -> None:
    with pytest.raises(ValueError, match="letters, digits, hyphens and underscores alone, not 'a/b'"):
        new_goals(factories.make_project(), "a/b", "miniwob")


def test_visits_are_called_by_their_host_and_a_number_and_the_same_ones_alike() -> None:
    project = factories.make_project()
    stem, goals = goals_name("open-web", TASK, range(2)), [source_id(TASK, seed) for seed in range(2)]
    assert stem == "open-web-127-0-0-1-9019-0-1"
    first = kept(project, project.datasets.name_holding(stem, goals), goals[:1])
    assert first.name == stem
    assert project.datasets.name_holding(stem, goals) == stem, "it was left before all were made"
    assert project.datasets.name_holding(stem, ["another-0"]) == f"{stem}-2"
    kept(project, f"{stem}-2", ["another-0"])
    assert project.datasets.name_holding(stem, ["another-0", "another-1"]) == f"{stem}-2"
    assert factories.make_project().datasets.name_holding(stem, goals) == f"{stem}-3", "names are of all projects"


def test_a_dataset_that_was_called_by_its_address_is_listed_with_a_page_of_its_own() -> None:
    project = factories.make_project()
    old = [kept(project, f"open-web-{TASK}{end}-0-1", [f"{TASK}{end}-0"]) for end in ("", " again")]
    dotted = kept(project, "browsergym-miniwob.click-test-0-9", [])
    import_module("annotations.migrations.0039_names_of_live_goals").name_anew(apps, None)
    for one in (*old, dotted):
        one.refresh_from_db()
    stem = goals_name("open-web", TASK, range(2))
    assert [one.name for one in old] == [stem, f"{stem}-2"]
    assert dotted.name == "browsergym-miniwob-click-test-0-9"
    assert project.datasets.name_holding(stem, [f"{TASK} again-0"]) == old[1].name, "its goals are found again"
    reader = client_of(factories.make_user("reader", project))
    listed = reader.get(reverse("datasets")).content.decode()
    for one in (*old, dotted):
        assert f'href="/datasets/{one.name}/"' in listed
        assert reader.get(reverse("dataset", args=[one.name])).status_code == 200
