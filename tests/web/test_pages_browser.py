"""The pages in a real Chromium: keys, stepping without leaving, live progress, uploads, themes; no CSP violation."""

import re
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from agents.models import Run
from annotations.models import Conversation, Job, Step
from tests import factories
from tests.app_server import AppServer
from tests.web.world import make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

expect.set_options(timeout=15_000)  # a loaded machine answers late; nothing here is about speed


@pytest.fixture
def reported(page: Page) -> list[str]:
    """What the content policy refused."""
    found: list[str] = []
    page.on(
        "console", lambda message: found.append(message.text) if "Content Security Policy" in message.text else None
    )
    return found


@pytest.fixture
def conversation() -> Conversation:
    return factories.make_conversation(turns=2, steps=2)


def steps_of(conversation: Conversation) -> list[Step]:
    return list(Step.objects.filter(turn__conversation=conversation).order_by("turn__index", "index"))


def open_step(app_server: AppServer, page: Page, sign_in, step: Step, role: str = "reader") -> None:
    sign_in(factories.make_user(role, step.turn.conversation.dataset.project))
    page.goto(app_server.url(f"/steps/{step.pk}/"))


def shown_page(page: Page):
    """The frame in front: the one that is not hidden."""
    return page.frame_locator("#snapshot iframe:not([aria-hidden])")


def drawn(page: Page) -> bytes:
    """A picture of the rendered page, once it no longer changes; marks are in a closed part of its frame."""
    picture = b""
    for _ in range(50):
        page.wait_for_timeout(150)
        before, picture = picture, page.locator("#snapshot").screenshot()
        if picture == before:
            break
    return picture


def test_arrow_keys_step_without_loading_the_page_again(app_server, page, sign_in, conversation, reported) -> None:
    first, second, third, _ = steps_of(conversation)
    open_step(app_server, page, sign_in, first)
    page.evaluate("window.stayed = true")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(f"/steps/{second.pk}/$"))
    expect(shown_page(page).get_by_text("turn 0, step 1")).to_be_visible()
    page.keyboard.press("Shift+ArrowRight")
    expect(page).to_have_url(re.compile(f"/steps/{third.pk}/$"))
    expect(page.locator("#place")).to_have_text("step 3 of 4")
    expect(page.locator(".step[aria-current]")).to_contain_text("TYPE")
    page.go_back()
    expect(page.locator("#place")).to_have_text("step 2 of 4")
    assert page.evaluate("window.stayed") is True
    assert reported == []


@pytest.mark.slow
def test_the_gold_element_is_marked_in_the_rendered_page_until_h_is_pressed(
    app_server, page, sign_in, conversation, reported
) -> None:
    open_step(app_server, page, sign_in, steps_of(conversation)[0])
    expect(shown_page(page).get_by_text("turn 0, step 0")).to_be_visible()
    marked = drawn(page)
    page.keyboard.press("h")
    assert (plain := drawn(page)) != marked
    page.keyboard.press("ArrowRight")
    expect(page.locator("#place")).to_have_text("step 2 of 4")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#place")).to_have_text("step 1 of 4")
    assert drawn(page) == plain
    page.keyboard.press("h")
    assert drawn(page) != plain  # a redrawn line may differ from the first by the shade of a pixel
    assert reported == []


def test_number_keys_switch_the_view_and_branches_of_the_tree_open(app_server, page, sign_in, conversation) -> None:
    rows = "".join(
        f'<li backend_node_id="l{i}"><a backend_node_id="a{i}"><text>Item {i}</text></a></li>' for i in range(80)
    )
    html = (
        f'<html backend_node_id="1"><input backend_node_id="5" type="text"/><ul backend_node_id="2">{rows}</ul></html>'
    )
    step = steps_of(conversation)[0]
    Step.objects.filter(pk=step.pk).update(snapshot=factories.make_snapshot(html))
    open_step(app_server, page, sign_in, step)
    page.keyboard.press("2")
    expect(page).to_have_url(re.compile(r"tab=tree"))
    expect(page.locator(".tree .leaf.gold")).to_be_visible()
    page.get_by_text("… 30 more").click()
    expect(page.locator("summary", has_text="li").nth(79)).to_be_attached()
    expect(page.get_by_text("… 30 more")).to_have_count(0)
    page.locator("summary", has_text="li").nth(79).click()
    expect(page.get_by_text("Item 79")).to_be_visible()
    page.keyboard.press("3")
    expect(page.locator("#panel pre")).to_contain_text("link 'Item 79'")


