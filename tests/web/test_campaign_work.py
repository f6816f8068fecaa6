"""The table of a campaign's work: every number leads to as many rows, and what is ticked is given and ordered."""

import re
from datetime import date, timedelta
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.quality import CampaignWork, WeekOfWork, weeks_left
from annotations.models import Assignment, Campaign, Item, Session, Stage, Verdict
from tests import factories
from tests.annotations.work_world import make_rewrite, make_verification
from tests.signed_in import client_of
from tests.web.reading import source
from tests.web.test_annotate_campaigns import opened

pytestmark = pytest.mark.django_db
LINK = re.compile(r'href="(\?[^"]+)"\s*>([\d,.]+)</a\s*>(?:\s*\((\d+)\))?')


@pytest.fixture
def campaign() -> Campaign:
    return factories.make_campaign()


@pytest.fixture
def admin(campaign: Campaign) -> Client:
    return client_of(factories.make_user("admin", campaign.project))


def address(campaign: Campaign) -> str:
    return reverse("annotate-campaign-work", args=[campaign.pk])


def judge(rewrite: Assignment, outcome: str, round: int = 1, code: str = "") -> Verdict:
    verification = make_verification(rewrite, state="submitted")
    Item.objects.filter(pk=verification.item_id).update(state="done")
    given = rewrite.verdicts.create(
        verification=verification, round=round, version=0, outcome=outcome, reason="Read it again."
    )
    if code:
        given.defects.create(code=code)
    return given


@pytest.fixture
def judged(campaign: Campaign) -> Campaign:
    """Anna wrote three: one passed at once, one was returned twice for one thing, one is not judged. Bert wrote one,
    which was returned once and then passed."""
    anna, bert = (factories.make_user("annotator", campaign.project, username=name) for name in ("anna", "bert"))

    def wrote(person, name: str, **fields) -> Assignment:
        session = factories.make_session(campaign, tasks=2, steps=3, name=name)
        week = timezone.now() - timedelta(weeks=1)
        return make_rewrite(session, user=person, active_seconds=120, submitted_at=week, **fields)

    judge(wrote(anna, "Shoes"), "accept")
    twice = wrote(anna, "Hats", round=3)
    for round in (1, 2):
        judge(twice, "return", round, "unnatural")
    wrote(anna, "Bags")
    once = wrote(bert, "Coats", round=2)
    judge(once, "return", 1, "value-lost")
    judge(once, "accept", 2)
    return campaign


def test_people_are_told_what_became_of_their_work(judged: Campaign, admin: Client) -> None:
    anna, bert = CampaignWork(judged, factories.make_superuser()).people()
    assert (anna.name, anna.written, anna.judged, anna.first, anna.returned, anna.faulty) == ("anna", 3, 2, 1, 1, 1)
    assert (anna.first_yield, anna.return_rate, anna.rounds, anna.seconds) == (0.5, 0.5, 5 / 3, 120)
    assert (bert.written, bert.judged, bert.first, bert.returned, bert.rounds) == (1, 1, 0, 1, 2)
    codes = {one.code: (one.items, one.judged) for one in CampaignWork(judged, factories.make_superuser()).codes()}
    assert (codes["unnatural"], codes["value-lost"], codes["extra"]) == ((1, 3), (1, 3), (0, 3))


def test_what_was_returned_is_written_all_the_same(campaign: Campaign, admin: Client) -> None:
    """It was judged, and not among what was written; times are of what is finished."""
    session = factories.make_session(campaign, tasks=2, steps=3)
    written = make_rewrite(session, active_seconds=50, review="returned")
    judge(written, "return")
    Assignment.objects.filter(pk=written.pk).update(state="in_progress")
    (row,) = CampaignWork(campaign, factories.make_superuser()).people()
    assert (row.written, row.judged, row.returned, row.seconds) == (1, 1, 1, None)
    found = admin.get(f"{address(campaign)}?person={row.name}&show=written").context["page"].paginator.count
    assert found == 1


