"""Live goals made from the web: the form says what they would take, a job makes them, a study is run on them."""

import html

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client

from agents.live import goals, jobs
from agents.models import Run
from agents.recipes import literature
from annotations.jobs import running, stopping
from annotations.models import Dataset, Job, Project
from evaluation.studies.expecting import expected
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
WANTED = {
    "environment": "miniwob",
    "task_set": "named",
    "tasks": "click-test, login-user",
    "episodes": "2",
    "first_seed": "7",
    "split": "train",
    "steps": "9",
    "seconds": "60",
    "name": "two-tasks",
}


@pytest.fixture
def project() -> Project:
    return factories.make_project()


@pytest.fixture
def admin(project: Project) -> Client:
    return client_of(factories.make_user("admin", project))


def worked(job: Job) -> tuple[Job, bool]:
    """After one slice; whether it goes on."""
    again = running.run(Job.objects.claim(job.pk))
    job.refresh_from_db()
    return job, again


def start(project: Project, **more) -> Job:
    fields = {"name": "goals", "environment": "miniwob", "tasks": ["click-test"], "episodes": 2} | more
    return jobs.start_goals(user=factories.make_user("admin", project), project=project, **fields)


@pytest.mark.slow
@pytest.mark.browser
def test_what_the_form_asks_for_becomes_a_dataset_of_goals(kept_browsers, admin: Client, project: Project) -> None:
    answer = admin.post("/live-goals/", WANTED | {"project": project.pk})
    job = Job.objects.get()
    assert answer["Location"] == f"/jobs/{job.pk}/"
    assert (job.kind, job.queue_of(job.kind)) == ("goals", "gpu")
    job, again = worked(job)
    assert (job.state, again, job.last_error) == ("done", False, "")
    assert (job.report["said"], job.report["landed"]) == ("4 goals of 2 tasks", 4)
    dataset = Dataset.objects.get()
    assert (dataset.name, dataset.project, dataset.live) == (
        *("two-tasks", project),
        {"environment": "miniwob", "steps": 9, "seconds": 60},
    )
    rows = dataset.conversations.values_list("source_id", "split", "turns__instruction")
    assert {(name, split) for name, split, _ in rows} == {
        (f"{task}-{seed}", "train") for task in ("click-test", "login-user") for seed in (7, 8)
    }
    assert ("click-test-7", "train", "Click the button.") in rows
    page = admin.get(f"/jobs/{job.pk}/").content.decode()
    assert "4 goals of 2 tasks" in page
    assert f'href="/datasets/{dataset.name}/"' in page
    form = admin.get(f"/studies/new/?dataset={dataset.name}&recipe=grounded").content.decode()
    assert "1 run of 4 episodes in all." in form
    again_asked = jobs.start_goals(**_asked(job, project, episodes=3))
    assert worked(again_asked)[0].report["landed"] == 6, "goals are added, none is made twice"


def _asked(job: Job, project: Project, **more) -> dict:
    kept = {name: value for name, value in job.params.items() if name not in ("format", "made_dataset")}
    return {"user": factories.make_user("admin", project), "project": project} | kept | more


@pytest.mark.browser
def test_it_goes_on_where_a_slice_ended(kept_browsers, project: Project, monkeypatch) -> None:
    monkeypatch.setattr(goals, "STORED_AT_ONCE", 2)
    monkeypatch.setattr(stopping, "asked", lambda: True)
    job, again = worked(start(project, episodes=3))
    assert (again, job.state, job.progress["done"]) == (True, "queued", 2)
    monkeypatch.setattr(stopping, "asked", lambda: False)
    job, again = worked(job)
    assert (again, job.state, job.report["landed"]) == (False, "done", 3)


