"""Organising sessions: what each action does, what takes it back, what is refused, and all of it by keyboard."""

import json
import re

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect

from annotations.desk import moving_on
from annotations.models import Campaign, Conversation, Dataset, Item, Session, SessionTask
from tests import factories
from tests.quick import first_is_quick
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db
TEXTS = (
    "Find a flight from Boston to Denver on June 4.",
    "Rent a car in Denver for a flight passenger.",
    "Listen to the latest podcast.",
    "Write a review of the lounge.",
)


def make_source(texts=TEXTS, **fields) -> Dataset:
    """Tasks of one site, in this order."""
    dataset = factories.make_dataset(source_format="mind2web")
    site = factories.make_website(dataset, name="united")
    for text in texts:
        conversation = factories.make_conversation(turns=1, steps=1, dataset=dataset, website=site, **fields)
        conversation.turns.update(instruction=text)
    return dataset


@pytest.fixture
def campaign() -> Campaign:
    return factories.make_campaign(source=make_source())


@pytest.fixture
def admin(campaign):
    return factories.make_user("admin", campaign.project)


@pytest.fixture
def client(admin) -> Client:
    return client_of(admin)


def ids(campaign: Campaign) -> list[int]:
    return list(campaign.source.conversations.order_by("position").values_list("pk", flat=True))


def post(client: Client, campaign: Campaign, **action):
    url = reverse("annotate-organise-change", args=[campaign.pk])
    return client.post(url, json.dumps(action), content_type="application/json")


def done(client: Client, campaign: Campaign, **action) -> dict:
    response = post(client, campaign, **action)
    assert response.status_code == 200, response.content
    return response.json()


def layout(campaign: Campaign) -> dict[str, list[int]]:
    rows = SessionTask.objects.filter(campaign=campaign, session__deleted_at=None).order_by("session_id", "position")
    found: dict[str, list[int]] = {}
    for name, task in rows.values_list("session__name", "conversation_id"):
        found.setdefault(name, []).append(task)
    return found


def made(client: Client, campaign: Campaign, *tasks: int) -> int:
    return done(client, campaign, do="new", tasks=list(tasks))["sessions"][0]["id"]


def test_a_session_is_made_of_leftovers_and_takes_their_site_and_split(campaign, client) -> None:
    a, b, c, d = ids(campaign)
    answer = done(client, campaign, do="new", tasks=[b, a])
    assert answer["said"] == "Made united-001 of 2 tasks."
    assert layout(campaign) == {"united-001": [b, a]}
    session = Session.objects.get()
    assert (session.website.name, session.split) == ("united", "train")
    assert [task.pk for task in SessionTask.objects.leftovers(campaign)] == [c, d]


@pytest.mark.slow
def test_tasks_move_to_a_place_within_and_between_sessions(campaign, client) -> None:
    a, b, c, d = ids(campaign)
    first, second = made(client, campaign, a, b), made(client, campaign, c)
    done(client, campaign, do="move", tasks=[d], session=first, at=1)
    assert layout(campaign)["united-001"] == [a, d, b]
    done(client, campaign, do="move", tasks=[b], session=first, at=0)
    assert layout(campaign)["united-001"] == [b, a, d]
    answer = done(client, campaign, do="move", tasks=[a], session=second, at=None)
    assert layout(campaign) == {"united-001": [b, d], "united-002": [c, a]}
    assert {row["id"] for row in answer["sessions"]} == {first, second}


@pytest.mark.slow
def test_a_session_is_split_and_the_rest_comes_directly_after_it(campaign, client) -> None:
    a, b, c, d = ids(campaign)
    first = made(client, campaign, a, b, c)
    made(client, campaign, d)
    done(client, campaign, do="split", session=first, at=1)
    assert layout(campaign) == {"united-001": [a], "united-002": [d], "united-003": [b, c]}
    names = campaign.sessions.values_list("name", flat=True)
    assert list(names) == ["united-001", "united-003", "united-002"]
    assert post(client, campaign, do="split", session=first, at=0).status_code == 409


@pytest.mark.slow
def test_taking_the_last_task_out_puts_the_session_into_the_bin(campaign, client) -> None:
    a, b, *_ = ids(campaign)
    first = made(client, campaign, a, b)
    done(client, campaign, do="remove", tasks=[a])
    assert layout(campaign) == {"united-001": [b]}
    assert done(client, campaign, do="remove", tasks=[b])["gone"] == [first]
    assert len(SessionTask.objects.leftovers(campaign)) == 4


