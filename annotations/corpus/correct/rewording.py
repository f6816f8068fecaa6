"""Correcting what a turn says and where it begins: which steps may be chosen, and the change once a second person
agrees."""

from typing import Any

from django.db import transaction

from annotations.corpus.reworded import NewWording
from annotations.models import CorrectionRefused, Step, Turn, TurnCorrection
from annotations.models.accounts.projects import Account

MAX_INSTRUCTION = 10_000


class WordingDesk:
    """A correction of a turn, with what people do to it."""

    def __init__(self, correction: TurnCorrection) -> None:
        self.correction, self.turn = correction, correction.turn

    def steps(self) -> list[Step]:
        """The steps at which the turn could begin: its own, and those of the turn before it but the first."""
        rows = Step.objects.filter(turn__conversation=self.turn.conversation_id, turn__index__lte=self.turn.index)
        near = rows.filter(turn__index__gte=max(0, self.turn.index - 1)).select_related("turn").defer("candidates")
        ordered = list(near.order_by("turn__index", "index"))
        return ordered[1:] if self.turn.index else ordered[:1]

    def now(self) -> dict[str, Any]:
        """The turn's wording and first step, as a correction keeps them."""
        first = self.turn.steps.order_by("index").first()
        return {"instruction": self.turn.instruction, "first_step": first.pk if first else None}

    def start(self) -> dict[str, Any]:
        """The values that the form begins with: those proposed, else those that are stored."""
        found, now = self.correction, self.now()
        if not found.instruction:
            return now
        return {"instruction": found.instruction, "first_step": found.first_step_id or now["first_step"]}

    def propose(self, user: Account, instruction: str, first_step: str) -> None:
        """Propose this instruction and first step. CorrectionRefused where the turn cannot say that, or cannot begin
        there."""
        said, now = " ".join(instruction.split()), self.now()
        steps = {str(step.pk): step for step in self.steps()}
        if not said or len(said) > MAX_INSTRUCTION or "\0" in said:
            raise CorrectionRefused(f"A turn says something, in at most {MAX_INSTRUCTION:,} characters.")
        if first_step and first_step not in steps:
            raise CorrectionRefused("A turn begins at a step of its own, or of the turn before it but for its first.")
        moved = steps[first_step] if first_step and int(first_step) != now["first_step"] else None
        if said == self.turn.instruction and moved is None:
            raise CorrectionRefused("That is what is there already.")
        self.correction.propose(user, said, moved)

    @transaction.atomic
    def accept(self, user: Account, note: str = "") -> None:
        """Change the turn. Releases that hold it stay as they are; the next one has it."""
        rows = Turn.objects.select_for_update().filter(conversation=self.turn.conversation_id)
        self.turn = {turn.pk: turn for turn in rows.order_by("pk")}[self.turn.pk]
        self.correction.accept(user, self.now(), note)
        moved = self.correction.first_step
        if moved is not None and moved.pk not in {step.pk for step in self.steps()}:
            raise CorrectionRefused("The turns have changed meanwhile: it cannot begin there any more.")
        NewWording(self.correction.instruction, moved).write(self.turn)
