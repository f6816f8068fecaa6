"""Trained models are deleted with their files by who may, and stay while something uses them, which is said."""

import pytest

from agents.encoders import weights
from agents.models import SavedRecipe, TrainedModel
from agents.recipes import literature
from agents.recipes.literature import RECIPES
from agents.training.trained.removing import ModelRemoval
from annotations.hosts.identity import host_id
from annotations.models import Job, Worker
from annotations.storage import store
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
NAMING = literature.override(RECIPES["mindact"], {"rank.model": "mine"})


@pytest.fixture(autouse=True)
def model_root(tmp_path, monkeypatch):
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    return tmp_path


@pytest.fixture
def model(model_root) -> TrainedModel:
    found = factories.make_trained_model(name="mine", ready=True)
    found.folder.mkdir()
    (found.folder / "config.json").write_text("{}")
    return found


def admin_of(model: TrainedModel):
    return factories.make_user("admin", model.project)


def test_an_admin_deletes_a_model_and_its_files_go(model, django_capture_on_commit_callbacks) -> None:
    client = client_of(admin_of(model))
    assert "Delete it" in client.get("/models/mine/").content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post("/models/mine/delete/", follow=True)
    assert "Deleted mine and its files." in answer.content.decode()
    assert not TrainedModel.objects.exists()
    assert not model.folder.exists()


def test_a_deleted_model_is_known_to_no_worker_of_this_host(model, django_capture_on_commit_callbacks) -> None:
    Worker.objects.tell("a", name="gpu@a", host=host_id(), held=["mine", "other"])
    Worker.objects.tell("b", name="gpu@b", host="another", held=["other"])
    weights.check("mine")
    with django_capture_on_commit_callbacks(execute=True):
        ModelRemoval(model, admin_of(model)).carry_out()
    with pytest.raises(ValueError, match="no model 'mine'"):
        weights.check("mine")
    assert list(Worker.objects.order_by("owner").values_list("held", flat=True)) == [["other"], ["other"]]
    Worker.objects.tell("b", name="gpu@b", host="another", held=["mine"])
    weights.check("mine")  # another host's own folder still has it


def test_who_trained_it_deletes_it_without_being_an_admin(model) -> None:
    maker = factories.make_user("reader", model.project)
    client = client_of(maker)
    assert "Delete it" not in client.get("/models/mine/").content.decode()
    assert client.post("/models/mine/delete/").status_code == 403
    TrainedModel.objects.update(created_by=maker)
    assert client.delete(f"/api/models/{model.pk}/").status_code == 204
    assert not TrainedModel.objects.exists()


@pytest.mark.parametrize("role", ["annotator", "reviewer", "reader"])
def test_others_may_not(model, role) -> None:
    client = client_of(factories.make_user(role, model.project))
    assert client.delete(f"/api/models/{model.pk}/").status_code == 403
    assert client_of(factories.make_user("admin")).delete(f"/api/models/{model.pk}/").status_code == 404
    assert TrainedModel.objects.exists()


def use_in_recipe(model) -> str:
    SavedRecipe.objects.keep("my-mindact", "mindact", {"rank.model": "mine"}, project=model.project, by=None)
    return "The recipe my-mindact names it."


def use_in_run(model) -> str:
    run = factories.make_run(dataset=model.dataset, recipe=literature.to_dict(NAMING), state="queued")
    return f"Run {run.pk} ({run.recipe_name}) is not over."


def use_in_training(model) -> str:
    params = {"name": "next", "base": "x", "changes": {"ranker": "mine"}}
    job = factories.make_job(model.project, kind=Job.Kind.TRAIN, state="queued", params=params)
    return f"Job {job.pk} (training) reads it."


def use_as_base_of_adapter(model) -> str:
    factories.make_trained_model(model.dataset, name="beside", base="mine", config={"adapter": "lora"}, ready=True)
    return "The adapter beside goes with it."


def use_by_its_own_training(model) -> str:
    job = factories.make_job(
        model.project, kind=Job.Kind.TRAIN, state="running", params={"name": "mine", "changes": {}}
    )
    TrainedModel.objects.update(job=job)
    return f"Its training is not over: cancel job {job.pk} first."


USES = [use_in_recipe, use_in_run, use_in_training, use_as_base_of_adapter, use_by_its_own_training]


@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
def test_what_is_in_use_stays_and_it_is_said_what_uses_it(model, use) -> None:
    said = use(model)
    client = client_of(admin_of(model))
    page = client.get("/models/mine/").content.decode()
    assert said in page
    assert "Delete it" not in page
    assert said in client.post("/models/mine/delete/", follow=True).content.decode()
    refused = client.delete(f"/api/models/{model.pk}/")
    assert (refused.status_code, refused.json()["uses"]) == (409, [said])
    assert (model.folder / "config.json").exists()
    operator = client_of(factories.make_superuser())
    page = operator.get(f"/admin/agents/trainedmodel/{model.pk}/delete/").content.decode()
    assert f"mine: {said}" in page
    operator.post(f"/admin/agents/trainedmodel/{model.pk}/delete/", {"post": "yes"})
    assert TrainedModel.objects.filter(pk=model.pk).exists()


def test_what_other_projects_do_with_it_is_not_named(model) -> None:
    elsewhere = factories.make_project()
    SavedRecipe.objects.keep("secret", "mindact", {"rank.model": "mine"}, project=elsewhere, by=None)
    assert ModelRemoval(model, admin_of(model)).uses() == ["A recipe of another project names it."]


def test_what_is_over_or_of_other_models_holds_nothing(model) -> None:
    factories.make_run(dataset=model.dataset, recipe=literature.to_dict(NAMING), state="done")
    other = literature.override(RECIPES["mindact"], {"rank.model": "mine-too"})
    factories.make_run(dataset=model.dataset, recipe=literature.to_dict(other), state="queued")
    factories.make_job(model.project, kind=Job.Kind.TRAIN, state="failed", params={"base": "mine"})
    factories.make_job(model.project, kind=Job.Kind.EXPORT, state="queued", params={"name": "mine", "changes": {}})
    SavedRecipe.objects.keep("mine", "mindact", {"rank.top_k": "7"}, project=model.project, by=None)
    assert ModelRemoval(model, admin_of(model)).uses() == []


def test_the_admin_deletes_the_files_too(model, django_capture_on_commit_callbacks) -> None:
    client = client_of(factories.make_superuser())
    with django_capture_on_commit_callbacks(execute=True):
        client.post(f"/admin/agents/trainedmodel/{model.pk}/delete/", {"post": "yes"})
    assert not TrainedModel.objects.exists()
    assert not model.folder.exists()


def test_stored_files_go_with_the_last_model_of_that_content(
    model, tmp_path, monkeypatch, django_capture_on_commit_callbacks
) -> None:
    file = tmp_path / "weights"
    file.write_text("weights")
    store.keep("models/abc/config.json", file)
    kept = {"sha256": "abc", "files": {"config.json": "1"}}
    TrainedModel.objects.filter(pk=model.pk).update(files=kept)
    twin = factories.make_trained_model(model.dataset, files=kept, ready=True)
    for one, there in ((model, True), (twin, False)):
        with django_capture_on_commit_callbacks(execute=True):
            ModelRemoval(TrainedModel.objects.get(pk=one.pk), admin_of(model)).carry_out()
        assert store.exists("models/abc/config.json") is there
