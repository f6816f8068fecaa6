"""Reading over the API: shapes, paging, filters, constant numbers of queries, hidden gold."""

import json
from base64 import b64encode
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.models import Conversation, Membership, Project, Step
from tests import factories
from tests.signed_in import client_of
from tests.web.world import LISTS, make_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return factories.make_project()


@pytest.fixture
def reader(project: Project) -> Client:
    return client_of(factories.make_user("reader", project))


def count_queries(client: Client, url: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert client.get(url).status_code == 200
    return len(queries)


@pytest.mark.slow
def test_the_number_of_queries_of_a_list_does_not_grow_with_its_rows() -> None:
    worlds = [make_world()]
    user = factories.make_user("reader", worlds[0].project)
    client = client_of(user)
    before = {noun: count_queries(client, f"/api/{noun}/") for noun in LISTS}
    for _ in range(2):
        worlds.append(make_world())
        Membership.objects.create(project=worlds[-1].project, user=user, role="reader")
    for noun in LISTS:
        rows = client.get(f"/api/{noun}/").json()["results"]
        assert {world.keys[noun] for world in worlds} <= {row.get("id", row.get("sha256")) for row in rows}, noun
    assert {noun: count_queries(client, f"/api/{noun}/") for noun in LISTS} == before
    assert max(before.values()) <= 5  # session, user, rows, and at most two for what is nested


@pytest.mark.slow
def test_lists_never_read_blobs_or_vectors(reader: Client, project: Project) -> None:
    factories.make_memory_snippet(
        factories.make_step(
            factories.make_turn(factories.make_conversation(turns=0, dataset=factories.make_dataset(project)), steps=0)
        )
    )
    with CaptureQueriesContext(connection) as queries:
        for noun in LISTS:
            reader.get(f"/api/{noun}/")
    sql = " ".join(query["sql"] for query in queries)
    assert '"annotations_snapshot"."sha256"' in sql
    for column in ('"annotations_snapshot"."data"', '"annotations_screenshot"."data"', '"candidates"', '"embedding"'):
        assert column not in sql


def test_a_conversation_of_many_steps_is_read_with_as_many_queries_as_a_small_one(
    reader: Client, project: Project
) -> None:
    dataset = factories.make_dataset(project)
    small = factories.make_conversation(turns=1, steps=1, dataset=dataset)
    large = factories.make_conversation(turns=4, steps=5, dataset=dataset)
    counts = [count_queries(reader, f"/api/conversations/{row.pk}/") for row in (small, large)]
    assert counts[0] == counts[1] <= 6


def test_the_detail_of_a_conversation_nests_turns_steps_and_targets(reader: Client, project: Project) -> None:
    conversation = factories.make_conversation(turns=2, steps=2, dataset=factories.make_dataset(project))
    body = reader.get(f"/api/conversations/{conversation.pk}/").json()
    assert [turn["index"] for turn in body["turns"]] == [0, 1]
    step = body["turns"][0]["steps"][0]
    assert (step["operation"], step["value"], step["gold_hidden"]) == ("TYPE", "red shoes", False)
    assert [target["node_id"] for target in step["targets"]] == ["5"]
    assert len(step["snapshot"]) == 64
    assert step["snapshot"] != body["turns"][0]["steps"][1]["snapshot"]
    assert (body["turn_count"], body["step_count"]) == (2, 4)


def test_pages_of_a_list_stay_stable_while_rows_are_added(reader: Client, project: Project) -> None:
    dataset = factories.make_dataset(project)
    rows = [factories.make_conversation(turns=0, dataset=dataset).pk for _ in range(5)]
    first = reader.get("/api/conversations/", {"page_size": 3}).json()
    late = factories.make_conversation(turns=0, dataset=dataset).pk
    second = reader.get(first["next"]).json()
    assert [row["id"] for row in first["results"] + second["results"]] == [*rows, late]


def test_a_reader_asks_only_for_what_is_new(reader: Client, project: Project) -> None:
    dataset = factories.make_dataset(project)
    old = factories.make_conversation(turns=0, dataset=dataset)
    Conversation.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=2))
    new = factories.make_conversation(turns=0, dataset=dataset)
    since = (timezone.now() - timedelta(days=1)).isoformat()
    rows = reader.get("/api/conversations/", {"created_after": since}).json()["results"]
    assert [row["id"] for row in rows] == [new.pk]


