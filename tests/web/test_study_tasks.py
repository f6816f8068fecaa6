"""Live runs on MiniWoB++ task by task beside Synapse's table: the page of a study, its CSV, and over REST."""

import csv
import io

import pytest

from agents.models import Run, Trajectory
from agents.recipes.miniwob_table import SYSTEMS, reported
from annotations.models import Dataset
from evaluation.models import Study
from tests import factories
from tests.signed_in import client_of
from tests.web.reading import source
from tests.web.test_pages_studies import RECIPE, study_client

pytestmark = pytest.mark.django_db
LIVE = {"environment": "miniwob", "steps": 20, "seconds": 300}
MINE = {"count-shape": [1, 1, 0, 0], "click-test": [1, 1], "bisect-angle": [0, 0.5]}
"""Task -> the rewards of its episodes. Of the third Synapse reports nothing."""


@pytest.fixture
def goals() -> Dataset:
    return factories.make_dataset(live=LIVE)


@pytest.fixture
def study(goals: Dataset) -> Study:
    return factories.make_study(goals.project, [played(goals, MINE)])


def played(goals: Dataset, rewards: dict[str, list[float]], split: str = "dev", **fields) -> Run:
    run = factories.make_run(goals, **{"state": "done", "split": "", "recipe": RECIPE} | fields)
    for task, of_task in rewards.items():
        play(run, task, of_task, split)
    return run


def play(run: Run, task: str, rewards: list[float], split: str = "dev") -> None:
    website = run.dataset.websites.filter(name=task).first() or factories.make_website(run.dataset, name=task)
    for seed, reward in enumerate(rewards):
        goal = factories.make_conversation(
            turns=1, steps=0, dataset=run.dataset, website=website, split=split, extra={"task": task, "seed": seed}
        )
        trajectory = Trajectory.objects.create(run=run, conversation=goal, state="done", step_count=1)
        trajectory.steps.create(
            run=run, turn=goal.turns.get(), seq=0, operation="CLICK", reward=reward, milliseconds=10
        )
        run.count_episode(lost=False)


def told(study: Study, query: str = "", **fields) -> dict:
    return study_client(study, **fields).get(f"/api/studies/{study.pk}/tasks/{query}").json()


def means(found: dict) -> dict[str, tuple[int | None, float | None, list[float]]]:
    return {
        one["name"]: (one["tasks"], one["published"], [ours["value"] for ours in one["ours"]]) for one in found["means"]
    }


def test_each_task_stands_beside_what_others_are_published_with(study: Study) -> None:
    found = told(study)
    assert [one["name"] for one in found["systems"]] == list(SYSTEMS)
    of_task = {one["task"]: one for one in found["tasks"]}
    assert sorted(of_task) == ["bisect-angle", "click-test", "count-shape"]
    (ours,) = of_task["count-shape"]["ours"]
    interval = {"low": pytest.approx(0.150, abs=0.001), "high": pytest.approx(0.850, abs=0.001)}
    result = {"episodes": 4, "success": 0.5, "reward": 0.5, "steps": 1.0, "trained": None}
    result["caution"] = "4 episodes only: too few for an interval to trust"
    assert ours == {"run": study.runs.get().pk} | result | interval
    assert {"Synapse": 0.9, "RCI": 0.4, "Human": 0.82}.items() <= of_task["count-shape"]["published"].items()
    assert of_task["bisect-angle"]["published"]["Synapse"] is None
    assert of_task["bisect-angle"]["ours"][0]["success"] == 0.0, "a part of a task is none"


def test_means_are_over_the_tasks_that_a_system_reports_and_that_were_run(study: Study) -> None:
    found = means(told(study))
    assert found["Every task"] == (3, None, [pytest.approx(0.5)])
    assert found["Synapse"] == (2, pytest.approx(0.95), [pytest.approx(0.75)])
    assert found["Human"] == (3, pytest.approx((0.82 + 1 + 0.92) / 3), [pytest.approx(0.5)])
    assert "Tasks without training" not in found, "nobody knows what its weights have seen"