def test_keys_do_nothing_while_somebody_types(app_server, page, sign_in, conversation) -> None:
    sign_in(factories.make_user("reader", conversation.dataset.project))
    page.goto(app_server.url(f"/datasets/{conversation.dataset.name}/"))
    page.keyboard.press("/")
    page.keyboard.type("gdj?")
    expect(page.locator("input[type=search]")).to_have_value("gdj?")
    expect(page.locator("#key-sheet")).to_be_hidden()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile("/jobs/$"))


def test_the_sheet_lists_the_keys_of_the_page(app_server, page, sign_in, conversation) -> None:
    open_step(app_server, page, sign_in, steps_of(conversation)[0])
    page.keyboard.press("?")
    sheet = page.locator("#key-sheet")
    expect(sheet).to_contain_text("Next conversation")
    expect(sheet).to_contain_text("Show Accessibility")
    expect(sheet).to_contain_text("Datasets")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()


def test_a_chosen_theme_is_there_from_the_first_byte_of_the_next_page(app_server, page, sign_in, reported) -> None:
    sign_in(factories.make_user("admin"))
    page.goto(app_server.url("/"))
    page.locator("details.menu summary").click()
    page.get_by_role("button", name="dark", exact=True).click()
    assert 'data-theme="dark"' in page.goto(app_server.url("/jobs/")).text()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 22, 21)"
    assert reported == []


