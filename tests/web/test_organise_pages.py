"""Recorded pages of tasks beside the page of organising: what each looks like, before anybody decides."""

from urllib.parse import unquote

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotations.models import Campaign, Proposal, Session
from annotations.work.organise.peeks import MOST
from tests import factories
from tests.app_server import AppServer
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    """Tasks of one, two and three recorded steps on one website."""
    source = factories.make_dataset(source_format="mind2web")
    site = factories.make_website(source, name="united")
    for steps in (1, 2, 3):
        factories.make_conversation(turns=1, steps=steps, dataset=source, website=site)
    return factories.make_campaign(source=source)


def ids(campaign: Campaign) -> list[int]:
    return list(campaign.source.conversations.order_by("position").values_list("pk", flat=True))


def admin_of(campaign: Campaign) -> Client:
    return client_of(factories.make_user("admin", campaign.project))


def asked(client: Client, campaign: Campaign, tasks: str | list[int], page: int | str | None = None):
    named = tasks if isinstance(tasks, str) else ",".join(map(str, tasks))
    of = f"tasks={named}" + ("" if page is None else f"&page={page}")
    return client.get(f"{reverse('annotate-organise-peek', args=[campaign.pk])}?{of}")


def test_the_page_of_each_task_is_shown_without_scripts_its_element_marked(campaign) -> None:
    client, tasks = admin_of(campaign), ids(campaign)
    rows = asked(client, campaign, [tasks[2], tasks[0]]).json()["pages"]
    assert [(row["task"], row["page"], row["pages"]) for row in rows] == [(tasks[2], 0, 3), (tasks[0], 0, 1)]
    shown = client.get(unquote(rows[0]["still"].partition("#")[0]))
    policy = shown["Content-Security-Policy"]
    assert policy.startswith("sandbox;")
    assert "script-src 'none'" in policy
    assert b"<script" not in shown.content
    step = campaign.source.conversations.get(pk=tasks[2]).turns.get().steps.get(index=0)
    assert rows[0]["did"] == str(step)
    assert rows[0]["still"].partition("#")[2], "it opens at the element"


def test_a_later_page_is_that_of_each_task_or_its_last(campaign) -> None:
    client, tasks = admin_of(campaign), ids(campaign)
    told = [[row["page"] for row in asked(client, campaign, tasks, page).json()["pages"]] for page in (0, 1, 2, 9)]
    assert told == [[0, 0, 0], [0, 1, 1], [0, 1, 2], [0, 1, 2]]
    first, second = (asked(client, campaign, [tasks[1]], page).json()["pages"][0]["still"] for page in (0, 1))
    assert first != second


def test_a_step_without_a_page_and_a_task_without_steps_say_so(campaign) -> None:
    client, (bare, *_) = admin_of(campaign), ids(campaign)
    campaign.source.conversations.get(pk=bare).turns.get().steps.update(snapshot=None)
    empty = factories.make_conversation(turns=0, dataset=campaign.source)
    without, nothing = asked(client, campaign, [bare, empty.pk]).json()["pages"]
    assert (without["still"], without["pages"]) == ("", 1)
    assert (nothing["still"], nothing["pages"], nothing["did"]) == ("", 0, "")


@pytest.mark.parametrize(
    ("tasks", "page", "words"),
    [
        ("", None, "whole numbers"),
        ("1,x", None, "whole numbers"),
        ("1", "-1", "whole numbers"),
        ("1", "9" * 30, "whole numbers"),
        ("1,2,3,4,5", None, f"At most {MOST}"),
    ],
)
def test_what_names_no_pages_is_told(campaign, tasks: str, page: str | None, words: str) -> None:
    answer = asked(admin_of(campaign), campaign, tasks, page)
    assert (answer.status_code, words in answer.json()["error"]) == (400, True)


def test_tasks_of_other_datasets_are_not_shown_and_only_admins_look(campaign) -> None:
    foreign = factories.make_conversation()
    assert asked(admin_of(campaign), campaign, [foreign.pk]).json() == {"pages": []}
    reviewer = client_of(factories.make_user("reviewer", campaign.project))
    assert asked(reviewer, campaign, ids(campaign)).status_code == 403
    assert asked(client_of(factories.make_user("admin")), campaign, ids(campaign)).status_code == 404