@pytest.mark.slow
def test_every_number_is_a_link_to_as_many_rows(judged: Campaign, admin: Client) -> None:
    page = source(admin.get(address(judged)))
    numbers = LINK.findall(page)
    assert len(numbers) > 10
    for query, number, counted in numbers:
        wanted = int(counted or number.replace(",", ""))
        found = admin.get(address(judged) + unescape(query)).context["page"].paginator.count
        assert found == wanted, query
    everything = admin.get(address(judged)).context["page"].paginator.count
    assert everything > max(int(counted or number) for _, number, counted in numbers), "a link that narrows nothing"


@pytest.mark.slow
def test_the_same_is_told_over_rest_to_those_who_review(judged: Campaign, admin: Client) -> None:
    route, page = f"/api/campaigns/{judged.pk}/quality/", admin.get(address(judged)).context
    told = admin.get(route).json()
    assert [(one["name"], one["judged"], one["returned"], one["rounds"]) for one in told["people"]] == [
        (one.name, one.judged, one.returned, one.rounds) for one in page["people"]
    ]
    assert {one["code"]: one["items"] for one in told["codes"]}["unnatural"] == 1
    assert [list(week["stages"].items()) for week in told["weeks"]] == [stages for _, stages in page["weeks"]]
    assert [(one["stage"], one["said"]) for one in told["left"]] == page["left"]
    for role, status in (("annotator", 403), ("reader", 403), ("reviewer", 200)):
        assert client_of(factories.make_user(role, judged.project)).get(route).status_code == status, role
    assert client_of(factories.make_user("admin", factories.make_project())).get(route).status_code == 404


def test_a_round_that_is_not_over_tells_nothing(campaign: Campaign) -> None:
    rewrite = make_rewrite(factories.make_session(campaign, tasks=2, steps=3))
    verification = make_verification(rewrite, overlap=2, state="submitted")
    rewrite.verdicts.create(verification=verification, round=1, version=0, outcome="return", reason="No.")
    (person,) = CampaignWork(campaign, factories.make_superuser()).people()
    assert (person.judged, person.returned) == (0, 0)


@pytest.mark.slow
def test_rows_are_searched_sorted_and_looked_into(judged: Campaign, admin: Client) -> None:
    def names(query: str) -> list[str]:
        return [item.session.name for item in admin.get(f"{address(judged)}?stage=rewrite&{query}").context["page"]]

    assert names("q=hAt") == ["Hats"]
    assert names("order=name") == ["Bags", "Coats", "Hats", "Shoes"]
    assert names("order=rounds")[:2] == ["Hats", "Coats"]
    assert sorted(names("show=nonsense&person=nobody")) == ["Bags", "Coats", "Hats", "Shoes"], "what is odd is ignored"
    assert names("week=1999-01-04") == []
    assert "Sort them by price." in source(admin.get(f"{address(judged)}?q=hat"))


@pytest.mark.slow
def test_what_was_not_begun_is_given_to_another_and_the_rest_stays(campaign: Campaign, admin: Client) -> None:
    items = opened(campaign, 3)
    anna, bert = (factories.make_user("annotator", campaign.project, username=name) for name in ("anna", "bert"))
    idle, begun = items[0].hand(anna, 0), items[1].hand(anna, 0)
    begun.take(anna)
    wanted = {"person": bert.pk, "item": [item.pk for item in items]}
    said = " ".join(source(admin.post(f"{address(campaign)}?q=", wanted, follow=True)).split())
    assert "bert has 2 items more." in said
    assert "1 item stayed: they are being worked on right now, or were handed in." in said
    idle.refresh_from_db()
    begun.refresh_from_db()
    assert (idle.state, begun.state, begun.user) == ("released", "in_progress", anna)
    held = Assignment.objects.active().filter(user=bert)
    assert {one.item_id for one in held} == {items[0].pk, items[2].pk}
    assert all(one.parts.exists() for one in held)
    again = " ".join(source(admin.post(address(campaign), wanted, follow=True)).split())
    assert "2 items stayed: they are theirs already." in again


