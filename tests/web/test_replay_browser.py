"""The replay page of a stored trajectory in a real browser: stepping, addresses, marks, panels."""

import math
import re
from dataclasses import asdict, replace

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from agents.models import Trajectory
from agents.runs.episodes import ActionOutcome, Episode, Seen
from agents.types import Action, Branch, Decision, ImaginedStep
from annotations.models import Role
from tests import factories
from tests.contention import contention_of_all_cores
from tests.web.replay_world import make_replay

pytestmark = pytest.mark.browser
# The in-page script draws marks in a closed shadow root; this opens it to the test, before the script runs.
OPEN_SHADOWS = """
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) { return attach.call(this, { ...options, mode: "open" }); };
"""


@pytest.fixture
def world(app_server):
    return make_replay()


@pytest.fixture
def at(app_server, browser_context, page, sign_in, world):
    """`at(seq)` opens a step as a member of the project."""
    sign_in(factories.make_user(Role.READER, world.trajectory.run.dataset.project))
    browser_context.add_init_script(OPEN_SHADOWS)

    def open_step(seq: int, query: str = "", trajectory=world.trajectory) -> None:
        page.goto(app_server.url(f"/trajectories/{trajectory.pk}/steps/{seq}/{query}"))
        expect(page.locator("#side h2").first).to_have_text("Decision")
        expect(page.locator("#side")).not_to_have_attribute("aria-busy", "true")

    return open_step


SHOWN = '[data-frame=page] iframe[style*="opacity: 1"]'
# The boxes of an element stand before the row of their chips.
CHIPS = """layer => [...layer.shadowRoot.querySelectorAll("span")].map((chip) => {
  const row = chip.parentElement, all = [...row.parentNode.children];
  const box = all[all.indexOf(row) - row.children.length + [...row.children].indexOf(chip)];
  return [chip.textContent, box.style.borderStyle];
})"""


def shown_frame(page):
    """The frame of the page that is shown; the others load behind it."""
    return page.locator(SHOWN).content_frame


def marks(page) -> dict[str, str]:
    """Label -> line style of the marks drawn in the shown page."""
    return dict(shown_frame(page).locator(":root > div:last-child").evaluate(CHIPS))


def chips(page) -> list[str]:
    return list(marks(page))


def wait_for_chips(page, expected: list[str]) -> None:
    for _ in range(50):
        if chips(page) == expected:
            return
        page.wait_for_timeout(100)
    assert chips(page) == expected


def place(page, text: str) -> None:
    expect(page.locator("#place")).to_have_text(text)


def test_opening_an_address_lands_on_its_step(at, page):
    at(7)
    place(page, "step 8 of 8")
    expect(page.locator("#conversation .step[aria-current]")).to_contain_text("CLICK DVD $1.75")
    expect(page.locator("#film .cell[aria-current]")).to_have_text(re.compile(r"^8\s*CLICK DVD"))
    expect(page.locator(".verdict")).to_have_text("wrong element · gold was rank 2 of 36 · operation right")
    expect(page.locator("#live")).to_have_text("finished")


def test_a_decision_without_an_operation_is_told_in_words(at, page, world):
    for seq, node, told in ((6, "20", "button DVD $1.75"), (7, "", "none")):
        decided = world.trajectory.steps.get(seq=seq)
        decided.operation, decided.value, decided.node_id, decided.trace["act"] = "", "", node, {"representation": told}
        decided.save()
    at(6)
    steps = page.locator("#conversation .step")
    expect(steps.nth(6)).to_contain_text("ranked first DVD $1.75")
    expect(steps.nth(7)).to_contain_text("no action")
    expect(steps.nth(7)).not_to_contain_text("none")
    expect(page.locator("#side")).to_contain_text("ranked first DVD $1.75")


