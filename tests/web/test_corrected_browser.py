"""What was corrected since the agent decided, beside its decision in a real browser."""

import pytest
from playwright.sync_api import expect

from annotations.models import Role
from tests import factories
from tests.evaluation.test_corrected_since import correct
from tests.evaluation.test_teaching_words import reword

pytestmark = pytest.mark.browser


def test_a_decision_says_what_stood_there_then_and_what_stands_there_now(app_server, page, sign_in) -> None:
    trajectory = factories.make_trajectory()
    turn, was = trajectory.steps.get(seq=0).step.turn, str(trajectory.steps.get(seq=0).step)
    correct(trajectory, 0)
    reword(turn, "Look for blue hats.")
    sign_in(factories.make_user(Role.READER, trajectory.run.dataset.project))
    page.goto(app_server.url(f"/trajectories/{trajectory.pk}/steps/0/"))
    notes = page.locator("#side p.since")
    words = f"the agent was told “{turn.instruction}”; now they are “Look for blue hats.”."
    expect(notes).to_contain_text([words, f"it was {was}; now it is CLICK First."], use_inner_text=True)
    page.goto(app_server.url(f"/trajectories/{trajectory.pk}/steps/2/"))
    expect(page.locator("#side .actions-shown")).to_be_visible()
    expect(notes).to_have_count(0)
