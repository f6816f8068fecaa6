"""axe-core on every page that the URL resolver knows, light and dark: nothing that keeps somebody out.

Pages of others are left out: the tables of Django's admin (its front page is looked at) and the API's Swagger.
"""

from collections.abc import Iterable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from playwright.sync_api import APIResponse, Page

from agents.environments.task_sets import SYNAPSE
from agents.models import Run
from annotations.models import Campaign, Invite
from evaluation.models import Study
from tests import factories
from tests.app_server import AppServer
from tests.web.test_page_permissions import PAGES, address, make_world_of_pages
from tests.web.test_pages_studies import add_scores, make_study
from tests.web.test_study_tasks import played
from tests.web.world import World

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SETTLED_MS = 250  # colours that fade from one scheme to the other have arrived
# WCAG 2.2 has what may be pressed be 24 pixels in size or apart; axe asks for it only when told to.
RULES = {"rules": {"target-size": {"enabled": True}}}
GRAVE = ("serious", "critical")
# Classes that mean something else elsewhere took cells out of their rows, one above the other, and made a section as
# narrow as a cut between two steps.
MISPLACED = """() => [
  ...[...document.querySelectorAll("td:not([hidden]), th:not([hidden])")]
    .filter((one) => !["table-cell", "none"].includes(getComputedStyle(one).display)),
  ...[...document.querySelectorAll("main :is(section, form, p, h1, h2, h3):not(.sr)")]
    .filter((one) => one.offsetWidth > 0 && one.scrollWidth > 2 * one.offsetWidth && one.offsetWidth < 80),
].map((one) => one.outerHTML.slice(0, 80))"""
OF_OTHERS = {"schema", "swagger-ui"}


def plain_routes(resolver: URLResolver) -> Iterator[str]:
    """Names of all routes without an object in their address."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern):
            if pattern.name and not pattern.pattern.converters and "<" not in str(pattern.pattern):
                yield pattern.name
        elif pattern.namespace not in ("admin", "api") and not pattern.pattern.converters:
            yield from plain_routes(pattern)


def addresses(world: World) -> list[str]:
    """Every address that can be asked for, once."""
    plain = [reverse(name) for name in plain_routes(get_resolver()) if name not in OF_OTHERS and name != "logout"]
    of_objects = [address(name, world) for name, page in PAGES.items() if page.method == "get"]
    return [
        *dict.fromkeys(
            [
                *plain,
                *of_objects,
                reverse("recipe", args=["self-map"]),
                reverse("paper", args=["self-map-2"]),
                reverse("admin:index"),
            ]
        )
    ]


def shows_a_page(page: Page, url: str) -> bool:
    """Whether it is a whole page of ours: neither a file, a part of a page, nor somebody's recorded page."""
    return is_a_page(page.request.get(url))


def is_a_page(answer: APIResponse) -> bool:
    is_html = answer.headers.get("content-type", "").startswith("text/html")
    return is_html and "<main" in answer.text()