def test_a_session_from_the_bin_comes_back_with_its_tasks(campaign, client) -> None:
    a, b, *_ = ids(campaign)
    first = made(client, campaign, a, b)
    done(client, campaign, do="delete", session=first)
    assert layout(campaign) == {}
    client.post(reverse("annotate-session-restore", args=[first]))
    assert layout(campaign) == {"united-001": [a, b]}


@pytest.mark.slow
@first_is_quick(
    "action",
    [
        lambda tasks, pk: {"do": "move", "tasks": [tasks[2]], "session": pk, "at": 1},
        lambda tasks, pk: {"do": "move", "tasks": [tasks[1]], "session": pk, "at": 0},
        lambda tasks, pk: {"do": "remove", "tasks": [tasks[0]]},
        lambda tasks, pk: {"do": "remove", "tasks": tasks[:2]},
        lambda tasks, pk: {"do": "split", "session": pk, "at": 1},
        lambda tasks, pk: {"do": "delete", "session": pk},
        lambda tasks, pk: {"do": "new", "tasks": [tasks[1], tasks[3]]},
        lambda tasks, pk: {"do": "each", "tasks": tasks[2:]},
    ],
    ids=["move", "reorder", "remove one", "remove all", "split", "delete", "new", "each"],
)
def test_every_action_can_be_undone(campaign, client, action) -> None:
    tasks = ids(campaign)
    first = made(client, campaign, *tasks[:2])
    before = layout(campaign)
    answer = done(client, campaign, **action(tasks, first))
    assert layout(campaign) != before
    again = done(client, campaign, **answer["undo"])
    assert layout(campaign) == before
    done(client, campaign, **again["undo"])  # and the undoing too
    assert layout(campaign) != before


@pytest.mark.slow
def test_undoing_is_refused_when_the_tasks_have_gone_elsewhere(campaign, client) -> None:
    a, b, *_ = ids(campaign)
    first = made(client, campaign, a, b)
    undo = done(client, campaign, do="remove", tasks=[a])["undo"]
    made(client, campaign, a)
    response = post(client, campaign, **undo)
    assert response.status_code == 409
    assert "lies in united-002 since" in response.json()["error"]
    assert layout(campaign) == {"united-001": [b], "united-002": [a]}
    assert Session.objects.get(pk=first).deleted_at is None


def test_a_session_does_not_mix_splits_or_sites(campaign, client) -> None:
    a, *_ = ids(campaign)
    site = campaign.source.websites.get()
    test = factories.make_conversation(turns=1, steps=1, dataset=campaign.source, website=site, split="test_task")
    other = factories.make_conversation(turns=1, steps=1, dataset=campaign.source)
    response = post(client, campaign, do="new", tasks=[a, test.pk])
    assert response.status_code == 409
    assert response.json()["error"] == "A session lies in one split, and these tasks are of test_task and train."
    response = post(client, campaign, do="new", tasks=[a, other.pk])
    assert "A session stays on one website, and these tasks are of" in response.json()["error"]
    assert not Session.objects.exists()


@pytest.mark.slow
def test_the_tasks_of_a_session_are_fixed_once_somebody_works_on_it(campaign, client) -> None:
    a, b, c, _ = ids(campaign)
    first = made(client, campaign, a, b)
    item = moving_on.open_work(Session.objects.get())
    done(client, campaign, do="move", tasks=[c], session=first, at=None)  # open, but nobody has it
    assignment = item.hand(factories.make_user("annotator", campaign.project), 0)
    for action in (
        {"do": "move", "tasks": [c], "session": first, "at": 0},
        {"do": "remove", "tasks": [a]},
        {"do": "new", "tasks": [a]},
        {"do": "split", "session": first, "at": 1},
        {"do": "delete", "session": first},
    ):
        response = post(client, campaign, **action)
        assert response.status_code == 409
        assert response.json()["error"] == "Work on united-001 has begun: its tasks are fixed."
    assignment.give_back()
    done(client, campaign, do="remove", tasks=[c])


