"""What the database itself guarantees about annotation work."""

import pytest
from django.db import IntegrityError, ProgrammingError, transaction

from annotations.models import Assignment, Campaign, Item, Part, Session
from tests import factories

pytestmark = pytest.mark.django_db


def refused(work) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        work()


def test_a_cut_is_stored_once_per_step():
    assignment = factories.make_assignment()
    step = assignment.item.session.steps()[1]
    Part.objects.create(assignment=assignment, first_step=step)
    refused(lambda: Part.objects.create(assignment=assignment, first_step=step))


def test_a_part_begins_at_a_step_of_its_own_session():
    assignment, other = factories.make_assignment(), factories.make_session()
    refused(lambda: Part.objects.create(assignment=assignment, first_step=other.steps().first()))


def test_the_steps_of_a_session_come_in_the_order_of_its_tasks():
    session = factories.make_session(tasks=2, steps=3)
    steps = list(session.steps())
    assert len(steps) == 6
    assert [step.turn.conversation_id for step in steps] == [
        task.conversation_id for task in session.tasks.all() for _ in range(3)
    ]
    assert [step.index for step in steps] == [0, 1, 2, 0, 1, 2]


def test_a_slot_belongs_to_one_person_until_it_is_given_back():
    assignment = factories.make_assignment()
    other = factories.make_user("annotator", assignment.item.session.campaign.project)
    refused(lambda: factories.make_assignment(assignment.item, other))
    refused(lambda: factories.make_assignment(assignment.item, assignment.user, slot=1))
    Assignment.objects.update(state="released")
    assert factories.make_assignment(assignment.item, other).slot == 0


def test_a_task_lies_in_one_session_of_a_campaign():
    session = factories.make_session()
    other = Session.objects.create(
        campaign=session.campaign, name="another", position=99, website=session.website, split="train"
    )
    task = session.tasks.first()
    refused(lambda: other.tasks.create(campaign=session.campaign, conversation=task.conversation, position=0))


def test_a_stage_has_one_item_and_a_verification_has_a_subject():
    item = factories.make_item()
    refused(lambda: Item.objects.create(session=item.session, stage="decompose"))
    refused(lambda: Item.objects.create(session=item.session, stage="verify"))


def test_changes_are_recorded_and_heartbeats_are_not():
    assignment = factories.make_assignment()
    part = assignment.parts.get()
    part.rewrite = "The cheaper one"
    part.save()
    assert [event.rewrite for event in part.events.order_by("pgh_id")] == ["", "The cheaper one"]
    before = assignment.events.count()
    Assignment.objects.update(version=7, active_seconds=40)
    assert assignment.events.count() == before
    Assignment.objects.update(state="submitted")
    assert assignment.events.count() == before + 1


def test_releases_cannot_be_changed():
    dataset = factories.make_dataset()
    release = dataset.releases.create(version="1", sha256="0" * 64, licence="CC0-1.0", consent="given", datasheet="x")
    release.notes = "later"
    with pytest.raises(ProgrammingError, match="Cannot update or delete"), transaction.atomic():
        release.save()
    with pytest.raises(ProgrammingError, match="Cannot update or delete"), transaction.atomic():
        release.delete()


def test_the_target_number_of_parts_is_a_quarter_of_the_steps_rounded_up():
    campaign = Campaign(steps_per_part=4)
    assert [campaign.target_parts(steps) for steps in (1, 4, 5, 11)] == [1, 1, 2, 3]
