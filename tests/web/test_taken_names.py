"""Datasets have one name on the whole site, as their addresses do. What a stranger hears of another project's: that the
name is taken, whatever lies behind it, and only who may make datasets hears so much."""

from pathlib import Path

import pytest
from django.test import Client

from annotations.models import Project
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
TAKEN = {"name": ["This name is taken by another project."]}


@pytest.fixture
def project(settings, tmp_path: Path) -> Project:
    settings.IMPORT_ROOT = tmp_path
    (tmp_path / "file.json").write_text("[]")
    return factories.make_project()


def asked(client: Client, project: Project, name: str) -> tuple[int, object]:
    body = {"project": project.slug, "format": "mt-mind2web", "name": name, "path": "file.json"}
    answer = client.post("/api/imports/", body, content_type="application/json")
    return answer.status_code, answer.json()


def test_whatever_lies_behind_a_name_the_answer_is_the_same(project: Project) -> None:
    factories.make_dataset(factories.make_project(), name="empty")
    for split in ("train", "test_task"):
        full = factories.make_conversation(dataset=factories.make_dataset(factories.make_project()), split=split)
        type(full.dataset).objects.filter(pk=full.dataset_id).update(name=f"full-{split.partition('_')[0]}")
    admin = client_of(factories.make_user("admin", project))
    answers = [asked(admin, project, name) for name in ("empty", "full-train", "full-test")]
    assert answers == [(400, TAKEN)] * 3
    assert asked(admin, project, "free")[0] == 202


@pytest.mark.parametrize("role", ["reader", "annotator", "reviewer", None])
def test_who_makes_no_datasets_learns_nothing_of_names(project: Project, role: str | None) -> None:
    factories.make_dataset(factories.make_project(), name="taken")
    client = client_of(factories.make_user(role, project) if role else factories.make_user())
    answers = [asked(client, project, name) for name in ("taken", "free")]
    assert answers[0] == answers[1]
    assert answers[0][0] in (400, 403, 404)
    assert TAKEN not in answers[0]


@pytest.mark.parametrize("page", ["", "export/", "workflows/", "memory/", "releases/", "releases/1.0/"])
def test_an_address_with_the_name_of_a_foreign_dataset_is_that_of_none(project: Project, page: str) -> None:
    factories.make_dataset(factories.make_project(), name="taken")
    client = client_of(factories.make_user("admin", project))
    foreign, none = (client.get(f"/datasets/{name}/{page}") for name in ("taken", "never"))
    assert (foreign.status_code, none.status_code) == (404, 404)
    assert foreign.content.replace(b"taken", b"never") == none.content