@pytest.mark.parametrize(
    "action",
    [{}, {"do": "dance"}, {"do": "new"}, {"do": "new", "tasks": ["x"]}, {"do": "move", "tasks": [1], "session": None}],
)
def test_what_is_no_action_is_answered_400(campaign, client, action: dict) -> None:
    assert post(client, campaign, **action).status_code == 400


def test_tasks_and_sessions_of_others_are_refused(campaign, client) -> None:
    a, *_ = ids(campaign)
    foreign = factories.make_session()
    task = foreign.tasks.first().conversation_id
    assert post(client, campaign, do="new", tasks=[task]).status_code == 409
    assert post(client, campaign, do="move", tasks=[a], session=foreign.pk, at=None).status_code == 409
    assert post(client, campaign, do="set", sessions=[[foreign.pk, [a]]]).status_code == 409
    assert foreign.tasks.count() == 2


def propose(client: Client, campaign: Campaign) -> list[dict]:
    return client.post(reverse("annotate-organise-propose", args=[campaign.pk])).json()["proposals"]


@pytest.mark.slow
def test_proposals_join_leftovers_and_say_why_and_accepting_makes_the_session(campaign, client) -> None:
    a, b, *_ = ids(campaign)
    (proposal,) = propose(client, campaign)
    assert proposal["tasks"] == [a, b]
    assert re.fullmatch(r"same site, both mention Denver; (similar|related) wish \(0\.\d\d\)", proposal["why"])
    answer = done(client, campaign, do="accept", proposals=[proposal["id"]])
    assert layout(campaign) == {"united-001": [a, b]}
    assert Session.objects.get().why == proposal["why"]
    assert campaign.proposals.get().outcome == "unchanged"
    answer = done(client, campaign, **answer["undo"])
    assert [one["id"] for one in answer["proposals"]] == [proposal["id"]]
    assert layout(campaign) == {}


def test_a_rejected_proposal_is_decided_and_comes_back_by_undo(campaign, client) -> None:
    (proposal,) = propose(client, campaign)
    answer = done(client, campaign, do="reject", proposals=[proposal["id"]])
    assert campaign.proposals.get().outcome == "rejected"
    assert post(client, campaign, do="accept", proposals=[proposal["id"]]).status_code == 409
    done(client, campaign, **answer["undo"])
    assert campaign.proposals.get().outcome == ""


def test_a_proposal_whose_task_was_used_meanwhile_cannot_be_accepted(campaign, client) -> None:
    (proposal,) = propose(client, campaign)
    made(client, campaign, ids(campaign)[0])
    response = post(client, campaign, do="accept", proposals=[proposal["id"]])
    assert response.json()["error"] == "Its tasks have been put elsewhere meanwhile."


def test_proposing_again_replaces_what_is_not_decided_and_looks_at_leftovers_only(campaign, client) -> None:
    propose(client, campaign)
    made(client, campaign, ids(campaign)[0])
    assert propose(client, campaign) == []
    assert not campaign.proposals.exists()


@pytest.mark.slow
def test_opening_work_makes_an_item_per_session_and_names_the_batch(campaign, client) -> None:
    a, b, *_ = ids(campaign)
    made(client, campaign, a)
    url = reverse("annotate-open-work", args=[campaign.pk])
    client.post(url, {"batch": "first"})
    second = made(client, campaign, b)
    client.post(url, {"batch": "second"})
    assert sorted(Item.objects.values_list("session__batch", "stage")) == [
        ("first", "decompose"),
        ("second", "decompose"),
    ]
    assert Item.objects.filter(session=second).count() == 1


def test_conversations_of_several_turns_become_sessions_of_their_own(client, campaign) -> None:
    conversation = factories.make_conversation(turns=3, steps=2, dataset=campaign.source)
    Conversation.objects.filter(pk=conversation.pk).update(position=0)
    (answer,) = done(client, campaign, do="each", tasks=[conversation.pk])["sessions"]
    session = Session.objects.get(pk=answer["id"])
    assert session.steps().count() == 6
    assignment = moving_on.open_work(session).hand(factories.make_user("annotator", campaign.project), 0)
    said = [part.instruction for part in assignment.parts.order_by("id")]
    assert said == [f"Please do part {number} of the task." for number in (1, 2, 3)]


