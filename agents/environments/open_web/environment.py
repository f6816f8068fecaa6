"""A browser on websites of others. Core; runs in a process of its own (`worker.py`).

A task is an address, with what is to be done behind it: "https://example.org/ Find the opening hours". Nobody but
whoever watches knows whether it was reached, so there is no reward. Pages are asked for one by one, redirects too, so
that each is held to the list, to the site's robots.txt and to its pace.
"""

import html
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from agents.environments import acting, browser
from agents.environments.open_web.door import WayOut
from agents.environments.open_web.hosts import AllowedHosts, NotListed
from agents.environments.open_web.manners import AGENT, Manners, through
from agents.environments.protocol import ActionEffect, EnvironmentLost, EpisodeStart, NoSuchTask, PageView
from agents.environments.sight import PAGE_SCRIPT, page_view
from agents.types import Action

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Route, ViewportSize

NAME = "open-web"
VIEWPORT: "ViewportSize" = {"width": 1280, "height": 900}
SECONDS = 15  # for one call to the browser, or for a page to be there
# Nothing goes around the proxy: no name is looked up, and no connection between browsers is made.
ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
# A redirect becomes a page that leads on: the browser would follow it without asking.
HOP = '<!doctype html><html data-webnav-hop><meta http-equiv="refresh" content="0;url={}"></html>'
HAS_HOPPED = "() => document.readyState === 'complete' && !('webnavHop' in document.documentElement.dataset)"
LEADS_ON = "() => 'webnavHop' in document.documentElement.dataset"
AT_REST = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))"
LEAVES_NO_PAGE = 204
LONGEST_TASK = 180  # characters, as goals are called after it
NOTHING = '<body backend_node_id="1"/>'  # a page of others may be empty


def task_names() -> list[str]:
    """The first page of each host. Any other address on them is a task as well. Raises NoSuchTask where it is off."""
    return AllowedHosts.told().start_pages()


def where_to() -> str:
    """What may be named as a task, as a sentence. Raises NoSuchTask where it is off."""
    hosts = AllowedHosts.told().entries
    example = next(iter(task_names()), f"http://www.{hosts[0].removeprefix('*.')}/")
    return (
        f"There is no list to choose from: any address on {' or '.join(hosts)} is a task. Name each in a line of its "
        f"own, with what is to be done behind it: “{example} Find the opening hours”."
    )


def told_task(task: str) -> tuple[str, str]:
    """(address, what is to be done) of a task. Raises NoSuchTask, and NotListed where it may not be opened."""
    url, _, words = task.strip().partition(" ")
    if len(task) > LONGEST_TASK:
        raise NotListed(f"an address with what is to be done has at most {LONGEST_TASK} characters")
    AllowedHosts.told().check(url)
    return url, " ".join(words.split())


def host_of(url: str) -> str:
    """The host of an address that may be opened. Raises NoSuchTask and NotListed."""
    return str(AllowedHosts.told().check(url).hostname)


def with_words(tasks: Sequence[str]) -> list[str]:
    """These tasks, of which agents must be told what is to be done. Raises ValueError."""
    AllowedHosts.told()
    for task in tasks:
        url, words = told_task(task)
        if not words:
            raise ValueError(f"say behind the address what is to be done: '{url} Find the opening hours'")
    return list(tasks)


