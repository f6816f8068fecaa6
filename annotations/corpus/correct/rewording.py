"""Correcting what a turn says and where it begins: which steps may be chosen, and the change once a second person
agrees."""

from collections.abc import Callable
from typing import Any

from django.db import transaction

from annotations.corpus.reworded import NewWording
from annotations.models import CorrectionRefused, Step, Turn, TurnCorrection, check_sure
from annotations.models.accounts.projects import Account
from annotations.text.diff import changed, runs

MAX_INSTRUCTION = 10_000

doubts_of: Callable[[int, str], list[str]] | None = None
"""What is doubtful about new words of a turn, by its key; `annotations.apps` sets it, as the checks of words are of a
higher wing."""


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

    def doubts(self, instruction: str) -> list[str]:
        """What is asked about once before the turn says this, as sentences."""
        return doubts_of(self.turn.pk, instruction) if doubts_of is not None else []

    def propose(self, user: Account, instruction: str, first_step: str, *, sure: bool = False) -> None:
        """Propose this instruction and first step. CorrectionRefused where the turn cannot say that, or cannot begin
        there, Unsure where it hardly does."""
        said, now = " ".join(instruction.split()), self.now()
        steps = {str(step.pk): step for step in self.steps()}
        if not said or len(said) > MAX_INSTRUCTION or "\0" in said:
            raise CorrectionRefused(f"A turn says something, in at most {MAX_INSTRUCTION:,} characters.")
        if first_step and first_step not in steps:
            raise CorrectionRefused("A turn begins at a step of its own, or of the turn before it but for its first.")
        moved = steps[first_step] if first_step and int(first_step) != now["first_step"] else None
        if said == self.turn.instruction and moved is None:
            raise CorrectionRefused("That is what is there already.")
        check_sure(self.doubts(said), sure=sure)
        self.correction.propose(user, said, moved)

    @transaction.atomic
    def accept(self, user: Account, note: str = "", *, sure: bool = False) -> None:
        """Change the turn. Releases that hold it stay as they are; the next one has it. Unsure where it hardly says
        that."""
        rows = Turn.objects.select_for_update().filter(conversation=self.turn.conversation_id)
        self.turn = {turn.pk: turn for turn in rows.order_by("pk")}[self.turn.pk]
        self.correction.accept(user, self.now(), note)
        check_sure(self.doubts(self.correction.instruction), sure=sure)
        moved = self.correction.first_step
        if moved is not None and moved.pk not in {step.pk for step in self.steps()}:
            raise CorrectionRefused("The turns have changed meanwhile: it cannot begin there any more.")
        NewWording(self.correction.instruction, moved).write(self.turn)


class ShownWording:
    """A correction as its verifier reads it: what changes word by word, in its conversation, with what its steps do and
    what is doubtful about it."""

    def __init__(self, desk: WordingDesk) -> None:
        found, self.turn = desk.correction, desk.turn
        is_done = found.state == TurnCorrection.State.DONE
        self.old = found.before.get("instruction", "") if is_done else self.turn.instruction
        self.new = found.instruction
        gone, come = changed(self.old, self.new)
        self.before, self.after = runs(self.old, gone), runs(self.new, come)
        self.doubts = desk.doubts(self.new) if found.state == TurnCorrection.State.PROPOSED else []
        turns = self.turn.conversation.turns.order_by("index")
        self.earlier = turns.filter(index__lt=self.turn.index).last()
        self.later = turns.filter(index__gt=self.turn.index).first()
        self.steps = list(self.turn.steps.order_by("index").defer("candidates"))
