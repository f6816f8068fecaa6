"""The first hour of a newcomer: a clean data folder, `manage.py up` as `make run` calls it, and the sample that it
builds by itself. Without a network, from the first page on every recipe is ready or says how long that takes; soon
studies with real numbers are on everybody's home, and every role has something to do."""

import os
import re
import signal
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

import pytest
from playwright.sync_api import BrowserContext, Page

from agents.recipes.literature import RECIPES
from evaluation.studies.sample import AGENTS, COMPARED, VARIANTS
from tests.web.running_up import data_folder, free_port, left_running, start, wait_until_healthy

pytestmark = [pytest.mark.slow, pytest.mark.whole_app, pytest.mark.browser]

MOST_SECONDS = 45 * 60  # what is waited for takes three minutes of two cores; others may have them meanwhile
TOLD = re.compile(
    r"\bready\b|(being prepared( with the sample)?,|waits for its turn, (then|done in)) "
    r"((about|more than) \d+|under 1) (s|min|h)"
)
ROLES = ("annotator", "reviewer", "admin")  # who manages and compares agents, too


@dataclass(frozen=True)
class FirstHour:
    """The started app, and the passwords that it has printed."""

    origin: str
    passwords: dict[str, str]


class Outside(socketserver.ThreadingTCPServer):
    """The proxy to all that is not this machine, which notes who asks for what, and lets nobody through."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _TurnedAway)
        self.asked: list[str] = []

    @property
    def environment(self) -> dict[str, str]:
        address = f"http://127.0.0.1:{self.server_address[1]}"
        named = {f"{name}_PROXY": address for name in ("HTTP", "HTTPS", "ALL")}
        local = {"NO_PROXY": "localhost,127.0.0.1,::1"}
        return named | local | {name.lower(): value for name, value in (named | local).items()}


class _TurnedAway(socketserver.StreamRequestHandler):
    server: Outside

    def handle(self) -> None:
        self.server.asked.append(self.rfile.readline().decode("latin-1").strip())


@pytest.fixture(scope="module")
def first_hour() -> Iterator[FirstHour]:
    with data_folder() as var, Outside() as outside:
        threading.Thread(target=outside.serve_forever, daemon=True).start()
        told = var / "told"
        with told.open("w") as out:
            port = free_port()
            process = start(var, port, "--sample", "yes", stdout=out, changed=outside.environment)
            try:
                wait_until_healthy(port, 600)
                yield FirstHour(f"http://localhost:{port}", printed(told))
            finally:
                stop_in_a_hurry(process)
                outside.shutdown()
        assert outside.asked == [], "the app works without a network"
        assert "Traceback" not in told.read_text()
        assert left_running(var) == []


def printed(told: Path) -> dict[str, str]:
    """Name -> password of the demo accounts, as a newcomer reads them."""
    return dict(re.findall(r"^ +(\w+) +password (\S+)", told.read_text(), re.MULTILINE))


def stop_in_a_hurry(process: Popen) -> None:
    """A worker that trains would end its batch first."""
    for _ in range(2):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.5)
    process.wait(timeout=90)


@pytest.fixture
def as_role(first_hour: FirstHour, browser_context: BrowserContext, page: Page) -> Callable[[str], Page]:
    """`as_role(name)` is the first page, after this demo account has signed in by the form."""

    def signed_in(name: str) -> Page:
        browser_context.set_default_timeout(120_000)
        page.goto(first_hour.origin)
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password", exact=True).fill(first_hour.passwords[name])
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Home").wait_for()
        return page

    return signed_in


def wait_for(page: Page, path: str, fact: Callable[[], bool]) -> None:
    """Read a page until the fact is on it; what went wrong in the jobs of the sample is said at once."""
    origin = re.match(r"https?://[^/]+", page.url)
    assert origin is not None
    deadline = time.monotonic() + MOST_SECONDS
    while True:
        page.goto(origin[0] + path)
        if fact():
            return
        jobs = page.request.get(f"{origin[0]}/api/jobs/").json()["results"]
        assert [job for job in jobs if job["state"] not in ("queued", "running", "done")] == []
        assert time.monotonic() < deadline, page.locator("main").inner_text()
        page.wait_for_timeout(1000)


def words(page: Page) -> str:
    return " ".join(page.locator("main").inner_text().split())


def card(page: Page, heading: str) -> Callable[[], bool]:
    return lambda: page.locator(".card", has_text=heading).count() > 0


def told_of_recipes(page: Page, origin: str) -> dict[str, str]:
    """Recipe -> what its row in the list says of whether it can run here."""
    page.goto(f"{origin}/recipes/")
    rows = page.locator("table.recipes tbody tr:not(.family)")
    cells = rows.evaluate_all(
        "rows => rows.map(row => [row.querySelector('a.strong').innerText, row.cells[1].innerText])"
    )
    return {name: " ".join(said.split()) for name, said in cells}


def test_from_the_first_page_on_every_recipe_is_ready_or_says_how_long_that_takes(
    first_hour: FirstHour, as_role: Callable[[str], Page]
) -> None:
    page, deadline = as_role("admin"), time.monotonic() + MOST_SECONDS
    while True:
        told = told_of_recipes(page, first_hour.origin)
        assert told.keys() >= RECIPES.keys()
        assert {name: said for name, said in told.items() if not TOLD.search(said)} == {}
        if "being prepared with the sample" not in " ".join(told.values()):
            break
        assert time.monotonic() < deadline, told
        page.wait_for_timeout(2000)
    assert {name for name in told if name not in RECIPES} == {*VARIANTS}, "the sample's own, ready as well"
    assert all("ready" in told[name] for name in (*COMPARED.recipes, "grounded-world-model", "synapse-miniwob"))


def test_studies_with_real_numbers_are_on_the_home_of_everybody(as_role: Callable[[str], Page]) -> None:
    page = as_role("admin")
    origin = re.match(r"https?://[^/]+", page.url)
    assert origin is not None
    intervals = page.locator(".intervals svg[role=img]")
    wait_for(page, "/", lambda: intervals.count() > 1)
    wait_for(page, "/", lambda: "Steps to judge" in page.content())  # asked for once the first study is over
    assert numbers(page)
    runs = page.request.get(f"{origin[0]}/api/runs/?page_size=100").json()["results"]
    done = [run for run in runs if run["state"] == "done" and run["recipe_name"] in COMPARED.recipes]
    assert sum(run["step_count"] for run in done) > 500, "every number is of steps that were decided here"
    page.goto(f"{origin[0]}/recipes/grounded/")
    assert len(set(numbers(page))) > 1, "they tell what grounded loses without each of its parts"
    for name in ROLES[:2]:
        page.context.clear_cookies()
        assert len(numbers(as_role(name))) > 1, name


def numbers(page: Page) -> list[tuple[float, float, float]]:
    """Value and interval of each that is drawn on the page."""
    labels = page.locator("svg[role=img][aria-label*=', from ']")
    found = [
        re.fullmatch(r"([\d.]+), from ([\d.]+) to ([\d.]+)", said.get_attribute("aria-label") or "")
        for said in labels.all()
    ]
    values = [(float(one[1]), float(one[2]), float(one[3])) for one in found if one is not None]
    assert len(values) == len(found)
    assert all(0 <= low <= value <= high <= 100 for value, low, high in values)
    return values


def test_an_annotator_corrects_what_was_returned_first_and_finds_more_to_do(as_role: Callable[[str], Page]) -> None:
    page = as_role("annotator")
    wait_for(page, "/", card(page, "Returned to you"))
    assert card(page, "To decompose")()
    assert card(page, "To rewrite")()
    assert re.search(r"\d+ items wait for you", words(page))
    page.keyboard.press("1")
    page.wait_for_url(re.compile(r"/annotate/assignments/\d+/"))
    assert page.locator("main").inner_text().strip()


def test_a_reviewer_verifies_and_is_told_which_runs_to_look_at(as_role: Callable[[str], Page]) -> None:
    page = as_role("reviewer")
    wait_for(page, "/", card(page, "To verify"))
    assert not card(page, "To decompose")()
    page.keyboard.press("1")
    page.wait_for_url(re.compile(r"/annotate/verify/\d+/"))
    wait_for(page, "/", lambda: "Runs to look at" in page.content())
    page.locator("section", has_text="Runs to look at").get_by_role("link").first.click()
    page.wait_for_url(re.compile(r"/runs/\d+/\?order=worst"))


def test_a_manager_sees_what_holds_each_campaign_up_and_one_that_is_released(as_role: Callable[[str], Page]) -> None:
    page = as_role("admin")
    wait_for(page, "/", lambda: "nobody is at it" in words(page))
    assert re.search(r"Sample pilot .*?\d+ items to decompose, and nobody is at it", words(page))
    page.goto(page.url + "annotate/campaigns/")
    assert re.search(r"Sample errands Sample . sample-tasks closed 8 of 8", words(page))
    page.goto(page.url.replace("annotate/campaigns/", "datasets/sample-errands/releases/"))
    assert "1.1" in words(page)


def test_a_researcher_finds_all_agents_compared_and_is_told_what_to_do_next(
    first_hour: FirstHour, as_role: Callable[[str], Page]
) -> None:
    page = as_role("admin")

    def many_are_ready() -> bool:
        told = told_of_recipes(page, first_hour.origin)
        assert {name: said for name, said in told.items() if not TOLD.search(said)} == {}
        return sum("ready" in said for said in told.values()) > len(told) / 2

    wait_for(page, "/recipes/", many_are_ready)
    wait_for(page, "/studies/", lambda: all(one.name in words(page) for one in AGENTS))
    page.goto(first_hour.origin)
    assert page.locator("#next-thing").count() == 1
    page.get_by_role("link", name="where it fails").click()
    page.wait_for_url(re.compile(r"/studies/\d+/failures/"))