@pytest.mark.slow
def test_arrow_keys_step_and_change_the_address_and_back_works(at, page):
    at(0)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    place(page, "step 3 of 8")
    assert page.url.endswith("/steps/2/")
    page.keyboard.press("ArrowLeft")
    place(page, "step 2 of 8")
    page.go_back()
    place(page, "step 3 of 8")
    expect(page.locator(".actions-shown").first).to_contain_text("SELECT")
    expect(page.locator(".actions-shown .tag.predicted")).to_have_text("predicted")
    assert page.url.endswith("/steps/2/")


def test_shifted_arrows_step_by_turn(at, page):
    at(1)
    page.keyboard.press("Shift+ArrowRight")
    place(page, "step 4 of 8")
    page.keyboard.press("Shift+ArrowRight")
    place(page, "step 6 of 8")
    page.keyboard.press("Shift+ArrowLeft")
    place(page, "step 4 of 8")


@pytest.mark.slow
def test_n_and_p_go_to_the_failures(at, page):
    at(0)
    page.keyboard.press("n")
    place(page, "step 5 of 8")
    page.get_by_role("button", name="Next failure").click()
    place(page, "step 8 of 8")
    expect(page.locator("#next-failure")).to_be_disabled()
    page.keyboard.press("n")
    expect(page.locator("#said")).to_have_text("No later failure")
    page.keyboard.press("p")
    place(page, "step 5 of 8")


@pytest.mark.slow
def test_gold_and_predicted_are_marked_by_line_and_label_not_only_by_colour(at, page):
    at(7)
    wait_for_chips(page, ["5", "4", "3", "predicted · rank 1", "gold · rank 2"])
    lines = marks(page)
    assert (lines["gold · rank 2"], lines["predicted · rank 1"], lines["3"]) == ("solid", "dashed", "solid")


@pytest.mark.slow
def test_h_hides_the_marks_and_the_legend_hides_one_kind(at, page):
    at(7)
    wait_for_chips(page, ["5", "4", "3", "predicted · rank 1", "gold · rank 2"])
    page.keyboard.press("H")
    wait_for_chips(page, ["predicted · rank 1", "gold · rank 2"])
    page.keyboard.press("H")
    page.keyboard.press("h")
    wait_for_chips(page, [])
    page.locator("[data-mark=gold]").click()
    wait_for_chips(page, ["gold · rank 2"])
    page.keyboard.press("ArrowLeft")
    wait_for_chips(page, ["gold · rank 1"])