@pytest.mark.slow
def test_nobody_is_given_what_they_may_not_do(campaign: Campaign, admin: Client) -> None:
    (hidden,) = opened(campaign, 1, split="test_task")
    annotator, reviewer = (factories.make_user(role, campaign.project) for role in ("annotator", "reviewer"))
    stranger = factories.make_user("annotator")
    rewrite = make_rewrite(factories.make_session(campaign, tasks=2, steps=3))
    own = factories.make_item(rewrite.item.session, stage="verify", subject=rewrite)
    for person, item, words in (
        (annotator, hidden, "gold they may not see"),
        (reviewer, hidden, "role does not do"),
        (stranger, hidden, "Choose who gets them."),  # as of an account that there is not
        (rewrite.user, own, "role does not do" if rewrite.user else ""),
    ):
        wanted = {"person": person.pk, "item": [item.pk]}
        assert words in source(admin.post(address(campaign), wanted, follow=True)), words
    for wanted in ({}, {"item": ["x", "9" * 40]}, {"person": "x", "item": [hidden.pk]}):
        assert admin.post(address(campaign), wanted, follow=True).status_code == 200
    assert not Assignment.objects.exclude(pk=rewrite.pk).exists()


@pytest.mark.slow
def test_what_shall_come_first_is_handed_out_first(campaign: Campaign, admin: Client) -> None:
    items = opened(campaign, 3)
    admin.post(address(campaign), {"priority": "first", "item": [items[2].pk]})
    admin.post(address(campaign), {"priority": "last", "item": [items[0].pk]})
    order = Item.objects.free_for(factories.make_user("annotator", campaign.project), campaign, Stage.DECOMPOSE)
    assert [item.pk for item in order] == [items[2].pk, items[1].pk, items[0].pk]
    assert [item.pk for item in admin.get(address(campaign)).context["page"]] == [item.pk for item in order]


@pytest.mark.slow
def test_reviewers_read_and_change_nothing_and_others_see_nothing(judged: Campaign) -> None:
    item = Item.objects.filter(session__campaign=judged).first()
    reviewer = client_of(factories.make_user("reviewer", judged.project))
    page = reviewer.get(address(judged))
    assert page.status_code == 200
    assert 'type="checkbox"' not in source(page)
    assert reviewer.post(address(judged), {"priority": "last", "item": [item.pk]}).status_code == 403
    assert not Session.objects.exclude(weight=1.0).exists()
    for role in ("annotator", "reader"):
        assert client_of(factories.make_user(role, judged.project)).get(address(judged)).status_code == 403
    assert client_of(factories.make_user("admin")).get(address(judged)).status_code == 404


@pytest.mark.slow
def test_hidden_gold_is_neither_listed_nor_counted(campaign: Campaign) -> None:
    session = factories.make_session(campaign, tasks=2, steps=3, split="test_task", name="Secret")
    judge(make_rewrite(session), "return", code="unnatural")
    reviewer = client_of(factories.make_user("reviewer", campaign.project))
    page = reviewer.get(address(campaign))
    assert b"Secret" not in page.content
    assert (page.context["people"], page.context["weeks"]) == ([], [])
    assert all(one.items == 0 for one in page.context["codes"])
    admin = client_of(factories.make_user("admin", campaign.project))
    assert b"Secret" in admin.get(address(campaign)).content


@pytest.mark.slow
def test_pages_cost_no_more_questions_for_more_items(judged: Campaign, admin: Client) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert admin.get(address(judged)).status_code == 200
        return len(queries)

    asked()
    before = asked()
    for item in opened(judged, 60):
        item.hand(factories.make_user("annotator", judged.project), 0)
    assert admin.get(f"{address(judged)}?page=2").context["page"].number == 2
    assert asked() <= before + 1, "pages are counted"


def test_the_pace_of_the_last_four_weeks_says_how_long_it_takes() -> None:
    today = date(2026, 3, 18)  # a Wednesday
    stages = dict.fromkeys(Stage.values, 0)
    weeks = [
        WeekOfWork(date(2026, 3, 16), stages | {"rewrite": 100}),  # not over
        WeekOfWork(date(2026, 3, 9), stages | {"rewrite": 6}),
        WeekOfWork(date(2026, 2, 23), stages | {"rewrite": 2}),
        WeekOfWork(date(2026, 1, 5), stages | {"rewrite": 500}),  # long ago
    ]
    told = weeks_left(weeks, today, {"decompose": 0, "rewrite": 9, "verify": 1_200})
    assert told["rewrite"] == "9 left: about 4.5 weeks at 2 a week"
    assert told["decompose"] == "nothing is left"
    assert told["verify"] == "1,200 left; no week with work of this stage is over yet"
