"""A window of 640 px: the bar on top holds all that is in it, plots stay in the window, a table that does not fit says
so and is reached by keys, and a recorded page is as tall as it takes to read it."""

import pytest
from playwright.sync_api import Page, expect

from evaluation.models import Breakdown, Study
from tests import factories
from tests.annotations.work_world import make_verification
from tests.app_server import AppServer
from tests.web.annotating import begun, open_item
from tests.web.replay_world import make_replay
from tests.web.test_pages_plots import scored
from tests.web.test_pages_studies import add_scores, make_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NARROW = {"width": 640, "height": 900}
# What lies outside of the bar on top, or under what is below it.
OUTSIDE = """() => {
  const bar = document.querySelector(".top").getBoundingClientRect();
  const shown = [...document.querySelectorAll(".top a, .top button, .top summary")].filter(
    (node) => node.checkVisibility({visibilityProperty: true}) && !node.closest(".menu > div"));
  return shown.filter((node) => {
    const box = node.getBoundingClientRect();
    return box.top < bar.top || box.bottom > bar.bottom || box.right > bar.right;
  }).map((node) => node.textContent.trim());
}"""
PLOTS = """() => [...document.querySelectorAll(".ci")].map((plot) => {
  const box = plot.getBoundingClientRect(), table = plot.closest("table");
  return [box.left >= 0 && box.right <= innerWidth, table.scrollWidth <= table.clientWidth];
})"""


@pytest.fixture
def study() -> Study:
    """Two recipes with long names and all main metrics, near enough to be compared."""
    found, run = make_study(recipe_name="grounded-without-any-memory")
    other = factories.make_run(run.dataset, split=run.split, state="done", recipe_name="grounded-without-order")
    found.runs.add(other)
    for one, value in ((run, 0.62), (other, 0.55)):
        names = ("element_accuracy", "operation_f1", "step_success", "turn_success", "conversation_success")
        add_scores(one, **dict.fromkeys(names, value))
    return found


def test_the_bar_on_top_holds_every_button_and_intervals_stay_in_the_window(
    app_server: AppServer, page: Page, sign_in, study: Study
) -> None:
    sign_in(factories.make_user("admin", study.project))
    page.set_viewport_size(NARROW)
    page.goto(app_server.url(f"/studies/{study.pk}/"))
    expect(page.get_by_role("link", name="Plots")).to_be_visible()
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(PLOTS) == [[True, True]] * 2
    page.get_by_text("Download ▾").click()
    with page.expect_download() as csv:
        page.get_by_role("link", name="Scores as CSV").click()
    assert csv.value.suggested_filename == f"study-{study.pk}.csv"


@pytest.mark.slow
def test_a_table_that_is_wider_than_the_window_says_so_and_is_moved_by_keys(
    app_server: AppServer, page: Page, sign_in, study: Study
) -> None:
    first = study.runs.first()
    for place in range(8):
        run = factories.make_run(first.dataset, split=first.split, state="done", recipe_name=f"recipe-{place}")
        factories.make_trajectory(run, first.dataset.conversations.get())
        study.runs.add(run)
        scored(study, run)
    for kept in Breakdown.objects.all():  # with as many websites as recipes, it is wide whichever way it lies
        (row,) = kept.content["by_website"]
        kept.content["by_website"] = [row | {"name": f"a-website-{number}"} for number in range(9)]
        kept.save()
    sign_in(factories.make_user("admin", study.project))
    page.set_viewport_size(NARROW)
    page.goto(app_server.url(f"/studies/{study.pk}/plots/"))
    table = page.get_by_role("table", name="Websites by recipe turn success rate, by website (scrolls sideways)")
    expect(table).to_have_attribute("tabindex", "0")
    said = page.locator("p:has(+ .heat)", has_text="Wider than this window: scroll it sideways")
    expect(said).to_be_visible()
    table.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.scrollLeft > 0")
    page.set_viewport_size({"width": 2560, "height": 900})
    expect(page.locator("table.cut")).to_have_count(0)
    expect(said).to_have_count(0)
    assert page.locator(".heat[tabindex]").count() == 0


