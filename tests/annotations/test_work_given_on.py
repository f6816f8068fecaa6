"""Work that an admin gives to somebody else, as who has it is away: what was done stays, and nothing is lost."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.assigning import Handover, Order, plan
from annotations.desk import moving_on
from annotations.models import Assignment, Item, NotFree, NotYours
from tests import factories
from tests.annotations.test_work_sending_back import Chain
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain() -> Chain:
    found = Chain()
    found.judge("return", "cut-misplaced")
    return found


@pytest.fixture
def other(chain: Chain) -> User:
    return factories.make_user("annotator", chain.session.campaign.project, username="other")


def give(chain: Chain, person: User, assignment: Assignment) -> dict[str, int]:
    return dict(Handover(chain.session.campaign, person).of(Item.objects.filter(pk=assignment.item_id)))


def leave(assignment: Assignment) -> None:
    """Its holder has gone: the lease ran out."""
    Assignment.objects.filter(pk=assignment.pk).update(lease_until=timezone.now() - timedelta(minutes=5))


def test_returned_cuts_are_mended_by_another_and_the_rewrite_goes_on(chain: Chain, other: User) -> None:
    assert give(chain, other, chain.decomposition) == {"": 1}
    mine = chain.fresh(chain.decomposition)
    assert (mine.user, mine.state, mine.review, mine.round) == (other, "assigned", "returned", 2)
    assert [part.instruction for part in mine.ordered_parts()] == ["Find shoes.", "Buy them."]
    assert mine.returns()[0]["defects"][0]["code"] == "cut-misplaced", "why it was returned"
    with pytest.raises(NotFree, match="assigned to other"):
        chain.fresh(chain.decomposition).take(chain.cutter)
    chain.cutter = other
    chain.move_cut()
    moving_on.submit(chain.fresh(chain.decomposition))
    rewrite = chain.fresh(chain.rewrite)
    assert (rewrite.state, rewrite.user) == ("assigned", chain.writer)
    assert [part.rewrite for part in rewrite.ordered_parts()] == ["Shoes, please.", "And buy those."]


def test_who_wrote_what_stays_told(chain: Chain, other: User) -> None:
    chain.decomposition.sent_back.mend()
    assert give(chain, other, chain.rewrite) == {"": 1}
    mine = chain.fresh(chain.rewrite)
    assert (mine.user, mine.others_who_wrote()) == (other, [chain.writer.get_username()])
    assert {edit.user for edit in mine.edits.all()} == {chain.writer}
    page = client_of(other).get(reverse("annotate-item", args=[mine.pk])).content.decode()
    assert f"Begun by {chain.writer.get_username()}, and gone on with by other" in " ".join(page.split())


def test_a_rewrite_that_waits_waits_on_for_its_new_author(chain: Chain, other: User) -> None:
    assert give(chain, other, chain.rewrite) == {"": 1}
    assert (chain.fresh(chain.rewrite).state, chain.fresh(chain.rewrite).user) == ("waiting", other)


def test_what_somebody_has_open_stays_theirs_until_they_leave(chain: Chain, other: User) -> None:
    taken = chain.fresh(chain.decomposition).take(chain.cutter)
    assert give(chain, other, chain.decomposition) == {"begun": 1}
    leave(taken)
    assert give(chain, other, chain.decomposition) == {"": 1}
    with pytest.raises(NotYours, match="taken this over"):
        chain.fresh(chain.decomposition).check_lease(chain.cutter, taken.lease_token)


def test_what_was_handed_in_stays(other: User, chain: Chain) -> None:
    Item.objects.filter(pk=chain.decomposition.item_id).update(overlap=1)
    chain.move_cut()
    moving_on.submit(chain.fresh(chain.decomposition))
    assert give(chain, other, chain.decomposition) == {"closed": 1}
    Item.objects.filter(pk=chain.decomposition.item_id).update(state="open")
    assert give(chain, other, chain.decomposition) == {"begun": 1}


def test_nobody_comes_to_verify_what_they_wrote(chain: Chain) -> None:
    """Neither who gets what they verify, nor who gets to verify what they wrote before it was given on."""
    campaign = chain.session.campaign
    both = factories.make_user("admin", campaign.project, username="both")
    chain.verification.item.hand(both, 1)
    Item.objects.filter(pk=chain.verification.item_id).update(overlap=2, state="open")
    assert give(chain, both, chain.rewrite) == {"judges": 1}
    third = factories.make_user("annotator", campaign.project)
    give(chain, third, chain.rewrite)
    campaign.project.memberships.filter(user=chain.writer).update(role="admin")
    assert give(chain, chain.writer, chain.verification) == {"own": 1}
    items = list(Item.objects.filter(pk=chain.verification.item_id).for_planning())
    made = plan(campaign, "verify", items, Order(((chain.writer, 1.0),), 3))
    assert (made.pairs, dict(made.unfilled)) == ([], {"people": 1})


def test_a_verification_goes_on_with_another_and_verdicts_stay(chain: Chain) -> None:
    chain.move_cut()
    moving_on.submit(chain.fresh(chain.decomposition))
    chain.write(chain.rewrite, chain.writer, 2, "rewrite", "And those.")
    moving_on.submit(chain.fresh(chain.rewrite))
    second = factories.make_user("reviewer", chain.session.campaign.project)
    assert give(chain, second, chain.verification) == {"": 1}
    assert chain.fresh(chain.verification).state == "released"
    (verdict,) = chain.rewrite.verdicts.all()
    assert verdict.verification.user == chain.reviewer
    chain.verification = Assignment.objects.active().get(item=chain.verification.item_id, user=second)
    chain.judge("accept")
    assert chain.fresh(chain.rewrite).review == "passed"
