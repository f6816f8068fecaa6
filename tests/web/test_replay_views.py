"""The replay page's addresses: who may open them, where they lead, and what they send."""

import json
import re

import pytest
from django.test import Client

from annotations.models import Correction, Snapshot, Step
from tests import factories
from tests.signed_in import client_of
from tests.web.replay_world import make_replay

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _host(settings):
    settings.APP_ORIGIN = "http://testserver"
    settings.SNAPSHOT_ORIGIN = "http://127.0.0.1"
    settings.ALLOWED_HOSTS = ["testserver", "127.0.0.1"]


def signed_in(user) -> Client:
    return client_of(user)


def reader_of(world, **options) -> Client:
    return signed_in(factories.make_user("reader", world.trajectory.run.dataset.project, **options))


def addresses(world) -> list[str]:
    base = f"/trajectories/{world.trajectory.pk}/"
    return [base, f"{base}steps/0/", f"{base}steps/0/view/", f"{base}steps/0/tree/"]


def data_of(response) -> dict:
    found = re.search(r'<script id="replay-data" type="application/json">(.*?)</script>', response.content.decode())
    return json.loads(found[1])


@pytest.mark.parametrize("number", range(4))
def test_a_trajectory_of_a_foreign_project_does_not_exist(number):
    world = make_replay(2)
    stranger = signed_in(factories.make_user("admin", factories.make_project()))
    assert stranger.get(addresses(world)[number]).status_code == 404


@pytest.mark.parametrize("number", range(4))
def test_nobody_sees_a_replay_without_signing_in(number):
    response = Client().get(addresses(make_replay(2))[number])
    assert response.status_code == 302
    assert response.url.startswith("/login/")


def test_a_stored_trajectory_opens_at_its_first_step():
    world = make_replay()
    response = reader_of(world).get(addresses(world)[0])
    assert (response.status_code, response.url) == (302, addresses(world)[1])


def test_a_trajectory_without_steps_waits_under_its_own_address():
    world = make_replay(0)
    response = reader_of(world).get(addresses(world)[0])
    assert response.status_code == 200
    assert data_of(response)["progress"]["steps"] == []


@pytest.mark.slow
def test_every_step_has_an_address_also_before_it_is_decided():
    world = make_replay(2)
    client, base = reader_of(world), f"/trajectories/{world.trajectory.pk}/steps"
    assert [data_of(client.get(f"{base}/{seq}/"))["seq"] for seq in (0, 7)] == [0, 7]
    assert client.get(f"{base}/8/").status_code == 404
    assert client.get(f"{base}/8/view/").status_code == 404


def test_the_page_starts_with_all_steps_in_short():
    world = make_replay(5)
    data = data_of(reader_of(world).get(addresses(world)[1]))
    assert [turn["step_count"] for turn in data["turns"]] == [3, 2, 3]
    rows = data["progress"]["steps"]
    assert [row["success"] for row in rows] == [True, True, True, True, False]
    assert not {"trace", "candidates", "instruction", "gold"} & rows[0].keys()


@pytest.mark.slow
def test_five_hundred_steps_start_with_less_than_200_kilobytes_in_a_fixed_number_of_queries(
    django_assert_max_num_queries,
):
    conversation = factories.make_conversation(turns=100, steps=5)
    trajectory = factories.make_trajectory(conversation=conversation)
    client = signed_in(factories.make_user("reader", trajectory.run.dataset.project))
    with django_assert_max_num_queries(17):
        response = client.get(f"/trajectories/{trajectory.pk}/steps/250/")
    assert len(data_of(response)["progress"]["steps"]) == 500
    assert len(response.content) < 200_000


def test_a_step_comes_with_its_record_and_signed_addresses_of_its_pages():
    world = make_replay()
    view = reader_of(world).get(f"/trajectories/{world.trajectory.pk}/steps/7/view/").json()
    assert view["detail"]["verdict"] == ["wrong element", "gold was rank 2 of 36", "operation right"]
    page = view["snapshot"]
    assert page["before"]["url"].startswith("http://127.0.0.1/s/")
    assert (page["before"]["sandbox"], page["before"]["scripted"]) == ("allow-scripts", True)
    assert page["before"]["snapshot"] == Snapshot.objects.get(pk=world.steps[7].snapshot_id).sha256
    assert page["after"] is None
    assert page["screenshot"] is None


