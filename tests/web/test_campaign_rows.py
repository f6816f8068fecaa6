"""The rows behind the numbers of a campaign's page: every number is a link to a list that has as many."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotations.desk import moving_on
from annotations.models import Assignment, Campaign, Session
from tests import factories
from tests.app_server import AppServer
from tests.signed_in import client_of
from tests.web.reading import source
from tests.web.test_annotate_campaigns import opened

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
TABLE = r'<table class="fixed" id="{}">(.*?)</table>'
LINK = re.compile(r'<a class="link" href="([^"]+)">([\d,]+)</a>')


@pytest.fixture
def campaign() -> Campaign:
    return factories.make_campaign(name="Shops")


@pytest.fixture
def admin(campaign: Campaign) -> Client:
    return client_of(factories.make_user("admin", campaign.project))


def submitted(session: Session, person, stage: str) -> Assignment:
    made = session.items.get(stage=stage).hand(person, 0)
    moving_on.submit(made)
    return made


@pytest.fixture
def under_way(campaign: Campaign) -> Campaign:
    """Places in every state, with and without a batch, of people and of nobody. A session was opened while one person
    was enough, another has more people than the campaign asks for now, and one is in the bin."""
    anna, bert = (factories.make_user("annotator", campaign.project, username=name) for name in ("anna", "b+c@d"))
    reviewer = factories.make_user("reviewer", campaign.project, username="rosa")
    passed, returned, begun, given = (item.session for item in opened(campaign, 4, batch="first & last"))
    for session in (passed, returned):
        submitted(session, anna, "decompose")
        rewrite = submitted(session, bert, "rewrite")
    moving_on.returned(rewrite)
    moving_on.submit(passed.items.get(stage="verify").hand(reviewer, 0))
    moving_on.passed(passed.items.get(stage="rewrite").assignments.get())
    begun.items.get().hand(anna, 0).take(anna)
    given.items.get().hand(bert, 0)
    (wide, *_), (lost,) = opened(campaign, 3), opened(campaign, 1)
    type(wide).objects.filter(pk=wide.pk).update(overlap=3)
    for slot, person in enumerate((anna, bert, reviewer)):
        wide.hand(person, slot)
    lost.hand(anna, 0)
    lost.session.put_into_bin()
    given.items.get().assignments.get().give_back()
    given.items.get().hand(anna, 0)
    Campaign.objects.filter(pk=campaign.pk).update(overlap=2)
    ends = (("unchanged", 0.0, True), ("edited", 0.5, False), ("rejected", 0.9, None), ("", None, None))
    for kind, model in (("cuts", "tiny 1"), ("rewrite", "tiny 1"), ("rewrite", "large & 2")):
        for session in (returned, lost.session):
            for outcome, distance, has_passed in ends[: 3 if kind == "cuts" else 4]:
                ended = {"outcome": outcome, "distance": distance, "has_passed": has_passed}
                work = session.items.first().assignments.active().get()
                campaign.proposals.create(
                    kind=kind, model_name=model, content={}, session=session, assignment=work, **ended
                )
    campaign.proposals.create(kind="sessions", model_name="tiny 1", content={})
    return campaign


def address(campaign: Campaign, name: str = "") -> str:
    return reverse(f"annotate-campaign{name}", args=[campaign.pk])


def cells(page: str, table: str) -> str:
    (found,) = re.findall(TABLE.format(table), page, re.DOTALL)
    return found[found.index("<tbody>") :]


@pytest.mark.parametrize("table", ["stages", "people", "batches", "proposals"])
def test_every_number_is_a_link_to_as_many_rows(under_way: Campaign, admin: Client, table: str) -> None:
    body = cells(source(admin.get(address(under_way))), table)
    links = LINK.findall(body)
    assert len(links) >= {"stages": 15, "people": 10, "batches": 12, "proposals": 18}[table]
    assert any(number != "0" for _, number in links)
    for href, number in links:
        page = admin.get(unescape(href))
        wanted = int(number.replace(",", ""))
        assert page.context["page"].paginator.count == wanted, href
        assert source(page).count("<tr data-row>") == wanted, href
    bare = re.sub(
        r"<[^>]*>", " ", re.sub(r"<td class=\"(muted tall|clip|strong)\">.*?</td>", "", LINK.sub("", body), flags=re.S)
    )
    assert re.findall(r"\d+(?:\.\d+)?(?: %:| of)?", bare) == re.findall(r"\d+\.\d+(?: %:| of)", bare), "a bare number"


def test_what_is_free_counts_for_each_session(campaign: Campaign, admin: Client) -> None:
    """Three people on one session take no place of another."""
    wide, narrow = opened(campaign, 2)
    type(wide).objects.filter(pk=wide.pk).update(overlap=3)
    for slot in range(3):
        wide.hand(factories.make_user("annotator", campaign.project), slot)
    page = admin.get(f"{address(campaign, '-places')}?stage=decompose")
    assert [(one.session, one.person == "") for one, _ in page.context["rows"]] == [
        *[(wide.session, False)] * 3,
        (narrow.session, True),
    ]
    assert admin.get(address(campaign)).context["progress"].stages["decompose"].todo == 4


def test_a_place_says_who_has_it_and_since_when(under_way: Campaign, admin: Client) -> None:
    work, later = Assignment.objects.get(review="returned"), timezone.now() + timedelta(hours=1)
    work.events.filter(pk=work.events.latest("pk").pk).update(pgh_created_at=later)
    rows = [one for one, _ in admin.get(f"{address(under_way, '-places')}?batch=first+%26+last").context["rows"]]
    (returned,) = (one for one in rows if one.state == "returned")
    assert (returned.assignment, returned.person, returned.stage) == (work.pk, "b+c@d", "rewrite")
    assert returned.since == later
    free = [one for one in rows if not one.person]
    assert {one.stage for one in free if one.since is None} == {"decompose", "rewrite", "verify"}
    assert [one.person for one in rows] == sorted((one.person for one in rows), key=lambda name: not name)
    page = source(admin.get(f"{address(under_way, '-places')}?batch=first+%26+last"))
    assert reverse("annotate-item", args=[work.pk]) in page
    (name,) = {one.session.name for one in rows if one.person == "b+c@d" and one.state == "returned"}
    assert name in page


def test_rewrites_beside_the_one_that_passed_are_told_by_what_became_of_them(campaign: Campaign, admin: Client) -> None:
    """They had all passed, says the list, with their session: the one that waits to be verified again, too."""
    (item,) = opened(campaign)
    item.session.items.exclude(pk=item.pk).delete()
    rewrites = factories.make_item(item.session, stage="rewrite", overlap=3)
    for review in ("passed", "returned", "not_taken"):
        factories.make_assignment(rewrites, state="submitted", review=review, slot=rewrites.assignments.count())
    type(item.session).objects.filter(pk=item.session.pk).update(released=item.session.tasks.first().conversation)
    rows = [one for one, _ in admin.get(f"{address(campaign, '-places')}?stage=rewrite").context["rows"]]
    assert [one.state_name for one in rows if one.person] == ["passed", "submitted", "another version passed"]
    tally = admin.get(address(campaign)).context["progress"].stages["rewrite"]
    assert (tally.passed, tally.submitted) == (2, 1)


def test_an_open_place_that_nobody_has_says_since_when_it_is_open(campaign: Campaign, admin: Client) -> None:
    (item,) = opened(campaign)
    rows = [one for one, _ in admin.get(address(campaign, "-places")).context["rows"]]
    assert [(one.stage, one.since) for one in rows] == [
        ("decompose", item.opened_at),
        ("rewrite", None),
        ("verify", None),
    ]


def test_pages_follow_each_other_without_a_gap(campaign: Campaign, admin: Client) -> None:
    """Across the border between what people have and what is free."""
    person = factories.make_user("annotator", campaign.project)
    for item in opened(campaign, 70)[:60]:
        item.hand(person, 0)
    pages = [
        [
            (one.session.pk, one.stage, one.person)
            for one, _ in admin.get(f"{address(campaign, '-places')}?page={n}").context["rows"]
        ]
        for n in range(1, 6)
    ]
    assert [len(page) for page in pages] == [50, 50, 50, 50, 10]
    rows = [row for page in pages for row in page]
    assert len(set(rows)) == 210
    assert [person for *_, person in rows] == [person.username] * 60 + [""] * 150
    with CaptureQueriesContext(connection) as many:
        admin.get(f"{address(campaign, '-places')}?page=2")
    with CaptureQueriesContext(connection) as few:
        admin.get(f"{address(campaign, '-places')}?page=5")
    assert len(many) <= len(few) + 2


@pytest.mark.parametrize("name", ["-places", "-proposals"])
def test_an_empty_list_says_why(campaign: Campaign, admin: Client, name: str) -> None:
    said = " ".join(source(admin.get(address(campaign, name))).split())
    assert ("the campaign has no sessions yet" if name == "-places" else "No model has proposed anything") in said
    said = " ".join(source(admin.get(f"{address(campaign, name)}?stage=verify&kind=cuts")).split())
    assert "fits these filters" in said
    assert admin.get(f"{address(campaign, name)}?stage=x&person=nobody&show=x&page=x").status_code == 200


@pytest.mark.parametrize("role", ["annotator", "reader"])
def test_who_does_not_review_sees_numbers_without_lists(under_way: Campaign, role: str) -> None:
    """In a blind campaign nobody learns who works on the same item."""
    client = client_of(factories.make_user(role, under_way.project))
    page = source(client.get(address(under_way)))
    assert not any(LINK.findall(cells(page, table)) for table in ("stages", "people", "batches", "proposals"))
    assert "left of" in page
    for name in ("-places", "-proposals"):
        assert client.get(address(under_way, name)).status_code == 403


def test_hidden_gold_is_counted_and_leads_nowhere(campaign: Campaign) -> None:
    (item,) = opened(campaign, 1, split="test_task")
    work = item.hand(factories.make_user("admin", campaign.project), 0)
    campaign.proposals.create(kind="cuts", model_name="tiny", content={}, session=item.session, assignment=work)
    reviewer = client_of(factories.make_user("reviewer", campaign.project))
    admin = client_of(work.user)
    link = reverse("annotate-item", args=[work.pk])
    for name, rows in (("-places", 3), ("-proposals", 1)):
        page = reviewer.get(address(campaign, name))
        assert page.context["page"].paginator.count == rows
        assert "whose gold you may not see" in source(page)
        assert link not in source(page)
        assert link in source(admin.get(address(campaign, name)))


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_keys_walk_through_the_rows(app_server: AppServer, page: Page, sign_in, under_way: Campaign) -> None:
    """From a number of the campaign's page to the work itself, without a mouse in the list."""
    sign_in(factories.make_user("admin", under_way.project))
    page.goto(app_server.url(address(under_way)))
    page.locator("#people").get_by_role("link", name="3", exact=True).first.click()
    rows = page.locator("#places [data-row]")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_have_attribute("tabindex", "-1")  # the keys are there
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(rows.nth(1).get_by_role("link")).to_be_focused()
    page.keyboard.press("k")
    expect(rows.nth(0).get_by_role("link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/annotate/assignments/\d+/"))
