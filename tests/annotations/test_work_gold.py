"""A campaign's agreement from people's work, and hidden gold items from their making to the feedback."""

import json

import pytest
from django.urls import reverse

from annotations.campaigns.queue.claiming import next_item
from annotations.desk import moving_on
from annotations.models import SessionTask
from annotations.work.verify import gold, verdicts
from annotations.work.verify.agreement_tables import CampaignAgreement
from tests import factories
from tests.annotations.work_world import make_rewrite, make_verification
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


def decomposed(session, places, user=None):
    """A submitted decomposition with cuts before these steps."""
    item = session.items.filter(stage="decompose").first() or factories.make_item(session, overlap=3)
    made = factories.make_assignment(item, user, state="submitted", slot=item.assignments.count())
    steps = list(session.steps())
    for place in places:
        made.parts.create(first_step=steps[place], instruction="Do it.")
    return made


def solved_elsewhere(campaign):
    """A session of the campaign, and an annotation of the same tasks that has passed in another campaign."""
    session = factories.make_session(campaign)
    other = factories.make_campaign(source=campaign.source)
    twin = factories.make_session(other, tasks=0, website=session.website)
    for task in session.tasks.all():
        SessionTask.objects.create(campaign=other, session=twin, conversation=task.conversation, position=task.position)
    expert = make_rewrite(twin)
    verdicts.give(make_verification(expert), "accept", {}, "", [])
    return session, expert


def test_cuts_are_compared_between_all_pairs_of_a_session():
    campaign = factories.make_campaign()
    people = [factories.make_user("annotator", campaign.project) for _ in range(3)]
    session = factories.make_session(campaign)
    for user, places in zip(people, ([3], [3], [4]), strict=True):
        decomposed(session, places, user)
    decomposed(factories.make_session(campaign), [2])  # alone: nothing to compare
    found = CampaignAgreement(campaign).report()
    assert (found.cuts.n, found.cuts.sessions) == (3, 1)
    assert found.cuts.value == pytest.approx((1 + 0.5 + 0.5) / 3)
    values = {(row.first, row.second): row.cuts for row in found.pairs}
    assert values == {(people[0], people[1]): 1, (people[0], people[2]): 0.5, (people[1], people[2]): 0.5}
    assert found.words.value is None
    assert found.kappa.value is None


def test_rewrites_are_compared_where_the_parts_are_of_the_same_steps():
    session = factories.make_session()
    first, second = make_rewrite(session), make_rewrite(session, texts=("Find red shoes.", "Sort."))
    third = make_rewrite(session, texts=("Find red shoes and sort them.",))
    found = CampaignAgreement(session.campaign).report()
    assert found.words.n == 2  # the third one has no part in common
    (row,) = (row for row in found.pairs if {row.first, row.second} == {first.user, second.user})
    assert (row.words_n, row.words) == (2, found.words.value)
    assert row.words < 1
    assert all(other.words is None for other in found.pairs if third.user in (other.first, other.second))


def judged(campaign, *codes, verifiers):
    """A rewrite on which each verifier gives a return with these codes, or accepts."""
    subject = make_rewrite(factories.make_session(campaign))
    for user, own in zip(verifiers, codes, strict=True):
        verification = make_verification(subject, overlap=len(verifiers), user=user)
        verdicts.give(verification, "return" if own else "accept", {}, "", [{"code": code} for code in own])


@pytest.mark.slow
def test_defects_of_two_verifiers_are_cohens_and_of_more_fleiss():
    campaign = factories.make_campaign()
    two = [factories.make_user("reviewer", campaign.project) for _ in range(2)]
    judged(campaign, ["extra"], ["extra"], verifiers=two)
    judged(campaign, ["extra"], ["unnatural"], verifiers=two)
    found = CampaignAgreement(campaign).report()
    assert (found.kappa_kind, found.kappa.n) == ("Cohen", 12)
    # Of 12 entries both see 1, each sees 1 alone, 9 none.
    p = 2 / 12
    expected = p * p + (1 - p) * (1 - p)
    assert found.kappa.value == pytest.approx((10 / 12 - expected) / (1 - expected))
    assert found.pairs[0].kappa == pytest.approx(found.kappa.value)
    shares = {row["code"]: row["share"] for row in found.by_code}
    assert (shares["extra"], shares["unnatural"], shares["uncovered"]) == (0.75, 0.25, 0)
    three = [*two, factories.make_user("reviewer", campaign.project)]
    judged(campaign, ["extra"], [], [], verifiers=three)
    assert CampaignAgreement(campaign).report().kappa_kind == "Fleiss"


