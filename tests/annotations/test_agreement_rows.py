"""The rows behind the numbers of agreement: every number is a link to a list that has as many."""

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from annotations.models import Campaign, Dispute
from annotations.work.verify import verdicts
from annotations.work.verify.agreement_tables import CampaignAgreement
from tests import factories
from tests.annotations.test_work_curations import a_third, begun, make_pair, steps_of
from tests.annotations.test_work_gold import decomposed, solved_elsewhere
from tests.annotations.work_world import make_edit, make_rewrite, make_verification
from tests.signed_in import client_of
from tests.web.reading import source
from tests.web.test_campaign_rows import LINK

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def campaign() -> Campaign:
    """Three people on one session, two on another whose versions were made one, a dispute, and a gold item."""
    pair = make_pair(("One.", "Two."), ("Uno.", "Two, now."))
    campaign = pair[0].item.session.campaign
    curating, steps = begun(pair), steps_of(pair)
    curating.decide(steps[0], "a")
    curating.decide(steps[3], "own", [{"step": steps[3], "instruction": "Three.", "rewrite": "Three."}])
    curating.finish(sure=True)
    session = factories.make_session(campaign, name="wide & low")
    for places in ([3], [3], [4]):
        decomposed(session, places, factories.make_user("annotator", campaign.project))
    subject = make_rewrite(factories.make_session(campaign))
    for outcome, codes in (("accept", []), ("return", [{"code": "extra"}])):
        verdicts.give(make_verification(subject, overlap=2), outcome, {}, "", codes)
    verdicts.decide(Dispute.objects.get(), a_third(pair), "accept", "")
    gold, expert = solved_elsewhere(campaign)
    gold.use_as_gold(expert)
    decomposed(gold, [2])
    return campaign


def rows_of(client: Client, campaign: Campaign, **filters: str):
    return client.get(reverse("annotate-comparisons", args=[campaign.pk]), filters)


def test_every_number_is_a_link_to_as_many_rows(campaign: Campaign) -> None:
    admin = client_of(factories.make_user("admin", campaign.project))
    page = source(admin.get(reverse("annotate-agreement", args=[campaign.pk])))
    links = LINK.findall(page)
    assert len(links) >= 3 + 3 * 4 + 2 * 4 + 1 + 1
    for href, number in links:
        found = admin.get(unescape(href))
        assert found.context["page"].paginator.count == int(number), href
        assert source(found).count("<tr data-row>") == int(number), href
    kinds = {re.search(r"kind=(\w+)", unescape(href))[1] for href, number in links if number != "0"}
    assert kinds == {"cuts", "words", "defects", "verdicts", "differences", "made", "gold"}


def test_what_is_least_alike_comes_first_with_what_each_said(campaign: Campaign) -> None:
    client = client_of(factories.make_user("reviewer", campaign.project))
    rows = [row for row, _ in rows_of(client, campaign, kind="cuts").context["rows"]]
    assert [row.value for row in rows] == sorted(row.value for row in rows)
    page = source(rows_of(client, campaign, kind="cuts"))
    assert "cut before step 4" in page
    assert "cut before step 5" in page
    assert "wide &amp; low" in page
    words = source(rows_of(client, campaign, kind="words"))
    assert "Uno." in words
    assert "steps 1–3" in words
    defects = [row for row, _ in rows_of(client, campaign, kind="defects").context["rows"]]
    assert [row.place for row in defects if not row.value] == ["extra"]
    assert [row.value for row, _ in rows_of(client, campaign, kind="defects", code="extra").context["rows"]] == [0.0]
    assert "other words" in source(rows_of(client, campaign, kind="differences"))
    for row, _ in rows_of(client, campaign, kind="verdicts").context["rows"]:
        assert client.get(reverse("annotate-item", args=[row.said[0].work]), follow=True).status_code == 200


def test_work_that_was_mended_since_counts_as_it_was_first_handed_in() -> None:
    """Returned work was out of the measure, and mended as verifiers said it agreed with the other."""
    first, second = make_pair(("One.", "Two."), ("Uno.", "Two."))
    campaign = first.item.session.campaign
    words = CampaignAgreement(campaign).report().words
    assert (words.n, words.value < 1) == (2, True)
    verdicts.give(make_verification(second), "return", {}, "In English.", [])
    assert CampaignAgreement(campaign).report().words == words
    second.refresh_from_db()
    part = second.parts.order_by("pk").first()
    make_edit(second, "text", part.first_step_id, "Uno.", "One.", "rewrite")
    second.parts.filter(pk=part.pk).update(rewrite="One.")
    author = second.user
    second.user = factories.make_user("annotator", campaign.project)  # who has gone on with it
    second.save()
    second.hand_in()
    report = CampaignAgreement(campaign).report()
    assert report.words == words
    assert {report.pairs[0].first, report.pairs[0].second} == {first.user, author}


def test_gold_items_are_for_who_manages(campaign: Campaign) -> None:
    """And whatever else does not fit is no filter."""
    reviewer = client_of(factories.make_user("reviewer", campaign.project))
    assert rows_of(reviewer, campaign, kind="gold").context["filters"].shown_kind == "cuts"
    assert rows_of(reviewer, campaign, kind="x", person="nobody", page="x").status_code == 200
    annotator = client_of(factories.make_user("annotator", campaign.project))
    assert rows_of(annotator, campaign, kind="cuts").status_code == 403


def test_hidden_gold_is_counted_and_says_nothing() -> None:
    session = factories.make_session(split="test_task")
    first, _ = make_rewrite(session, texts=("Buy red socks.",)), make_rewrite(session, texts=("Buy blue socks.",))
    reviewer = client_of(factories.make_user("reviewer", session.campaign.project))
    page = rows_of(reviewer, session.campaign, kind="words")
    assert page.context["page"].paginator.count == 1
    assert "socks" not in source(page)
    assert reverse("annotate-item", args=[first.pk]) not in source(page)
    admin = client_of(factories.make_user("admin", session.campaign.project))
    assert "Buy blue socks." in source(rows_of(admin, session.campaign, kind="words"))


def test_an_empty_list_says_why() -> None:
    campaign = factories.make_campaign()
    admin = client_of(factories.make_user("admin", campaign.project))
    assert "Nothing yet" in source(rows_of(admin, campaign))
