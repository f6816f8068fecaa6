"""MiniWoB++: the pages of the PyPI package `miniwob` in a Chromium, seeded, each opened once and used again.

Core; runs in a process of its own (`worker.py`). A reset is `Math.seedrandom` with the number that BrowserGym draws for
the same seed, so goals are the same there. The reward is the raw one, without the discount for
time, and agents have as long as they need: MiniWoB++ would end an episode after 10 seconds.
"""

import importlib.util
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agents.environments import acting, browser
from agents.environments.protocol import ActionEffect, EpisodeStart, NoSuchTask, PageView
from agents.environments.sight import PAGE_SCRIPT, page_view
from agents.types import Action

if TYPE_CHECKING:
    from playwright.sync_api import Page

VIEWPORT = {"width": 332, "height": 214}  # 160 by 210 are the task's own
KEPT_PAGES = 12
SECONDS = 10  # for one call to the browser
LONGEST = 3_600_000  # milliseconds of an episode
SEEDS = 1_000_000  # of the page; BrowserGym draws one of so many
# A running episode is ended without a reward: its timer would end the next one.
RESET = """([seed, longest]) => {
  if (core.EP_TIMER !== null) { clearTimeout(core.EP_TIMER); core.EP_TIMER = null; }
  core.EPISODE_MAX_TIME = longest;
  Math.seedrandom(seed);
  core.startEpisodeReal();
  window.webnavPage.restart();
}"""
READY = "() => typeof WOB_TASK_READY === 'undefined' || WOB_TASK_READY"
GOAL = """() => {
  const said = core.getUtterance();
  return (typeof said === "string" ? said : said.utterance).replace(/\\s+/g, " ").trim();
}"""
# As Synapse reads it: the task's own part of the page, of some tasks with what they open beside it.
MARKUP = """beside => {
  const parts = [document.querySelector("#wrap").outerHTML];
  const own = ["reward-display", "click-canvas", "sync-task-cover", "wrap"];
  if (beside) for (const one of document.body.children) if (!own.includes(one.id)) parts.push(one.outerHTML);
  return parts.join("\\n");
}"""
OPENS_BESIDE = frozenset({"click-dialog", "click-dialog-2", "use-autocomplete", "choose-date"})
STATE = "() => ({done: WOB_DONE_GLOBAL, reward: WOB_RAW_REWARD_GLOBAL, reason: WOB_REWARD_REASON})"
# At rest: nothing moves any more, a menu has opened, and a list that was typed for is there (jQuery UI waits 300 ms).
SETTLE = """operation => new Promise((done) => {
  const began = performance.now();
  const moves = () => {
    if (window.jQuery && window.jQuery(":animated").length) return true;
    return document.getAnimations().some((one) =>
      one.playState === "running" && one.effect.getComputedTiming().endTime !== Infinity);
  };
  const waits = () => operation === "TYPE" && document.activeElement?.classList.contains("ui-autocomplete-input") &&
    ![...document.querySelectorAll(".ui-autocomplete")].some((list) => list.offsetParent !== null);
  const look = () => {
    const since = performance.now() - began;
    const opens = operation === "HOVER" && since < 350;
    if (opens || (moves() && since < 1500) || (waits() && since < 500)) requestAnimationFrame(look); else done();
  };
  requestAnimationFrame(look);
})"""


@lru_cache(maxsize=1)
def html_folder() -> Path:
    """The folder where the package `miniwob` keeps its pages, found without importing it, as that would need gymnasium.
    Raises NoSuchTask where it is not installed."""
    found = importlib.util.find_spec("miniwob")
    if found is None or found.origin is None:
        raise NoSuchTask("the tasks of MiniWoB++ are not here: the package `miniwob` is not installed")
    return Path(found.origin).parent / "html" / "miniwob"


@lru_cache(maxsize=1)
def task_names() -> tuple[str, ...]:
    """Every task of the package, by name. Raises NoSuchTask where it is not installed."""
    return tuple(sorted(path.stem for path in html_folder().glob("*.html")))


def page_seed(seed: int) -> int:
    """The number that a page's chance is seeded with: the one that BrowserGym draws for the same seed."""
    return int(np.random.RandomState(seed).randint(0, SEEDS))


class MiniwobEnvironment(browser.OwnBrowser):
    """The tasks of MiniWoB++ in one browser. Pages of the tasks begun last stay open, to be used again."""

    def __init__(self) -> None:
        """Start the browser, which has no network. Raises NoBrowser."""
        super().__init__()
        self._context = self._browser.new_context(viewport=VIEWPORT, offline=True)  # type: ignore[arg-type]
        self._context.set_default_timeout(SECONDS * 1000)
        self._context.add_init_script(PAGE_SCRIPT)
        self._pages: OrderedDict[str, Page] = OrderedDict()
        self._task = ""

    def tasks(self) -> Sequence[str]:
        return task_names()

    def reset(self, task: str, seed: int) -> EpisodeStart:
        """Begin an episode; raises NoSuchTask."""
        if task not in task_names():
            raise NoSuchTask(f"MiniWoB++ has no task {task!r}")
        page = self._page = self._page_of(task)
        page.mouse.move(0, 0)
        page.evaluate(RESET, [page_seed(seed), LONGEST])
        page.wait_for_function(READY)
        page.evaluate(SETTLE, "")
        self._task = task
        return EpisodeStart(page.evaluate(GOAL), self.observe())

    def _page_of(self, task: str) -> "Page":
        if task not in self._pages:
            page = self._pages[task] = self._context.new_page()
            page.goto((html_folder() / f"{task}.html").as_uri())
            page.wait_for_function("() => typeof core !== 'undefined' && core.cover_div !== null")
            if len(self._pages) > KEPT_PAGES:
                self._pages.popitem(last=False)[1].close()
        self._pages.move_to_end(task)
        return self._pages[task]

    def observe(self) -> PageView:
        page = self._current()
        return replace(page_view(page), markup=page.evaluate(MARKUP, self._task in OPENS_BESIDE))

    def step(self, action: Action) -> ActionEffect:
        """Do an action and wait until the page is at rest."""
        page = self._current()
        words = acting.carry_out(page, lambda: acting.act(page, action))
        page.evaluate(SETTLE, action.operation)
        state = page.evaluate(STATE)
        done = bool(state["done"])
        if done:
            words += f"; the task has ended with reward {state['reward']:g}"
            words += f" ({state['reason']})" if state["reason"] else ""
        return ActionEffect(words, float(state["reward"]) if done else 0.0, done, self.observe())
