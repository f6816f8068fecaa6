"""What people of a campaign have done independently of each other, row by row: what agreement is measured on, and whom
a further person found right."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any, NamedTuple

from annotations import agreement
from annotations.models import Assignment, Campaign, Curation, CurationChoice, Dispute, Session, Stage, Verdict
from annotations.models.accounts.projects import Account
from annotations.models.work.curations import CurationQuerySet
from annotations.models.work.disputes import DisputeQuerySet
from annotations.models.work.queue import AssignmentQuerySet
from annotations.tell.audit import tracked_models
from annotations.text.amounts import amount
from annotations.text.segmentation import boundary_similarity, cuts_of
from annotations.text.versions import PlacedPart

PartRange = tuple[int, int]
"""Place of a part's first step, and of the first step after it."""


class OwnSay(NamedTuple):
    """What one of them said: who, in words, and in which assignment."""

    user: Account
    words: str
    work: int

    @classmethod
    def of(cls, made: Assignment, words: str) -> "OwnSay":
        return cls(made.user, words, made.pk)


ToldWork = tuple[str, tuple[OwnSay, ...]]
"""Where it is, and what each said."""


@dataclass(frozen=True)
class ComparedWork:
    """What several people did independently of each other, of which agreement is measured: two decompositions of a
    session, two rewrites of the same steps, or what all verifiers of a version said to an entry of the rubric."""

    session: Session
    said: tuple[OwnSay, ...]
    place: str  # the steps, or the code of the entry; "" for the whole session
    value: float  # how alike, 0..1
    finds: tuple[bool, ...] = ()  # whether each verifier saw a defect

    @property
    def people(self) -> tuple[Account, ...]:
        return tuple(one.user for one in self.said)


@dataclass(frozen=True)
class DecidedWork:
    """Where somebody decided between people: a verdict in a dispute, a difference of two versions, or all of them in an
    item. `people`: whom it is counted for; `right`: who were right, none where other words were taken."""

    session: Session
    people: tuple[Account, ...]
    right: tuple[Account, ...]
    by: Account
    tell: Callable[[], ToldWork]

    @cached_property
    def told(self) -> ToldWork:
        """Read when it is shown, once, as each takes queries."""
        return self.tell()

    @property
    def place(self) -> str:
        return self.told[0]

    @property
    def said(self) -> tuple[OwnSay, ...]:
        return self.told[1]


