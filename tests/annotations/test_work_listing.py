"""What a listing of a campaign's items shows of what people have written."""

import pytest

from annotations.desk import moving_on
from annotations.models import Item, SessionTask
from tests import factories

pytestmark = pytest.mark.django_db


def test_parts_stand_in_the_order_of_their_steps() -> None:
    """They stood as they had been cut, the latest cut last."""
    session = factories.make_session(tasks=2, steps=3)
    moving_on.open_work(session)
    mine = factories.make_assignment(session.items.get())
    steps = [step.pk for step in session.steps()]
    for place in (4, 2, 1):
        mine.parts.create(first_step_id=steps[place], instruction=f"from step {place}")
    campaign = factories.make_campaign(source=session.campaign.source, project=session.campaign.project)
    other = factories.make_session(campaign, tasks=0, website=session.website)
    for position, task in enumerate(reversed(session.tasks.all())):  # the same conversations, the other way round
        SessionTask.objects.create(campaign=campaign, session=other, conversation=task.conversation, position=position)
    (listed,) = Item.objects.filter(session=session).for_listing()
    (shown,) = listed.assignments.all()
    assert [part.first_step_id for part in shown.parts.all()] == [steps[0], steps[1], steps[2], steps[4]]
