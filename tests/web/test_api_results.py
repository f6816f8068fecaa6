"""What agents did and how well: metrics, steps and traces over the API."""

import csv
import io
import json

import pytest

from annotations.models import Project
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return factories.make_project()


def test_metrics_are_the_same_as_json_and_as_csv(project: Project) -> None:
    run = factories.make_run(factories.make_dataset(project))
    factories.make_score(run, value=1 / 3, low=0.1, high=0.7)
    factories.make_score(run, metric="turn_success", grouping="turn", headline=False, preset="faithful", n=7)
    study = factories.make_study(project, [run])
    reader = client_of(factories.make_user("reader", project))
    for url in (f"/api/runs/{run.pk}/metrics", f"/api/studies/{study.pk}/metrics"):
        rows = reader.get(f"{url}/").json()
        response = reader.get(f"{url}.csv", headers={"accept": "text/csv"})
        assert response["Content-Disposition"].startswith("attachment")
        table = list(csv.DictReader(io.StringIO(response.content.decode())))
        assert table == [{name: str(value) for name, value in row.items()} for row in rows]
        assert (rows[0]["value"], rows[0]["recipe"], len(rows)) == (1 / 3, "grounded", 2)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_text_that_a_spreadsheet_would_run_is_made_harmless(project: Project, start: str) -> None:
    run = factories.make_run(factories.make_dataset(project), recipe_name=f"{start}cmd()")
    factories.make_score(run)
    text = client_of(factories.make_user("reader", project)).get(f"/api/runs/{run.pk}/metrics.csv").content.decode()
    assert f"'{start}cmd()" in text


def test_the_replay_reads_the_stored_steps_after_the_last_one_it_has(project: Project) -> None:
    conversation = factories.make_conversation(dataset=factories.make_dataset(project))
    trajectory = factories.make_trajectory(conversation=conversation, stored=3)
    reader = client_of(factories.make_user("reader", project))
    body = reader.get(f"/api/trajectories/{trajectory.pk}/steps/", {"after": 0}).json()
    assert (body["step_count"], body["stored"], body["state"]) == (4, 3, "running")
    assert [step["seq"] for step in body["steps"]] == [1, 2]
    assert body["steps"][1]["gold"]["node_ids"] == ["5"]
    assert body["steps"][1]["action_repr"] == "[button]  Search -> CLICK"
    assert reader.get(f"/api/trajectories/{trajectory.pk}/steps/3/").status_code == 404
    assert reader.get(f"/api/trajectories/{trajectory.pk}/steps/", {"after": "x"}).status_code == 400


def test_a_step_has_its_trace_and_ranked_candidates(project: Project) -> None:
    trajectory = factories.make_trajectory(
        conversation=factories.make_conversation(dataset=factories.make_dataset(project))
    )
    reader = client_of(factories.make_user("reader", project))
    body = reader.get(f"/api/trajectories/{trajectory.pk}/steps/0/").json()
    assert [candidate["node_id"] for candidate in body["candidates"]] == ["9", "5", "6"]
    assert body["trace"]["act"] == {"representation": "[button]  Search -> CLICK"}


def test_trajectories_are_exported_one_per_line(project: Project) -> None:
    dataset = factories.make_dataset(project)
    run = factories.make_run(dataset)
    for split in ("train", "test_task"):
        factories.make_trajectory(run, factories.make_conversation(split=split, dataset=dataset))
    reader = client_of(factories.make_user("reader", project))
    response = reader.get(f"/api/runs/{run.pk}/trajectories.jsonl", headers={"accept": "application/x-ndjson"})
    lines = [json.loads(line) for line in b"".join(response.streaming_content).splitlines()]
    assert [line["split"] for line in lines] == ["train", "test_task"]
    assert [line["gold_hidden"] for line in lines] == [False, True]
    shown, hidden = lines[0]["steps"][0], lines[1]["steps"][0]
    assert (shown["success"], shown["candidate_ids"]) == (False, ["9", "5", "6"])
    told = {name for name, value in hidden.items() if value is not None}
    assert told == {"seq", "step", "turn_index", "step_index", "instruction"}
