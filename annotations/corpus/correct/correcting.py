"""Correcting the gold of a recorded step: which elements may be chosen, and the change itself once a second person
agrees."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from django.db import transaction

from annotations.access import rules
from annotations.corpus.correct.pickable import ClickedMeaning, meaning_of_clicks, names_of
from annotations.corpus.correct.sensible import GoldFault, fault_on_page
from annotations.corpus.store import NewGold
from annotations.datasets.records import CandidateRecord
from annotations.dom.limits import PageError
from annotations.models import Conversation, Correction, CorrectionRefused, Operation, Step, TurnCorrection
from annotations.models.accounts.projects import Account
from annotations.models.corpus.candidates import pack_candidates
from annotations.sandbox import page_questions

MAX_VALUE = 2_000
CONTROLS = frozenset({"a", "button", "input", "select", "textarea"})

on_done: list[Callable[[], None]] = []
"""Called when a correction is done, by what follows gold in higher apps."""


def require_may_ask(user: rules.User, step: Step) -> None:
    """Check that somebody may say that a step, or its turn, is wrong. Raises PermissionDenied."""
    require_may_flag(user, step.turn.conversation)


def require_may_flag(user: rules.User, inside: Conversation) -> None:
    """Who annotates or reviews may say that something in a conversation is wrong where they see its gold. What is right
    is for who annotates to say, and for another person to accept. Raises PermissionDenied."""
    rules.require_gold(user, inside.dataset.project, inside.split)
    if not rules.can(user, "review", inside.dataset.project):
        rules.require(user, "annotate", inside.dataset.project)


DOES = {"propose": "annotate", "accept": "review", "refuse": "review", "dismiss": "review"}
"""What may be done with a correction -> the ability that it takes."""


class InHand(Protocol):
    """What both kinds of corrections can do (`CorrectionDesk` of gold, `WordingDesk` of turns), for the code that
    serves both."""

    @property
    def correction(self) -> Correction | TurnCorrection: ...
    @property
    def propose(self) -> Callable[..., None]: ...
    @property
    def accept(self) -> Callable[..., None]: ...


def carry_out(desk: InHand, what: str, user: Account, told: Mapping[str, Any]) -> None:
    """Do with the correction what `what` names, a key of DOES. `told`: the proposal for "propose", else {"note": …};
    with {"sure": True} what is asked about is done all the same. Raises CorrectionRefused, and Unsure of wordings."""
    refuse, dismiss = desk.correction.refuse, desk.correction.dismiss
    {"propose": desk.propose, "accept": desk.accept, "refuse": refuse, "dismiss": dismiss}[what](user, **told)


class GoldChoice(NamedTuple):
    """An element of the page that could be gold, in words."""

    node_id: str
    tag: str
    label: str
    is_gold: bool


class GoldDesk:
    """A recorded step with the elements that its gold may be changed to."""

    def __init__(self, step: Step) -> None:
        self.step = step
        positives, negatives = step.candidate_records()
        self.listed: dict[str, CandidateRecord] = {one.node_id: one for one in (*positives, *negatives)}
        page = self.rows = _rows(step.snapshot.html) if step.snapshot else []
        self.labels: dict[str, str] = {str(row[1]): str(row[3]) for row in page if row[1]}
        # A source that lists no candidates lets every element be ranked.
        of_page = {str(row[1]): CandidateRecord(str(row[1]), str(row[2])) for row in page if row[1]}
        self.candidates = self.listed or of_page

    def choices(self) -> list[GoldChoice]:
        """The elements to choose from, gold first, then in the order of the page: the step's candidates; where the
        source lists none, the elements of the page that have a text, and its controls."""
        gold, order = set(self.step.gold_ids()), {node: place for place, node in enumerate(self.labels)}
        found = [
            GoldChoice(node, one.tag, self.names.get(node, ""), node in gold)
            for node, one in self.candidates.items()
            if self.listed or node in gold or self.labels.get(node) or one.tag in CONTROLS
        ]
        return sorted(found, key=lambda one: (not one.is_gold, order.get(one.node_id, len(order))))

    @cached_property
    def names(self) -> dict[str, str]:
        """What people call the elements of the page."""
        return names_of(self.rows)

    def meaning_of_clicks(self, choices: Sequence[GoldChoice]) -> ClickedMeaning:
        """Which of these choices a click on an element of the page means."""
        return meaning_of_clicks(self.rows, {one.node_id for one in choices})

    def gold(self) -> dict[str, Any]:
        """The step's gold as a correction keeps it."""
        step = self.step
        return {"operation": step.operation, "value": step.value, "node_ids": step.gold_ids(), "action": str(step)}

    def fault(self, operation: str, value: str, node_id: str) -> GoldFault | None:
        """Why this action cannot become the step's gold; None where it can."""
        if operation not in Operation.values:
            return GoldFault("operation", "Choose an operation.")
        if len(value) > MAX_VALUE or "\0" in value:
            return GoldFault("value", f"A value has at most {MAX_VALUE:,} characters.")
        if node_id not in self.candidates:
            return GoldFault("node_id", "Choose an element of the page.")
        if (operation, value, [node_id]) == (self.step.operation, self.step.value, self.step.gold_ids()):
            return GoldFault("", "That is the gold already.")
        html = self.step.snapshot.html if self.step.snapshot else ""
        return fault_on_page(html, operation, value, node_id)

    def new(self, operation: str, value: str, node_id: str) -> NewGold:
        """The new gold of the step, made of this action. The element must be among `candidates`."""
        step, chosen = self.step, self.candidates[node_id]
        order = page_questions.outline(step.snapshot.html) if step.snapshot and self.labels else []
        said = f"[{chosen.tag}]  {self.labels.get(node_id, '')} -> {operation}"
        others = [one for one in self.listed.values() if one != chosen]
        return NewGold(
            operation=operation,
            value=value,
            action_repr=f"{said}: {value}" if value else said,
            node_id=node_id,
            node_order=order.index(node_id) if node_id in order else None,
            candidates=pack_candidates([chosen], others) if self.listed else b"",
        )


