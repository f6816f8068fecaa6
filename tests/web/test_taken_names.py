"""Datasets, recipes and trained models have one name on the whole site, as their addresses and folders do. What a
stranger hears of another project's: that the name is taken, whatever lies behind it, and only who may make one hears so
much."""

from pathlib import Path

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client

from agents.encoders.weights import MINILM
from agents.models import SavedRecipe
from agents.training.jobs import start_training
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


def test_of_a_trained_model_nothing_but_its_name_is_told(project: Project) -> None:
    dataset = factories.make_conversation(dataset=factories.make_dataset(project)).dataset
    factories.make_trained_model(factories.make_dataset(factories.make_project()), name="theirs", ready=True)
    factories.make_trained_model(factories.make_dataset(factories.make_project()), name="unbegun")
    factories.make_trained_model(dataset, name="ours", ready=True)
    user = factories.make_user("admin", project)
    told = []
    for name in ("theirs", "unbegun", "ours"):
        with pytest.raises(ValidationError) as refused:
            start_training(user=user, dataset=dataset, kind="dual_encoder", name=name, base=MINILM, publish=False)
        told.append(str(refused.value.message_dict).replace(name, "NAME"))
    assert set(told) == {"{'name': ['There is a model NAME already; choose another name.']}"}
    for role in ("reader", "annotator", "reviewer"):
        other = factories.make_user(role, project)
        with pytest.raises(PermissionDenied):
            start_training(user=other, dataset=dataset, kind="dual_encoder", name="theirs", base=MINILM, publish=False)


@pytest.mark.slow
def test_of_a_recipe_nothing_but_its_name_is_told(project: Project) -> None:
    foreign = factories.make_project()
    for name, owner in (("theirs", foreign), ("ours", project)):
        SavedRecipe.objects.keep(name, "mindact", {"rank.top_k": "7"}, by=None, project=owner, description="Secret.")
    admin = client_of(factories.make_user("admin", project))
    told = {"project": project.pk, "description": "", "rank.top_k": "9"}
    pages = [admin.post("/recipes/mindact/derive/", told | {"name": name}) for name in ("theirs", "ours")]
    said = [page.context["form"].errors["name"][0] for page in pages]
    assert said == ["There is a recipe theirs already.", "There is a recipe ours already."]
    assert "Secret." not in pages[0].content.decode()
    assert admin.get("/recipes/theirs/").status_code == admin.get("/recipes/never/").status_code == 404
    for role in ("reader", "annotator", "reviewer"):
        other = client_of(factories.make_user(role, project))
        assert {
            other.post("/recipes/mindact/derive/", told | {"name": name}).status_code for name in ("theirs", "x")
        } == {403}
