"""What people taught, as a page, as downloads and over REST; and what training with it changed."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agents.models import TrainedModel, Trajectory, TrajectoryStep
from agents.recipes import literature
from annotations.access.rules import Rights
from annotations.models import Role
from evaluation.comparing.steps import RunDifferences
from evaluation.models import Review, Study
from evaluation.teaching.results import HeldOut
from evaluation.teaching.views import MODELS
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def trajectory() -> Trajectory:
    found = factories.make_trajectory()
    rita = factories.make_user(Role.REVIEWER, found.run.dataset.project, username="rita")
    Review.objects.give(found, found.steps.get(seq=0), rita, "agent_wrong")
    Review.objects.give(found, found.steps.get(seq=1), rita, "both_acceptable")
    return found


def client(trajectory: Trajectory, role: str = Role.REVIEWER) -> Client:
    return client_of(factories.make_user(role, trajectory.run.dataset.project))


def lines(answer: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(answer.streaming_content).decode().splitlines()]


def test_the_page_of_live_episodes_says_what_teaches_there() -> None:
    """It asked for verdicts, and those that were given led to nothing."""
    live = factories.make_dataset(live={"environment": "miniwob", "steps": 6, "seconds": 60})
    page = client_of(factories.make_user(Role.REVIEWER, live.project)).get(reverse("dataset-lessons", args=[live.name]))
    assert "Verdicts on live episodes teach nothing" in page.content.decode()
    assert "Nobody has taught anything yet" not in page.content.decode()


@pytest.mark.slow
def test_the_page_the_downloads_and_the_api_tell_the_same(trajectory) -> None:
    dataset, reviewer = trajectory.run.dataset, client(trajectory)
    page = reviewer.get(reverse("dataset-lessons", args=[dataset.name])).content.decode()
    assert "2 train steps" in page
    assert "Ctrl-C cancels it" in page
    assert "--no-wait" in page
    assert (
        reverse("dataset-lessons", args=[dataset.name]) in reviewer.get(f"/datasets/{dataset.name}/").content.decode()
    )
    counts = reviewer.get(f"/api/datasets/{dataset.pk}/lessons/").json()
    assert counts == {"steps": 2, "corrected": 0, "accepted": 1, "refused": 1, "left_out": 0, "reworded": 0}
    for form, count in (("sft", 2), ("dpo", 1), ("process", 2)):
        address = reverse("dataset-lessons-file", args=[dataset.name, form])
        assert address in page
        given = lines(reviewer.get(address))
        assert len(given) == count
        assert lines(reviewer.get(f"/api/datasets/{dataset.pk}/lessons.jsonl?form={form}")) == given
    assert reviewer.get(f"/api/datasets/{dataset.pk}/lessons.jsonl?form=odd").status_code == 400
    assert reviewer.get(f"/datasets/{dataset.name}/lessons/odd.jsonl").status_code == 404
    stranger = client_of(factories.make_user(Role.ADMIN, factories.make_project()))
    assert stranger.get(reverse("dataset-lessons", args=[dataset.name])).status_code == 404
    assert stranger.get(f"/api/datasets/{dataset.pk}/lessons.jsonl").status_code == 404


@pytest.mark.parametrize("role", [Role.READER, Role.ANNOTATOR])
def test_who_may_not_export_sees_how_much_there_is_and_downloads_nothing(trajectory, role) -> None:
    dataset, person = trajectory.run.dataset, client(trajectory, role)
    page = person.get(reverse("dataset-lessons", args=[dataset.name])).content.decode()
    assert "2 train steps" in page
    assert person.get(f"/api/datasets/{dataset.pk}/lessons/").json()["steps"] == 2
    for form in ("sft", "dpo", "process"):
        address = reverse("dataset-lessons-file", args=[dataset.name, form])
        assert address not in page
        assert person.get(address).status_code == 403
        assert person.get(f"/api/datasets/{dataset.pk}/lessons.jsonl?form={form}").status_code == 403


def test_counting_reads_neither_conversations_nor_runs_and_no_more_often_for_more_steps(trajectory) -> None:
    dataset, rita = trajectory.run.dataset, Review.objects.first().reviewer
    reader = client(trajectory, Role.READER)

    def asked() -> list[str]:
        with CaptureQueriesContext(connection) as found:
            reader.get(f"/api/datasets/{dataset.pk}/lessons/").json()
        return [one["sql"] for one in found]

    before = asked()
    assert [sql for sql in before if '"annotations_conversation"."source_id"' in sql] == []
    assert [sql for sql in before if '"agents_run"."recipe"' in sql] == []
    more = factories.make_trajectory(trajectory.run, factories.make_conversation(dataset=dataset))
    for step in more.steps.all():
        Review.objects.give(more, step, rita, "agent_wrong")
    after = asked()
    assert len(after) == len(before)


@pytest.mark.slow
def test_a_page_compares_the_runs_of_few_models_and_the_next_page_those_of_others(trajectory, monkeypatch) -> None:
    dataset = trajectory.run.dataset
    names = [f"taught-{number}" for number in range(5)]
    for name in names:
        factories.make_trained_model(dataset, name=name, kind="grounded", ready=True, metrics={"lessons": 2})
        held_out(trajectory, name, right=1)
    held_out(trajectory, "plain", right=1)
    compared: list[list[int]] = []
    real = RunDifferences.__init__
    monkeypatch.setattr(
        RunDifferences, "__init__", lambda self, runs: (compared.append([run.pk for run in runs]), real(self, runs))[1]
    )
    admin, address, seen = client(trajectory, Role.ADMIN), reverse("dataset-lessons", args=[dataset.name]), []
    for number in (1, 2, 3):
        compared.clear()
        page = admin.get(f"{address}?page={number}").content.decode()
        assert 1 <= len(compared) <= MODELS
        seen += [name for name in names if f"/models/{name}/" in page]
    assert sorted(seen) == names, "each is on one page"


@pytest.fixture
def models(trajectory) -> list[TrainedModel]:
    """Ready ones of one kind: an untaught one, and one that was taught."""
    dataset = trajectory.run.dataset
    return [
        factories.make_trained_model(dataset, name=name, kind="grounded", ready=True, metrics=metrics)
        for name, metrics in (("plain", {}), ("taught", {"lessons": 2}))
    ]


def held_out(trajectory: Trajectory, model: str, right: int) -> None:
    """A run with a model over a test conversation of four steps."""
    dataset = trajectory.run.dataset
    recipe = literature.to_dict(literature.get("grounded"))
    recipe["plan"]["model"] = model
    found = dataset.conversations.filter(split="test_task").first()
    found = found or factories.make_conversation(split="test_task", dataset=dataset)
    run = factories.make_run(dataset, recipe=recipe, split="test_task", state="done")
    made = factories.make_trajectory(run, found)
    TrajectoryStep.objects.filter(trajectory=made).update(success=False)
    TrajectoryStep.objects.filter(trajectory=made, seq__lt=right).update(success=True)


@pytest.mark.slow
def test_what_it_changed_is_shown_with_its_interval_to_those_who_see_the_gold(trajectory, models) -> None:
    held_out(trajectory, "plain", right=1)
    held_out(trajectory, "taught", right=3)
    address = reverse("dataset-lessons", args=[trajectory.run.dataset.name])
    shown = client(trajectory, Role.ADMIN).get(address).content.decode()
    assert "50.0" in shown
    assert "2, 0" in shown
    assert "compare/?runs=" in shown
    hidden = client(trajectory, Role.READER).get(address).content.decode()
    assert "hidden with the gold" in hidden
    assert "2, 0" not in hidden


@pytest.mark.slow
def test_a_model_is_told_beside_one_without_lessons_whenever_that_ran(trajectory, models) -> None:
    """Another that was taught is no measure of teaching, however new its run is."""
    dataset = trajectory.run.dataset
    factories.make_trained_model(dataset, name="taught-too", kind="grounded", ready=True, metrics={"lessons": 1})
    taught = TrainedModel.objects.get(name="taught")
    admin = Rights(factories.make_user(Role.ADMIN, dataset.project))
    held_out(trajectory, "taught", right=3)
    held_out(trajectory, "taught-too", right=0)
    assert HeldOut(taught).results(admin) == []
    held_out(trajectory, "plain", right=1)
    held_out(trajectory, "taught-too", right=0)
    (found,) = HeldOut(taught).results(admin)
    assert (found.without_model, found.paired.value) == ("plain", 0.5)
    assert [one.name for one in HeldOut(taught).rivals()] == ["plain"]
    address = reverse("dataset-lessons", args=[dataset.name])
    page = client(trajectory, Role.ADMIN).get(address).content.decode()
    assert "<th>Without</th>" in page
    assert "Before" not in page


@pytest.mark.slow
def test_a_study_of_both_is_started_by_those_who_may(trajectory, models, monkeypatch) -> None:
    held_out(trajectory, "plain", right=1)
    dataset = trajectory.run.dataset
    address = reverse("dataset-lessons", args=[dataset.name])
    asked = {"model": "taught", "against": "plain", "split": "test_task"}
    assert client(trajectory, Role.REVIEWER).post(address, asked).status_code == 403
    admin = client(trajectory, Role.ADMIN)
    for wrong, words in (
        (asked | {"split": "train"}, "have not learnt from"),
        (asked | {"against": "nobody"}, "Choose two models"),
    ):
        assert words in admin.post(address, wrong, follow=True).content.decode()
    assert not Study.objects.exists()
    monkeypatch.setattr("agents.cookbook.lacking.missing", lambda recipe: [])
    monkeypatch.setattr("evaluation.studies.running.missing", lambda recipe: [], raising=False)
    answer = admin.post(address, asked)
    study = Study.objects.get()
    assert answer.headers["Location"] == reverse("study", args=[study.pk])
    assert [run.recipe["plan"]["model"] for run in study.runs.order_by("pk")] == ["plain", "taught"]