@pytest.mark.slow
def test_o_leaves_what_was_right_out_of_both_lists_and_out_of_the_way_of_the_arrows(at, page):
    at(0)
    page.keyboard.press("o")
    expect(page.get_by_role("button", name="Only failures")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#conversation .step:visible")).to_have_count(3)  # the one that is shown, and two failures
    page.keyboard.press("ArrowRight")
    place(page, "step 5 of 8")
    page.keyboard.press("ArrowRight")
    place(page, "step 8 of 8")
    expect(page.locator("#conversation .step:visible")).to_have_count(2)
    expect(page.locator("#film .cell:visible")).to_have_count(2)
    assert page.url.endswith("/steps/7/?only=failures")
    page.reload()
    expect(page.locator("#conversation .step:visible")).to_have_count(2)
    page.keyboard.press("o")
    expect(page.locator("#film .cell:visible")).to_have_count(8)
    page.keyboard.press("ArrowLeft")
    place(page, "step 7 of 8")


@pytest.mark.slow
def test_keys_work_while_the_page_has_the_focus(at, page):
    at(0)
    shown_frame(page).locator("h1").click()
    page.keyboard.press("ArrowRight")
    place(page, "step 2 of 8")


@pytest.mark.slow
def test_the_tabs_show_the_page_before_and_after_and_the_pruned_tree(at, page):
    at(3)
    page.keyboard.press("2")
    expect(page.frame_locator("[data-frame=after] iframe").locator("h1")).to_have_text("Films, page 5")
    expect(page.frame_locator("[data-frame=before] iframe").locator("h1")).to_have_text("Films, page 4")
    page.keyboard.press("3")
    expect(page.locator(".line.mark-gold")).to_have_text("button Find a box gold · rank 1")
    assert page.url.endswith("/steps/3/?tab=tree")
    expect(page.get_by_role("tab", name="Screenshot")).to_be_disabled()


def test_the_key_of_a_tab_that_cannot_be_opened_says_why(at, page):
    at(3, "?tab=tree")
    page.keyboard.press("4")
    expect(page.locator("#said")).to_have_text("No screenshot was kept of this step.")
    expect(page.get_by_role("tab", selected=True)).to_have_text("Pruned tree")
    assert page.url.endswith("/steps/3/?tab=tree")
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_contain_text("Pruned tree")
    expect(page.locator("dialog[open]")).not_to_contain_text("Screenshot")


def test_the_tab_is_part_of_the_address(at, page):
    at(7, "?tab=tree")
    expect(page.locator(".line.mark-gold")).to_have_text("button Blu-ray $2.00 gold · rank 2")
    expect(page.locator(".line.mark-predicted")).to_have_text("button DVD $1.75 predicted · rank 1")


def test_the_pruned_tree_says_where_the_gold_element_is_not_in_it(at, page):
    at(4, "?tab=tree")
    said = "the gold element is not in the pruned page: it is none of the 5 elements that are kept"
    expect(page.locator("[data-note=tree]")).to_have_text(said)
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".line.mark-gold")).to_be_visible()
    expect(page.locator("[data-note=tree]")).to_be_hidden()


@pytest.mark.slow
def test_a_page_that_differs_is_shown_after_a_step(at, page):
    at(0)
    expect(shown_frame(page).locator("h1")).to_have_text("Films, page 1")
    page.keyboard.press("ArrowRight")
    place(page, "step 2 of 8")
    page.wait_for_timeout(500)
    expect(shown_frame(page).locator("h1")).to_have_text("Films, page 2")


@pytest.mark.slow
def test_the_gold_candidate_is_listed_though_its_rank_is_beyond_the_list(at, page):
    at(4)
    rows = page.locator(".candidates .cand")
    expect(rows).to_have_count(9)
    expect(rows.last).to_contain_text("13")
    expect(rows.last).to_contain_text("button 4K UHD $2.50")
    page.get_by_role("button", name="All 36").click()
    expect(rows).to_have_count(36)


@pytest.mark.slow
def test_the_mark_of_the_predicted_candidate_stands_in_the_middle_of_its_row(at, page):
    at(4)
    middle = "(node) => { const box = node.getBoundingClientRect(); return box.top + box.height / 2; }"
    row = page.locator(".cand:has(.tag.predicted)")
    expect(row).to_have_count(1)
    assert abs(row.locator(".tag").evaluate(middle) - row.evaluate(middle)) <= 1


@pytest.mark.slow
def test_a_candidate_is_tinted_under_the_pointer_and_brought_into_view_by_a_click(at, page):
    at(7)
    page.get_by_role("button", name="All 36").click()
    page.mouse.move(0, 0)
    row = page.locator(".cand", has_text="link Title 129")
    frame = shown_frame(page)
    boxes = "layer => layer.shadowRoot.querySelectorAll('div').length"
    layer = frame.locator(":root > div:last-child")
    before = layer.evaluate(boxes)
    assert frame.locator(":root").evaluate("() => window.scrollY") == 0
    row.hover()
    page.wait_for_timeout(200)
    assert layer.evaluate(boxes) == before + 1
    row.click()
    page.wait_for_timeout(200)
    assert frame.locator(":root").evaluate("() => window.scrollY") > 0


def test_clicking_an_element_of_the_page_finds_it_among_the_candidates(at, page):
    at(7)
    shown_frame(page).locator("a", has_text="Title 120").click()
    expect(page.locator(".cand:focus")).to_contain_text("link Title 120")


