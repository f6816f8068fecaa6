"""The table of a campaign's work over REST: the rows of the page, by its filters, and its acts by its rules."""

import pytest
from django.test import Client
from django.urls import reverse

from annotations.campaigns.assigning import REFUSED
from annotations.models import Assignment, Campaign, Item, Session
from tests import factories
from tests.annotations.test_work_sending_back import Chain
from tests.annotations.work_world import make_rewrite
from tests.signed_in import client_of
from tests.web.api_schema import api_schema
from tests.web.test_annotate_campaigns import opened
from tests.web.test_schema import _as_json_schema, check_answer

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return factories.make_campaign()


@pytest.fixture
def admin(campaign: Campaign) -> Client:
    return client_of(factories.make_user("admin", campaign.project))


@pytest.fixture
def written(campaign: Campaign) -> Campaign:
    """Three rewrites: by anna, in her second round, by bert, and one of a test split."""
    people = {name: factories.make_user("annotator", campaign.project, username=name) for name in ("anna", "bert")}
    for name, user, more in (
        ("Shoes", "anna", {"round": 2, "active_seconds": 300}),
        ("Hats", "bert", {"active_seconds": 100}),
    ):
        make_rewrite(factories.make_session(campaign, tasks=2, steps=3, name=name), user=people[user], **more)
    make_rewrite(factories.make_session(campaign, tasks=2, steps=3, name="Secret", split="test_task"))
    return campaign


def route(campaign: Campaign, act: str = "") -> str:
    return f"/api/campaigns/{campaign.pk}/work/{act}"


def post(client: Client, campaign: Campaign, act: str, **body):
    return client.post(route(campaign, f"{act}/"), body, content_type="application/json")


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    ["", "q=shoe", "stage=rewrite", "state=open", "person=anna", "show=returned", "order=minutes", "week=1999-01-04"],
)
def test_the_list_is_the_table_of_the_page(written, admin, query) -> None:
    page = admin.get(f"{reverse('annotate-campaign-work', args=[written.pk])}?{query}").context["page"]
    told = admin.get(f"{route(written)}?{query}").json()
    assert told["count"] == page.paginator.count
    assert [one["id"] for one in told["results"]] == [item.pk for item in page]


def test_a_row_says_who_has_the_item_and_how_far_they_are(written, admin) -> None:
    (row,) = admin.get(f"{route(written)}?q=shoes&stage=rewrite").json()["results"]
    (place,) = row.pop("assignments")
    item = Item.objects.get(pk=row["id"])
    held = item.assignments.get()
    assert place == {"id": held.pk, "user": "anna", "state": held.state, "review": held.review, "round": 2}
    told = (row["name"], row["split"], row["priority"], row["seconds"], row["rounds"])
    assert told == ("Shoes", "train", 1.0, 300, 2)


@pytest.mark.slow
def test_pages_are_counted_and_none_is_larger_than_it_may_be(written, admin) -> None:
    first = admin.get(f"{route(written)}?page_size=2").json()
    assert len(first["results"]) == 2
    seen = [*first["results"], *admin.get(f"{route(written)}?page_size=2&page=2").json()["results"]]
    assert len({one["id"] for one in seen}) == len(seen) == min(first["count"], 4)
    assert admin.get(f"{route(written)}?page=99").status_code == 404


@pytest.mark.parametrize(
    "query", ["page_size=1001", "stage=none", "state=x", "person=nobody", "order=up", "week=soon", "code=x"]
)
def test_a_filter_that_makes_no_sense_is_told(written, admin, query) -> None:
    answer = admin.get(f"{route(written)}?{query}")
    assert answer.status_code == 400
    assert list(answer.json()) == [query.partition("=")[0]]


@pytest.mark.slow
def test_who_may_read_and_who_may_change(written) -> None:
    (key, *_) = Item.objects.filter(session__name="Shoes").values_list("pk", flat=True)
    for role, read, change in (("annotator", 403, 403), ("reader", 403, 403), ("reviewer", 200, 403)):
        client = client_of(factories.make_user(role, written.project))
        assert client.get(route(written)).status_code == read, role
        assert post(client, written, "give", items=[key], person="bert").status_code == change, role
        assert post(client, written, "priority", items=[key], priority="last").status_code == change, role
    assert not Session.objects.exclude(weight=1.0).exists()
    stranger = client_of(factories.make_user("admin"))
    assert stranger.get(route(written)).status_code == 404
    assert post(stranger, written, "priority", items=[key], priority="last").status_code == 404


