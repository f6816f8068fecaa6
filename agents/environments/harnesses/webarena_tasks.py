"""The audited tasks of WebArena on sites of one's own, in our browser, scored as published. Core.

The package `webarena-verified` tells the tasks and scores a run by its answer and by what the browser has asked for (a
HAR file), so nothing of a site is looked into. An agent ends with its answer (SAY), or stops without one.
"""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agents.environments import acting, browser
from agents.environments.harnesses.bridge import Bridge, HarnessError, listed, python_of
from agents.environments.protocol import ActionEffect, EnvironmentLost, EpisodeStart, NoSuchTask, PageView
from agents.environments.sight import PAGE_SCRIPT, page_view
from agents.types import Action

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Request, StorageState, ViewportSize

NAME, SETTING, PACKAGE, SCRIPT = "webarena", "WEBARENA_PYTHON", "webarena-verified", "webarena_side.py"
SITES = "WA_SHOPPING WA_SHOPPING_ADMIN WA_REDDIT WA_GITLAB WA_WIKIPEDIA WA_MAP WA_HOMEPAGE".split()
STATES = "WA_STATES"  # a folder of states of a browser that is signed in: "shopping.json" and the like
VIEWPORT: "ViewportSize" = {"width": 1280, "height": 720}
SECONDS = 30
AT_REST = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200)))"
NOTHING = '<body backend_node_id="1"/>'


def task_names() -> tuple[str, ...]:
    """The numbers of all tasks. Raises NoSuchTask where the package is not set up."""
    return listed(python_of(SETTING, PACKAGE), SCRIPT, frozenset())


def response(said: str, has_sent: bool) -> Mapping[str, object]:
    """What an agent says at the end, in the published form, unless it is written in that already. `has_sent`: it has
    sent something to a site."""
    with suppress(ValueError):
        told = json.loads(said)
        if isinstance(told, dict) and "task_type" in told:
            return told
        if isinstance(told, list):
            return {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": told}
    if said:
        return {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [said]}
    return {"task_type": "MUTATE" if has_sent else "NAVIGATE", "status": "SUCCESS", "retrieved_data": None}


def signed_in(sites: Sequence[str]) -> "StorageState":
    """The state of a browser that is signed in at these sites, as far as the folder of states knows them."""
    state: StorageState = {"cookies": [], "origins": []}
    folder = os.environ.get(STATES)
    for path in (Path(folder) / f"{site}.json" for site in sites) if folder else ():
        if path.exists():
            kept = json.loads(path.read_text("utf-8"))
            state["cookies"] += kept.get("cookies", [])
            state["origins"] += kept.get("origins", [])
    return state


class WebArenaEnvironment(browser.OwnBrowser):
    """One task at a time, each in a context of its own. Only the sites of WebArena have an address."""

    def __init__(self) -> None:
        """Raises NoSuchTask where the package is not set up, NoBrowser."""
        self._bridge = Bridge(python_of(SETTING, PACKAGE), SCRIPT, {})
        hosts = sorted({str(urlsplit(os.environ[name]).hostname) for name in SITES if os.environ.get(name)})
        super().__init__(
            "--host-resolver-rules=" + ", ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {one}" for one in hosts)])
        )
        self._context: BrowserContext | None = None
        self._folder = Path(tempfile.mkdtemp())

    def tasks(self) -> Sequence[str]:
        return task_names()

    def reset(self, task: str, seed: int) -> EpisodeStart:
        """Open the first pages of a task; raises NoSuchTask, and EnvironmentLost where they do not open."""
        try:
            told = self._bridge.ask("task", task=task)
        except HarnessError as error:
            raise NoSuchTask(f"WebArena has no task {task!r}: {error}") from error
        if told["lacking"]:
            sites, lacking = " and ".join(told["sites"]), ", ".join(told["lacking"])
            raise NoSuchTask(f"task {task} is on {sites}: say in {lacking} where that stands")
        self._end_recording()
        self._task, self._has_sent, self._har = task, False, self._folder / f"{task}.har"
        self._context = self._browser.new_context(
            viewport=VIEWPORT, record_har_path=self._har, storage_state=signed_in(told["sites"])
        )
        self._context.set_default_timeout(SECONDS * 1000)
        self._context.add_init_script(PAGE_SCRIPT)
        for url in told["start"]:
            self._page = self._context.new_page()
            said = acting.carry_out(self._page, partial(self._load, url))
            if said.startswith("not done"):
                raise EnvironmentLost(f"{url} does not open: {said}")
        self._page = self._context.pages[0]
        self._context.on("page", self._follow)
        self._context.on("request", self._note)
        self._settle()
        return EpisodeStart(" ".join(told["goal"].split()), self.observe(), (told["sites"][0], NAME, NAME))

    def _follow(self, page: "Page") -> None:
        self._page = page

    def _note(self, request: "Request") -> None:
        self._has_sent |= request.method in ("POST", "PUT", "PATCH", "DELETE")

    def _load(self, url: str) -> str:
        page = self._current()
        if url == "back":
            page.go_back()
            return "went back"
        if urlsplit(url).scheme not in ("http", "https"):
            raise acting.CannotAct(f"{url[:200]} is no address of a website")
        page.goto(url)
        return f"opened {url}"

    def _settle(self) -> None:
        from playwright.sync_api import Error

        with suppress(Error):  # a page that never ends loading is shown as far as it is
            self._current().evaluate(AT_REST)
            self._current().wait_for_load_state("load")

    def observe(self) -> PageView:
        page = self._current()
        try:
            return page_view(page)
        except ValueError:
            return PageView(NOTHING, page.url, 1, {})

    def step(self, action: Action) -> ActionEffect:
        """Do an action; with an answer, or a stop, the run is over and scored."""
        page = self._current()
        if action.operation in ("SAY", "STOP"):
            return self._end(action.value)
        does = (lambda: self._load(action.value)) if action.operation == "LOAD" else (lambda: acting.act(page, action))
        words = acting.carry_out(page, does)
        self._settle()
        return ActionEffect(words, 0.0, False, self.observe())

    def _end(self, said: str) -> ActionEffect:
        view, told = self.observe(), response(said, self._has_sent)
        self._end_recording()
        try:
            came = self._bridge.ask("score", task=self._task, response=told, har=str(self._har))
        except HarnessError as error:
            raise EnvironmentLost(f"the run cannot be scored: {error}") from error
        words = f"answered {json.dumps(told)}" if said else "stopped"
        return ActionEffect(f"{words}; scored {came['score']:g} ({came['said']})", came["score"], True, view)

    def _end_recording(self) -> None:
        """Close the context, with which what it asked for is written."""
        if self._context is not None:
            self._context.close()
            self._context = None

    def close(self) -> None:
        super().close()
        self._bridge.close()
