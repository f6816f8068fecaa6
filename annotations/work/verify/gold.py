"""Hidden gold items: sessions whose solution is known. Annotators are told right after submitting how they did; what
they made is compared, never verified and never published."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from annotations import agreement
from annotations.models import Assignment, Campaign, Part, Session, SessionTask, Stage
from annotations.text import diff
from annotations.text.amounts import amount
from annotations.text.diff import MarkedPiece
from annotations.text.segmentation import NEAR, boundary_similarity, cuts_of
from annotations.work.verify.compared import ComparedWork, OwnSay, cut_words


@dataclass(frozen=True)
class Comparison:
    """The comparison of an annotation with the known solution. Cuts are places of steps from 1; shares are in 0..1."""

    right: list[int]
    near: list[int]  # own cuts one step beside a known one
    missed: list[int]
    extra: list[int]
    cuts: float  # boundary similarity
    words: float | None  # mean chrF of the rewrites of parts that begin at the same step; None in decomposition
    turns: list["ComparedPart"]


@dataclass(frozen=True)
class ComparedPart:
    """A part of the known solution, and the annotator's part that begins at the same step; None where they have
    none."""

    step: int  # from 1
    known: list[MarkedPiece]
    own: list[MarkedPiece] | None


class HiddenGold:
    """The hidden gold items of a campaign: which sessions can become some, and how people did on them."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign

    def candidates(self) -> list[tuple[Session, Assignment]]:
        """Sessions nobody has begun, each with an annotation of the same tasks that has passed in another campaign."""
        passed = list(self._passed_elsewhere())
        tasks = SessionTask.objects.by_session({row.item.session_id for row in passed})
        solved = {tasks[row.item.session_id]: row for row in passed}
        unbegun = self.campaign.sessions.live().filter(is_gold=False).exclude(items__assignments__isnull=False)
        fresh = list(unbegun) if solved else []
        own = SessionTask.objects.by_session({session.pk for session in fresh})
        return [(session, solved[own[session.pk]]) for session in fresh if own[session.pk] in solved]

    def _passed_elsewhere(self) -> QuerySet[Assignment]:
        passed = Assignment.objects.filter(
            item__stage=Stage.REWRITE,
            review=Assignment.Reviewed.PASSED,
            item__session__campaign__project=self.campaign.project,
        ).exclude(item__session__campaign=self.campaign)
        return passed.select_related("user", "item__session__campaign")

    def accuracy(self) -> list[dict[str, Any]]:
        """How people did on gold items, by name: {"user", "n", "cuts", "words"}, means over items."""
        found: dict[Any, list[tuple[str, Comparison]]] = defaultdict(list)
        for row, compared in self._submitted():
            found[row.user].append((row.item.stage, compared))
        return [
            {
                "user": user,
                "n": len(rows),
                "cuts": _mean([one.cuts for stage, one in rows if stage == Stage.DECOMPOSE]),
                "words": _mean([one.words for _, one in rows if one.words is not None]),
            }
            for user, rows in found.items()
        ]

    def compared(self) -> Iterator[ComparedWork]:
        """What people made of gold items, each beside its known solution."""
        for row, compared in self._submitted():
            cut = row.item.stage == Stage.DECOMPOSE
            told = cut_words({place - 1 for place in (*compared.right, *compared.near, *compared.extra)})
            said = told if cut else f"{amount(len(compared.turns), 'part')}"
            value = compared.cuts if cut or compared.words is None else compared.words
            yield ComparedWork(row.item.session, (OwnSay(row.user, said, row.pk),), row.item.stage, value)

    def _submitted(self) -> "Iterator[tuple[Assignment, Comparison]]":
        done = Assignment.objects.filter(
            Q(item__stage=Stage.DECOMPOSE) | Q(item__stage=Stage.REWRITE),
            item__session__campaign=self.campaign,
            item__session__is_gold=True,
            state=Assignment.State.SUBMITTED,
        ).exclude(item__session__gold=None)
        for row in done.select_related("user", "item__session").order_by("user__username").prefetch_related("parts"):
            yield row, compare(row)


def compare(assignment: Assignment) -> Comparison:
    """Compare an annotation with the solution of its session, which must have one."""
    session = assignment.item.session
    order = session.places()
    known = {part["step"]: part for part in session.gold or () if part["step"] in order}
    own = {part.first_step_id: part for part in assignment.parts.all()}
    gold_cuts, own_cuts = (cuts_of(side, order) for side in (known, own))
    near = {cut for cut in own_cuts - gold_cuts if any(abs(cut - other) < NEAR for other in gold_cuts - own_cuts)}
    field = "rewrite" if assignment.item.stage == Stage.REWRITE else "instruction"
    turns = [_turn(order[step], known[step], own.get(step), field) for step in sorted(known, key=order.__getitem__)]
    words = [
        agreement.chrf(known[step]["rewrite"], own[step].rewrite)
        for step in known
        if step in own and field == "rewrite"
    ]
    return Comparison(
        right=_places(own_cuts & gold_cuts),
        near=_places(near),
        missed=_places(gold_cuts - own_cuts),
        extra=_places(own_cuts - gold_cuts - near),
        cuts=boundary_similarity(gold_cuts, own_cuts, len(order)),
        words=sum(words) / len(words) if words else None,
        turns=turns,
    )


def _turn(place: int, known: dict[str, Any], own: Part | None, field: str) -> ComparedPart:
    if own is None:
        return ComparedPart(place + 1, diff.runs(known[field], []), None)
    missing, added = diff.changed(known[field], getattr(own, field))
    return ComparedPart(place + 1, diff.runs(known[field], missing), diff.runs(getattr(own, field), added))


def _places(cuts: set[int]) -> list[int]:
    return sorted(cut + 1 for cut in cuts)


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
