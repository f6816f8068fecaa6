"""Episodes that another harness runs: it shows a page, and is told what a recipe would do there. Nothing is stored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from agents.environments.harnesses.browsergym_tasks import action_text
from agents.environments.harnesses.cube_tasks import NotInCube, cube_actions
from agents.environments.harnesses.snapshots import RecordedPage, recorded_page
from agents.environments.harnesses.told_markup import ToldPage, told_page
from agents.environments.protocol import PageView
from agents.pipeline import Pipeline
from agents.types import Action, Decision, Observation, PastAction, RecordedStep


@dataclass(frozen=True)
class ShownPage:
    """A page that a harness shows. `say`: an action in the harness's words; ValueError where it has none for it."""

    view: PageView
    say: Callable[[Action], Any]


@dataclass(frozen=True)
class Harness:
    """How a harness shows pages, and hears actions. `page` raises ValueError and KeyError; `together`: what several
    actions are in one."""

    name: str
    page: Callable[[Mapping[str, Any]], ShownPage]
    together: Callable[[Sequence[Any]], Any]


def _of_browsergym(seen: Mapping[str, Any]) -> ShownPage:
    page = recorded_page(seen["dom_object"], seen["url"])
    return ShownPage(page.view, lambda action: _in_browsergym(page, action))


def _in_browsergym(page: RecordedPage, action: Action) -> str:
    onto = page.elements.get(action.value) if action.operation == "DRAG" else None
    return action_text(action, page.elements.get(action.node_id or ""), onto)


def _of_cube(seen: Mapping[str, Any]) -> ShownPage:
    page = told_page(seen["html"], seen.get("url", ""))
    return ShownPage(page.view, lambda action: _in_cube(page, action))


def _in_cube(page: ToldPage, action: Action) -> list[dict[str, Any]]:
    def selector(node_id: str) -> str:
        if node_id not in page.elements:
            raise NotInCube(f"there is no element {node_id} on the page")
        return page.elements[node_id].selector

    named = page.elements.get(action.node_id or "")
    option, is_list = (named.option, named.is_list) if named else (None, False)
    return cube_actions(action, option, is_list, selector)


HARNESSES = {
    "browsergym": Harness("browsergym", _of_browsergym, "\n".join),
    "cube": Harness("cube", _of_cube, lambda said: [one for action in said for one in action]),
}
"""Name -> what asks recipes by it: `dom_object` and `url` of BrowserGym's observation, `html` of CUBE's."""


class EpisodesElsewhere:
    """Decides for one episode after the other, each step by the pages that a harness shows."""

    def __init__(self, pipeline: Pipeline, with_history: bool = False, harness: str = "browsergym") -> None:
        self.pipeline, self.with_history, self.harness = pipeline, with_history, HARNESSES[harness]
        self.keys = count(1)
        self._begin("")

    def _begin(self, goal: str) -> None:
        self.goal, self.steps, self.episode = " ".join(goal.split()), list[RecordedStep](), next(self.keys)

    def answer(self, seen: Mapping[str, Any]) -> dict[str, Any]:
        """The next action in the harness's words; None with the reason where there is none. `seen`: the page as the
        harness tells it, and `goal` where an episode begins."""
        if "goal" in seen:
            self._begin(seen["goal"])
        page = self.harness.page(seen)
        observation = self._observation(page.view)
        decision = self.pipeline.decide([observation])[0]
        if held := decision.trace.get("act", {}).get("held"):
            return {"action": None, "said": f"held, as nobody is there to decide: {held}"}
        said = [self._said(page, observation, action, decision) for action in decision.actions]
        told, words = [one for one, _ in said if one], "; ".join(word for _, word in said)
        return {"action": self.harness.together(told) or None, "said": decision.error or words or "no action"}

    def _said(self, page: ShownPage, observation: Observation, action: Action, decision: Decision) -> tuple[Any, str]:
        """(in the harness's words, in ours); the first is None where the agent stops, or the harness has no such
        action."""
        done = f"{action.operation}{f': {action.value}' if action.value else ''}"
        words = f"{page.view.names.get(action.node_id or '', '[page]  ')} -> {done}"
        past = PastAction(words, action.operation, action.node_id, action.value)
        targets = (action.node_id,) if action.node_id else ()
        shown = decision.trace.get("simplify", {}).get("page", "")
        self.steps.append(RecordedStep(observation, past, targets, shown=shown))
        if action.operation == "STOP":
            return None, words
        try:
            return page.say(action), words
        except ValueError as error:
            return None, f"{words} (not done: {error})"

    def _observation(self, view: PageView) -> Observation:
        where = self.harness.name
        return Observation(
            key=self.episode,
            conversation=self.episode,
            turn_index=0,
            step_index=len(self.steps),
            website=urlsplit(view.url).hostname or where,
            domain=where,
            subdomain=where,
            instruction=self.goal,
            html=view.html,
            url=view.url,
            candidate_ids=tuple(sorted(view.names)),
            turn_actions=tuple(step.action for step in self.steps),
            score_key=f"{self.episode}_{len(self.steps)}",
            turn_steps=tuple(self.steps) if self.with_history else (),
        )
