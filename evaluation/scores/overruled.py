"""Steps at which an agent did another action than the one whose value it found best (WMA as published, quirk wq23)."""

from dataclasses import dataclass
from typing import Any

from agents.models import Run
from agents.recipes import literature
from agents.stages.registry import may_overrule
from agents.types import Action
from evaluation.scores.judging import Gold, judge

SHOWN = 10  # steps that are named


@dataclass(frozen=True)
class Overruled:
    """How many of a run's steps they are, at how many of them what was done is right, and at how many what was chosen
    by value would have been; `first`: trajectory and place of the first of them."""

    steps: int
    of: int
    done_right: int
    chosen_right: int
    first: tuple[tuple[int, int], ...]

    @classmethod
    def in_run(cls, run: Run) -> "Overruled | None":
        """None for a run whose agent does what it has chosen."""
        recipe = literature.readable(run.recipe)
        if recipe is None or not may_overrule(recipe):
            return None
        rows = run.steps.with_gold().overruled().select_related("step").prefetch_related("step__targets")
        found, done_right, chosen_right = [], 0, 0
        for row in rows.defer("trace", "candidate_ids", "candidate_scores", "step__candidates").order_by("pk"):
            assert row.step is not None  # only those with gold were asked for
            gold = Gold(row.step.operation, row.step.value, row.step.reachable_gold())
            chosen = Action(**next(branch["action"] for branch in row.branches if branch["by_value"]))
            found.append((row.trajectory_id, row.seq))
            done_right += row.success
            chosen_right += bool(chosen.operation) and judge(chosen, (), gold).success
        of = run.steps.with_gold().count()
        return cls(len(found), of, done_right, chosen_right, tuple(found[:SHOWN]))

    @classmethod
    def of_stored(cls, stored: dict[str, Any]) -> "Overruled":
        return cls(**stored | {"first": tuple((trajectory, seq) for trajectory, seq in stored["first"])})