def _rows(html: str) -> list[list[Any]]:
    """The rows of a page; none where it cannot be read."""
    try:
        rows: list[list[Any]] = json.loads(page_questions.rows(html, [], []))
    except PageError:
        return []
    return rows


class CorrectionDesk:
    """A correction of a step's gold, with what people do to it."""

    def __init__(self, correction: Correction) -> None:
        self.correction = correction

    def start(self) -> dict[str, str]:
        """The values that the form begins with: those proposed, else those of an action that somebody did there
        instead, else the gold."""
        found, step = self.correction, self.correction.step
        if found.operation:
            return {"operation": found.operation, "value": found.value, "node_id": found.node_id}
        gold = [*step.gold_ids(), ""][0]
        return {"operation": step.operation, "value": step.value, "node_id": gold} | found.suggested

    def propose(self, user: Account, operation: str, value: str, node_id: str) -> None:
        """Propose this action as the step's gold. CorrectionRefused where it cannot be."""
        if fault := GoldDesk(self.correction.step).fault(operation, value, node_id):
            raise CorrectionRefused(fault.why, fault.field)
        self.correction.propose(user, operation, value, node_id)

    def accept(self, user: Account, note: str = "") -> None:
        """Give the step its corrected gold. Releases that hold it stay as they are; the next one has it.
        CorrectionRefused also for what was proposed before proposals were checked for sense."""
        found = self.correction
        with transaction.atomic():
            desk = GoldDesk(Step.objects.select_for_update(of=("self",)).get(pk=found.step_id))
            found.accept(user, desk.gold(), note)
            fault = desk.fault(found.operation, found.value, found.node_id)
            if fault is not None and fault.field:
                raise CorrectionRefused(fault.why)
            desk.new(found.operation, found.value, found.node_id).write(desk.step)
        for follow in on_done:
            follow()
