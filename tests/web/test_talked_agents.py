"""What somebody chooses of the agent that they talk with: its trained planner, whether it asks, what it holds."""

from pathlib import Path

import pytest

from agents.models import Run, TrainedModel
from annotations.models import Dataset, Job, Project, Role, Split
from evaluation.studies.taking_part import planners
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return factories.make_project(slug="talked")


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder of models."""
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    return tmp_path


def recorded(project: Project, website: str = "nordline", **more) -> Dataset:
    """A dataset with a recorded train conversation on a website."""
    dataset = factories.make_dataset(project, **more)
    site = factories.make_website(dataset, name=website)
    factories.make_conversation(1, 1, Split.TRAIN, dataset, website=site)
    return dataset


def trained(dataset: Dataset, name: str, root: Path, **more) -> TrainedModel:
    """A planner of `grounded` whose weights lie here."""
    (root / name).mkdir()
    (root / name / "config.json").write_text("{}")
    return factories.make_trained_model(dataset, **{"name": name, "kind": "grounded", "ready": True} | more)


def begin(project: Project, user, **changed):
    said = {"project": project.slug, "website": "nordline", "words": "Find a train."} | changed
    return client_of(user).post("/api/typed-conversations/", said, content_type="application/json")


def run_of(answer) -> dict:
    assert answer.status_code == 201, answer.content
    return Run.objects.get(trajectories=answer.json()["id"]).recipe


def test_the_planner_trained_on_the_websites_talks_unless_another_is_named(project: Project, root: Path) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    assert run_of(begin(project, ada))["plan"]["model"] == "", "there is none"
    Run.objects.update(state=Run.State.DONE)
    trained(recorded(project), "of-sites", root)
    trained(recorded(project, "elsewhere"), "newer", root)
    trained(recorded(project), "unready", root, ready=False)
    trained(recorded(project), "ranks", root, kind="cross_encoder")
    others = recorded(factories.make_project(slug="other"))
    trained(others, "theirs", root)
    for asked, found in (({}, "of-sites"), ({"model": "newer"}, "newer"), ({"model": ""}, "")):
        assert run_of(begin(project, ada, **asked))["plan"]["model"] == found
        Run.objects.update(state=Run.State.DONE)
    for other in ("ranks", "theirs", "no-such"):
        answer = begin(project, ada, model=other)
        assert answer.status_code == 400
        assert f"{other} is no trained planner that goes with grounded: there are of-sites, newer" in str(answer.json())


def test_it_asks_and_holds_as_it_was_chosen(project: Project) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    recipe = run_of(begin(project, ada, asks=True, holds=True))
    assert (recipe["act"]["ask"], recipe["act"]["guard"], recipe["plan"]["samples"]) == ("close", "policy", 5)
    Run.objects.update(state=Run.State.DONE)
    recipe = run_of(begin(project, ada))
    assert (recipe["act"].get("ask", "none"), recipe["act"]["guard"], recipe["plan"]["samples"]) == ("none", "none", 1)


def test_the_form_offers_what_is_there_and_begins_with_it(project: Project, root: Path) -> None:
    ada = client_of(factories.make_user(Role.ADMIN, project, username="ada"))
    dataset = recorded(project)
    trained(dataset, "older", root, metrics={"dev_step_success": 0.5})
    trained(dataset, "best", root)
    page = ada.get("/converse/")
    form = page.context["form"]
    assert form["model"].value() == "best"
    assert [name for name, _ in form.fields["model"].choices] == ["best", "older", ""]
    shown = page.content.decode()
    assert f"older, trained on {dataset.name}, step success on dev 0.50" in shown
    assert "Prepare" not in shown
    said = {"project": project.pk, "recipe": "grounded", "website": "nordline", "words": "Go.", "asks": "on"}
    ada.post("/converse/", said | {"model": "best"})
    recipe = Run.objects.get().recipe
    assert (recipe["plan"]["model"], recipe["act"]["ask"], recipe["act"]["guard"]) == ("best", "close", "none")


def test_one_is_trained_at_a_press_where_none_is_here(project: Project, root: Path) -> None:
    bo = client_of(factories.make_user(Role.ADMIN, project, username="bo"))
    assert "Prepare" not in bo.get("/converse/").content.decode(), "there is nothing to learn from"
    dataset = recorded(project)
    assert "Prepare" in bo.get("/converse/").content.decode()
    assert bo.post("/converse/", {"prepare": "yes"})["Location"] == "/converse/"
    bo.post("/converse/", {"prepare": "yes"})
    model = TrainedModel.objects.get()
    assert (model.name, model.kind, model.dataset) == (f"{dataset.name}-planner", "grounded", dataset)
    assert Job.objects.get().params["changes"]["epoch_steps"] == 1000
    shown = bo.get("/converse/").content.decode()
    assert "A planner is being trained" in shown
    assert "Prepare" not in shown
    Job.objects.update(state=Job.State.FAILED)
    assert "Prepare" in bo.get("/converse/").content.decode(), "it may be tried again"
    assert (
        client_of(factories.make_user(Role.REVIEWER, project)).post("/converse/", {"prepare": "y"}).status_code == 403
    )


def test_the_form_comes_back_as_it_was_once_a_planner_is_being_prepared(project: Project, root: Path) -> None:
    bo = client_of(factories.make_user(Role.ADMIN, project, username="bo"))
    recorded(project)
    said = {"project": str(project.pk), "recipe": "grounded", "website": "willowclinic", "words": "Both again."}
    bo.post("/converse/", said | {"asks": "on", "prepare": "yes"})
    form = bo.get("/converse/").context["form"]
    assert [form[name].value() for name in ("website", "words", "asks", "holds")] == [
        *("willowclinic", "Both again."),
        *(True, False),
    ]
    assert not bo.get("/converse/").context["form"]["words"].value(), "once"


def test_names_that_are_taken_are_left_alone(project: Project, root: Path) -> None:
    ada = factories.make_user(Role.ADMIN, project, username="ada")
    dataset = recorded(project)
    trained(dataset, f"{dataset.name}-planner", root, ready=False)
    planners.prepare(ada, project)
    assert TrainedModel.objects.latest("pk").name == f"{dataset.name}-planner-2"
