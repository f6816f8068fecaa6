"""Predictions that did not come true: what a world model said of the recorded action beside what that action did."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from agents.memory.describe import EFFECT
from agents.memory.transitions import compared
from agents.memory.written import facts_in
from agents.models import TrajectoryStep
from agents.types import Action
from agents.world_model.effects import facts, happenings
from agents.world_model.predicting import NOTHING
from annotations.dom.differences import difference
from annotations.models import Step

FACTS = ("added ", "removed ", "changed ")  # how a line begins that past transitions write


@dataclass(frozen=True)
class Foreseen:
    """What was predicted of the recorded action at a step that an agent decided, and whether it came true."""

    done: TrajectoryStep

    @property
    def said(self) -> str | None:
        """The prediction, where the recorded action was among those that were considered. An action that nothing was
        compared with has no value, and no prediction."""
        step = self.done.step
        if step is None:
            return None
        told = [one for one in self.done.branches if one.get("prediction") and one.get("value") is not None]
        return next((str(one["prediction"]) for one in told if _is_gold(one["action"], step)), None)

    @property
    def came_true(self) -> bool | None:
        """Whether the page changed as predicted. None where nothing was predicted, or a page is lacking. A prediction
        in prose, which no rule compares, counts as not come true: people say what it is."""
        said, step = self.said, self.done.step
        if said is None or step is None:
            return None
        happened = compared(step.pages_around, "", Action(step.operation), "", 0)
        if happened is None:
            return None
        return foretold(said) == facts(happenings(difference(happened.situation.tree, happened.after)))


def _is_gold(action: Mapping[str, str | None], step: Step) -> bool:
    nodes = {target.node_id for target in step.targets.all()}
    same = (action["operation"], action.get("value") or "") == (step.operation, step.value)
    return same and action.get("node_id") in nodes


def foretold(said: str) -> Counter[str] | None:
    """The changes that a prediction names; None for prose."""
    if said == NOTHING:
        return Counter()
    if said.startswith(EFFECT):
        return facts_in(said) or (Counter() if "the page stays as it is" in said else None)
    lines = said.split("\n")
    return Counter(lines) if all(line.startswith(FACTS) for line in lines) else None
