"""How work moves from stage to stage, and what becomes of it in the target dataset."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from annotations.desk import moving_on
from annotations.models import Assignment, Campaign, Conversation, Delivery, Item, Part, Session, Step, Webhook
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return factories.make_campaign()


@pytest.fixture
def annotator(campaign):
    return factories.make_user("annotator", campaign.project)


def decompose(session: Session, user, cuts: dict[int, str], slot: int = 0) -> Assignment:
    """A submitted decomposition: place of the first step -> instruction."""
    assignment = moving_on.open_work(session).hand(user, slot)
    assignment.parts.all().delete()
    steps = list(session.steps())
    for place, instruction in cuts.items():
        Part.objects.create(assignment=assignment, first_step=steps[place], instruction=instruction)
    moving_on.submit(assignment)
    return assignment


def rewrite(session: Session, user, texts: list[str]) -> Assignment:
    """A submitted rewrite of a session whose decomposition is done."""
    assignment = session.items.get(stage="rewrite").hand(user, 0)
    for part, text in zip(assignment.parts.order_by("id"), texts, strict=True):
        part.rewrite = text
        part.save()
    moving_on.submit(assignment)
    return assignment


def test_opening_work_twice_makes_one_item(campaign) -> None:
    session = factories.make_session(campaign)
    assert moving_on.open_work(session) == moving_on.open_work(session)
    assert session.items.get().stage == "decompose"


def test_a_session_without_steps_cannot_be_opened(campaign) -> None:
    with pytest.raises(moving_on.NotReady, match="has no steps"):
        moving_on.open_work(factories.make_session(campaign, tasks=0))


def test_a_new_decomposition_has_one_part_per_source_task(campaign, annotator) -> None:
    session = factories.make_session(campaign, tasks=2, steps=3)
    assignment = moving_on.open_work(session).hand(annotator, 0)
    steps = list(session.steps())
    assert [part.first_step for part in assignment.parts.order_by("id")] == [steps[0], steps[3]]
    assert {part.instruction for part in assignment.parts.all()} == {"Please do part 1 of the task."}


def test_a_part_without_instruction_cannot_be_submitted(campaign, annotator) -> None:
    session = factories.make_session(campaign, tasks=2, steps=3)
    assignment = moving_on.open_work(session).hand(annotator, 0)
    assignment.parts.filter(first_step=session.steps()[3]).update(instruction="  ")
    with pytest.raises(moving_on.NotReady) as refused:
        moving_on.submit(assignment)
    assert refused.value.problems == ["Part 2, from step 4, has no instruction."]
    assert Assignment.objects.get().state == "assigned"


def test_submitting_twice_is_refused(campaign, annotator) -> None:
    assignment = moving_on.open_work(factories.make_session(campaign)).hand(annotator, 0)
    moving_on.submit(assignment)
    with pytest.raises(moving_on.NotReady, match="submitted already"):
        moving_on.submit(assignment)


def test_the_rewrite_opens_when_all_have_decomposed(annotator) -> None:
    campaign = factories.make_campaign(overlap=2)
    session = factories.make_session(campaign)
    first, second = (factories.make_user("annotator", campaign.project) for _ in range(2))
    decompose(session, first, {0: "All"})
    assert not session.items.filter(stage="rewrite").exists()
    decompose(session, second, {0: "Everything"}, slot=1)
    assert session.items.get(stage="decompose").state == "done"
    assert session.items.get(stage="rewrite").overlap == 2


def test_the_decomposition_that_agrees_best_is_chosen() -> None:
    campaign = factories.make_campaign(overlap=3)
    session = factories.make_session(campaign, tasks=1, steps=6)
    people = [factories.make_user("annotator", campaign.project) for _ in range(3)]
    cuts = ({0: "a", 5: "b"}, {0: "a", 2: "b"}, {0: "a", 2: "b", 4: "c"})
    made = [decompose(session, person, cut, slot) for slot, (person, cut) in enumerate(zip(people, cuts, strict=True))]
    assert (
        Assignment.objects.chosen_decomposition(session) == made[2]
    )  # one place from the first's, and holds the second's


def test_a_rewrite_starts_as_a_copy_of_the_decomposition(campaign, annotator) -> None:
    session = factories.make_session(campaign, tasks=1, steps=4)
    decompose(session, annotator, {0: "Find shoes.", 2: "Buy them."})
    assignment = session.items.get(stage="rewrite").hand(annotator, 0)
    steps = list(session.steps())
    found = [(part.first_step, part.instruction, part.rewrite) for part in assignment.parts.order_by("id")]
    assert found == [(steps[0], "Find shoes.", "Find shoes."), (steps[2], "Buy them.", "Buy them.")]


def test_a_submitted_rewrite_opens_its_verification(campaign, annotator) -> None:
    campaign.verify_overlap = 2
    campaign.save()
    session = Session.objects.get(pk=factories.make_session(campaign).pk)
    decompose(session, annotator, {0: "All"})
    made = rewrite(session, annotator, ["All of it"])
    item = session.items.get(stage="verify")
    assert (item.subject, item.overlap, item.state) == (made, 2, "open")
    assert session.items.get(stage="rewrite").state == "submitted"


def test_a_returned_rewrite_is_open_again_for_its_author_and_reopens_its_verification(campaign, annotator) -> None:
    session = factories.make_session(campaign)
    decompose(session, annotator, {0: "All"})
    made = rewrite(session, annotator, ["All of it"])
    item = session.items.get(stage="verify")
    verification = item.hand(factories.make_user("reviewer", campaign.project), 0)
    moving_on.submit(verification)
    moving_on.returned(made)
    made.refresh_from_db()
    assert (made.state, made.review, made.round, made.user) == ("in_progress", "returned", 2, annotator)
    assert session.items.get(stage="rewrite").state == "open"
    moving_on.submit(made)
    item.refresh_from_db()
    verification.refresh_from_db()
    assert (item.state, verification.state, verification.round) == ("open", "assigned", 2)
    assert session.items.filter(stage="verify").count() == 1


def passed_session(campaign: Campaign, annotator) -> tuple[Session, Assignment]:
    session = factories.make_session(campaign, tasks=2, steps=3)
    decompose(session, annotator, {0: "Find red shoes.", 2: "Sort them by price."})
    made = session.items.get(stage="rewrite").hand(annotator, 0)
    steps = list(session.steps())
    antecedent = {"step": steps[0].pk, "start": 5, "end": 14}
    mention = {"id": "m1", "phenomenon": "anaphora", "start": 5, "end": 9, "antecedent": antecedent}
    made.parts.filter(first_step=steps[2]).update(rewrite="Sort them by price", mentions=[mention])
    moving_on.submit(made)
    moving_on.passed(made)
    session.refresh_from_db()
    return session, made


def test_a_passed_rewrite_becomes_a_conversation_of_the_target_dataset(campaign, annotator) -> None:
    session, made = passed_session(campaign, annotator)
    campaign.refresh_from_db()
    conversation = session.released
    assert conversation.dataset == campaign.target
    assert (campaign.target.project, campaign.target.source_format) == (campaign.project, "mt-mind2web")
    assert (conversation.split, conversation.website.name) == ("train", session.website.name)
    first, second = conversation.turns.all()
    assert [turn.instruction for turn in (first, second)] == ["Find red shoes.", "Sort them by price"]
    antecedent = {"turn": 0, "start": 5, "end": 14}
    mention = {"id": "m1", "phenomenon": "anaphora", "start": 5, "end": 9, "antecedent": antecedent}
    assert second.extra == {"original": "Sort them by price.", "mentions": [mention]}
    assert (made.review, made.item.state) == ("passed", "done")


def test_the_published_steps_are_those_of_the_session(campaign, annotator) -> None:
    session, _ = passed_session(campaign, annotator)
    copies = list(Step.objects.filter(turn__conversation=session.released).order_by("turn__index", "index"))
    assert [step.turn.index for step in copies] == [0, 0, 1, 1, 1, 1]
    for step, copy in zip(session.steps(), copies, strict=True):
        same = ("operation", "value", "action_repr", "snapshot_id", "candidate_count")
        assert [getattr(copy, name) for name in same] == [getattr(step, name) for name in same]
        assert bytes(copy.candidates) == bytes(step.candidates)
        wanted = list(step.targets.values_list("node_id", "node_order", "pruned"))
        assert list(copy.targets.values_list("node_id", "node_order", "pruned")) == wanted
    assert copies[0].snapshot_after == copies[1].snapshot
    record = next(Conversation.objects.filter(pk=session.released_id).records())
    assert [len(turn.steps) for turn in record.turns] == [2, 4]


def test_a_second_rewrite_that_passes_does_not_publish_again() -> None:
    campaign = factories.make_campaign(overlap=2)
    people = [factories.make_user("annotator", campaign.project) for _ in range(2)]
    session = factories.make_session(campaign)
    for slot, person in enumerate(people):
        decompose(session, person, {0: "All"}, slot)
    item = session.items.get(stage="rewrite")
    both = [item.hand(person, slot) for slot, person in enumerate(people)]
    for made in both:
        moving_on.submit(made)
    moving_on.passed(both[1])
    moving_on.passed(both[0])
    session.refresh_from_db()
    assert Conversation.objects.get(dataset=session.campaign.target) == session.released
    assert Item.objects.get(pk=item.pk).state == "done"


def at_once(work: Callable[[Assignment], None], assignments: list[Assignment]) -> None:
    start = threading.Barrier(len(assignments))

    def run(assignment: Assignment) -> None:
        start.wait()
        try:
            work(assignment)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(assignments)) as pool:
        list(pool.map(run, assignments))


@pytest.mark.django_db(transaction=True)
def test_the_last_two_who_submit_at_once_open_one_rewrite() -> None:
    campaign = factories.make_campaign(overlap=4)
    item = moving_on.open_work(factories.make_session(campaign))
    people = [factories.make_user("annotator", campaign.project) for _ in range(4)]
    at_once(moving_on.submit, [item.hand(person, slot) for slot, person in enumerate(people)])
    assert Item.objects.get(stage="decompose").state == "done"
    assert Item.objects.filter(stage="rewrite").count() == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_first_sessions_that_pass_at_once_go_into_one_dataset() -> None:
    campaign = factories.make_campaign()
    person = factories.make_user("annotator", campaign.project)
    subjects = []
    for _ in range(4):
        session = factories.make_session(campaign)
        decompose(session, person, {0: "All"})
        subjects.append(rewrite(session, person, ["All of it"]))
    at_once(moving_on.passed, [Assignment.objects.get(pk=subject.pk) for subject in subjects])
    campaign.refresh_from_db()
    assert campaign.target.conversations.count() == 4
    assert campaign.project.datasets.count() == 2


@pytest.mark.slow
def test_two_campaigns_of_one_name_get_datasets_of_their_own() -> None:
    names = set()
    for _ in range(2):
        campaign = factories.make_campaign(name="Pilot 1")
        person = factories.make_user("annotator", campaign.project)
        passed_session(campaign, person)
        campaign.refresh_from_db()
        names.add(campaign.target.name)
    assert names == {"pilot-1", "pilot-1-2"}


def test_webhooks_are_told_what_happens(campaign, annotator) -> None:
    Webhook.objects.create(project=campaign.project, url="https://hook.example/", secret="s")
    passed_session(campaign, annotator)
    told = list(Delivery.objects.order_by("id").values_list("event", flat=True))
    assert told == [
        "item.opened",
        "item.submitted",
        "item.opened",
        "item.submitted",
        "item.opened",
        "item.passed",
    ]
    assert Delivery.objects.first().payload["data"]["user"] == annotator.username
