"""Episodes without a recorded path: own observations, several actions of a call, branches; in no score."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from agents.environments.protocol import WindowPicture
from agents.models import StepPicture, Trajectory, TrajectoryStep
from agents.replay import rows
from agents.retention import Pictures, Traces
from agents.runs.episodes import ActionOutcome, Episode, Seen
from agents.runs.exporting import trajectory_lines
from agents.types import Action, Branch, Decision, DecisionUsage, RankedCandidate
from annotations.access import rules
from annotations.models import Screenshot, Snapshot
from annotations.pages.store import forget_unused_pages
from evaluation.models.page_regions import BadRegion, PageRegion
from evaluation.scores import scoring
from tests import factories

PAGE = '<html backend_node_id="1"><body backend_node_id="2"><button backend_node_id="3">Go</button></body></html>'
AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
GO, TYPE = Action("CLICK", "3"), Action("TYPE", "3", "Rome")
BRANCHES = (
    Branch(GO, "[button]  Go -> CLICK", "The list of results opens.", 0.8, True),
    Branch(TYPE, "[button]  Go -> TYPE: Rome", "Nothing changes.", 0.1),
)


def decision(*actions: Action) -> Decision:
    trace = {"act": {"representation": "[button]  Go -> CLICK"}}
    ranking = (RankedCandidate("3", 0.5, 0, "button Go"),)
    return Decision(actions, ranking, usage=DecisionUsage(1, 100, 5), trace=trace, branches=BRANCHES)


@pytest.fixture
def trajectory(db) -> Trajectory:
    """A task that nobody recorded a path for: two calls, of two actions and of one."""
    conversation = factories.make_conversation(turns=1, steps=0)
    turn = conversation.turns.get()
    run = factories.make_run(conversation.dataset, state="done", finished_at=timezone.now() - timedelta(days=9))
    trajectory = Trajectory.objects.create(run=run, conversation=conversation, state="done", step_count=0)
    seen = Seen(PAGE, "https://shop.example/", 3, AT)
    Episode(trajectory, turn).store(seen, decision(GO, TYPE), [ActionOutcome(0.0, "a list opened"), ActionOutcome(0.5)])
    Episode(trajectory, turn).store(seen, decision(GO), [ActionOutcome(1.0, "done")])
    return trajectory


@pytest.mark.slow
def test_what_an_action_of_an_episode_changed_is_told_where_the_next_page_is_its_own(trajectory) -> None:
    after = PAGE.replace("</body>", '<h1 backend_node_id="4">Found</h1></body>')
    Episode(trajectory, trajectory.conversation.turns.get()).store(
        Seen(after, "https://shop.example/", 4, AT), decision(GO), [ActionOutcome(1.0, "done")]
    )
    client = Client()
    client.force_login(factories.make_user(is_superuser=True))
    told = [client.get(f"/trajectories/{trajectory.pk}/steps/{seq}/changes/").content.decode() for seq in range(4)]
    assert "1 added" in told[2]
    assert "Found" in told[2]
    assert ["was not recorded" in one for one in told] == [True, True, False, True]  # 0 and 1 are of one call
    assert client.get(f"/trajectories/{trajectory.pk}/steps/9/changes/").status_code == 404


def test_each_action_of_a_call_is_a_step_and_what_the_call_took_counts_once(trajectory) -> None:
    stored = list(trajectory.steps.all())
    assert [(row.seq, row.call_index, row.operation, row.reward) for row in stored] == [
        (0, 0, "CLICK", 0.0),
        (1, 0, "TYPE", 0.5),
        (2, 1, "CLICK", 1.0),
    ]
    assert [row.calls for row in stored] == [1, 0, 1]
    assert trajectory.step_count == 3
    assert {row.snapshot.html for row in stored} == {PAGE}
    with pytest.raises(ValueError, match="1 actions have 2 outcomes"):
        Episode(trajectory, stored[0].turn).store(
            Seen(PAGE, "", 3, AT), decision(GO), [ActionOutcome(), ActionOutcome()]
        )


def test_a_step_has_a_gold_step_or_a_turn_of_its_own(trajectory) -> None:
    other = factories.make_conversation(dataset=trajectory.conversation.dataset)
    gold = other.turns.first().steps.first()
    for wrong in ({}, {"turn": gold.turn, "step": gold}):
        with pytest.raises(IntegrityError, match="step_or_own_turn"), transaction.atomic():
            TrajectoryStep.objects.create(run=trajectory.run, trajectory=trajectory, seq=9, **wrong)


def test_the_replay_and_the_api_tell_what_happened_and_no_right_or_wrong(trajectory) -> None:
    row = rows.rows(trajectory, gold=True)[0]
    assert (row["step"], row["gold"], row["success"], row["element_correct"]) == (None, None, None, None)
    assert (row["url"], row["happened_at"]) == ("https://shop.example/", AT.isoformat())
    assert (row["reward"], row["outcome"], row["turn_index"]) == (0.0, "a list opened", 0)
    found = rows.detail(trajectory, 0, gold=True)
    assert found["branches"][0]["prediction"] == "The list of results opens."
    assert found["verdict"] == ["no recorded path: nothing to compare with"]
    assert [row["action_repr"] for row in rows.rows(trajectory, gold=True)] == [
        "[button]  Go -> CLICK",
        "",
        "[button]  Go -> CLICK",
    ]
    assert trajectory.outline() == [{"index": 0, "instruction": row["instruction"], "step_count": 3}]
    hidden = rows.detail(trajectory, 0, gold=False)
    assert (hidden["branches"], hidden["url"], hidden["reward"], hidden["outcome"]) == ([], None, None, None)


@pytest.mark.slow
def test_pages_and_api_answer(trajectory) -> None:
    client = Client()
    client.force_login(factories.make_user(is_superuser=True))
    assert client.get(f"/trajectories/{trajectory.pk}/steps/1/").status_code == 200
    view = client.get(f"/trajectories/{trajectory.pk}/steps/1/view/").json()
    assert view["detail"]["operation"] == "TYPE"
    assert view["snapshot"]["before"]["url"]
    assert view["snapshot"]["bytes"] == len(PAGE) == Snapshot.objects.get().raw_size
    assert [line[2] for line in client.get(f"/trajectories/{trajectory.pk}/steps/1/tree/").json()["lines"]]
    assert client.get(f"/trajectories/{trajectory.pk}/steps/3/").status_code == 404
    assert client.get(f"/api/trajectories/{trajectory.pk}/steps/2/").json()["outcome"] == "done"


def test_the_export_holds_them(trajectory) -> None:
    user = factories.make_user(is_superuser=True)
    (line,) = [json.loads(line) for line in trajectory_lines(trajectory.run, rules.Rights(user))]
    assert [step["reward"] for step in line["steps"]] == [0.0, 0.5, 1.0]
    assert line["steps"][0]["branches"][1]["value"] == 0.1


def test_they_are_in_no_score(trajectory) -> None:
    recorded = factories.make_conversation(dataset=trajectory.conversation.dataset, turns=1, steps=1)
    other = factories.make_trajectory(trajectory.run, recorded)
    for preset in ("faithful", "corrected"):
        (outcome,) = scoring.RunScores(trajectory.run).outcomes(preset)
        assert outcome.conversation == str(recorded.pk)
    assert scoring.RunScores(trajectory.run).store() == 1
    assert set(trajectory.run.steps.failed()) == set(other.steps.all())


def test_predictions_are_forgotten_with_the_traces_and_pages_that_are_shown_stay(trajectory, settings) -> None:
    settings.RETENTION_DAYS = settings.RETENTION_DAYS | {"traces": 1}
    assert Traces().forget() == 3
    row = trajectory.steps.first()
    assert [sorted(branch) for branch in row.branches] == [
        ["action", "by_value", "chosen", "representation", "value"]
    ] * 2
    assert (row.reward, row.outcome) == (0.0, "a list opened")
    assert forget_unused_pages(timedelta(0)) == 0
    assert row.snapshot.html == PAGE


PICTURE = WindowPicture(b"RIFF a picture", "image/webp", 332, 214, {"3": [1, 2, 30, 20], "4": [5, 5, 9, 9]})


@pytest.fixture
def pictured(trajectory) -> Trajectory:
    """The same with a third call, of two actions, whose page has a screenshot."""
    seen = Seen(PAGE, "https://shop.example/", 3, AT, PICTURE)
    turn = trajectory.conversation.turns.get()
    Episode(trajectory, turn).store(seen, decision(GO, TYPE), [ActionOutcome(0.0), ActionOutcome(1.0)])
    return trajectory


def test_a_screenshot_is_stored_once_with_the_places_of_marked_elements_for_each_step_of_its_page(pictured) -> None:
    shot = Screenshot.objects.get()
    assert (bytes(shot.data), shot.media_type, shot.size) == (PICTURE.data, "image/webp", len(PICTURE.data))
    told = [(row.step.seq, row.screenshot, row.shown["place"]) for row in StepPicture.objects.order_by("step__seq")]
    place = {"width": 332, "height": 214, "boxes": {"3": [1, 2, 30, 20]}}
    assert told == [(3, shot, place), (4, shot, place)]
    told = [row.get("screenshot") for row in rows.rows(pictured, gold=True)]
    assert told == [None, None, None, shot.sha256, shot.sha256]
    assert rows.detail(pictured, 4, gold=True)["screenshot"] == shot.sha256
    (line,) = [json.loads(one) for one in trajectory_lines(pictured.run, rules.Rights(factories.make_superuser()))]
    assert [step.get("screenshot") for step in line["steps"]][2:] == [None, shot.sha256, shot.sha256]


def test_a_screenshot_is_shown_to_those_who_may_see_what_agents_do_there_and_to_nobody_else(pictured) -> None:
    project, shot = pictured.run.dataset.project, Screenshot.objects.get()
    image = f"/api/trajectories/{pictured.pk}/screenshots/{shot.sha256}/image/"
    member, stranger, admin = Client(), Client(), Client()
    member.force_login(factories.make_user("reader", project))
    stranger.force_login(factories.make_user("reader", factories.make_project()))
    admin.force_login(factories.make_user("admin", project))
    answer = member.get(image)
    assert (answer.content, answer["Content-Type"]) == (PICTURE.data, "image/webp")
    view = member.get(f"/trajectories/{pictured.pk}/steps/3/view/").json()["snapshot"]
    assert (view["screenshot"], view["place"]["boxes"]) == (image, {"3": [1, 2, 30, 20]})
    page = member.get(f"/trajectories/{pictured.pk}/steps/3/").context["data"]
    assert (page["pictured"], page["screenshots_url"]) == (True, image.partition(shot.sha256)[0])
    assert [one.get(image).status_code for one in (stranger, Client())] == [404, 401]
    assert member.get(f"/api/screenshots/{shot.sha256}/image/").status_code == 404  # no recorded step shows it
    other = factories.make_trajectory(pictured.run, stored=0)
    assert member.get(image.replace(f"/{pictured.pk}/", f"/{other.pk}/")).status_code == 404

    pictured.conversation.split = "test_task"
    pictured.conversation.save()
    assert member.get(image).status_code == 404
    view = member.get(f"/trajectories/{pictured.pk}/steps/3/view/").json()["snapshot"]
    assert (view["screenshot"], view["place"], view["hidden"]) == (None, None, True)
    assert [row.get("screenshot") for row in rows.rows(pictured, gold=False)] == [None] * 5
    assert member.get(f"/trajectories/{pictured.pk}/steps/3/").context["data"]["pictured"] is False
    assert admin.get(image).content == PICTURE.data


def test_a_region_may_be_of_the_screenshot_of_a_live_step_that_has_one(pictured) -> None:
    region = PageRegion("screenshot", 1, 2, 30, 20, 332, 332, 214)
    region.check_of(pictured.steps.get(seq=3))
    with pytest.raises(BadRegion, match="no screenshot of this step"):
        region.check_of(pictured.steps.get(seq=2))


def test_screenshots_are_forgotten_by_their_own_setting_with_their_bytes(pictured, settings) -> None:
    assert Pictures().forget() == 0  # kept for ever
    settings.RETENTION_DAYS = settings.RETENTION_DAYS | {"screenshots": 1}
    assert Pictures().estimate().rows == 2
    pictured.run.state = "running"
    pictured.run.save()
    assert Pictures().forget() == 0
    pictured.run.state = "done"
    pictured.run.save()
    forget_unused_pages(timedelta(0))
    assert Screenshot.objects.count() == 1
    assert Pictures().forget() == 2
    assert "screenshot" not in rows.rows(pictured, gold=True)[3]
    forget_unused_pages()
    assert Screenshot.objects.count() == 1  # a day old at least, as a running import may be about to use it
    forget_unused_pages(timedelta(0))
    assert Screenshot.objects.count() == 0
    assert pictured.steps.get(seq=3).snapshot.html == PAGE


def test_screenshots_go_with_their_run_and_recorded_ones_stay(pictured) -> None:
    step = factories.make_conversation(turns=1, steps=1).turns.get().steps.get()
    kept = factories.make_screenshot()
    type(step).objects.filter(pk=step.pk).update(screenshot=kept)
    pictured.run.steps.all().delete()
    pictured.delete()
    assert StepPicture.objects.count() == 0
    forget_unused_pages(timedelta(0))
    assert Screenshot.objects.get() == kept