def test_a_recalled_snippet_leads_to_its_step(at, page):
    at(3)
    page.locator(".snippet").nth(1).click()
    place(page, "step 2 of 8")


@pytest.mark.slow
def test_a_panel_of_a_stage_has_its_name(at, page):
    at(3)
    panels = page.locator("#side section[data-stage]")
    assert [panel.locator("h2").text_content().split()[0] for panel in panels.all()] == ["rank", "recall", "plan"]
    expect(page.locator("[data-stage=rank] .cand").first).to_be_visible()
    expect(page.locator("[data-stage=recall] .snippet").first).to_be_visible()
    expect(page.locator("[data-stage=plan]")).to_contain_text("Action: ")
    expect(page.locator(".stage", has_text="rank")).to_contain_text("78 elements")


@pytest.mark.slow
def test_every_stage_says_what_it_recorded_or_that_it_did_not(at, page):
    at(7)
    stages = page.locator("#side section").last
    expect(stages.locator(".stage")).to_have_count(9)  # the eight stages, and one that nobody knows
    expect(stages.locator(".stage", has_text="imagine")).to_contain_text("no record")
    expect(stages.locator(".stage", has_text="rank")).to_contain_text("210.0 ms")
    expect(stages).to_contain_text("<b>electric</b> sheep")
    expect(page.locator("#side")).to_contain_text("Element: button DVD $1.75")


@pytest.mark.slow
def test_a_step_of_which_no_model_was_asked_says_so_in_the_panels_of_its_stages(at, page, world):
    trace = {
        "rank": {"top": [], "candidates": 0},
        "plan": {"left_out": "not among the turns"},
        "seconds": {"plan": 3.9},
    }
    world.trajectory.steps.filter(seq=3).update(trace=trace, candidate_ids=[], candidate_scores=[], calls=0)
    at(3)
    for stage, said in (("rank", "there was no element to rank"), ("plan", "not among the turns")):
        panel = page.locator(f"[data-stage={stage}]")
        expect(panel).to_contain_text(said)
        expect(panel).not_to_contain_text("no record")


def test_hidden_gold_shows_no_right_or_wrong(app_server, at, page):
    hidden = make_replay(split="test_task")
    factories.Membership.objects.create(
        project=hidden.trajectory.run.dataset.project, user=factories.get_user_model().objects.get(), role=Role.READER
    )
    at(7, trajectory=hidden.trajectory)
    expect(page.locator("#side")).to_contain_text("What agents did in test splits is hidden from you")
    expect(page.locator("[data-frame=page] iframe")).to_have_count(0)
    expect(page.locator(".sign.ok, .sign.bad, .cell.ok, .cell.bad, .verdict, .tag.gold")).to_have_count(0)
    expect(page.locator("#next-failure")).to_be_disabled()


@pytest.mark.slow
def test_j_opens_the_next_conversation_of_the_run(at, page, world):
    run = world.trajectory.run
    position = world.trajectory.conversation.position + 1
    other = factories.make_conversation(dataset=run.dataset, position=position)
    following = factories.make_trajectory(run, other)
    at(3)
    page.keyboard.press("j")
    page.wait_for_url(re.compile(f"/trajectories/{following.pk}/steps/0/"))
    page.keyboard.press("k")
    page.wait_for_url(re.compile(f"/trajectories/{world.trajectory.pk}/steps/0/"))


