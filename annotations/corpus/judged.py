"""What people said of a stored conversation that a changed record replaces: what still fits goes over to the new rows,
and the rest is counted, so that nobody's work goes without a word."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db import models

from annotations.corpus.reworded import NewWording
from annotations.models import Conversation, Correction, Rationale, Redaction, Step, Turn, TurnCorrection
from annotations.models.corpus.candidates import pack_candidates

# Rows that are said of a step (`step`), and what they are called; "" for those by models, which can be made again.
# Higher wings add theirs.
OF_STEPS: list[tuple[models.QuerySet[Any], str]] = [
    (Correction.objects.all(), "corrections"),
    (Rationale.objects.filter(source=Rationale.Source.HUMAN), "rationales"),
    (Rationale.objects.filter(source=Rationale.Source.MODEL), ""),
]
StepName = tuple[str, str]  # the ids that the source gives the turn and the step


class CarriedWork(NamedTuple):
    """How much of each kind of work went over to the new conversation, and how much fits it no longer."""

    kept: Counter[str]
    lost: Counter[str]


def said(work: Mapping[str, int]) -> str:
    """ "2 corrections, 1 risk label"."""
    return ", ".join(f"{count:,} {name[:-1] if count == 1 else name}" for name, count in sorted(work.items()))


class CarryingOver:
    """Both conversations side by side, the stored one and the new one, while the work of people goes over.

    Steps and turns are found by the ids that their source gives them. What is said of a step fits where the new one has
    the same page and the same action, as recorded or as corrected; what is said of a turn, where it has the same words
    and steps. What a verified correction changed stays changed. A text that was taken out stands in the new record
    again, so that a redaction never fits.
    """

    def __init__(self, old: Conversation, new: Conversation) -> None:
        self.old, self.new = old, new
        self.outcome = CarriedWork(Counter(), Counter())
        self._were, self._are = self._steps_of(old), self._steps_of(new)

    def run(self) -> CarriedWork:
        for name, step in self._were.items():
            self._carry_step(step, self._are.get(name))
        turns = {turn.source_id: turn for turn in self.new.turns.all()}
        for turn in self.old.turns.all():
            self._carry_turn(turn, turns.get(turn.source_id))
        self._count(Redaction.objects.filter(conversation=self.old).count(), "redactions", False)
        return self.outcome

    def _count(self, count: int, what: str, fits: bool) -> None:
        if count and what:
            (self.outcome.kept if fits else self.outcome.lost)[what] += count

    def _carry_step(self, old: Step, new: Step | None) -> None:
        work = [(found, what) for rows, what in OF_STEPS if (found := rows.filter(step=old)).exists()]
        fits = new if work and new is not None and self._fits(old, new) else None
        for rows, what in work:
            self._count(rows.count(), what, fits is not None)
            if fits is not None:
                rows.update(step=fits)

    def _fits(self, old: Step, new: Step) -> bool:
        """Whether both steps have the same page and gold; the new one is given the corrected gold where that is what
        differs."""
        now, recorded, brought = self._gold(old), self._recorded_gold(old), self._gold(new)
        if old.snapshot_id != new.snapshot_id or brought not in (now, recorded):
            return False
        return brought == now or self._give_gold(old, new)

    def _give_gold(self, old: Step, new: Step) -> bool:
        """Give the new step the corrected gold of the old one; False where its source offers that element no more."""
        listed = {one.node_id: one for part in new.candidate_records() for one in part}
        gold = old.gold_ids()
        if listed:
            if not set(gold) <= listed.keys():
                return False
            others = [one for one in listed.values() if one.node_id not in gold]
            new.candidates = pack_candidates([listed[node] for node in gold], others)
        for column in ("operation", "value", "original_operation", "action_repr"):
            setattr(new, column, getattr(old, column))
        new.save(update_fields=["operation", "value", "original_operation", "action_repr", "candidates"])
        new.targets.all().delete()
        old.targets.update(step=new)
        return True

    def _carry_turn(self, old: Turn, new: Turn | None) -> None:
        rows = list(TurnCorrection.objects.filter(turn=old).order_by("pk"))
        if not rows:
            return
        places = {row: self._place(row.first_step_id) for row in rows if row.first_step_id}
        fits = new is not None and None not in places.values() and self._words_fit(old, new, rows)
        self._count(len(rows), "turn corrections", fits)
        if new is None or not fits:
            return
        if new.instruction != old.instruction:
            NewWording(old.instruction).write(new)
        for row in rows:
            TurnCorrection.objects.filter(pk=row.pk).update(turn=new, first_step=places.get(row))

    def _words_fit(self, old: Turn, new: Turn, rows: list[TurnCorrection]) -> bool:
        """Whether both turns say the same, as recorded or as corrected, at the same steps."""
        done = [row for row in rows if row.state == TurnCorrection.State.DONE]
        recorded = done[0].before.get("instruction") if done else old.instruction
        steps = [[name for turn, name in found if turn == old.source_id] for found in (self._were, self._are)]
        return new.instruction in (old.instruction, recorded) and steps[0] == steps[1]

    def _place(self, key: int) -> Step | None:
        """The new step in the place of the stored one with this key."""
        return next((self._are.get(name) for name, step in self._were.items() if step.pk == key), None)

    def _steps_of(self, conversation: Conversation) -> dict[StepName, Step]:
        rows = Step.objects.filter(turn__conversation=conversation).select_related("turn").prefetch_related("targets")
        return {(step.turn.source_id, step.source_id): step for step in rows.order_by("turn__index", "index")}

    def _gold(self, step: Step) -> tuple[str, str, list[str]]:
        return step.operation, step.value, sorted(step.gold_ids())

    def _recorded_gold(self, step: Step) -> tuple[str, str, list[str]]:
        """The step's gold before it was ever corrected."""
        first = Correction.objects.filter(step=step).done().order_by("decided_at", "pk").first()
        if first is None or not first.before:
            return self._gold(step)
        return first.before["operation"], first.before["value"], sorted(first.before["node_ids"])