@pytest.mark.slow
def test_by_key_and_mouse_the_pages_of_a_proposal_are_seen_before_it_is_decided(
    app_server: AppServer, page: Page, sign_in, campaign
) -> None:
    first, second, third = ids(campaign)
    proposed = [{"tasks": [first, third], "why": "same site", "score": 0.5}]
    Proposal.objects.propose_sessions(campaign, "tf-idf", proposed)
    sign_in(factories.make_user("admin", campaign.project))
    page.goto(app_server.url(reverse("annotate-organise", args=[campaign.pk])))
    pane, figures = page.locator("#peek"), page.locator("#peek figure")
    expect(pane).to_be_hidden()
    for key in ("ArrowRight", "v"):
        page.keyboard.press(key)
    expect(figures).to_have_count(2)
    expect(figures.nth(0)).to_contain_text("page 1 of 1")
    expect(figures.nth(1)).to_contain_text("page 1 of 3")
    for frame in pane.locator("iframe").all():
        assert frame.get_attribute("sandbox") == "", "recorded pages are hostile"
    assert pane.frame_locator("iframe").first.get_by_role("button", name="Search").count() == 1
    for key, place in (("l", 2), ("l", 3), ("l", 3), ("h", 2)):
        page.keyboard.press(key)
        expect(figures.nth(1)).to_contain_text(f"page {place} of 3")
    expect(figures.nth(0)).to_contain_text("page 1 of 1")
    expect(page.locator("[data-proposal]")).to_be_focused()
    page.locator(f'#left [data-task="{second}"]').click()
    expect(figures).to_have_count(1)
    expect(figures).to_contain_text("page 1 of 2")
    page.get_by_role("button", name="Later").click()
    expect(figures).to_contain_text("page 2 of 2")
    page.locator(".proposal .said").last.click()
    expect(figures).to_have_count(2)
    page.keyboard.press("a")
    expect(page.locator("#toast span")).to_have_text("Made 1 session as proposed.")
    assert Session.objects.get().tasks.count() == 2
    page.keyboard.press("v")
    expect(pane).to_be_hidden()


@pytest.mark.slow
def test_of_many_proposals_only_the_pages_that_are_looked_at_are_read(
    app_server: AppServer, page: Page, sign_in, campaign
) -> None:
    first, second, third = ids(campaign)
    pairs = ([first, second], [second, third], [first, third]) * 100
    proposed = [{"tasks": pair, "why": "same site", "score": 0.5} for pair in pairs]
    Proposal.objects.propose_sessions(campaign, "tf-idf", proposed)
    sign_in(factories.make_user("admin", campaign.project))
    read: list[str] = []
    page.on("request", lambda request: read.append(request.url) if "/organise/peek/" in request.url else None)
    page.goto(app_server.url(reverse("annotate-organise", args=[campaign.pk])))
    expect(page.locator("[data-proposal]")).to_have_count(300)
    for _ in range(20):
        page.keyboard.press("j")
    assert read == [], "nobody looks"
    for key in ("ArrowRight", "v"):
        page.keyboard.press(key)
    expect(page.locator("#peek iframe")).to_have_count(2)
    passed = page.evaluate(
        """() => {
          const begun = performance.now();
          const down = () => new KeyboardEvent("keydown", { key: "j", bubbles: true });
          for (let n = 0; n < 200; n += 1) document.activeElement.dispatchEvent(down());
          return performance.now() - begun;
        }"""
    )
    assert passed < 2_000, "200 rows are passed by, ten milliseconds each at most"
    expect(page.locator("[data-proposal]").nth(200)).to_be_focused()
    expect(page.locator("#peek iframe")).to_have_count(2)
    expect(page.locator("#peek figure").last).to_contain_text("page 1 of 3")
    assert [url.rpartition("?")[2] for url in read] == [f"tasks={first},{second}&page=0", f"tasks={third}&page=0"]