@pytest.mark.slow
@pytest.mark.timed
def test_stepping_to_a_neighbour_that_was_read_before_takes_less_than_100_ms(at, page):
    at(2)
    slower = contention_of_all_cores()
    page.wait_for_timeout(800)  # the neighbours are read meanwhile
    script = """async ([key, shown]) => {
      const begun = performance.now();
      const decision = document.querySelector(".actions-shown").textContent;
      const frame = document.querySelector(shown);
      document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      while (document.querySelector(".actions-shown").textContent === decision
             || document.querySelector(shown) === frame) {
        if (performance.now() - begun > 3000) break;
        await new Promise(requestAnimationFrame);
      }
      return performance.now() - begun;
    }"""
    times = []
    for key in ("ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowRight"):
        times.append(page.evaluate(script, [key, SHOWN]))
        page.wait_for_timeout(500)
    assert min(times) / slower < 100, (times, slower)  # other work on the machine may delay some, never all


@pytest.mark.slow
def test_the_page_breaks_no_content_policy_and_moves_nothing_while_it_loads(at, page):
    broken: list[str] = []
    page.on("console", lambda message: broken.append(message.text) if "Content Security" in message.text else None)
    page.add_init_script("""window.moved = 0; new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved += entry.value;
    }).observe({ type: "layout-shift", buffered: true });""")
    at(4)
    shown_frame(page)
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(500)
    assert broken == []
    assert page.evaluate("window.moved") < 0.05


@pytest.mark.slow
def test_an_episode_without_a_recorded_path_shows_what_happened_and_what_was_considered(page, at, world) -> None:
    trajectory = world.trajectory
    conversation = factories.make_conversation(0, dataset=trajectory.run.dataset)
    turn = factories.make_turn(conversation, steps=0, instruction="Find a film for tonight.")
    episode = Trajectory.objects.create(run=trajectory.run, conversation=conversation, state="done", step_count=0)
    click, hover = Action("CLICK", "23"), Action("HOVER", "20")
    branches = (
        Branch(hover, "[button]  DVD $1.75 -> HOVER", "A tooltip with the price appears.", 0.2),
        Branch(click, "[button]  Find a box -> CLICK", "A list of boxes near Columbus opens.", 0.85, True),
    )
    trace = {"act": {"representation": "[button]  Find a box -> CLICK"}}
    decision = Decision((click, hover), trace=trace, branches=branches)
    seen = Seen(world.steps[0].snapshot.html, "https://redbox.example/films", 78, timezone.now())
    Episode(episode, turn).store(
        seen, decision, [ActionOutcome(0.0, "a list of boxes opened"), ActionOutcome(1.0, "done")]
    )
    at(0, trajectory=episode)
    side = page.locator("#side")
    expect(side.locator(".branch .clip")).to_have_text(
        ["[button]  Find a box -> CLICK", "[button]  DVD $1.75 -> HOVER"], use_inner_text=False
    )
    expect(side.locator(".branch").first.locator(".tag")).to_have_text("chosen")
    expect(side).to_contain_text("A list of boxes near Columbus opens.")
    expect(side).to_contain_text("a list of boxes opened")
    expect(side.locator(".tag.gold")).to_have_count(0)
    expect(page.locator("#conversation .step")).to_have_count(2)
    expect(page.locator("#conversation .sign.done")).to_have_count(2)


@pytest.mark.slow
def test_what_really_happened_is_compared_when_it_is_opened_and_kinds_can_be_left_out(page, at, world) -> None:
    step = world.steps[0]
    html = step.snapshot.html.replace("</html>", '<h1 backend_node_id="990"><text>Boxes near you</text></h1></html>')
    step.snapshot_after = factories.make_snapshot(html)
    step.save(update_fields=["snapshot_after"])
    at(0)
    side = page.locator("#side")
    expect(side.locator(".changes")).to_have_count(0)
    side.get_by_text("Elements by which the next page differs").click()
    added = side.locator(".changes li.added")
    expect(added).to_contain_text(["Boxes near you"])
    side.get_by_label("1 added").uncheck()
    expect(added).to_be_hidden()