@pytest.mark.slow
def test_what_a_study_waits_for_is_read_whole(app_server: AppServer, page: Page, sign_in, study: Study) -> None:
    study.expect([f"a-recipe-with-a-long-name-{place}" for place in range(5)])
    sign_in(factories.make_user("reader", study.project))
    page.set_viewport_size(NARROW)
    page.goto(app_server.url(f"/studies/{study.pk}/"))
    detail = page.locator("[data-field=detail]")
    expect(detail).to_contain_text("a-recipe-with-a-long-name-2 and 2 more")
    assert detail.evaluate("(node) => node.scrollWidth <= node.clientWidth"), "nothing of it is cut"


def recorded(page: str) -> tuple[object, str]:
    """Who looks at a recorded page, and where."""
    if page == "verify":
        verification = make_verification()
        return verification.user, f"/annotate/verify/{verification.pk}/"
    if page in ("decompose", "rewrite"):
        assignment = begun(page)
        return assignment.user, f"/annotate/assignments/{assignment.pk}/"
    conversation = factories.make_conversation(turns=1, steps=2)
    step = conversation.turns.get().steps.first()
    path = f"/steps/{step.pk}/" if page == "step" else f"/conversations/{conversation.pk}/"
    return factories.make_user("admin", conversation.dataset.project), path


@pytest.mark.slow
@pytest.mark.parametrize("where", ["conversation", "step", "decompose", "rewrite", "verify"])
def test_a_recorded_page_is_seen_whole_below_what_is_worked_on(
    app_server: AppServer, page: Page, sign_in, where: str
) -> None:
    user, path = recorded(where)
    sign_in(user)
    page.goto(app_server.url(path))
    frame = page.locator(".evidence iframe").first
    expect(frame).to_be_attached()
    for width in (640, 820, 1000, 1099, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        frame.scroll_into_view_if_needed()
        seen = frame.evaluate("""(node) => {
          const box = node.closest(".snapshot").getBoundingClientRect();
          return [box.width, box.height, node.getBoundingClientRect().height, document.documentElement.scrollWidth];
        }""")
        assert seen[0] >= min(width, 1100) * 0.3, f"at {width} px: {seen}"
        assert min(seen[1:3]) >= 500, f"at {width} px: {seen}"
        assert seen[3] <= width, "the page does not scroll sideways"


CUT = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent.trim())"