class IndependentWork:
    """The rows of a campaign; sessions in the bin are left out."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign

    def decompositions(self) -> Iterator[ComparedWork]:
        """Any two of one session, by Fournier's boundary similarity."""
        for session, first, second in self._pairs(Stage.DECOMPOSE):
            order = session.places()
            ours, theirs = cuts_of(first.parts, order), cuts_of(second.parts, order)
            told = first.said(cut_words(ours)), second.said(cut_words(theirs))
            yield ComparedWork(session, told, "", boundary_similarity(ours, theirs, len(order)))

    def rewrites(self) -> Iterator[ComparedWork]:
        """Any two of parts with exactly the same steps, by chrF."""
        for session, first, second in self._pairs(Stage.REWRITE):
            order = session.places()
            ours, theirs = _by_range(first.parts, order), _by_range(second.parts, order)
            for at in ours:
                if at in theirs:
                    told = first.said(ours[at]), second.said(theirs[at])
                    yield ComparedWork(session, told, _range_words(at), agreement.chrf(ours[at], theirs[at]))

    def entries(self) -> Iterator[ComparedWork]:
        """What was said to each entry of the rubric by all who judged one version. Bulk accepts are left out, as nobody
        looked at those."""
        rows = Verdict.objects.filter(
            assignment__item__session__campaign=self.campaign, assignment__item__session__deleted_at=None, bulk=None
        ).select_related("verification__user", "assignment__item__session")
        versions: dict[tuple[int, int], list[Verdict]] = defaultdict(list)
        for row in rows.order_by("verification__user_id"):
            versions[row.assignment_id, row.round].append(row)
        for verdicts in versions.values():
            if len(verdicts) < 2:
                continue
            session = verdicts[0].assignment.item.session
            for code in verdicts[0].checklist:
                if all(code in verdict.checklist for verdict in verdicts):
                    finds = tuple(not verdict.checklist[code] for verdict in verdicts)
                    told = tuple(
                        OwnSay(one.verification.user, "a defect" if found else "none", one.verification_id)
                        for one, found in zip(verdicts, finds, strict=True)
                    )
                    yield ComparedWork(session, told, code, float(len(set(finds)) == 1), finds)

    def verdicts(self) -> Iterator[DecidedWork]:
        """Each verdict in a dispute that somebody has decided."""
        rows: DisputeQuerySet = Dispute.objects.live().filter(assignment__item__session__campaign=self.campaign)
        for dispute in rows.exclude(decided_at=None).with_people():
            for verdict in dispute.verdicts:
                verifier = verdict.verification.user
                told = OwnSay(verifier, verdict.get_outcome_display(), verdict.verification_id)
                right = (verifier,) if verdict.outcome == dispute.outcome else ()
                assert dispute.decided_by is not None  # as it is decided
                tell = partial(lambda *known: known, f"round {dispute.round}", (told,))
                yield DecidedWork(dispute.assignment.item.session, (verifier,), right, dispute.decided_by, tell)

    def differences(self) -> Iterator[DecidedWork]:
        """Each difference of two versions of which somebody has made one."""
        for curation in self._curations():
            authors = curation.first.user, curation.second.user
            sides = {CurationChoice.Take.FIRST: authors[:1], CurationChoice.Take.SECOND: authors[1:]}
            for step, choice in curation.standing().items():
                right = sides.get(CurationChoice.Take(choice.take), ())
                yield DecidedWork(
                    curation.first.item.session,
                    authors,
                    right,
                    curation.user,
                    partial(self._told_difference, curation, step),
                )

    def made(self) -> Iterator[DecidedWork]:
        """Each item whose two versions somebody has made one, counted for whoever did."""
        for curation in self._curations():
            taken = curation.first if curation.taken_id == curation.first_id else curation.second
            yield DecidedWork(
                curation.first.item.session,
                (curation.user,),
                (taken.user,),
                curation.user,
                partial(self._told_item, curation),
            )

    def _told_difference(self, curation: Curation, step: int) -> ToldWork:
        places = curation.first.item.session.places()
        stretch = curation.differing()[step]
        first = places[stretch.step]
        text = "rewrite" if curation.first.item.stage == Stage.REWRITE else "instruction"
        sides = (curation.first, stretch.first), (curation.second, stretch.second)
        said = tuple(OwnSay.of(version, _part_words(parts, text)) for version, parts in sides)
        return _range_words((first, first + len(stretch.steps))), said

    def _told_item(self, curation: Curation) -> ToldWork:
        sides, tally = {"a": curation.first, "b": curation.second}, curation.tally()
        said = tuple(OwnSay.of(one, f"{amount(tally[side], 'difference')} taken") for side, one in sides.items())
        return curation.first.item.stage, said

    def _curations(self) -> CurationQuerySet:
        rows: CurationQuerySet = Curation.objects.live().finished().with_people()
        return rows.filter(first__item__session__campaign=self.campaign).prefetch_related("choices")

    def _pairs(self, stage: Stage) -> Iterator[tuple[Session, "_HandedIn", "_HandedIn"]]:
        """Any two annotations of one item as they were first handed in: what is mended later follows what verifiers
        said."""
        rows = Assignment.objects.filter(
            item__session__campaign=self.campaign, item__session__deleted_at=None, item__stage=stage
        ).exclude(state=Assignment.State.RELEASED)
        first = self._first_handed_in(rows)
        users = Account.objects.in_bulk({user for user, _ in first.values()})
        groups: dict[int, list[_HandedIn]] = defaultdict(list)
        for row in rows.filter(pk__in=first).select_related("item__session").prefetch_related("parts"):
            user, version = first[row.pk]
            parts = row.contents_at(version) if row.version > version else row.contents()
            groups[row.item_id].append(_HandedIn(users[user], row, parts))
        for group in groups.values():
            for one, other in combinations(sorted(group, key=lambda made: made.user.get_username()), 2):
                yield one.work.item.session, one, other

    def _first_handed_in(self, rows: AssignmentQuerySet) -> dict[int, tuple[int, int]]:
        """Assignment -> (user, version) when it was first handed in; none for those that never were."""
        told = tracked_models()[Assignment.__name__]._base_manager.filter(
            pgh_obj__in=rows.order_by().values("pk"), state=Assignment.State.SUBMITTED
        )
        found = told.order_by("pgh_obj", "pgh_id").distinct("pgh_obj").values_list("pgh_obj", "user", "version")
        return {pk: (user, version) for pk, user, version in found}


@dataclass(frozen=True)
class _HandedIn:
    """An annotation as somebody handed it in first."""

    user: Account
    work: Assignment
    parts: dict[int, dict[str, Any]]

    def said(self, words: str) -> OwnSay:
        return OwnSay(self.user, words, self.work.pk)


def _part_words(parts: Iterable[PlacedPart], text: str) -> str:
    return " / ".join(says[text] for _, says in parts)


def _by_range(made: dict[int, dict[str, Any]], places: dict[int, int]) -> dict[PartRange, str]:
    """The rewrite of each part."""
    starts = sorted((places[step], step) for step in made)
    ends = [*(start for start, _ in starts[1:]), len(places)]
    return {(start, end): made[step]["rewrite"] for (start, step), end in zip(starts, ends, strict=True)}


def _range_words(at: PartRange) -> str:
    first, end = at
    return f"step {end}" if end == first + 1 else f"steps {first + 1}–{end}"


def cut_words(cuts: set[int]) -> str:
    """Where a decomposition cuts."""
    if not cuts:
        return "no cut"
    return f"cut before step {', '.join(str(cut + 1) for cut in sorted(cuts))}"