def test_trajectories_are_found_by_their_last_change(reader: Client, project: Project) -> None:
    conversation = factories.make_conversation(dataset=factories.make_dataset(project))
    trajectory = factories.make_trajectory(conversation=conversation)
    for seconds, expected in ((-5, [trajectory.pk]), (5, [])):
        since = (timezone.now() + timedelta(seconds=seconds)).isoformat()
        rows = reader.get("/api/trajectories/", {"updated_after": since}).json()["results"]
        assert [row["id"] for row in rows] == expected


def test_conversations_are_found_by_dataset_split_and_domain(reader: Client, project: Project) -> None:
    dataset = factories.make_dataset(project)
    health = factories.make_website(dataset, domain="Health")
    wanted = factories.make_conversation(turns=0, split="dev", dataset=dataset, website=health)
    factories.make_conversation(turns=0, split="train", dataset=dataset, website=health)
    factories.make_conversation(turns=0, split="dev", dataset=factories.make_dataset(project))
    query = {"dataset": dataset.pk, "split": "dev", "domain": "Health"}
    assert [row["id"] for row in reader.get("/api/conversations/", query).json()["results"]] == [wanted.pk]


def make_page(project: Project, html: str = "") -> Step:
    conversation = factories.make_conversation(turns=0, dataset=factories.make_dataset(project))
    return factories.make_step(factories.make_turn(conversation, steps=0), html=html)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("conversations/?spilt=train", {"spilt": "There are: "}),
        ("snapshots/?website=a", {"website": "This list has none."}),
        ("conversations/?split=train&page_size=5&format=json", {}),
    ],
)
def test_a_filter_that_a_list_does_not_have_is_named(reader: Client, asked: str, told: dict[str, str]) -> None:
    answer = reader.get(f"/api/{asked}")
    assert answer.status_code == (400 if told else 200)
    for name, words in told.items():
        assert words in answer.json()[name][0]


@pytest.mark.parametrize("size", ["abc", "0", "-1", "1.5", "1001", "٣", "9" * 30])
def test_a_page_size_that_is_none_is_refused_with_what_would_do(reader: Client, size: str) -> None:
    answer = reader.get("/api/conversations/", {"page_size": size})
    assert answer.status_code == 400
    assert answer.json() == {"page_size": ["Give a whole number from 1 to 1,000."]}


@pytest.mark.parametrize("place", ["", "\0", "x", "1.5", "-" + "9" * 40, "9" * 40])
@pytest.mark.parametrize("rows", ["conversations", "snapshots"])
def test_a_cursor_that_somebody_wrote_is_none_or_finds_its_place(reader: Client, rows: str, place: str) -> None:
    for reverse in ("", "&r=1", "&o=2"):
        cursor = b64encode(f"p={quote(place)}{reverse}".encode()).decode()
        answer = reader.get(f"/api/{rows}/", {"cursor": cursor})
        assert answer.status_code in (200, 400, 404)
        assert answer.status_code != 404 or answer.json() == {"detail": "Invalid cursor"}


@pytest.mark.parametrize("size", ["", "1", "1000"])
def test_a_page_size_within_the_limits_is_taken(reader: Client, size: str) -> None:
    assert reader.get("/api/conversations/", {"page_size": size}).status_code == 200


@pytest.mark.parametrize(("said", "status"), [("true", 200), ("False", 200), ("", 200), ("1", 400), ("null", 400)])
def test_a_filter_of_yes_or_no_takes_no_other_word(reader: Client, said: str, status: int) -> None:
    answer = reader.get("/api/models/", {"ready": said})
    assert answer.status_code == status
    if status == 400:
        assert answer.json() == {"ready": ["Say true or false."]}


def test_a_page_is_given_as_json_and_never_as_html(reader: Client, project: Project) -> None:
    page = '<html backend_node_id="1"><input backend_node_id="5" onfocus="alert(1)"/></html>'
    step = make_page(project, page)
    response = reader.get(f"/api/snapshots/{step.snapshot.sha256}/html/", headers={"accept": "text/html,*/*"})
    assert response["Content-Type"] == "application/json"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response.json() == {"sha256": step.snapshot.sha256, "html": page}