@pytest.mark.slow
def test_the_page_costs_the_same_number_of_queries_for_many_tasks(
    client, campaign, django_assert_max_num_queries
) -> None:
    for task in ids(campaign):
        made(client, campaign, task)
    with django_assert_max_num_queries(20):
        client.get(reverse("annotate-organise", args=[campaign.pk]))


@pytest.mark.slow
def test_sessions_are_organised_by_keyboard_only(app_server, page, sign_in) -> None:
    campaign = factories.make_campaign(source=make_source())
    a, b, c, d = ids(campaign)
    sign_in(factories.make_user("admin", campaign.project))
    page.goto(app_server.url(reverse("annotate-organise", args=[campaign.pk])))
    left, right, toast = page.locator("#left"), page.locator("#right"), page.locator("#toast span")

    def press(*keys: str) -> None:
        for key in keys:
            page.keyboard.press(key)

    def go_to(task: int) -> None:
        """Down or up the sessions to a task."""
        wanted = right.locator(f'[data-task="{task}"]')
        for key in ["ArrowRight", *["k"] * 20, *["j"] * 20]:
            if wanted.evaluate("row => row === document.activeElement"):
                return
            page.keyboard.press(key)
        raise AssertionError(f"keys do not lead to task {task}")

    expect(left.locator("[data-task]")).to_have_count(4)
    press("j", "j", "j", "m", "m", "n")  # the third and the fourth
    expect(toast).to_have_text("Made united-001 of 2 tasks.")
    assert layout(campaign) == {"united-001": [c, d]}
    press("p")
    why, said = right.locator(".proposal .why"), right.locator(".proposal .said").first
    expect(why).to_contain_text("both mention Denver")
    for cut in (why, said):
        assert cut.get_attribute("title") == cut.text_content(), "it may be cut: its title says all"
    press("ArrowRight", "a")
    expect(toast).to_have_text("Made 1 session as proposed.")
    expect(page.locator("#left-count")).to_have_text("0")
    assert layout(campaign) == {"united-001": [c, d], "united-002": [a, b]}
    go_to(a)
    press("Shift+ArrowDown")
    expect(toast).to_have_text("Moved 1 task to united-002.")
    assert layout(campaign)["united-002"] == [b, a]
    expect(page.locator(f'[data-task="{a}"]')).to_be_focused()
    press("s")
    expect(toast).to_contain_text("Split united-002")
    assert layout(campaign)["united-003"] == [a]
    press("u")
    expect(toast).to_have_text("Undone.")
    assert layout(campaign)["united-002"] == [b, a]
    go_to(a)
    press("m")
    go_to(c)  # the marked task goes before it
    press("i")
    expect(toast).to_have_text("Moved 1 task to united-001.")
    assert layout(campaign) == {"united-001": [a, c, d], "united-002": [b]}
    press("x")
    expect(page.locator("#left-count")).to_have_text("1")
    press("o")
    page.keyboard.type("pilot")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/annotate/campaigns/{campaign.pk}/$"))
    assert set(Item.objects.values_list("session__batch", flat=True)) == {"pilot"}


@pytest.mark.slow
def test_a_task_is_dragged_into_a_session_with_the_pointer(app_server, page, sign_in) -> None:
    campaign = factories.make_campaign(source=make_source())
    a, b, c, _ = ids(campaign)
    sign_in(factories.make_user("admin", campaign.project))
    page.goto(app_server.url(reverse("annotate-organise", args=[campaign.pk])))
    toast = page.locator("#toast span")
    page.drag_and_drop(f'[data-task="{a}"]', "[data-drop=new]")
    expect(toast).to_have_text("Made united-001 of 1 task.")
    page.drag_and_drop(f'#left [data-task="{b}"]', f'#right [data-task="{a}"]', target_position={"x": 60, "y": 3})
    expect(toast).to_have_text("Moved 1 task to united-001.")
    page.drag_and_drop(f'#left [data-task="{c}"]', "#right .head-row")
    expect(page.locator("#right [data-task]")).to_have_count(3)
    assert layout(campaign) == {"united-001": [b, a, c]}
    page.drag_and_drop(f'#right [data-task="{a}"]', "#left")
    expect(toast).to_have_text("Took 1 task out.")
    assert layout(campaign) == {"united-001": [b, c]}
