"""The parts of an annotation: sub-instructions and the steps that they ask for."""

from dataclasses import dataclass
from typing import Any

import pgtrigger
from django.db import models

from annotations.models.corpus.conversations import Step
from annotations.models.work.campaigns import tracked

OWN_STEP_SQL = """
IF NOT EXISTS (
    SELECT 1 FROM annotations_assignment assignment
    JOIN annotations_item item ON item.id = assignment.item_id
    JOIN annotations_sessiontask task ON task.session_id = item.session_id
    JOIN annotations_turn turn ON turn.conversation_id = task.conversation_id
    JOIN annotations_step step ON step.turn_id = turn.id
    WHERE assignment.id = NEW.assignment_id AND step.id = NEW.first_step_id
) THEN
    RAISE EXCEPTION 'a part begins at a step of its own session' USING ERRCODE = 'check_violation';
END IF;
RETURN NEW;
"""


@tracked
class Part(models.Model):
    """A sub-instruction and its steps: from its first step up to the next part's. Stored as a cut, so parts cover all
    steps, in order, without overlap. The first part of a session begins at its first step."""

    assignment = models.ForeignKey("Assignment", models.CASCADE, related_name="parts")
    first_step = models.ForeignKey(Step, models.PROTECT, related_name="+")
    instruction = models.TextField(blank=True, help_text="What this part asks for, standing alone.")
    rewrite = models.TextField(blank=True, help_text="As said in the conversation.")
    mentions = models.JSONField(
        default=list,
        blank=True,
        help_text="Anaphora and ellipsis: [{id, phenomenon, start, end, antecedent: {step, start, end} or null}]; "
        "places count characters of the rewrites, `step` names a part by its first step.",
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assignment", "first_step"], name="one_cut_per_step")]
        triggers = [
            pgtrigger.Trigger(
                name="step_of_own_session",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                func=OWN_STEP_SQL,
            )
        ]

    def __str__(self) -> str:
        return self.rewrite or self.instruction or f"from step {self.first_step_id}"

    def contents(self) -> dict[str, Any]:
        return {"instruction": self.instruction, "rewrite": self.rewrite, "mentions": self.mentions}


@dataclass(frozen=True)
class PartChange:
    """What happened to one part between two versions. `before` and `after` are its contents
    {"instruction", "rewrite", "mentions"}; None where the part did not exist."""

    step: int
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @property
    def kind(self) -> str:
        return "cut" if self.before is None else "joined" if self.after is None else "changed"

    @property
    def fields(self) -> list[str]:
        """What differs: of instruction, rewrite, mentions."""
        if self.before is None or self.after is None:
            return []
        return [name for name in ("instruction", "rewrite", "mentions") if self.before[name] != self.after[name]]
