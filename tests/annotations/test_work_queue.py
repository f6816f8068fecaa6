"""Who gets which item: each once, nobody more than the cap, nobody locked out, and an empty queue says why."""

import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotations.campaigns.queue.claiming import next_item
from annotations.campaigns.queue.reasons import why_nothing
from annotations.desk import moving_on
from annotations.models import Assignment, Campaign, Item, Membership, NotFree
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return factories.make_campaign()


@pytest.fixture
def annotator(campaign):
    return factories.make_user("annotator", campaign.project)


def open_items(campaign: Campaign, count: int, **fields) -> list[Item]:
    return [moving_on.open_work(factories.make_session(campaign, tasks=1, steps=1, **fields)) for _ in range(count)]


def colleague(campaign: Campaign, role: str = "annotator"):
    return factories.make_user(role, campaign.project)


def expire(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def claims_of_threads(campaign: Campaign, people: list, attempts: int) -> list[tuple[int, int]]:
    """(item, user) of everything that the people claimed at once, each doing what they got at once."""
    start = threading.Barrier(len(people))

    def work(user) -> list[tuple[int, int]]:
        start.wait()
        got = []
        try:
            for _ in range(attempts):
                if (assignment := next_item(user, campaign, "decompose")) is None:
                    break
                got.append((assignment.item_id, user.pk))
                moving_on.submit(assignment)
        finally:
            connection.close()
        return got

    with ThreadPoolExecutor(len(people)) as pool:
        return [pair for pairs in pool.map(work, people) for pair in pairs]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_twenty_people_get_each_of_thirty_items_exactly_once() -> None:
    campaign = factories.make_campaign()
    items = open_items(campaign, 30)
    people = [colleague(campaign) for _ in range(20)]
    won = claims_of_threads(campaign, people, attempts=30)
    assert Counter(item for item, _ in won) == Counter(item.pk for item in items)
    assert Assignment.objects.count() == 30


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_with_overlap_three_every_item_goes_to_three_different_people() -> None:
    campaign = factories.make_campaign(overlap=3)
    items = open_items(campaign, 6)
    people = [colleague(campaign) for _ in range(8)]
    won = claims_of_threads(campaign, people, attempts=6)
    assert Counter(item for item, _ in won) == Counter({item.pk: 3 for item in items})
    assert len(set(won)) == 18
    for item in items:
        assert sorted(item.assignments.values_list("slot", flat=True)) == [0, 1, 2]


@pytest.mark.django_db(transaction=True)
def test_a_person_who_asks_ten_times_at_once_gets_one_item() -> None:
    campaign = factories.make_campaign()
    open_items(campaign, 5)
    person, start = colleague(campaign), threading.Barrier(10)

    def ask(_: int) -> int:
        start.wait()
        try:
            return next_item(person, campaign, "decompose").pk
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        assert len(set(pool.map(ask, range(10)))) == 1
    assert Assignment.objects.count() == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_what_was_left_behind_goes_to_one_of_the_people_who_ask_at_once() -> None:
    campaign = factories.make_campaign()
    open_items(campaign, 1)
    left = next_item(colleague(campaign), campaign, "decompose")
    expire(left)
    won = claims_of_threads(campaign, [colleague(campaign) for _ in range(8)], attempts=1)
    assert [item for item, _ in won] == [left.item_id]
    assert Assignment.objects.get().user_id == won[0][1]


@pytest.mark.slow
def test_the_heaviest_session_comes_first_then_the_order_of_sessions(campaign, annotator) -> None:
    first, second, heavy = open_items(campaign, 3)
    heavy.session.weight = 2
    heavy.session.save()
    order = []
    while assignment := next_item(annotator, campaign, "decompose"):
        order.append(assignment.item)
        moving_on.submit(assignment)
    assert order == [heavy, first, second]


def test_a_claimed_item_comes_with_a_lease_its_guidelines_and_its_first_parts(campaign, annotator) -> None:
    open_items(campaign, 1)
    assignment = next_item(annotator, campaign, "decompose")
    assert (assignment.state, assignment.user) == ("in_progress", annotator)
    assert timedelta() < assignment.lease_until - timezone.now() <= Assignment.LEASE
    assert assignment.guideline.version == 1
    assert [part.instruction for part in assignment.parts.all()] == ["Please do part 1 of the task."]


@pytest.mark.slow
def test_returned_work_comes_before_begun_and_begun_before_assigned_and_assigned_before_new(
    campaign, annotator
) -> None:
    new, assigned, begun, returned = open_items(campaign, 4)
    assigned.hand(annotator, 0)
    begun.hand(annotator, 0).take(annotator)
    back = returned.hand(annotator, 0).take(annotator)
    Assignment.objects.filter(pk=back.pk).update(review="returned", round=2)
    order = []
    while assignment := next_item(annotator, campaign, "decompose"):
        order.append(assignment.item)
        moving_on.submit(assignment)
    assert order == [returned, begun, assigned, new]


@pytest.mark.slow
def test_nobody_gets_more_than_the_cap(campaign, annotator) -> None:
    campaign.cap = 2
    open_items(campaign, 3)
    for _ in range(2):
        moving_on.submit(next_item(annotator, campaign, "decompose"))
    assert next_item(annotator, campaign, "decompose") is None
    assert next_item(colleague(campaign), campaign, "decompose") is not None


def test_items_of_others_are_given_back_and_found_again(campaign, annotator) -> None:
    open_items(campaign, 1)
    assignment = next_item(annotator, campaign, "decompose")
    other = colleague(campaign)
    assert next_item(other, campaign, "decompose") is None
    assignment.give_back()
    again = next_item(other, campaign, "decompose")
    assert (again.item_id, again.slot, again.user) == (assignment.item_id, 0, other)
    assert again.pk != assignment.pk


def test_while_a_lease_lives_nobody_else_can_take_the_item(campaign, annotator) -> None:
    open_items(campaign, 1)
    assignment = next_item(annotator, campaign, "decompose")
    with pytest.raises(NotFree, match=f"{annotator} is at work on it") as refused:
        assignment.take(colleague(campaign))
    assert refused.value.holder == annotator.username


@pytest.mark.parametrize("hours", [-2, 2])
def test_the_clock_of_a_host_does_not_matter_to_people_either(campaign, annotator, monkeypatch, hours: int) -> None:
    """As of jobs (test_leases.py): one host's wrong clock neither takes work from others nor keeps it for ever."""
    open_items(campaign, 1)
    assignment, right = next_item(annotator, campaign, "decompose"), timezone.now
    monkeypatch.setattr(timezone, "now", lambda: right() + timedelta(hours=hours))
    with pytest.raises(NotFree):
        assignment.take(colleague(campaign))
    assert Assignment.objects.filter(pk=assignment.pk).beat(assignment.lease_token).active_seconds < 60
    assignment.refresh_from_db()
    assert abs(assignment.lease_until - right() - Assignment.LEASE) < timedelta(seconds=30)
    assert assignment in Assignment.objects.leased()
    Assignment.objects.update(lease_until=right() - timedelta(seconds=1))
    assert assignment not in Assignment.objects.leased()
    assert assignment.take(other := colleague(campaign)).user == other


def test_another_takes_over_after_the_lease_with_parts_and_edits_kept(campaign, annotator) -> None:
    open_items(campaign, 1)
    assignment = next_item(annotator, campaign, "decompose")
    assignment.parts.update(instruction="Half done")
    step = assignment.parts.get().first_step
    assignment.edits.create(version=1, op_id=uuid.uuid4(), user=annotator, kind="text", step=step, after="Half done")
    token = assignment.lease_token
    expire(assignment)
    other = colleague(campaign)
    taken = assignment.take(other)
    assert (taken.user, taken.parts.get().instruction, taken.edits.count()) == (other, "Half done", 1)
    assert taken.lease_token != token
    assert Assignment.objects.filter(pk=taken.pk).beat(token) is None
    with pytest.raises(NotFree):
        Assignment.objects.get(pk=taken.pk).take(annotator)


def test_the_next_person_in_an_open_pool_gets_what_was_left_behind_when_nothing_is_free(campaign, annotator) -> None:
    open_items(campaign, 2)
    left = next_item(annotator, campaign, "decompose")
    expire(left)
    other = colleague(campaign)
    fresh = next_item(other, campaign, "decompose")
    assert fresh.item_id != left.item_id
    moving_on.submit(fresh)
    assert next_item(other, campaign, "decompose").pk == left.pk


def test_the_same_person_keeps_the_token_in_a_second_tab_and_gets_a_new_one_later(campaign, annotator) -> None:
    open_items(campaign, 1)
    assignment = next_item(annotator, campaign, "decompose")
    token = assignment.lease_token
    assert assignment.take(annotator).lease_token == token
    expire(assignment)
    assert assignment.take(annotator).lease_token != token


@pytest.mark.parametrize("why", ["assigned by name", "returned for correction", "has a part of the item", "test split"])
def test_who_may_not_take_over(why: str) -> None:
    campaign = factories.make_campaign(mode="assigned" if why == "assigned by name" else "open", overlap=2)
    (item,) = open_items(campaign, 1, split="test_task" if why == "test split" else "train")
    holder, other = factories.make_user("admin", campaign.project), colleague(campaign)
    assignment = item.hand(holder, 0).take(holder)
    expire(assignment)
    if why == "returned for correction":
        Assignment.objects.filter(pk=assignment.pk).update(review="returned", round=2)
    if why == "has a part of the item":
        item.hand(other, 1)
    with pytest.raises(NotFree):
        assignment.take(other)
    assert Assignment.objects.get(pk=assignment.pk).user == holder


def test_beats_extend_the_lease_and_count_the_time_at_work_but_not_pauses(campaign, annotator) -> None:
    open_items(campaign, 1)
    assignment = next_item(annotator, campaign, "decompose")
    mine = Assignment.objects.filter(pk=assignment.pk)
    soon = timezone.now() + timedelta(seconds=5)
    mine.update(heartbeat_at=timezone.now() - timedelta(seconds=20), lease_until=soon)
    assert mine.beat(assignment.lease_token)
    assert mine.get().active_seconds == 20
    assert mine.get().lease_until > soon
    mine.update(heartbeat_at=timezone.now() - timedelta(hours=1), lease_until=timezone.now() - timedelta(minutes=58))
    assert mine.beat(assignment.lease_token)
    assert mine.get().active_seconds == 20
    assert not mine.beat(uuid.uuid4())


def test_returned_and_submitted_work_is_not_given_back(campaign, annotator) -> None:
    open_items(campaign, 1)
    assignment = next_item(annotator, campaign, "decompose")
    Assignment.objects.filter(pk=assignment.pk).update(review="returned", round=2)
    with pytest.raises(NotFree, match="returned to you"):
        assignment.give_back()
    moving_on.submit(assignment)
    with pytest.raises(NotFree, match="submitted"):
        assignment.give_back()


def rewritten(campaign: Campaign, author) -> Assignment:
    """A rewrite of a new session that its author has submitted."""
    open_items(campaign, 1)
    moving_on.submit(next_item(author, campaign, "decompose"))
    rewrite = next_item(author, campaign, "rewrite")
    moving_on.submit(rewrite)
    return rewrite


@pytest.mark.slow
def test_reviewers_do_not_get_their_own_work(campaign) -> None:
    author, other = (factories.make_user("admin", campaign.project) for _ in range(2))
    rewrite = rewritten(campaign, author)
    assert next_item(author, campaign, "verify") is None
    assert "rewrites of your own" in why_nothing(author, campaign, "verify")
    assert next_item(other, campaign, "verify").item.subject == rewrite


@pytest.mark.slow
def test_a_returned_rewrite_goes_to_its_author_and_then_to_the_same_verifier(campaign) -> None:
    author, second = (factories.make_user("annotator", campaign.project) for _ in range(2))
    reviewer, other = (factories.make_user("reviewer", campaign.project) for _ in range(2))
    rewrite = rewritten(campaign, author)
    verification = next_item(reviewer, campaign, "verify")
    moving_on.submit(verification)
    moving_on.returned(rewrite)
    assert next_item(second, campaign, "rewrite") is None
    assert next_item(reviewer, campaign, "verify") is None
    again = next_item(author, campaign, "rewrite")
    assert (again, again.round, again.review) == (rewrite, 2, "returned")
    moving_on.submit(again)
    assert next_item(other, campaign, "verify") is None
    back = next_item(reviewer, campaign, "verify")
    assert (back, back.round) == (verification, 2)


def says(user, campaign: Campaign, stage: str = "decompose") -> str:
    assert next_item(user, campaign, stage) is None
    return why_nothing(user, campaign, stage)


def test_an_empty_queue_says_that_the_role_may_not(campaign) -> None:
    open_items(campaign, 1)
    reader = colleague(campaign, "reader")
    assert says(reader, campaign) == f"Your role in {campaign.project} may not annotate; ask one of its admins."
    assert "may not review" in says(colleague(campaign), campaign, "verify")


def test_an_empty_queue_says_that_there_are_no_sessions_or_no_work_is_open(campaign, annotator) -> None:
    assert "has no sessions yet" in says(annotator, campaign)
    factories.make_session(campaign)
    assert "not open for work yet" in says(annotator, campaign)
    assert "when the first decomposition is submitted" in says(annotator, campaign, "rewrite")


def test_an_empty_queue_says_that_nothing_is_assigned_to_you(annotator, campaign) -> None:
    campaign.mode = "assigned"
    open_items(campaign, 1)
    assert says(annotator, campaign).endswith("by name, and nothing is assigned to you to decompose.")


def test_an_empty_queue_says_that_all_is_done(campaign, annotator) -> None:
    for item in open_items(campaign, 2):
        moving_on.submit(item.hand(annotator, 0))
    assert says(colleague(campaign), campaign) == "Nothing is left to decompose: 2 items so far, all done."


def test_an_empty_queue_says_that_others_hold_everything_and_until_when(campaign, annotator) -> None:
    open_items(campaign, 2)
    held = [next_item(colleague(campaign), campaign, "decompose") for _ in range(2)]
    until = timezone.localtime(held[0].lease_until).strftime("%H:%M:%S")
    wanted = f"Left to decompose: 2 items, held by 2 people; the next lease runs out at {until}"
    assert says(annotator, campaign).startswith(wanted)
    Assignment.objects.update(lease_until=None, state="assigned")
    assert "nobody is at work on them right now" in says(annotator, campaign)


def test_an_empty_queue_says_that_the_cap_is_reached(campaign, annotator) -> None:
    campaign.cap = 1
    open_items(campaign, 2)
    moving_on.submit(next_item(annotator, campaign, "decompose"))
    assert says(annotator, campaign).startswith("You have had 1 item to decompose, the most")


def test_an_empty_queue_says_that_the_gold_of_test_splits_is_hidden(campaign, annotator) -> None:
    open_items(campaign, 2, split="test_task")
    assert "2 items, all of test splits, whose gold actions you may not see" in says(annotator, campaign)
    Membership.objects.filter(user=annotator).update(sees_test_gold=True)
    assert next_item(annotator, campaign, "decompose") is not None


def test_an_empty_queue_says_that_the_rest_waits_for_others() -> None:
    campaign = factories.make_campaign(overlap=2)
    person = colleague(campaign)
    open_items(campaign, 1)
    moving_on.submit(next_item(person, campaign, "decompose"))
    assert "1 item, of which you have had your part: other people's work" in says(person, campaign)


def test_an_empty_queue_says_that_the_campaign_is_closed(campaign, annotator) -> None:
    open_items(campaign, 1)
    campaign.closed_at = timezone.now()
    assert "was closed on" in says(annotator, campaign)