def test_a_machine_without_a_browser_is_explained_and_leaves_nothing(project: Project, monkeypatch) -> None:
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    job, again = worked(start(project))
    assert (again, job.state) == (False, "failed")
    assert "/nowhere/chromium does not start" in job.last_error
    assert not Dataset.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"tasks": ["no-such"]}, "there is no task 'no-such'"),
        ({"environment": "mars"}, "there is no environment 'mars'"),
        ({"name": "Not So"}, "lower-case"),
        ({"episodes": 0}, "1 to 10,000"),
        ({"tasks": ["all"], "episodes": 10_000}, "at most 20,000"),
        ({"steps": 2_000_000_000}, "At most 10,000 steps and 86,400 seconds"),
        ({"seconds": 2_000_000_000}, "At most 10,000 steps and 86,400 seconds"),
        ({"split": "sunday"}, "Choose one of train"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_reason(project: Project, wrong: dict, words: str) -> None:
    with pytest.raises(ValidationError) as refused:
        start(project, **wrong)
    assert words in str(refused.value)
    assert not Job.objects.exists()


def test_a_dataset_that_is_full_takes_no_more(project: Project, monkeypatch) -> None:
    """Each job may ask for as many as a dataset holds."""
    dataset = goals.new_goals(project, "full", "miniwob")
    factories.make_conversation(0, dataset=dataset, source_id="click-test-0")
    monkeypatch.setattr(goals, "MOST_GOALS", 2)
    with pytest.raises(ValueError, match="it would hold 3 goals; a dataset holds at most 2"):
        goals.LiveGoals(dataset, None).add(["click-test"], range(1, 3))  # type: ignore[arg-type]


def test_goals_of_another_project_are_neither_told_nor_added_to(project: Project) -> None:
    goals.new_goals(factories.make_project(), "theirs", "miniwob", steps=6)
    for steps in (6, 7):
        with pytest.raises(ValueError, match=r"^the dataset theirs belongs to another project$"):
            goals.new_goals(project, "theirs", "miniwob", steps=steps)


def test_goals_are_not_mixed_with_recorded_steps_or_made_by_those_who_may_not(project: Project) -> None:
    recorded = factories.make_dataset(project)
    with pytest.raises(ValidationError, match="recorded steps"):
        start(project, name=recorded.name)
    with pytest.raises(PermissionDenied):
        jobs.start_goals(
            user=factories.make_user("reader", project),
            project=project,
            name="x",
            environment="miniwob",
            tasks=["all"],
            episodes=1,
        )


@pytest.mark.slow
def test_the_form_says_what_its_fields_would_take(admin: Client, project: Project) -> None:
    assert "650 goals of 130 tasks; about 1 min 14 s." in admin.get("/live-goals/").content.decode()
    page = admin.get("/live-goals/?task_set=named&tasks=click-test&episodes=1").content.decode()
    assert "1 goal of 1 task; about 2 s." in page
    factories.make_job(
        project,
        kind="goals",
        state="done",
        params={"name": "g", "environment": "miniwob"},
        report={"landed": 10, "seconds": 20},
    )
    page = admin.get("/live-goals/?task_set=synapse&episodes=1").content.decode()
    assert "64 goals of 64 tasks; about 2 min 8 s." in page, "by the pace of the last ones"
    wrong = admin.post("/live-goals/", WANTED | {"project": project.pk, "tasks": "no-such"}).content.decode()
    assert "There is no task &#x27;no-such&#x27;" in wrong
    assert not Job.objects.filter(state="queued").exists()


def test_the_form_says_what_may_be_named_where_there_is_no_list(admin: Client, monkeypatch) -> None:
    monkeypatch.setenv("OPEN_WEB_HOSTS", "shop.example *.other.example")
    page = html.unescape(admin.get("/live-goals/?environment=open-web").content.decode())
    assert "any address on shop.example or *.other.example is a task" in page
    assert "“http://shop.example/ Find the opening hours”" in page
    assert "What there is:" not in page
    monkeypatch.setenv("OPEN_WEB_HOSTS", "*.other.example")
    assert "http://www.other.example/ Find" in admin.get("/live-goals/?environment=open-web").content.decode()
    monkeypatch.delenv("OPEN_WEB_HOSTS")
    page = admin.get("/live-goals/?environment=open-web").content.decode()
    assert "The open web is off: OPEN_WEB_HOSTS names no hosts. Whoever runs the app lists those" in page
    assert "any address on" not in page
    assert "What there is: 27" in admin.get("/live-goals/?environment=sample-sites").content.decode()


@pytest.mark.slow
def test_the_pages_lead_there_for_those_who_may(admin: Client, project: Project) -> None:
    assert 'href="/live-goals/"' in admin.get("/datasets/").content.decode(), "while there is nothing yet, too"
    factories.make_conversation(dataset=factories.make_dataset(project))
    assert 'href="/live-goals/"' in admin.get("/datasets/").content.decode()
    assert 'href="/live-goals/"' in admin.get("/").content.decode()
    reader = client_of(factories.make_user("reader", project))
    assert "/live-goals/" not in reader.get("/datasets/").content.decode()
    assert reader.get("/live-goals/").status_code == 403


def test_the_api_starts_the_same_job(admin: Client, project: Project) -> None:
    asked = {
        "project": project.slug,
        "name": "by-api",
        "environment": "miniwob",
        "tasks": ["synapse", "synapse"],
        "episodes": 3,
    }
    answer = admin.post("/api/live-goals/", asked, content_type="application/json")
    assert answer.status_code == 202, answer.content
    job = Job.objects.get()
    assert (answer.json()["id"], job.params["tasks"], job.params["split"]) == (job.pk, ["synapse"], "dev")


def test_episodes_take_as_long_as_those_of_the_last_live_run(project: Project) -> None:
    live = {"environment": "miniwob", "steps": 20, "seconds": 300}
    dataset = factories.make_dataset(project, live=live)
    for seed in range(4):
        factories.make_conversation(dataset=dataset, turns=1, steps=0, split="dev", extra={"task": "t", "seed": seed})
    user = factories.make_user("admin", project)
    told = expected(user, dataset, [literature.get("grounded")], ["dev"])
    assert (told.steps, told.unit, told.recipes[0].seconds) == (4, "episode", None)
    recorded = factories.make_run(factories.make_dataset(project), recipe_name="grounded", state=Run.State.DONE)
    factories.make_trajectory(recorded, factories.make_conversation(dataset=recorded.dataset))
    assert expected(user, dataset, [literature.get("grounded")]).seconds == 0, "recorded steps tell nothing of it"
