"""The page of failures of live runs, and over REST: which episodes failed, and why."""

import html
import re

import pytest

from agents.live.under_way import NO_ACTION
from agents.models import Run, Trajectory
from agents.models.steps import TURN
from evaluation.models import Study
from tests import factories
from tests.signed_in import client_of
from tests.web.test_pages_studies import RECIPE, study_client

pytestmark = pytest.mark.django_db
CLICK = {"operation": "CLICK", "node_id": "3"}
STOP = {"operation": "STOP", "outcome": "stopped"}
ENDED = "clicked at 5,5; the task has ended with reward {:g}"
LOST = "the browser was lost in each of 3 attempts"


def live_run(environment: str = "miniwob", steps: int = 4, split: str = "dev") -> Run:
    dataset = factories.make_dataset(live={"environment": environment, "steps": steps, "seconds": 300})
    run = factories.make_run(dataset, split=split, state="done", recipe=RECIPE)
    factories.make_study(dataset.project, [run])
    return run


def play(run: Run, name: str, *steps: dict, split: str = "dev", **fields) -> Trajectory:
    """An episode of these steps that has ended."""
    goal = factories.make_conversation(
        dataset=run.dataset, turns=1, steps=0, source_id=name, split=split, extra={"task": name, "seed": 0}
    )
    fields = {"state": "done", "step_count": len(steps)} | fields
    trajectory = Trajectory.objects.create(run=run, conversation=goal, **fields)
    for seq, step in enumerate(steps):
        trajectory.steps.create(**{"run": run, "turn": goal.turns.get(), "seq": seq, "reward": 0.0} | step)
    Run.objects.filter(pk=run.pk).update(step_count=run.trajectories.count())
    if trajectory.state == "done":
        run.count_episode(lost=False)
    return trajectory


def others(count: int) -> list[dict]:
    return [CLICK | {"node_id": str(10 + place)} for place in range(count)]


def page_of(run: Run, query: str = "", role: str = "reader") -> str:
    study = run.studies.get()
    text = study_client(study, role).get(f"/studies/{study.pk}/failures/{query}").content.decode()
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", text)).split())


def causes(run: Run) -> dict[str, int]:
    of_admin = client_of(factories.make_user("admin", run.dataset.project))
    found = of_admin.get(f"/api/runs/{run.pk}/failures/").json()
    assert sum(reason["count"] for reason in found["reasons"]) == len(found["steps"])
    return {reason["key"]: reason["count"] for reason in found["reasons"] if reason["count"]}


@pytest.mark.parametrize(
    ("steps", "cause"),
    [
        ([{"operation": "", "error": LOST, "outcome": LOST}], "lost"),
        ([CLICK, CLICK | {"outcome": "held, refused by ada"}], "people"),
        ([CLICK, STOP | {"outcome": "ended: nobody came to show it"}], "people"),
        ([CLICK, {"operation": "", "error": "no reply", "outcome": NO_ACTION}], "error"),
        ([{"operation": "", "outcome": NO_ACTION}], "nothing"),
        ([STOP], "nothing"),
        ([CLICK, {"operation": "", "outcome": NO_ACTION}], "early"),
        ([CLICK, STOP], "early"),
        ([CLICK, CLICK | {"reward": -1.0, "outcome": ENDED.format(-1)}], "wrong"),
        ([CLICK, CLICK | {"outcome": ENDED.format(0)}], "wrong"),
        ([CLICK, CLICK | {"reward": 0.5, "outcome": ENDED.format(0.5)}], "part"),
        ([*others(1), CLICK, CLICK, CLICK], "loop"),
        ([*others(2), CLICK, CLICK], "steps"),
        ([*others(1), CLICK], "time"),
    ],
)
def test_each_failed_episode_has_the_cause_that_its_end_tells(steps: list[dict], cause: str) -> None:
    run = live_run()
    play(run, "right", CLICK, CLICK | {"reward": 1.0, "outcome": ENDED.format(1)})
    play(run, "wrong", *steps)
    play(run, "under-way", CLICK, state="running")
    assert causes(run) == {cause: 1}


@pytest.mark.parametrize(
    ("last", "cause"),
    [
        (CLICK | {"end": {"reached": False, "side_effects": ["cart"]}}, "effect"),
        (STOP | {"end": {"reached": False, "side_effects": []}}, "early"),
        (CLICK | {"end": {"reached": False, "side_effects": []}}, "steps"),
    ],
)
def test_conversations_fail_by_their_turns(last: dict, cause: str) -> None:
    run = live_run("sample-sites", steps=200)
    play(run, "evening", CLICK, {key: last[key] for key in last if key != "end"} | {"trace": {TURN: last["end"]}})
    assert causes(run) == {cause: 1}


def test_where_nothing_judges_an_agent_that_stops_did_not_stop_too_early() -> None:
    run = live_run("open-web")
    play(run, "shop", CLICK, STOP)
    assert causes(run) == {"unjudged": 1}


def test_the_page_counts_failed_episodes_and_each_cause_leads_to_its_rows() -> None:
    run = live_run()
    stopped, wrong = play(run, "halfway", CLICK, CLICK, STOP), play(run, "astray", CLICK | {"reward": -1.0})
    play(run, "right", CLICK | {"reward": 1.0})
    study, text = run.studies.get(), page_of(run)
    assert "2 failed episodes" in text
    assert "succeeded" not in text
    assert "stopped too early 1" in text
    assert "wrong, as the environment says 1" in text
    whole = study_client(study).get(f"/studies/{study.pk}/failures/").content.decode()
    assert f'href="/trajectories/{stopped.pk}/steps/2/"' in whole
    assert f'href="/trajectories/{wrong.pk}/steps/0/"' in whole
    assert f'href="?run={run.pk}&amp;reason=early"' in whole
    narrowed = page_of(run, f"?run={run.pk}&reason=early")
    assert "1 failed episode" in narrowed
    assert "halfway" in narrowed
    assert "astray" not in narrowed


def test_where_nothing_failed_the_page_says_so_of_episodes() -> None:
    run = live_run()
    play(run, "under-way", CLICK, state="running")
    assert "No episode of this run has ended yet." in page_of(run)
    play(run, "right", CLICK | {"reward": 1.0})
    text = page_of(run)
    assert "Every episode that has ended, 1 of 2, reached its goal." in text
    assert "step of this run succeeded" not in text
    assert "No episode of this run failed for this cause." in page_of(run, "?reason=loop")


@pytest.mark.parametrize("split", ["test_task", ""])
def test_episodes_of_hidden_conversations_are_told_to_nobody_who_may_not_see_their_gold(split: str) -> None:
    run = live_run("sample-sites", split=split)
    play(run, "evening", CLICK, STOP, split="test_task")
    text = page_of(run)
    assert "0 failed episodes" in text
    assert "hidden from you" in text
    assert "stopped too early (0)" in text
    assert "1 failed episode" in page_of(run, role="admin")


def test_a_live_study_leads_to_its_failed_episodes() -> None:
    run = live_run()
    play(run, "halfway", CLICK, STOP)
    study: Study = run.studies.get()
    text = study_client(study).get(f"/studies/{study.pk}/").content.decode()
    assert f"/studies/{study.pk}/failures/" in text