@pytest.mark.slow
def test_items_over_hidden_gold_are_not_listed(written, admin) -> None:
    reviewer = client_of(factories.make_user("reviewer", written.project))
    assert "Secret" not in reviewer.get(route(written)).content.decode()
    assert "Secret" in admin.get(route(written)).content.decode()


@pytest.mark.slow
def test_what_was_not_begun_is_given_to_another_and_the_rest_stays(campaign, admin) -> None:
    schema = _as_json_schema(api_schema())
    items = opened(campaign, 3)
    anna, bert = (factories.make_user("annotator", campaign.project, username=name) for name in ("anna", "bert"))
    items[0].hand(anna, 0)
    items[1].hand(anna, 0).take(anna)
    wanted = {"items": [item.pk for item in items], "person": "bert"}
    answer = post(admin, campaign, "give", **wanted)
    check_answer(schema, "campaigns/{}/work/give/", answer, 200, "post")
    begun = {"why": "begun", "said": REFUSED["begun"], "items": 1}
    assert answer.json() == {"given": 2, "stayed": [begun]}
    assert {one.item_id for one in Assignment.objects.active().filter(user=bert)} == {items[0].pk, items[2].pk}
    assert {one["why"] for one in post(admin, campaign, "give", **wanted).json()["stayed"]} == {"begun", "held"}


def test_returned_cuts_of_who_is_away_are_given_with_all_that_was_done(campaign, admin) -> None:
    chain = Chain()
    campaign = chain.session.campaign
    admin, other = (
        client_of(factories.make_user("admin", campaign.project)),
        factories.make_user("annotator", campaign.project, username="other"),
    )
    chain.judge("return", "cut-misplaced")
    key = chain.decomposition.item_id
    assert post(admin, campaign, "give", items=[key], person="other").json() == {"given": 1, "stayed": []}
    mended = chain.fresh(chain.decomposition)
    assert (mended.user, mended.review, mended.round) == (other, "returned", 2)


def test_the_same_key_gives_once(campaign, admin) -> None:
    (item,) = opened(campaign, 1)
    factories.make_user("annotator", campaign.project, username="anna")
    body = {"items": [item.pk], "person": "anna"}
    said = [
        admin.post(route(campaign, "give/"), body, content_type="application/json", headers={"Idempotency-Key": "k"})
        for _ in range(2)
    ]
    assert [one.json() for one in said] == [{"given": 1, "stayed": []}] * 2


@pytest.mark.slow
def test_a_priority_is_one_of_whole_sessions(campaign, admin) -> None:
    schema = _as_json_schema(api_schema())
    items = opened(campaign, 3)
    answer = post(admin, campaign, "priority", items=[items[2].pk], priority="first")
    check_answer(schema, "campaigns/{}/work/priority/", answer, 200, "post")
    assert answer.json() == {"sessions": 1, "priority": 2.0}
    post(admin, campaign, "priority", items=[items[0].pk, items[1].pk], priority="last")
    assert admin.get(route(campaign)).json()["results"][0]["id"] == items[2].pk
    assert sorted(Session.objects.values_list("weight", flat=True)) == [0.5, 0.5, 2.0]


def test_what_cannot_be_done_is_told_and_changes_nothing(campaign, admin) -> None:
    (item,) = opened(campaign, 1)
    (other,) = opened(factories.make_campaign(), 1)
    factories.make_user("annotator", username="stranger")
    factories.make_user("annotator", campaign.project, username="anna")
    for act, body, field in (
        ("give", {"items": [item.pk], "person": "stranger"}, "person"),
        ("give", {"items": [item.pk, other.pk], "person": "anna"}, "items"),
        ("give", {"items": [], "person": "anna"}, "items"),
        ("give", {"items": [item.pk]}, "person"),
        ("priority", {"items": [item.pk], "priority": "now"}, "priority"),
        ("priority", {"items": [other.pk], "priority": "last"}, "items"),
        ("priority", {"items": [item.pk], "priority": "last", "weight": 3}, "weight"),
    ):
        answer = post(admin, campaign, act, **body)
        assert answer.status_code == 400, body
        assert list(answer.json()) == [field], body
    assert not Assignment.objects.exists()
    assert not Session.objects.exclude(weight=1.0).exists()