def test_a_page_that_two_projects_share_exists_for_members_of_either(project: Project) -> None:
    page = '<html backend_node_id="1"><input backend_node_id="5"/></html>'
    other = factories.make_project()
    sha256 = make_page(project, page).snapshot.sha256
    stranger, member = factories.make_user("reader"), factories.make_user("reader", other)
    assert client_of(member).get(f"/api/snapshots/{sha256}/").status_code == 404
    make_page(other, page)
    assert client_of(member).get(f"/api/snapshots/{sha256}/").status_code == 200
    assert client_of(stranger).get(f"/api/snapshots/{sha256}/").status_code == 404


def test_a_screenshot_is_an_attachment_that_is_not_sniffed(reader: Client, project: Project) -> None:
    step = make_page(project)
    step.screenshot = factories.make_screenshot()
    step.save()
    url = f"/api/screenshots/{step.screenshot.sha256}/"
    assert reader.get(url).json() == {
        "sha256": step.screenshot.sha256,
        "media_type": "image/png",
        "size": len(factories.PNG),
    }
    response = reader.get(f"{url}image/", headers={"accept": "image/png"})
    assert response.content == factories.PNG
    assert response["Content-Disposition"].startswith("attachment")
    assert response["X-Content-Type-Options"] == "nosniff"


GOLD_WORDS = ("red shoes", "TYPE", "SELECT", "[input]")  # the gold actions of the steps that factories make


def test_gold_of_a_test_split_is_null_for_those_who_may_not_see_it(project: Project, reader: Client) -> None:
    conversation = factories.make_conversation(split="test_task", dataset=factories.make_dataset(project))
    body = reader.get(f"/api/conversations/{conversation.pk}/").json()
    for step in (step for turn in body["turns"] for step in turn["steps"]):
        assert step["gold_hidden"] is True
        gold = ("operation", "value", "action_repr", "targets", "extra", "source_id", "snapshot_after")
        assert {step[name] for name in gold} == {None}
    pages = [step["snapshot"] for turn in body["turns"] for step in turn["steps"]]
    assert [page is None for page in pages] == [False, True, True, True]  # later ones show what gold actions did
    assert not any(word in json.dumps(body) for word in GOLD_WORDS)


@pytest.mark.parametrize(("role", "sees_test_gold"), [("admin", False), ("reader", True)])
def test_gold_of_a_test_split_is_shown_to_admins_and_to_whoever_was_given_it(
    project: Project, role: str, sees_test_gold: bool
) -> None:
    conversation = factories.make_conversation(split="test_task", dataset=factories.make_dataset(project))
    client = client_of(factories.make_user(role, project, sees_test_gold=sees_test_gold))
    body = client.get(f"/api/conversations/{conversation.pk}/").json()
    assert body["turns"][0]["steps"][0]["value"] == "red shoes"
    assert body["turns"][0]["steps"][0]["gold_hidden"] is False


@pytest.mark.slow
def test_no_route_tells_hidden_gold(project: Project) -> None:
    world = make_world(split="test_task")
    client = client_of(factories.make_user("reader", world.project))
    for url in (*world.details(), *world.reads(), *(f"/api/{noun}/" for noun in LISTS)):
        response = client.get(url)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        assert not any(word in content.decode(errors="replace") for word in GOLD_WORDS), url
    assert client.get("/api/rationales/").json()["results"] == []
    assert client.get("/api/memory-snippets/").json()["results"] == []


def test_candidates_say_which_are_positive_only_where_gold_is_shown(project: Project, reader: Client) -> None:
    dataset = factories.make_dataset(project)
    shown, hidden = (
        factories.make_step(factories.make_turn(factories.make_conversation(0, split=split, dataset=dataset), steps=0))
        for split in ("train", "test_task")
    )
    later = factories.make_step(hidden.turn, index=1)
    body = reader.get(f"/api/steps/{shown.pk}/candidates/").json()
    assert [(row["node_id"], row["positive"]) for row in body["candidates"]][:2] == [("5", True), ("6", False)]
    body = reader.get(f"/api/steps/{hidden.pk}/candidates/").json()
    assert body["gold_hidden"] is True
    assert [(row["node_id"], row["positive"]) for row in body["candidates"]] == [
        (node_id, None) for node_id in ("5", "6", "9", "12", "14")
    ]
    assert reader.get(f"/api/steps/{later.pk}/candidates/").json()["candidates"] == []