def test_the_page_after_a_step_and_its_screenshot_are_named_where_they_exist():
    world = make_replay()
    shot = factories.make_screenshot()
    Step.objects.filter(pk=world.steps[0].pk).update(screenshot=shot)
    page = reader_of(world).get(addresses(world)[2]).json()["snapshot"]
    assert page["after"]["snapshot"] == Snapshot.objects.get(pk=world.steps[1].snapshot_id).sha256
    assert page["screenshot"] == f"/api/screenshots/{shot.sha256}/image/"


def test_without_a_second_origin_the_marks_are_in_the_address(settings):
    settings.SNAPSHOT_ORIGIN = ""
    world = make_replay()
    frame = reader_of(world).get(addresses(world)[2]).json()["snapshot"]["before"]
    assert (frame["sandbox"], frame["scripted"]) == ("", False)
    assert frame["url"] != frame["plain"]
    assert frame["url"].startswith("/snapshots/")


def test_a_pending_step_shows_its_page_and_no_record():
    world = make_replay(2)
    view = reader_of(world).get(f"/trajectories/{world.trajectory.pk}/steps/5/view/").json()
    assert view["detail"] is None
    assert view["snapshot"]["before"]["url"]


def test_the_pruned_tree_holds_what_was_kept_with_its_surroundings():
    world = make_replay()
    tree = reader_of(world).get(f"/trajectories/{world.trajectory.pk}/steps/7/tree/").json()
    kept = [line[3] for line in tree["lines"] if line[3]]
    assert kept == ["10", "11", "20", "21", "22"]  # in page order; only kept elements keep their ids
    assert [0, "html", "", ""] in tree["lines"]
    assert any(line[1:3] == ["button", "DVD $1.75"] for line in tree["lines"])
    assert not any("Title 129" in line[2] for line in tree["lines"])


def test_kept_elements_that_the_page_does_not_have_are_counted():
    world = make_replay(0)
    world.store(
        0, candidate_ids=["20", "9999"], candidate_scores=[0.5, 0.4], trace={"simplify": {"kept": ["20", "9999"]}}
    )
    tree = reader_of(world).get(addresses(world)[3]).json()
    assert tree["missing"] == 1


def test_the_tree_of_an_agent_that_named_a_text_shows_the_element_around_it():
    world = make_replay(0)
    page = (
        '<html backend_node_id="1"><p backend_node_id="2" title="x"><text backend_node_id="3">Hello</text></p></html>'
    )
    Step.objects.filter(pk=world.steps[0].pk).update(snapshot=factories.make_snapshot(page))
    world.store(0, candidate_ids=["3"], candidate_scores=[0.5], trace={"simplify": {"kept": ["3"]}})
    tree = reader_of(world).get(addresses(world)[3])
    assert (tree.status_code, tree.json()["missing"]) == (200, 0)
    assert [1, "p", "x · Hello", "2"] in tree.json()["lines"]


@pytest.mark.slow
def test_a_reader_of_a_test_split_sees_no_gold_and_is_told_so():
    world = make_replay(split="test_task")
    client = reader_of(world)
    response = client.get(addresses(world)[1])
    assert "Gold is hidden from you in this test split" in response.content.decode()
    assert all(row["success"] is None for row in data_of(response)["progress"]["steps"])
    view = client.get(f"/trajectories/{world.trajectory.pk}/steps/7/view/").json()
    hidden = ("gold", "node_id", "operation", "action_repr", "milliseconds", "candidate_total")
    assert {view["detail"][name] for name in hidden} == {None}
    assert (view["detail"]["marks"], view["detail"]["candidates"], view["detail"]["trace"]) == ([], [], {})
    assert (view["snapshot"]["before"], view["snapshot"]["after"], view["snapshot"]["hidden"]) == (None, None, True)
    opening = client.get(f"/trajectories/{world.trajectory.pk}/steps/0/view/").json()["snapshot"]
    assert (opening["before"] is None, opening["after"]) == (False, None)
    assert client.get(f"/trajectories/{world.trajectory.pk}/steps/0/tree/").json()["lines"] == []