@pytest.mark.slow
def test_the_page_is_for_reviewers_and_shows_people_on_gold_to_admins():
    campaign = factories.make_campaign()
    session, expert = solved_elsewhere(campaign)
    session.use_as_gold(expert)
    decomposed(session, [4], factories.make_user("annotator", campaign.project, username="greta"))
    url = reverse("annotate-agreement", args=[campaign.pk])
    pages = {role: client_of(factories.make_user(role, campaign.project)).get(url) for role in ("reviewer", "admin")}
    assert "Boundary similarity" in pages["reviewer"].content.decode()
    assert "greta" not in pages["reviewer"].content.decode()
    assert "greta" in pages["admin"].content.decode()
    assert client_of(factories.make_user("annotator", campaign.project)).get(url).status_code == 403
    assert client_of(factories.make_user("admin")).get(url).status_code == 404


@pytest.mark.slow
def test_an_admin_makes_a_gold_item_of_a_session_that_was_solved_elsewhere():
    campaign = factories.make_campaign()
    session, expert = solved_elsewhere(campaign)
    factories.make_session(campaign)
    assert gold.HiddenGold(campaign).candidates() == [(session, expert)]
    url = reverse("annotate-make-gold", args=[session.pk])
    assert client_of(factories.make_user("reviewer", campaign.project)).post(url).status_code == 403
    assert client_of(factories.make_user("admin")).post(url).status_code == 404
    client_of(factories.make_user("admin", campaign.project)).post(url)
    session.refresh_from_db()
    assert session.is_gold
    assert [part["rewrite"] for part in session.gold] == ["Find red shoes.", "Sort them by price."]
    assert gold.HiddenGold(campaign).candidates() == []


def test_gold_needs_the_same_tasks_and_nobody_at_work():
    session, expert = solved_elsewhere(factories.make_campaign())
    with pytest.raises(ValueError, match="other tasks"):
        factories.make_session(session.campaign).use_as_gold(expert)
    decomposed(session, [3])
    with pytest.raises(ValueError, match="has begun"):
        session.use_as_gold(expert)


def test_the_comparison_tells_near_missed_and_extra_cuts():
    session, expert = solved_elsewhere(factories.make_campaign())
    session.use_as_gold(expert)
    compared = gold.compare(decomposed(session, [2]))
    assert (compared.right, compared.near, compared.missed, compared.extra) == ([], [3], [4], [])
    assert (compared.cuts, compared.words) == (0.5, None)
    compared = gold.compare(decomposed(session, [1, 3]))
    assert (compared.right, compared.missed, compared.extra) == ([4], [], [2])
    assert compared.cuts == 0.5


@pytest.mark.slow
def test_a_gold_item_leads_to_feedback_and_never_into_the_dataset():
    campaign = factories.make_campaign()
    session, expert = solved_elsewhere(campaign)
    session.use_as_gold(expert)
    moving_on.open_work(session)
    user = factories.make_user("annotator", campaign.project)
    first = next_item(user, campaign, "decompose")
    body = {"token": str(first.lease_token), "base": 0}
    url = reverse("annotate-submit", args=[first.pk])
    answer = client_of(user).post(url, json.dumps(body), content_type="application/json").json()
    assert answer == {"next": reverse("annotate-feedback", args=[first.pk])}
    page = client_of(user).get(answer["next"]).content.decode()
    assert "How yours compares" in page
    second = next_item(user, campaign, "rewrite")
    moving_on.submit(second)
    assert not session.items.filter(stage="verify").exists()
    assert session.items.get(stage="rewrite").state == "done"
    moving_on.passed(second)
    session.refresh_from_db()
    campaign.refresh_from_db()
    assert (session.released, campaign.target) == (None, None)
    (row,) = gold.HiddenGold(campaign).accuracy()
    assert (row["user"], row["n"], row["cuts"]) == (user, 2, 1.0)
    assert 0 < row["words"] < 1


@pytest.mark.slow
def test_feedback_is_for_the_annotator_and_admins_after_submitting():
    campaign = factories.make_campaign()
    session, expert = solved_elsewhere(campaign)
    session.use_as_gold(expert)
    done = decomposed(session, [3])
    open_one = factories.make_assignment(done.item, slot=1)
    url = reverse("annotate-feedback", args=[done.pk])
    assert client_of(done.user).get(url).status_code == 200
    assert client_of(factories.make_user("admin", campaign.project)).get(url).status_code == 200
    assert client_of(open_one.user).get(url).status_code == 404
    assert client_of(factories.make_user("admin")).get(url).status_code == 404
    assert client_of(open_one.user).get(reverse("annotate-feedback", args=[open_one.pk])).status_code == 404
    plain = make_rewrite()
    assert client_of(plain.user).get(reverse("annotate-feedback", args=[plain.pk])).status_code == 404
