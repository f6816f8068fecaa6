"""Over REST: what waits for me, preparing a recipe, and runs beside each other."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connections

from agents.training.prepare import ahead
from annotations.models import Job, Membership, Split
from evaluation.comparing.steps import RunDifferences
from evaluation.studies.home import next_thing
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
PREPARE = "/api/recipes/mindact/prepare/"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine where nothing was trained."""
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))


@pytest.fixture
def project():
    return factories.make_conversation(split=Split.TRAIN).dataset.project


@pytest.mark.slow
def test_a_recipe_is_prepared_once_with_an_estimate_first(project) -> None:
    client = client_of(factories.make_user("admin", project))
    told = client.get(PREPARE).json()
    assert [(part["part"], part["job"]) for part in told["parts"]] == [("starter-cross-encoder", None)]
    assert told["seconds"] == told["parts"][0]["seconds"] >= ahead.STARTING_SECONDS
    assert any(what.startswith("rank.model") for what in told["missing"])
    assert not Job.objects.exists()
    begun = client.post(PREPARE)
    assert begun.status_code == 202
    job = Job.objects.get()
    part = begun.json()["parts"][0]
    assert (part["job"], part["state"]) == (job.pk, "queued")
    assert (begun.json()["seconds"], begun.json()["running_seconds"]) == (0, told["seconds"])
    assert client.post(PREPARE).json() == begun.json()
    assert Job.objects.count() == 1


@pytest.mark.slow
def test_preparing_is_for_who_may_train_and_starts_nothing_for_others(project) -> None:
    for role in ("annotator", "reviewer", "reader"):
        client = client_of(factories.make_user(role, project))
        assert client.post(PREPARE).status_code == 403
        assert client.get(PREPARE).json()["parts"] == []
    assert client_of(factories.make_user("admin", project)).post("/api/recipes/none/prepare/").status_code == 404
    assert not Job.objects.exists()
    client_of(factories.make_user("admin", project)).post(PREPARE)
    seen = client_of(factories.make_user("reader", project)).get(PREPARE).json()
    assert seen["parts"][0]["job"] == Job.objects.get().pk
    assert client_of(factories.make_user("reader")).get(PREPARE).json()["parts"] == []


@pytest.mark.slow
def test_a_key_that_is_sent_again_gets_the_first_answer(project) -> None:
    client = client_of(factories.make_user("admin", project))
    first = client.post(PREPARE, headers={"Idempotency-Key": "a"}, content_type="application/json")
    Job.objects.update(state="cancelled")
    again = client.post(PREPARE, headers={"Idempotency-Key": "a"}, content_type="application/json")
    assert (again.headers["Idempotency-Replayed"], again.json()) == ("true", first.json())
    assert Job.objects.count() == 1
    client.post(PREPARE)
    assert Job.objects.count() == 2


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_who_ask_at_the_same_moment_start_one_job() -> None:
    project = factories.make_conversation(split=Split.TRAIN).dataset.project
    clients = [client_of(factories.make_user("admin", project)) for _ in range(4)]

    def ask(client) -> int:
        try:
            return client.post(PREPARE).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(ask, clients)) == [202] * 4
    assert Job.objects.count() == 1


def make_runs(split: str = "train") -> list:
    """Two runs over the same steps: the first is right at all of them, the second at none."""
    conversation = factories.make_conversation(split=split)
    runs = []
    for right in (True, False):
        trajectory = factories.make_trajectory(conversation=conversation)
        trajectory.steps.update(success=right)
        runs.append(trajectory.run)
    return runs


def test_two_runs_are_compared_as_on_the_page() -> None:
    runs = make_runs()
    client = client_of(factories.make_user("reader", runs[0].dataset.project))
    found = client.get(f"/api/runs/compare/?runs={runs[0].pk},{runs[1].pk}").json()
    assert [(run["letter"], run["id"]) for run in found["runs"]] == [("A", runs[0].pk), ("B", runs[1].pk)]
    (difference,) = found["differences"]
    (expected,) = RunDifferences(runs).paired()
    assert (difference["value"], difference["only_first"], difference["only_this"]) == (-1.0, expected.steps, 0)
    assert difference["caution"] == expected.caution != ""
    assert found["conversations"][0]["right"] == [expected.steps, 0]
    assert {one["kind"]: one["right_first"] for one in found["slices"]}["website"] == expected.steps
    swapped = client.get(f"/api/runs/compare/?runs={runs[1].pk},{runs[0].pk}").json()
    assert swapped["differences"][0]["value"] == 1.0


