"""Episodes that another harness runs: it shows a page, and is told what a recipe would do there. Nothing is stored."""

from collections.abc import Mapping
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from agents.environments.harnesses.browsergym_tasks import Unsayable, action_text
from agents.environments.harnesses.snapshots import RecordedPage, recorded_page
from agents.pipeline import Pipeline
from agents.types import Action, Decision, Observation, PastAction, RecordedStep

WHERE = "browsergym"


class EpisodesElsewhere:
    """Decides for one episode after the other, each step by the pages that BrowserGym shows."""

    def __init__(self, pipeline: Pipeline, with_history: bool = False) -> None:
        self.pipeline, self.with_history = pipeline, with_history
        self.keys = count(1)
        self._begin("")

    def _begin(self, goal: str) -> None:
        self.goal, self.steps, self.episode = " ".join(goal.split()), list[RecordedStep](), next(self.keys)

    def answer(self, seen: Mapping[str, Any]) -> dict[str, Any]:
        """The next action in BrowserGym's words; None with the reason where there is none. `seen`: `dom_object` and
        `url` of BrowserGym's observation, and `goal` where an episode begins."""
        if "goal" in seen:
            self._begin(seen["goal"])
        page = recorded_page(seen["dom_object"], seen["url"])
        observation = self._observation(page)
        decision = self.pipeline.decide([observation])[0]
        if held := decision.trace.get("act", {}).get("held"):
            return {"action": None, "said": f"held, as nobody is there to decide: {held}"}
        said = [self._said(page, observation, action, decision) for action in decision.actions]
        texts, words = [text for text, _ in said if text], "; ".join(word for _, word in said)
        return {"action": "\n".join(texts) or None, "said": decision.error or words or "no action"}

    def _said(
        self, page: RecordedPage, observation: Observation, action: Action, decision: Decision
    ) -> tuple[str, str]:
        """(in BrowserGym's words, in ours); the first is "" where the agent stops, or BrowserGym has no such action."""
        done = f"{action.operation}{f': {action.value}' if action.value else ''}"
        words = f"{page.view.names.get(action.node_id or '', '[page]  ')} -> {done}"
        past = PastAction(words, action.operation, action.node_id, action.value)
        targets = (action.node_id,) if action.node_id else ()
        shown = decision.trace.get("simplify", {}).get("page", "")
        self.steps.append(RecordedStep(observation, past, targets, shown=shown))
        if action.operation == "STOP":
            return "", words
        onto = page.elements.get(action.value) if action.operation == "DRAG" else None
        try:
            return action_text(action, page.elements.get(action.node_id or ""), onto), words
        except Unsayable as error:
            return "", f"{words} (not done: {error})"

    def _observation(self, page: RecordedPage) -> Observation:
        site = urlsplit(page.view.url).hostname or WHERE
        return Observation(
            key=self.episode,
            conversation=self.episode,
            turn_index=0,
            step_index=len(self.steps),
            website=site,
            domain=WHERE,
            subdomain=WHERE,
            instruction=self.goal,
            html=page.view.html,
            url=page.view.url,
            candidate_ids=tuple(sorted(page.view.names)),
            turn_actions=tuple(step.action for step in self.steps),
            score_key=f"{self.episode}_{len(self.steps)}",
            turn_steps=tuple(self.steps) if self.with_history else (),
        )