def test_where_one_is_is_read_whole_below_the_sections(app_server: AppServer, page: Page, sign_in) -> None:
    dataset = factories.make_dataset(name="sample-tasks-of-travel")
    conversation = factories.make_conversation(
        dataset=dataset, turns=1, steps=2, source_id="casaverde-task-night-trains"
    )
    sign_in(factories.make_user("admin", dataset.project))
    page.goto(app_server.url(f"/conversations/{conversation.pk}/"))
    for width in (640, 1000, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        crumbs = page.locator("#crumbs")
        assert crumbs.evaluate("(one) => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight")
        assert page.evaluate(OUTSIDE) == []
    page.set_viewport_size({"width": 1000, "height": 900})
    menu, sections, here = (page.locator(one).bounding_box() for one in (".top > .menu", ".top > nav", "#crumbs"))
    assert menu["x"] > sections["x"]
    assert here["y"] >= menu["y"] + menu["height"], "where we are begins the second row"


def test_tasks_to_organise_are_read_whole(app_server: AppServer, page: Page, sign_in) -> None:
    session = factories.make_session(tasks=2)
    session.campaign.source.conversations.first().turns.update(
        instruction="Find a house in Costa Amara with a pool " * 3
    )
    sign_in(factories.make_user("admin", session.campaign.project))
    page.set_viewport_size(NARROW)
    page.goto(app_server.url(f"/annotate/campaigns/{session.campaign.pk}/organise/"))
    expect(page.locator(".session .said").first).to_contain_text("with a pool")
    assert page.locator(".organise :is(.said, .head-row, .why)").evaluate_all(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 640
    counts = page.locator(".session .task > .faint")
    expect(counts).to_have_count(2)
    assert len({round(box["x"] + box["width"]) for box in (one.bounding_box() for one in counts.all())}) == 1


def test_whether_an_agent_can_run_here_stands_beside_its_name(app_server: AppServer, page: Page, sign_in) -> None:
    sign_in(factories.make_user("reader"))
    page.set_viewport_size(NARROW)
    page.goto(app_server.url("/recipes/"))
    shown = page.get_by_role("columnheader", name="Can it run here?").bounding_box()
    assert shown["x"] + shown["width"] <= 640


def test_an_instruction_takes_a_few_lines_of_its_row(app_server: AppServer, page: Page, sign_in) -> None:
    conversation = factories.make_conversation(turns=1, source_id="casaverde-task-night-trains")
    conversation.turns.update(instruction="Find a house in Costa Amara from 20 to 27 June for 2 guests and a dog " * 2)
    sign_in(factories.make_user("admin", conversation.dataset.project))
    page.set_viewport_size(NARROW)
    page.goto(app_server.url(f"/datasets/{conversation.dataset.name}/"))
    assert page.locator("tr:has(td.wordy)").bounding_box()["height"] < 110
    assert page.evaluate("document.documentElement.scrollWidth") == 640, "the table scrolls in its own box"


@pytest.mark.slow
def test_the_instruction_of_a_failed_step_takes_a_few_lines(app_server: AppServer, page: Page, sign_in) -> None:
    trajectory = make_replay().trajectory
    instruction = "Two adults and three children want to go from Kingsford to Port Caldon on Saturday. What is there?"
    trajectory.conversation.turns.update(instruction=instruction)
    study = factories.make_study(trajectory.run.dataset.project, [trajectory.run])
    sign_in(factories.make_user("reviewer", study.project))
    page.set_viewport_size(NARROW)
    page.goto(app_server.url(f"/studies/{study.pk}/failures/"))
    assert page.locator("tr:has(td.wordy)").first.bounding_box()["height"] < 110
    assert page.evaluate("document.documentElement.scrollWidth") == 640


@pytest.mark.slow
def test_the_work_of_an_item_begins_on_the_first_screen(app_server: AppServer, page: Page, sign_in) -> None:
    assignment = begun()
    guidelines = "\n\n".join(f"Rule {number}: a search is one part." for number in range(40))
    assignment.item.session.campaign.guidelines.update(text=guidelines)
    sign_in(assignment.user)
    page.set_viewport_size(NARROW)
    open_item(app_server, page, assignment)
    assert page.locator("#film .card").first.bounding_box()["y"] < 450
    page.locator("#left").hover()
    page.mouse.wheel(0, 3000)
    expect(page.locator("#left").get_by_text("Rule 39")).to_be_in_viewport()


@pytest.mark.slow
def test_what_is_compared_and_what_is_to_be_looked_at_are_read_whole_in_wide_windows(
    app_server: AppServer, page: Page, sign_in
) -> None:
    world = make_replay()
    first, conversation = world.trajectory.run, world.trajectory.conversation
    conversation.source_id = "nordline-task-night-trains"
    conversation.save()
    other = factories.make_run(first.dataset, split=first.split, state="done", recipe_name="grounded-no-memory")
    factories.make_trajectory(other, conversation, state="done")
    scored_run = factories.make_run(
        first.dataset, split="test_subdomain", state="done", recipe_name="grounded-without-any-memory"
    )
    add_scores(scored_run, element_accuracy=0.2)
    sign_in(factories.make_user("reviewer", first.dataset.project))
    page.goto(app_server.url(f"/compare/conversations/{conversation.pk}/?runs={first.pk},{other.pk}"))
    expect(page.locator("#crumbs")).to_contain_text("nordline-task-night-trains")
    for width in (1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.locator("#crumbs, #crumbs *").evaluate_all(CUT) == []
        assert page.locator("#crumbs").evaluate("(one) => one.scrollHeight <= one.clientHeight")
    page.goto(app_server.url("/"))
    cells = page.locator("section", has_text="Runs to look at").locator("td")
    expect(cells.first).to_contain_text("test_subdomain")
    for width in (1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert cells.evaluate_all(CUT) == []
