"""What holds a campaign up: each reason is said where it is so, leads to its rows, and is not said elsewhere."""

from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.campaigns.forms import WorkFilterForm
from annotations.campaigns.holding_up import Hindrance, hindrances
from annotations.campaigns.quality import CampaignWork, ItemFilter
from annotations.models import Assignment, Campaign, Comment, Dispute, Item, Proposal
from tests import factories
from tests.annotations.work_world import make_rewrite, make_verification

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return factories.make_campaign()


@pytest.fixture
def admin(campaign: Campaign) -> User:
    return factories.make_user("admin", campaign.project)


def reasons(campaign: Campaign) -> list[Hindrance]:
    return hindrances([campaign.pk])[campaign.pk]


def says(campaign: Campaign) -> list[str]:
    return [one.text for one in reasons(campaign)]


def rows(campaign: Campaign, user: User, number: int = 0) -> list[Item]:
    """What the page lists to which a reason leads."""
    address = urlsplit(reasons(campaign)[number].url)
    assert address.path == f"/annotate/campaigns/{campaign.pk}/table/"
    form = WorkFilterForm(dict(parse_qsl(address.query)), [], [])
    assert not form.errors
    return list(ItemFilter(CampaignWork(campaign, user), form.cleaned_data).rows())


def in_hand(item: Item, user: User | None = None, **fields: object) -> Assignment:
    return factories.make_assignment(item, user, heartbeat_at=timezone.now(), **fields)


def test_nothing_holds_up_what_is_under_way(campaign: Campaign) -> None:
    in_hand(factories.make_item(factories.make_session(campaign)))
    assert says(campaign) == []
    assert says(factories.make_campaign()) == ["no sessions yet: organise some"]


def test_sessions_that_are_not_open_for_work_are_counted(campaign: Campaign) -> None:
    factories.make_session(campaign)
    assert says(campaign) == ["1 session not open for work"]
    assert (reasons(campaign)[0].needs, reasons(campaign)[0].url) == (
        "manage",
        f"/annotate/campaigns/{campaign.pk}/organise/",
    )


def test_returned_work_holds_up_until_its_author_opens_it(campaign: Campaign, admin: User) -> None:
    item = factories.make_item(factories.make_session(campaign), stage="rewrite")
    returned = in_hand(item, review="returned", round=2)
    in_hand(factories.make_item(factories.make_session(campaign)))
    assert says(campaign) == ["1 item returned, and not taken up since"]
    assert rows(campaign, admin) == [item]
    returned.take(returned.user)
    assert says(campaign) == []


def test_a_stage_on_which_nobody_works_is_named_with_its_items(campaign: Campaign, admin: User) -> None:
    items = [factories.make_item(factories.make_session(campaign)) for _ in range(2)]
    factories.make_item(factories.make_session(campaign, is_gold=True))
    assert says(campaign) == ["2 items to decompose, and nobody is at it"]
    assert rows(campaign, admin) == items
    in_hand(items[0])
    assert says(campaign) == ["1 item to decompose that nobody has, beside 1 under way"]
    assert rows(campaign, admin) == items[1:]
    in_hand(items[1])
    assert says(campaign) == []


def test_what_was_returned_and_lies_is_no_work_on_its_stage(campaign: Campaign, admin: User) -> None:
    returned = factories.make_item(factories.make_session(campaign), stage="rewrite")
    in_hand(returned, review="returned", round=2)
    free = factories.make_item(factories.make_session(campaign), stage="rewrite")
    assert says(campaign)[1:] == ["1 item to rewrite, and nobody is at it"]
    assert rows(campaign, admin, 1) == [free]