class OpenWebEnvironment(browser.OwnBrowser):
    """One visit at a time, each in a context of its own, so that no cookie of one is told in another."""

    def __init__(self) -> None:
        """Raises NoSuchTask where the open web is off, NoBrowser."""
        self._door = WayOut(AllowedHosts.told())
        self._door.start()
        super().__init__(*ARGUMENTS, proxy=self._door.address)
        self._context: BrowserContext | None = None
        self._notes: list[str] = []

    def tasks(self) -> Sequence[str]:
        return task_names()

    def reset(self, task: str, seed: int) -> EpisodeStart:
        """Open the task's address; raises NoSuchTask, and EnvironmentLost where it does not open."""
        try:
            url, words = told_task(task)
        except NotListed as error:
            raise NoSuchTask(str(error)) from error
        if self._context is not None:
            self._context.close()
        self._manners = Manners(through(self._door.address))
        self._context = self._browser.new_context(
            viewport=VIEWPORT,
            user_agent=f"Mozilla/5.0 (X11; Linux x86_64) Chrome/{self._browser.version} {AGENT}/1.0",
            accept_downloads=False,
            service_workers="block",
        )
        self._context.set_default_timeout(SECONDS * 1000)
        self._context.add_init_script(PAGE_SCRIPT)
        self._context.route("**/*", self._let)
        self._context.on("page", self._follow)
        self._page = self._context.new_page()
        said = acting.carry_out(self._page, lambda: self._load(url))
        self._settle()
        notes = self._told()
        if self._page.url == "about:blank":
            raise EnvironmentLost(f"{url} does not open: {said}{notes}")
        return EpisodeStart(words, self.observe(), (host_of(url), NAME, NAME))

    def _follow(self, page: "Page") -> None:
        self._page = page  # a link may open another window

    def _let(self, route: "Route") -> None:
        """Let a request through. Of what is no page the door decides alone."""
        from playwright.sync_api import Error

        if not route.request.is_navigation_request():
            route.continue_()
            return
        url = route.request.url
        try:
            self._door.hosts.check(url)
            reason = self._manners.refusal(url)
        except NotListed as error:
            reason = str(error)
        if reason:
            self._notes.append(reason)
            route.fulfill(status=LEAVES_NO_PAGE)
            return
        self._manners.wait(url)
        try:
            self._fetch(route, url)
        except Error as error:
            self._notes.append(f"{url[:200]} does not answer: {str(error).splitlines()[0]}")
            route.fulfill(status=LEAVES_NO_PAGE)

    def _fetch(self, route: "Route", url: str) -> None:
        answer = route.fetch(max_redirects=0, timeout=SECONDS * 1000)
        location = answer.headers.get("location")
        if not (300 <= answer.status < 400 and location):
            route.fulfill(response=answer)
            return
        if answer.status in (307, 308) and route.request.method != "GET":
            self._notes.append(f"{url[:200]} sends what was filled in to another address")
            route.fulfill(status=LEAVES_NO_PAGE)
            return
        led = html.escape(urljoin(url, location), quote=True)
        route.fulfill(status=200, content_type="text/html", body=HOP.format(led))

    def _load(self, url: str) -> str:
        page = self._current()
        if url == "back":
            page.go_back()
            return "went back"
        try:
            self._door.hosts.check(url)
        except NotListed as error:
            raise acting.CannotAct(str(error)) from error
        page.goto(url)
        return f"opened {url}"

    def _settle(self) -> None:
        """Wait until the page is there, and what it leads to, for some seconds at most."""
        from playwright.sync_api import Error

        if self._context is not None and self._current().is_closed() and self._context.pages:
            self._page = self._context.pages[-1]
        page = self._current()
        ends = time.monotonic() + SECONDS
        with suppress(Error):
            page.evaluate(AT_REST)
        while time.monotonic() < ends and not self._is_there(page):  # one that never ends is shown as far as it is
            page.wait_for_timeout(50)
        with suppress(Error):
            if page.evaluate(LEADS_ON):  # to where nobody may go
                page.go_back()
            page.evaluate(AT_REST)

    def _is_there(self, page: "Page") -> bool:
        from playwright.sync_api import Error

        with suppress(Error):  # it is just going over to another page
            return bool(self._notes) or bool(page.evaluate(HAS_HOPPED))
        return False

    def observe(self) -> PageView:
        page = self._current()
        try:
            return page_view(page)
        except ValueError:
            return PageView(NOTHING, page.url, 1, {})

    def step(self, action: Action) -> ActionEffect:
        """Do an action and wait for the page."""
        if action.operation in ("STOP", "SAY"):
            words = "stopped" if action.operation == "STOP" else "said"
            return ActionEffect(words, 0.0, action.operation == "STOP", self.observe())
        page = self._current()
        if action.operation == "LOAD":
            words = acting.carry_out(page, lambda: self._load(action.value))
        else:
            words = acting.carry_out(page, lambda: acting.act(page, action))
        self._settle()
        return ActionEffect(words + self._told(), 0.0, False, self.observe())

    def _told(self) -> str:
        """What was refused since it was last asked."""
        notes = list(dict.fromkeys([*self._notes, *self._door.refused]))
        self._notes.clear()
        self._door.refused.clear()
        return "".join(f"; refused: {note}" for note in notes)

    def close(self) -> None:
        super().close()
        self._door.shutdown()
        self._door.server_close()