@pytest.mark.slow
def test_what_was_predicted_of_the_recorded_action_stands_beside_what_happened(page, at, world) -> None:
    step, row = world.steps[0], world.trajectory.steps.get(seq=0)
    html = step.snapshot.html.replace("</html>", '<h1 backend_node_id="990"><text>Boxes near you</text></h1></html>')
    step.snapshot_after = factories.make_snapshot(html)
    step.save(update_fields=["snapshot_after"])
    taken = Action(step.operation, step.targets.first().node_id, step.value)
    other = Branch(Action("HOVER", taken.node_id), "", "A tooltip appears.", 0.2)
    row.branches = [asdict(one) for one in (other, Branch(taken, "", "added heading 'Boxes near you'", 0.9, True))]
    row.save(update_fields=["branches"])
    at(0)
    side = page.locator("#side")
    side.get_by_text("Elements by which the next page differs").click()
    predicted, happened = side.locator(".beside > div").all()
    expect(predicted).to_have_text("Predictedadded heading 'Boxes near you'")
    expect(happened.locator("li.added")).to_contain_text(["Boxes near you"])
    assert happened.bounding_box()["width"] > 250, "there is no room for two columns"
    row.branches[1]["prediction"] = "\n".join(f"button 'Book film {number}'" for number in range(500))
    row.save(update_fields=["branches"])
    at(0)
    assert side.evaluate("side => side.scrollHeight") < 2500, "a whole page that was predicted is read in a box"
    side.get_by_text("Elements by which the next page differs").click()
    predicted.locator("p").focus()
    page.keyboard.press("End")
    page.wait_for_timeout(500)  # it scrolls smoothly
    assert predicted.locator("p").evaluate("told => told.scrollTop") > 3000
    row.branches[1] |= {"prediction": "the only action drawn", "value": None}
    row.save(update_fields=["branches"])
    at(0)
    expect(side.get_by_text("What really happened")).to_be_visible()
    expect(side.locator(".beside")).to_have_count(0)
    row.branches = row.branches[:1]
    row.save(update_fields=["branches"])
    at(0)
    expect(side.get_by_text("What really happened")).to_be_visible()
    expect(side.locator(".beside")).to_have_count(0)


@pytest.mark.slow
def test_actions_stand_in_the_order_in_which_they_were_compared_with_what_weighed(page, at, world) -> None:
    """The value alone does not tell why an action is done where the planner's share of it counts as well."""
    row = world.trajectory.steps.get(seq=0)
    likely = Branch(Action("CLICK", "23"), "[button]  Find a box -> CLICK", "A list opens.", 0.4, True, True)
    valued = Branch(Action("HOVER", "20"), "[button]  DVD $1.75 -> HOVER", "A tooltip appears.", 0.9)
    row.branches = [asdict(one) for one in (valued, likely)]
    row.trace |= {"imagine": {"ratings": [math.log(0.09), math.log(0.36)], "confidences": [0.25, 0.8]}}
    row.save(update_fields=["branches", "trace"])
    at(0)
    side = page.locator("#side")
    expect(side.locator(".branch .n")).to_have_text(["0.36", "0.09"])
    expect(side.locator(".branch").first.locator(".tag")).to_have_text("chosen")
    expect(side.locator("p.faint.predicted")).to_have_text(["value 0.40 · 80 % sure", "value 0.90 · 25 % sure"])
    then = ImaginedStep("[option]  Oak Street -> CLICK", "added heading 'Boxes near you'", 0.32)
    row.branches = [asdict(valued), asdict(replace(likely, further=(then,)))]
    row.save(update_fields=["branches"])
    at(0)
    expect(side.locator(".further")).to_have_text(
        "then, imagined: [option]  Oak Street -> CLICK, all of it 32 % sureadded heading 'Boxes near you'"
    )
    row.branches = [asdict(valued), {**asdict(likely), "further": []}]
    row.save(update_fields=["branches"])
    graded = {"graded": [["[Score] 4", "[Score]: 4"], ["[Score]: 2"]], "ungraded": [1, 0]}
    graded["scores"] = [[0, 4], [2]]
    usage = {"calls": 3, "prompt_tokens": 1_200, "completion_tokens": 40, "cost": 0.0}
    row.trace |= {"imagine": {**graded, "usage": usage}}
    row.calls, row.prompt_tokens, row.completion_tokens = 4, 1_500, 50
    row.save(update_fields=["trace", "calls", "prompt_tokens", "completion_tokens"])
    at(0)
    expect(side.locator("p.faint.predicted")).to_have_text(["1 of 2 grades not readable"])
    expect(side.locator("h2", has_text="imagine")).to_contain_text("2 considered · 1,200 + 40 tokens · 3 calls")
    expect(side.locator("h2", has_text="plan")).to_contain_text("300 + 10 tokens · 1 call")
    side.get_by_text("How it was graded").first.click()
    expect(side.locator("pre", has_text="[Score] 4")).to_be_visible()
    row.trace |= {"imagine": {"ratings": [math.log(0.36)]}}  # one action could not be valued
    row.save(update_fields=["trace"])
    at(0)
    expect(side.locator(".branch .n")).to_have_text(["0.90", "0.40"])
    expect(side.locator("p.faint.predicted")).to_have_count(0)


