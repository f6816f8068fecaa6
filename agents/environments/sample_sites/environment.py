"""The sample's conversations as episodes of several turns, in a browser on its working websites. Core; runs in a
process of its own (`worker.py`), which serves the sites too.

A turn is over when the agent says so (STOP), when all that was asked for is there (the user watches the page, as no
recipe so far says that it is done), or after its limit. Then the user says the next, whatever has come of this one:
what was not done is missing from there on. Checks read the state of the site, never the page.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents.environments import acting, browser
from agents.environments.protocol import ActionEffect, EnvironmentLost, EpisodeStart, NoSuchTask, PageView, TurnEnd
from agents.environments.sample_sites.markup import tree
from agents.environments.sample_sites.server import SiteServer
from agents.types import Action
from annotations.sample.build import SITES
from annotations.sample.goals import ConversationGoals, TurnGoal, conversations
from annotations.sample.missing import AskedUser, hidden_parts, shortened
from annotations.sample.nodes import SampleNode, VisitState
from annotations.sample.snapshot import action_repr, candidates, cleaned_xml, raw_xml
from annotations.sample.visit import Disturbance, SiteVisit

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

VIEWPORT = {"width": 1280, "height": 900}
SECONDS = 10  # for one call to the browser
# Only the sites have an address; a page that asked for another would get no answer.
RESOLVER = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE *.localhost"
READ = (Path(__file__).parent / "read.js").read_text("utf-8")
FREE_POINT = (Path(__file__).parents[1] / "page.js").read_text("utf-8")
NUMBERS = """
window.webnavPage.element = (number) => document.querySelector(`[data-n="${number}"]`);
window.webnavPage.numbered = () => [...document.querySelectorAll("[data-n]")].map((one) => [one.dataset.n, one]);
window.webnavPage.number = (element) => element.dataset?.n ? Number(element.dataset.n) : null;
"""
AT_REST = """limit => new Promise((done) => {
  const began = performance.now();
  const look = () => {
    const rests = window.webnavSite !== undefined && !window.webnavSite.busy();
    if (rests || performance.now() - began > limit) done(rests); else setTimeout(look, 2);
  };
  look();
})"""
ENTERS = """number => {
  const field = document.querySelector(`[data-n="${number}"]`);
  return field instanceof HTMLInputElement && "field" in field.dataset && "on" in field.dataset && field.value !== "";
}"""


def turn_limit(goal: TurnGoal) -> int:
    """How many actions a turn may take."""
    return 2 * len(goal.actions) + 3


class SampleSitesEnvironment(browser.OwnBrowser):
    """The sample's websites in one browser, one visit at a time. `asking`: the user leaves something out of some turns,
    and tells it when the agent asks."""

    def __init__(self, asking: bool = False) -> None:
        """Start the websites and the browser. Raises NoBrowser."""
        super().__init__(RESOLVER)
        self.asking = asking
        self.server = SiteServer()
        self.server.start()
        self._context: BrowserContext | None = None

    def tasks(self) -> Sequence[str]:
        return tuple(conversations())

    def reset(self, task: str, seed: int) -> EpisodeStart:
        """Begin a conversation on a website in its first state; raises NoSuchTask."""
        if task not in conversations():
            raise NoSuchTask(f"the sample has no conversation {task!r}")
        goals = conversations()[task]
        start = VisitState(page="home", **goals.start)
        visit = SiteVisit(SITES[goals.website], start, Disturbance.of(task, seed))
        self._begin(visit)
        self._conversation = _TalkingUser(goals, visit, self.asking)
        first, *later = self._conversation.instructions
        site = self.visit.site
        where = (site.NAME, site.DOMAIN, site.SUBDOMAIN)
        return EpisodeStart(first, self.observe(), where, tuple(later), goals.split)

    def _begin(self, visit: SiteVisit) -> None:
        self.visit = visit
        page = self._new_page()
        page.goto(self.server.address(visit, self.server.begin(visit)))
        self._settle()

    def _new_page(self) -> "Page":
        if self._context is not None:
            self._context.close()
        self._context = self._browser.new_context(viewport=VIEWPORT)  # type: ignore[arg-type]
        self._context.set_default_timeout(SECONDS * 1000)
        self._context.add_init_script(FREE_POINT + NUMBERS)
        self._page = self._context.new_page()
        return self._page

    def observe(self) -> PageView:
        page = self._current()
        root = tree(json.loads(page.evaluate(READ)))
        offered = candidates(root)
        labels = SampleNode("html", {}, [node for node in root.walk() if node.tag == "label"])
        names = {node.node_id: action_repr(labels, node, "", "").removesuffix(" -> ") for node in offered}
        html = cleaned_xml(raw_xml(root), [node.node_id for node in offered])
        return PageView(html, page.url, html.count("backend_node_id="), names)

    def step(self, action: Action) -> ActionEffect:
        """Do an action, wait until the page is at rest, and look whether the turn is over."""
        said = ""
        if action.operation == "SAY":
            said = self._conversation.user.answer(action.value)
            words = f"the user says: {said}"
        else:
            words = acting.carry_out(self._current(), lambda: self._act(action))
        self._settle()
        words = self._with_problem(words)
        conversation = self._conversation
        ended = conversation.after(action)
        if ended is not None:
            words += f"; the turn is over, {'as asked' if ended.reached else 'not as asked'}"
        done = conversation.is_over
        return ActionEffect(words, conversation.reward if done else 0.0, done, self.observe(), said, ended)

    def _with_problem(self, words: str) -> str:
        problem = self.visit.state["own-problem"]
        return f"{words}; the page says: {problem}" if problem else words

    def _act(self, action: Action) -> str:
        page = self._current()
        if action.operation == "LOAD" and action.value == "back":
            page.evaluate("() => history.back()")
            page.wait_for_timeout(50)  # popstate comes by itself
            return "went back"
        # What was typed is handed over by the enter key: Mind2Web records it as a click on the field.
        number = action.node_id or ""
        if action.operation == "CLICK" and number.isdecimal() and page.evaluate(ENTERS, number):
            return acting.act(page, Action("PRESS", number, "Enter"))
        return acting.act(page, action)

    def _settle(self) -> None:
        if not self._current().evaluate(AT_REST, SECONDS * 1000):
            raise EnvironmentLost("the page does not come to rest")

    def close(self) -> None:
        super().close()
        self.server.stop()


class FreeVisits(SampleSitesEnvironment):
    """Visits for which nobody has written a goal: a task is a website, and whoever acts says when all is done."""

    def tasks(self) -> Sequence[str]:
        return tuple(sorted(SITES))

    def reset(self, task: str, seed: int) -> EpisodeStart:
        if task not in SITES:
            raise NoSuchTask(f"the sample has no website {task!r}")
        site = SITES[task]
        self._begin(SiteVisit(site, VisitState(page="home"), Disturbance.of(task, seed)))
        return EpisodeStart("", self.observe(), (site.NAME, site.DOMAIN, site.SUBDOMAIN))

    def step(self, action: Action) -> ActionEffect:
        said = action.operation == "SAY"
        words = "said" if said else acting.carry_out(self._current(), lambda: self._act(action))
        self._settle()
        return ActionEffect(self._with_problem(words), 0.0, action.operation == "STOP", self.observe())


class _TalkingUser:
    """How far an episode has come in its conversation: the turns that ended, and the current one."""

    def __init__(self, goals: ConversationGoals, visit: SiteVisit, asking: bool) -> None:
        self.goals, self.visit = goals, visit
        hidden = hidden_parts() if asking else {}
        self.hidden = [hidden.get((goals.name, index), ()) for index in range(len(goals.turns))]
        self.ended: list[TurnEnd] = []
        self._begin()

    @property
    def instructions(self) -> list[str]:
        """What the user says, turn by turn."""
        return [shortened(turn.instruction, parts) for turn, parts in zip(self.goals.turns, self.hidden, strict=True)]

    def _begin(self) -> None:
        self.steps = 0
        self.told_after: int | None = None
        self.user = AskedUser(() if self.is_over else self.hidden[len(self.ended)])
        self.before, self.problems = VisitState(self.visit.state), self.visit.problems

    @property
    def is_over(self) -> bool:
        return len(self.ended) == len(self.goals.turns)

    @property
    def reward(self) -> float:
        """The share of the conversation's turns whose goal was reached."""
        return sum(turn.reached for turn in self.ended) / len(self.goals.turns)

    def after(self, action: Action) -> TurnEnd | None:
        """Count an action; how the turn ended where this action ends it, else None."""
        goal = self.goals.turns[len(self.ended)]
        if self.told_after is None and self.user.told:
            self.told_after = self.steps
        self.steps += 1
        reached = not goal.missing(self.visit.state)
        rests = reached and not self.visit.state["picker"]  # while suggestions are open, more is to come
        if not rests and action.operation != "STOP" and self.steps < turn_limit(goal):
            return None
        end = TurnEnd(
            reached,
            self.steps,
            len(goal.actions),
            self.visit.problems - self.problems,
            tuple(goal.side_effects(self.before, self.visit.state)),
            self.user.asked,
            bool(self.user.parts),
            self.told_after,
        )
        self.ended.append(end)
        self._begin()
        return end