@pytest.mark.parametrize("sees", [True, False])
def test_a_step_leads_to_the_corrections_of_its_gold_where_gold_is_seen(sees: bool):
    world = make_replay(split="test_task")
    asking = factories.make_user("annotator", world.trajectory.run.dataset.project, username="anna")
    found = Correction.objects.ask(world.steps[7], asking, "The other one was meant.")
    client = reader_of(world, sees_test_gold=sees)
    view = client.get(f"/trajectories/{world.trajectory.pk}/steps/7/view/")
    said = "To correct: anna asked: The other one was meant."
    told = {"url": f"/corrections/{found.pk}/", "account": said, "is_later": False}
    assert view.json()["detail"]["corrections"] == ([told] if sees else [])
    assert sees or b"anna" not in view.content
    beside = client.get(f"/trajectories/{world.trajectory.pk}/steps/6/view/").json()
    assert beside["detail"]["corrections"] == []


def test_a_reader_who_may_see_test_gold_sees_it():
    world = make_replay(split="test_task")
    client = reader_of(world, sees_test_gold=True)
    view = client.get(f"/trajectories/{world.trajectory.pk}/steps/7/view/").json()
    assert view["detail"]["gold"]["node_ids"] == ["21"]


@pytest.mark.slow
def test_neighbours_are_the_conversations_around_it_in_the_run():
    world = make_replay()
    run, dataset = world.trajectory.run, world.trajectory.run.dataset
    position = world.trajectory.conversation.position
    others = [
        factories.make_trajectory(run, factories.make_conversation(dataset=dataset, position=position + move))
        for move in (-1, 1, 2)
    ]
    neighbours = data_of(reader_of(world).get(addresses(world)[1]))["neighbours"]
    expected = [f"/trajectories/{other.pk}/" for other in others[:2]]
    assert [neighbours["previous"], neighbours["next"]] == expected


def test_the_first_of_a_run_has_no_previous_conversation():
    world = make_replay()
    assert data_of(reader_of(world).get(addresses(world)[1]))["neighbours"] == {"previous": None, "next": None}


def test_crumbs_lead_to_the_study_the_run_and_the_conversation():
    world = make_replay()
    study = factories.make_study(world.trajectory.run.dataset.project, [world.trajectory.run])
    text = reader_of(world).get(addresses(world)[1]).content.decode()
    run, conversation = world.trajectory.run_id, world.trajectory.conversation_id
    for address in (f"/studies/{study.pk}/", f"/runs/{run}/", f"/conversations/{conversation}/"):
        assert f'href="{address}"' in text


def test_hostile_names_and_instructions_stay_text():
    world = make_replay()
    turn = world.steps[0].turn
    turn.instruction = "</script><script>alert(1)</script>"
    turn.save()
    text = reader_of(world).get(addresses(world)[1]).content.decode()
    assert "<script>alert(1)" not in text
    assert "style=" not in text
    assert data_of(reader_of(world).get(addresses(world)[1]))["turns"][0]["instruction"] == turn.instruction


@pytest.mark.parametrize(("elements", "shown"), [(3, True), (0, False)])
def test_a_recording_that_is_no_well_formed_page_is_not_offered_to_look_at(elements, shown):
    world = make_replay(1)
    recorded = factories.make_snapshot("<html backend_node_id='1'><body backend_node_id='2'/></html>")
    Snapshot.objects.filter(pk=recorded.pk).update(node_count=elements)
    Step.objects.filter(pk=world.steps[0].pk).update(raw_snapshot=recorded)
    view = reader_of(world).get(addresses(world)[2]).json()
    assert (view["snapshot"]["raw"] is not None) == shown
    assert view["snapshot"]["before"] is not None