def violations(page: Page, url: str) -> Iterator[str]:
    """What axe-core finds grave in both colour schemes, a line each."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.wait_for_timeout(SETTLED_MS)
        for found in Axe().run(page, options=RULES).response["violations"]:
            if found["impact"] in GRAVE:
                where = "; ".join(str(node["target"][0]) for node in found["nodes"][:3])
                yield f"{url} ({scheme}): {found['id']}: {where}: {found['nodes'][0].get('failureSummary', '')}"


def looked_at(app_server: AppServer, page: Page, urls: Iterable[str]) -> tuple[list[str], list[str]]:
    """The addresses that show a page, and what is wrong with them."""
    seen, found = [], []
    for url in urls:
        if shows_a_page(page, app_server.url(url)):
            page.goto(app_server.url(url), wait_until="load")
            seen.append(url)
            found += [f"{url}: out of its place: {one}" for one in page.evaluate(MISPLACED)]
            found += violations(page, url)
    return seen, found


def test_nobody_is_kept_out_of_a_page(app_server: AppServer, page: Page, sign_in, in_thread) -> None:
    sign_in(in_thread(factories.make_superuser))
    seen, found = looked_at(app_server, page, addresses(in_thread(make_world_of_pages)))
    assert len(seen) >= 50, seen
    assert found == [], "\n".join(found)


def test_long_lists_of_organising_keep_nobody_out(app_server: AppServer, page: Page, sign_in, in_thread) -> None:
    """So many sessions and leftovers that both lists scroll."""
    campaign = in_thread(lambda: made_to_scroll(factories.make_campaign()))
    sign_in(in_thread(lambda: factories.make_user("admin", campaign.project)))
    url = reverse("annotate-organise", args=[campaign.pk])
    page.goto(app_server.url(url), wait_until="load")
    page.locator("#right [data-task]").last.wait_for(state="attached")
    for pane in ("Leftovers", "Sessions"):
        assert page.get_by_label(pane, exact=True).evaluate("pane => pane.scrollHeight > pane.clientHeight"), pane
    page.keyboard.press("ArrowRight")
    page.keyboard.press("v")  # with the recorded pages of the row beside them
    page.locator("#peek iframe").first.wait_for(state="attached")
    found = list(violations(page, url))
    assert found == [], "\n".join(found)


def made_to_scroll(campaign: Campaign) -> Campaign:
    for _ in range(20):
        factories.make_session(campaign, steps=1)
        factories.make_conversation(turns=1, steps=1, dataset=campaign.source)
    return campaign


def test_a_recipe_that_has_been_compared_keeps_nobody_out(
    app_server: AppServer, page: Page, sign_in, in_thread
) -> None:
    """Its page has a plot and links that one without runs has not."""
    study, run = in_thread(make_compared)
    sign_in(in_thread(lambda: factories.make_user("admin", study.project)))
    url = reverse("recipe", args=[run.recipe["name"]])
    page.goto(app_server.url(url), wait_until="load")
    assert page.locator(f'a[href="/runs/{run.pk}/"]').count()
    found = list(violations(page, url))
    assert found == [], "\n".join(found)


def test_live_tasks_beside_published_numbers_keep_nobody_out(
    app_server: AppServer, page: Page, sign_in, in_thread
) -> None:
    """Their table is wider and longer than its window, and is moved by keys."""
    study = in_thread(make_played)
    sign_in(in_thread(lambda: factories.make_user("reader", study.project)))
    url = reverse("study-tasks", args=[study.pk])
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto(app_server.url(url), wait_until="load")
    table = page.get_by_role("region", name="Task by task")
    assert page.evaluate("document.documentElement.scrollWidth") == 1280, "what is wider scrolls in its own box"
    assert table.evaluate("box => box.scrollWidth > box.clientWidth && box.scrollHeight > box.clientHeight")
    table.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.scrollLeft > 0")
    page.keyboard.press("End")
    page.wait_for_function("() => document.activeElement.scrollTop > 0")
    top = table.get_by_role("columnheader", name="Synapse").bounding_box()["y"]
    assert top >= table.bounding_box()["y"], "the names of the columns stay in sight"
    found = list(violations(page, url))
    assert found == [], "\n".join(found)


def make_played() -> Study:
    goals = factories.make_dataset(live={"environment": "miniwob", "steps": 20, "seconds": 300})
    runs = [played(goals, {task: [1.0] for task in SYNAPSE[:12]}, seed=seed) for seed in range(4)]
    return factories.make_study(goals.project, runs)


def make_compared() -> tuple[Study, Run]:
    study, run = make_study()
    others = [factories.make_run(run.dataset, split="train", state="done", recipe=run.recipe) for _ in range(4)]
    for one in (run, *others):
        one.studies.add(study)
        add_scores(one, turn_success=0.4, step_success=0.5)
    return study, run


def test_nobody_is_kept_out_before_signing_in(app_server: AppServer, page: Page) -> None:
    _, secret = Invite.objects.issue(makes_superuser=True, days=1)
    seen, found = looked_at(app_server, page, [reverse("login"), reverse("invite", args=[secret]), "/not/there/"])
    assert len(seen) == 3
    assert found == [], "\n".join(found)


def test_an_annotators_own_item_keeps_nobody_out(app_server: AppServer, page: Page, sign_in, in_thread) -> None:
    assignment = in_thread(factories.make_assignment)
    sign_in(assignment.user)
    seen, found = looked_at(app_server, page, [reverse("annotate-item", args=[assignment.pk])])
    assert seen
    assert found == [], "\n".join(found)