def test_of_several_runs_only_what_all_have_played_is_compared(goals: Dataset, study: Study) -> None:
    study.runs.add(played(goals, {"click-test": [0], "use-slider": [1]}))
    study.runs.add(played(goals, {}, state="queued"))
    found = told(study)
    assert len(found["runs"]) == 3
    assert {one["task"]: len(one["ours"]) for one in found["tasks"]} == dict.fromkeys(MINE, 1) | {
        "click-test": 2,
        "use-slider": 1,
    }
    assert means(found)["Every task"] == (1, None, [1.0, 0.0])
    assert means(found)["Synapse"] == (1, reported("Synapse", ["click-test"])[0], [1.0, 0.0])


def test_at_most_four_runs_stand_beside_each_other_and_can_be_chosen(goals: Dataset, study: Study) -> None:
    keys = [study.runs.get().pk]
    for seed in range(1, 6):
        run = played(goals, {"click-test": [1]}, seed=seed)
        study.runs.add(run)
        keys.append(run.pk)
    assert [one["run"] for one in told(study)["runs"]] == keys[:4]
    assert [one["run"] for one in told(study, f"?runs={keys[4]},{keys[0]}")["runs"]] == [keys[0], keys[4]]
    page = source(study_client(study).get(f"/studies/{study.pk}/tasks/?runs={keys[5]}&runs={keys[4]}"))
    assert page.count("checked") == 2
    assert page.count('type="checkbox"') == 6


@pytest.mark.parametrize("runs", ["abc", "0", "1,abc"])
def test_runs_that_are_not_there_are_refused_and_the_page_says_so(study: Study, runs: str) -> None:
    found = study_client(study)
    answer = found.get(f"/api/studies/{study.pk}/tasks/?runs={runs}")
    assert answer.status_code == 400
    assert "No such runs" in answer.json()["runs"][0]
    assert "No such runs" in source(found.get(f"/studies/{study.pk}/tasks/?runs={runs}"))


def test_only_an_episode_whose_browser_was_lost_is_called_so(goals: Dataset) -> None:
    run = played(goals, {"click-test": [0, 0]})
    failed, lost = run.trajectories.in_order()
    failed.steps.update(error="the prompt is too long", outcome="ended: the agent had no action")
    lost.steps.update(error="the browser was lost", outcome="the browser was lost")
    assert [(row.errors, row.lost) for row in run.trajectories.with_results().in_order()] == [(1, 0), (1, 1)]


def test_the_page_draws_each_task_and_says_that_published_numbers_are_no_target(study: Study) -> None:
    reader = study_client(study)
    page = source(reader.get(f"/studies/{study.pk}/tasks/"))
    assert "neither is a target for the other" in page
    assert page.count('<th scope="row">') == 3
    assert page.count('class="synapse"') == 3, "in the legend, and at the two tasks that it reports"
    assert page.count("<circle") == 4, "likewise one a task"
    assert f'href="/studies/{study.pk}/tasks/"' in source(reader.get(f"/studies/{study.pk}/"))


def test_tasks_with_too_few_episodes_are_counted_on_the_page(goals: Dataset, study: Study) -> None:
    address = f"/studies/{study.pk}/tasks/"
    said = "3 of 3 tasks have fewer than 10 episodes: too few to trust the interval of one."
    assert said in source(study_client(study).get(address))
    enough = factories.make_study(goals.project, [played(goals, {"click-test": [1] * 10})])
    assert "fewer than 10" not in source(study_client(enough).get(f"/studies/{enough.pk}/tasks/"))
    (row,) = told(enough)["tasks"]
    assert row["ours"][0]["caution"] == ""


