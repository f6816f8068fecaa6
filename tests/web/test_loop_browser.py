"""The loop, in a real browser: an agent's run, "gold wrong", a correction, its verification, release 1.1, and the old
and the new score of the study with the step that explains the difference."""

import pytest
from playwright.sync_api import expect

from annotations.models import Correction, Role
from evaluation.models import Score
from evaluation.models.scores import REVIEWED
from evaluation.reviews.counting import count_reviews
from evaluation.scores.reviewed import store_all_scores
from tests import factories
from tests.annotations.test_release_making import released
from tests.web.replay_world import make_replay

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

expect.set_options(timeout=15_000)  # a loaded machine answers late
WRONG = 4  # the step whose gold the agent did not choose


@pytest.mark.slow
def test_gold_wrong_becomes_release_1_1_and_a_score_that_is_explained(app_server, page, sign_in) -> None:
    world = make_replay()
    run, dataset = world.trajectory.run, world.trajectory.run.dataset
    study = factories.make_study(dataset.project, [run], name="The loop")
    store_all_scores(run)
    people = {
        role: factories.make_user(role, dataset.project, username=name)
        for role, name in ((Role.REVIEWER, "rita"), (Role.ANNOTATOR, "anna"), (Role.ADMIN, "ada"))
    }
    released(dataset, "1.0", people[Role.ADMIN])
    old = value(run, "corrected")

    sign_in(people[Role.REVIEWER])
    page.goto(app_server.url(f"/trajectories/{world.trajectory.pk}/steps/{WRONG}/"))
    expect(page.locator("#review")).to_be_visible()
    page.keyboard.press("d")
    expect(page.locator("#review [aria-pressed=true]")).to_have_text("Gold wrong d")
    page.keyboard.press("v")
    page.keyboard.type("The DVD was meant.")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Step 5: gold wrong")

    sign_in(people[Role.ANNOTATOR])
    page.goto(app_server.url("/corrections/?state=open"))
    page.get_by_role("link", name="to correct", exact=True).click()
    expect(page.locator("dl.facts")).to_contain_text("rita: A reviewer calls the recorded action wrong.")
    expect(page.locator("[name=node_id]")).to_have_value("20")  # what the agent did is suggested
    page.keyboard.press("p")
    expect(page.locator("dl.facts")).to_contain_text("to verify")

    sign_in(people[Role.REVIEWER])
    page.goto(app_server.url("/corrections/?state=proposed"))
    page.get_by_role("link", name="to verify", exact=True).click()
    page.wait_for_load_state("load")  # keys are heard from then on
    page.keyboard.press("a")
    expect(page.locator("dl.facts")).to_contain_text("the next release has it")
    assert world.steps[WRONG].targets.get().node_id == "20"
    count_reviews()  # what a worker does when it is told

    sign_in(people[Role.ADMIN])
    page.goto(app_server.url(f"/datasets/{dataset.name}/releases/new/"))
    page.get_by_label("Version").fill("1.1")
    page.get_by_label("Licence").fill("CC0")
    page.get_by_label("Notes").fill("One gold action.")
    page.get_by_role("button", name="Make release").click()
    expect(page.get_by_role("heading", name=f"{dataset.name} 1.1")).to_be_visible()
    page.goto(app_server.url(f"/datasets/{dataset.name}/releases/diff/?from=1.0&to=1.1"))
    expect(page.locator("main")).to_contain_text("correction of gold")
    expect(page.locator("main")).to_contain_text("The DVD was meant.")

    page.goto(app_server.url(f"/trajectories/{world.trajectory.pk}/steps/{WRONG}/"))
    expect(page.locator("p.correction")).to_contain_text("The DVD was meant.")
    expect(page.locator("p.correction")).to_contain_text(
        "rita decided. The agent is judged here by the gold before it."
    )
    expect(page.locator("p.correction a")).to_have_attribute("href", f"/corrections/{Correction.objects.get().pk}/")

    page.goto(app_server.url(f"/studies/{study.pk}/"))
    new = value(run, REVIEWED)
    assert new > old
    told = page.locator("#reviewed")
    expect(told).to_contain_text(f"{100 * old:.1f} → {100 * new:.1f}")
    expect(told.locator("#corrected-steps li")).to_have_count(1)
    expect(told.locator("#corrected-steps li")).to_contain_text("redbox-014, turn 2, step 2")
    expect(told.locator("#corrected-steps li")).to_contain_text("from release 1.1 on")
    expect(told.locator("#corrected-steps li")).to_contain_text("wrong → right")
    assert Correction.objects.get().is_counted


def value(run, preset: str) -> float:
    return Score.objects.headline(preset).get(run=run, metric="step_success").value