def test_what_tells_gold_of_a_test_split_is_left_out() -> None:
    runs = make_runs("test_task")
    url = f"/api/runs/compare/?runs={runs[0].pk},{runs[1].pk}"
    blind = client_of(factories.make_user("reader", runs[0].dataset.project)).get(url).json()
    assert (blind["gold"], blind["differences"], blind["slices"], blind["conversations"]) == (False, [], [], [])
    seeing = client_of(factories.make_user("reader", runs[0].dataset.project, sees_test_gold=True)).get(url).json()
    assert seeing["gold"]
    assert seeing["differences"]


def test_runs_that_cannot_be_compared_are_refused_in_a_sentence() -> None:
    one, other = make_runs()[0], factories.make_trajectory().run
    user = factories.make_user("reader", one.dataset.project)
    client = client_of(user)
    foreign = client.get(f"/api/runs/compare/?runs={one.pk},{other.pk}")
    assert (foreign.status_code, foreign.json()) == (400, {"runs": [f"No run {other.pk} is here that you may see."]})
    alone = client.get(f"/api/runs/compare/?runs={one.pk}").json()
    assert alone == {"runs": ["Choose a second run, on the same dataset."]}
    Membership.objects.create(project=other.dataset.project, user=user, role="reader")
    assert "different datasets" in client.get(f"/api/runs/compare/?runs={one.pk},{other.pk}").json()["runs"][0]
    assert client.get("/api/runs/compare/?runs=").status_code == 400


@pytest.mark.slow
def test_what_waits_is_told_by_role(project) -> None:
    dataset = project.datasets.get()
    campaign = factories.make_campaign(source=dataset, blind=False)
    session = factories.make_session(campaign)
    item = factories.make_item(session, stage="rewrite")
    annotator = factories.make_user("annotator", project)
    assignment = factories.make_assignment(item, annotator)
    found = client_of(annotator).get("/api/home/").json()
    assert [(one["campaign"], one["stage"], one["own"]) for one in found["to_do"]] == [(campaign.pk, "rewrite", 1)]
    assert found["sentence"].startswith("1 item waits for you;")
    assert (found["campaigns"], found["next_thing"]) == ([], None)
    type(assignment).objects.update(review="returned", round=2)
    assert [one["assignment"] for one in client_of(annotator).get("/api/home/").json()["returned"]] == [assignment.pk]
    admin = client_of(factories.make_user("admin", project)).get("/api/home/").json()
    assert [one["campaign"] for one in admin["campaigns"]] == [campaign.pk]
    said = "1 item returned, and not taken up since"
    assert (admin["campaigns"][0]["needs"], admin["campaigns"][0]["held_up"][0]["says"]) == (said, said)
    assert "/table/?show=untaken" in admin["campaigns"][0]["held_up"][0]["url"]
    assert admin["next_thing"]["url"].startswith("http")
    stranger = client_of(factories.make_user("admin")).get("/api/home/").json()
    assert (stranger["to_do"], stranger["campaigns"], stranger["running"]) == ([], [], [])


def test_an_agent_of_live_pages_is_not_proposed_for_what_is_recorded(project) -> None:
    admin = factories.make_user("admin", project)
    says, _, url = next_thing(admin, ["synapse-miniwob", "grounded"], 2) or ("", "", "")
    assert (says, url) == ("grounded is ready and has never run here.", "/studies/new/?recipe=grounded")
    assert next_thing(admin, ["synapse-miniwob"], 1) is None


def test_what_runs_is_told_to_members(project) -> None:
    job = factories.make_job(project, state="running", progress={"done": 2, "total": 4, "unit": "steps"})
    found = client_of(factories.make_user("reader", project)).get("/api/home/").json()
    assert [(one["kind"], one["id"]) for one in found["running"]] == [("job", job.pk)]
    assert found["running"][0]["says"].startswith("2 of 4 steps")