def test_work_for_a_second_person_whom_the_project_does_not_have_is_told(campaign: Campaign, admin: User) -> None:
    item = factories.make_item(factories.make_session(campaign), overlap=2)
    first = in_hand(item, admin)
    assert says(campaign) == ["1 item to decompose for one more person: nobody may but who had their part"]
    assert rows(campaign, admin) == [item]
    factories.make_user("annotator", campaign.project)
    assert says(campaign) == ["1 item to decompose that nobody has, beside 1 under way"]
    first.hand_in()
    assert says(campaign) == ["1 item to decompose, and nobody is at it"]


def test_only_the_author_may_verify_until_somebody_else_may_who_sees_the_gold(campaign: Campaign, admin: User) -> None:
    session = factories.make_session(campaign, split="test_task")
    subject = make_rewrite(session, user=admin)
    verification = factories.make_item(session, stage="verify", subject=subject)
    factories.make_user("reviewer", campaign.project)  # who does not see test gold
    assert says(campaign)[0] == "1 item to verify for one more person: nobody may but who wrote it or had it"
    assert rows(campaign, admin) == [verification]
    factories.make_user("reviewer", campaign.project, sees_test_gold=True)
    assert says(campaign)[0] == "1 item to verify, and nobody is at it"


def test_what_its_author_has_in_hand_waits_for_no_verifier(campaign: Campaign) -> None:
    session = factories.make_session(campaign)
    subject = make_rewrite(session, state="in_progress", heartbeat_at=timezone.now())
    factories.make_item(session, stage="verify", subject=subject)
    assert not any("verify" in text for text in says(campaign))


def test_work_that_somebody_holds_and_has_not_opened_for_days_is_told(campaign: Campaign, admin: User) -> None:
    item = factories.make_item(factories.make_session(campaign))
    held = in_hand(item)
    Assignment.objects.filter(pk=held.pk).update(heartbeat_at=timezone.now() - timedelta(days=4))
    assert says(campaign) == ["1 item held, and not opened for 3 days"]
    assert rows(campaign, admin) == [item]
    factories.make_item(factories.make_session(campaign))
    assert says(campaign) == ["1 item to decompose, and nobody is at it", "1 item held, and not opened for 3 days"]


def test_disputes_open_questions_and_proposals_wait_for_somebody(campaign: Campaign, admin: User) -> None:
    session = factories.make_session(campaign)
    subject = make_rewrite(session)
    Item.objects.filter(pk=subject.item_id).update(state="submitted")
    verification = make_verification(subject)
    Item.objects.filter(pk=verification.item_id).update(state="submitted")
    verification.hand_in()
    dispute = Dispute.objects.create(assignment=subject, round=1)
    question = Comment.objects.create(session=session, author=admin, text="Which one?")
    Comment.objects.create(session=session, author=admin, text="The first.", parent=question)
    Proposal.objects.create(campaign=campaign, kind="sessions", model_name="m", content={"tasks": []})
    assert says(campaign) == [
        "1 dispute between verifiers: a further person decides",
        "2 items with an open question about the session",
        "1 proposed session to be accepted or dismissed",
    ]
    assert {item.session for item in rows(campaign, admin, 1)} == {session}
    dispute.decide(admin, "accept", "")
    question.resolve(admin)
    Proposal.objects.decide(Proposal.Outcome.REJECTED)
    assert says(campaign) == []


def test_hidden_gold_and_sessions_that_have_passed_hold_nothing_up(campaign: Campaign) -> None:
    factories.make_item(factories.make_session(campaign, is_gold=True))
    done = factories.make_session(campaign)
    factories.make_item(done)
    done.keep_released(factories.make_conversation(dataset=campaign.source))
    assert says(campaign) == []


def test_the_queries_do_not_grow_with_the_campaigns(campaign: Campaign) -> None:
    def queries(campaigns: list[Campaign]) -> int:
        with CaptureQueriesContext(
            connection,
        ) as seen:
            assert all(hindrances(one.pk for one in campaigns).values())
        return len(seen)

    campaigns = [campaign, factories.make_campaign()]
    for one in campaigns:
        factories.make_item(factories.make_session(one))
    assert queries(campaigns[:1]) == queries(campaigns)