@pytest.mark.slow
def test_a_job_is_followed_to_its_end_without_a_reload(app_server, page, sign_in, reported) -> None:
    job = factories.make_job(
        kind="import",
        state="running",
        lease_owner="box:7",
        heartbeat_at=timezone.now(),
        progress={"phase": "file 1 of 1", "done": 1, "total": 4, "unit": "records"},
    )
    sign_in(factories.make_user("admin", job.project))
    page.goto(app_server.url(f"/jobs/{job.pk}/"))
    expect(page.locator("h1")).to_have_text("1 of 4 records")
    Job.objects.filter(pk=job.pk).update(progress=job.progress | {"done": 3})
    expect(page.locator("h1")).to_have_text("3 of 4 records")
    assert page.locator(".prog rect").first.get_attribute("width") == "750"
    report = {
        "conversations": 4,
        "errors": [{"file": "a.json", "record": "[2]", "field": "x", "message": "is missing"}],
    }
    Job.objects.filter(pk=job.pk).update(
        state="done_with_errors", finished_at=timezone.now(), report=report | {"error_count": 1}
    )
    expect(page.locator("h1")).to_have_text("Imported 4 conversations")
    expect(page.get_by_text("is missing")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    assert reported == []


@pytest.mark.slow
def test_an_upload_that_is_refused_keeps_the_file_and_one_that_is_accepted_leads_to_its_job(
    app_server, page, sign_in, tmp_path: Path, reported
) -> None:
    sign_in(factories.make_user("admin"))
    file = tmp_path / "records.json"
    file.write_text("[]")
    page.goto(app_server.url("/datasets/import/"))
    page.get_by_label("Format").select_option("mt-mind2web")
    page.get_by_label("Dataset").fill("Not a slug")
    page.get_by_label("Upload a file").set_input_files(file)
    page.get_by_role("button", name="Start import").click()
    expect(page.locator(".errorlist")).to_contain_text("lower-case")
    page.get_by_label("Dataset").fill("a-slug")
    page.get_by_role("button", name="Start import").click()
    expect(page).to_have_url(re.compile(r"/jobs/\d+/$"))
    job = Job.objects.get()
    assert (job.params["name"], job.params["original_name"]) == ("a-slug", "records.json")
    job.path.unlink()
    assert reported == []


@pytest.mark.slow
def test_no_page_breaks_its_content_policy_or_scrolls_sideways(app_server, page, sign_in, reported) -> None:
    world = make_world()
    keys = world.keys
    sign_in(factories.make_user("admin", world.project))
    run = Run.objects.get(pk=keys["runs"])
    run.recipe["rank"]["model"] = "a-model-of-a-name-as-long-as-people-give-them-2026-11"
    run.save()
    dataset = Step.objects.get(pk=keys["steps"]).turn.conversation.dataset
    paths = [
        *("/", "/datasets/", "/datasets/import/", "/jobs/", "/people/", "/tokens/", "/runs/", "/studies/", "/recipes/"),
        *("/studies/new/", f"/datasets/{dataset.name}/", f"/conversations/{keys['conversations']}/"),
        *(f"/steps/{keys['steps']}/?tab={tab}" for tab in ("page", "tree", "accessibility", "changes", "raw")),
        *(f"/jobs/{keys['jobs']}/", f"/runs/{keys['runs']}/", f"/studies/{keys['studies']}/"),
        f"/studies/{keys['studies']}/failures/",
    ]
    for path in paths:
        assert page.goto(app_server.url(path)).status == 200, path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    assert reported == []


CUT = """() => [...document.querySelectorAll(".crumbs, .crumbs :is(span, a)")]
  .filter((part) => part.clientWidth && part.scrollWidth > part.clientWidth).map((part) => part.textContent.trim())"""


@pytest.mark.slow
def test_the_header_of_a_narrow_screen_says_all_of_a_short_name(app_server, page, sign_in) -> None:
    """An admin of the site sees all sections, which leaves the least room for what is open."""
    page.set_viewport_size({"width": 1280, "height": 800})
    sign_in(user := factories.make_superuser(username="admin"))
    factories.make_dataset(name="sample")
    session = factories.make_session(name="willowclinic-001")
    assignment = factories.make_assignment(factories.make_item(session), user)
    for path in ("/datasets/sample/", f"/annotate/assignments/{assignment.pk}/"):
        assert page.goto(app_server.url(path)).status == 200, path
        assert page.locator(".crumbs :is(span, a)").count() > 1, path
        assert page.evaluate(CUT) == [], path
    assert page.locator(".crumbs").inner_text().split() == ["decompose", "/", "willowclinic-001"]
    assert page.locator(".aside", has_text="Why this is here").get_by_role("link").inner_text() == str(session.campaign)


def test_the_header_of_a_verification_says_stage_and_name(app_server, page, sign_in) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    sign_in(user := factories.make_superuser(username="admin"))
    campaign = factories.make_campaign(name="Errands in the second round")
    session = factories.make_session(campaign, name="harbourcity-001")
    subject = factories.make_assignment(factories.make_item(session), state="submitted")
    given = factories.make_assignment(factories.make_item(session, stage="verify", subject=subject), user)
    assert page.goto(app_server.url(f"/annotate/verify/{given.pk}/")).status == 200
    assert page.evaluate(CUT) == []
    assert page.locator(".crumbs").inner_text().split() == ["verify", "/", "harbourcity-001"]
    assert page.get_by_role("link", name="Errands in the second round").is_visible()


WIDE = """() => [...document.querySelectorAll("td")]
  .filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent.trim())"""


def test_why_agreement_is_not_measured_stands_within_its_column(app_server, page, sign_in) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    sign_in(factories.make_superuser())
    campaign = factories.make_campaign()
    assert page.goto(app_server.url(f"/annotate/campaigns/{campaign.pk}/agreement/")).status == 200
    assert page.locator("td").count() > 3
    assert page.evaluate(WIDE) == []
