"""What people taught by verdicts and corrections, as samples of a training: what is right at a step besides its gold,
what was wrong there, and steps that teach nothing. A higher app collects it.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from agents.types import Action, PastAction, RecordedStep
from annotations.models import Dataset

TIMES = 3  # for each wrong action, a step is seen so often again, and so often with nothing else to choose from

collect: Callable[[Dataset], list["Lesson"]] | None = None
"""The lessons of a dataset's train split; `evaluation.apps` sets it."""


@dataclass(frozen=True)
class Lesson:
    """Of a recorded step: whether it teaches nothing, as its gold or its page is wrong; the actions that are right
    besides gold, and those that were done there and are wrong."""

    step: int
    is_left_out: bool = False
    also: tuple[Action, ...] = ()
    wrong: tuple[Action, ...] = ()

    @property
    def count(self) -> int:
        """How many samples there are in place of the one."""
        return 0 if self.is_left_out else 1 + len(self.also) + 2 * TIMES * len(self.wrong)

    def samples(self, found: RecordedStep) -> list[RecordedStep]:
        """What is learnt from instead of the step. Of several right actions none is a wrong choice in another's; a
        pair is the step on whose page nothing can be chosen but gold and what was wrong."""
        if self.is_left_out:
            return []
        right = [found, *(_doing(found, action) for action in self.also)]
        gold = {node for step in right for node in step.positive_ids}
        shown = [_offering(step, set(step.observation.candidate_ids) - (gold - {*step.positive_ids})) for step in right]
        pairs = [_offering(found, {*found.positive_ids, one.node_id} - {None, ""}) for one in self.wrong]
        return [*shown, *([shown[0]] * len(pairs) + pairs) * TIMES]


def _doing(found: RecordedStep, action: Action) -> RecordedStep:
    said = PastAction(f"{action.operation} {action.value}".strip(), action.operation, action.node_id, action.value)
    return replace(found, action=said, positive_ids=(action.node_id,) if action.node_id else (), rationale=None)


def _offering(found: RecordedStep, nodes: Iterable[Any]) -> RecordedStep:
    return replace(found, observation=replace(found.observation, candidate_ids=tuple(sorted(nodes))))


class Lessons:
    """What people taught of the steps that a training is given, by step."""

    def __init__(self, found: Iterable[Lesson] = ()) -> None:
        self.of_step = {lesson.step: lesson for lesson in found}

    def __len__(self) -> int:
        return len(self.of_step)

    @classmethod
    def of_params(cls, rows: Iterable[dict[str, Any]]) -> "Lessons":
        """From `params` of the job of a training."""
        return cls(
            Lesson(row["step"], row["is_left_out"], _actions(row["also"]), _actions(row["wrong"])) for row in rows
        )

    def params(self) -> list[dict[str, Any]]:
        """The lessons as JSON, which the training's job stores and `of_params` reads: so a training that goes on has
        the lessons that it began with."""
        return [asdict(lesson) for _, lesson in sorted(self.of_step.items())]

    @property
    def sha256(self) -> str:
        """Identity of the lessons; "" without any."""
        return hashlib.sha256(json.dumps(self.params(), sort_keys=True).encode()).hexdigest() if self else ""

    @property
    def identity(self) -> tuple[int, str]:
        """How many steps they are of, and which lessons."""
        return len(self), self.sha256

    def count(self, step: int) -> int:
        """How many samples a step gives."""
        return self.of_step[step].count if step in self.of_step else 1

    def samples(self, found: RecordedStep) -> list[RecordedStep]:
        """What is learnt from a step: itself where nobody taught anything."""
        lesson = self.of_step.get(found.observation.key)
        return [found] if lesson is None else lesson.samples(found)


def _actions(rows: Iterable[dict[str, Any]]) -> tuple[Action, ...]:
    return tuple(Action(row["operation"], row["node_id"], row["value"]) for row in rows)