def test_the_table_can_be_had_as_csv(goals: Dataset, study: Study) -> None:
    study.runs.add(played(goals, {"click-test": [0]}, seed=3))
    answer = study_client(study).get(f"/studies/{study.pk}/tasks.csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(row["task"], row["seed"], row["success"]) for row in rows] == [
        *(("bisect-angle", "0", "0.0"), ("click-test", "0", "1.0"), ("click-test", "3", "0.0")),
        ("count-shape", "0", "0.5"),
    ]
    assert rows[1]["caution"] == "2 episodes only: too few for an interval to trust"
    assert (rows[0]["Synapse"], rows[3]["Synapse"], rows[3]["WebN-T5"]) == ("", "0.9", "0.41")


def test_what_came_of_hidden_goals_is_for_those_who_see_their_gold(study: Study) -> None:
    play(study.runs.get(), "use-slider", [1], split="test_website")
    found, seeing = told(study), told(study, sees_test_gold=True)
    assert "use-slider" not in {one["task"] for one in found["tasks"]}
    assert "use-slider" in {one["task"] for one in seeing["tasks"]}
    assert (found["hidden"], seeing["hidden"]) == (True, False)
    assert means(found)["Every task"][0] == 3
    for address in ("tasks/", "tasks.csv"):
        assert "use-slider" not in source(study_client(study).get(f"/studies/{study.pk}/{address}"))
    assert "Goals of test splits are left out" in source(study_client(study).get(f"/studies/{study.pk}/tasks/"))


def test_tasks_that_the_weights_never_saw_are_told_apart(goals: Dataset) -> None:
    demos = factories.make_dataset(goals.project)
    for task, split in (("click-test", "train"), ("count-shape", "dev")):
        website = factories.make_website(demos, name=task)
        factories.make_conversation(turns=1, steps=1, dataset=demos, website=website, split=split)
    model = factories.make_trained_model(demos, kind="grounded", ready=True)
    recipe = RECIPE | {"plan": RECIPE["plan"] | {"model": model.name}}
    study = factories.make_study(goals.project, [played(goals, MINE, recipe=recipe), played(goals, MINE)])
    found = told(study)
    trained = {one["task"]: [ours["trained"] for ours in one["ours"]] for one in found["tasks"]}
    assert trained == {"click-test": [True, None], "count-shape": [False, None], "bisect-angle": [False, None]}
    assert means(found)["Tasks of its training"] == (None, None, [1.0])
    assert means(found)["Tasks without training"] == (None, None, [pytest.approx(0.25)])
    assert source(study_client(study).get(f"/studies/{study.pk}/tasks/")).count('class="untrained"') == 3
    model.dataset.conversations.all().delete()
    type(model).objects.filter(pk=model.pk).update(dataset=None)
    assert told(study)["tasks"][0]["ours"][0]["trained"] is None, "its data are gone"


def test_other_harnesses_name_the_same_tasks(goals: Dataset) -> None:
    goals.live = LIVE | {"environment": "browsergym"}
    goals.save()
    run = played(goals, {"miniwob.count-shape": [1], "workarena.order": [1]})
    (found,) = told(factories.make_study(goals.project, [run]))["tasks"]
    assert (found["task"], found["published"]["Synapse"]) == ("count-shape", 0.9)


@pytest.mark.parametrize(("environment", "words"), [("sample-sites", "this study has none"), ("miniwob", "played yet")])
def test_where_there_is_nothing_it_is_said(goals: Dataset, environment: str, words: str) -> None:
    goals.live = LIVE | {"environment": environment}
    goals.save()
    study = factories.make_study(goals.project, [played(goals, {}, state="queued")])
    client = client_of(factories.make_user("reader", study.project))
    assert words in source(client.get(f"/studies/{study.pk}/tasks/"))
    assert (told(study)["tasks"], told(study)["means"]) == ([], [])
    is_linked = f'href="/studies/{study.pk}/tasks/"' in source(client.get(f"/studies/{study.pk}/"))
    assert is_linked == (environment == "miniwob")