@pytest.mark.slow
def test_what_was_chosen_by_value_and_what_the_published_code_does_are_both_told(page, at, world) -> None:
    row = world.trajectory.steps.get(seq=0)
    chosen = Branch(Action("CLICK", "23"), "[button]  Find a box -> CLICK", "A list opens.", 0.9, by_value=True)
    done = Branch(Action("HOVER", "20"), "[button]  DVD $1.75 -> HOVER", "A tooltip appears.", 0.2, chosen=True)
    row.branches = [asdict(one) for one in (chosen, done)]
    row.save(update_fields=["branches"])
    at(0)
    side = page.locator("#side")
    expect(side.locator(".branch .tag")).to_have_text(["chosen by value", "carried out"])
    expect(side.locator(".note")).to_contain_text("is carried out, not that action.")
    row.branches = [asdict(one) for one in (chosen, replace(done, chosen=False))]
    row.save(update_fields=["branches"])
    at(0)
    expect(side.locator(".branch .tag")).to_have_text(["chosen by value"])
    expect(side.locator(".note")).to_contain_text(f"not that action: {row.trace['act']['representation']}.")
    row.branches = [asdict(replace(chosen, chosen=True)), asdict(replace(done, chosen=False))]
    row.save(update_fields=["branches"])
    at(0)
    expect(side.locator(".branch .tag")).to_have_text(["chosen"])
    expect(side.get_by_text("As published, the sample")).to_have_count(0)


def test_what_an_episodes_action_changed_stands_beside_what_was_predicted_of_it(page, at, world) -> None:
    trajectory = world.trajectory
    conversation = factories.make_conversation(0, dataset=trajectory.run.dataset)
    turn = factories.make_turn(conversation, steps=0, instruction="Find a film for tonight.")
    episode = Trajectory.objects.create(run=trajectory.run, conversation=conversation, state="done", step_count=0)
    click = Action("CLICK", "23")
    decision = Decision((click,), branches=(Branch(click, "", "added heading 'Boxes near you'", 0.9, True),))
    html = world.steps[0].snapshot.html
    heading = '<h1 backend_node_id="990"><text>Boxes near you</text></h1></html>'
    for shown in (html, html.replace("</html>", heading)):
        Episode(episode, turn).store(Seen(shown, "", 78, timezone.now()), decision, [ActionOutcome()])
    at(0, trajectory=episode)
    side = page.locator("#side")
    side.get_by_text("Elements by which the next page differs").click()
    predicted, happened = side.locator(".beside > div").all()
    expect(predicted).to_have_text("Predictedadded heading 'Boxes near you'")
    expect(happened.locator("li.added")).to_contain_text(["Boxes near you"])
