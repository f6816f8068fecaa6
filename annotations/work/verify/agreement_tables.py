"""How far the people of a campaign agree: over all sessions, and for each pair of people."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from annotations import agreement
from annotations.agreement import Agreement, Counts
from annotations.models import Assignment, Campaign, Curation, Dispute, Stage, Verdict
from annotations.models.accounts.projects import User
from annotations.models.work.curations import CurationQuerySet
from annotations.models.work.disputes import DisputeQuerySet
from annotations.text.segmentation import boundary_similarity, cuts_of

AnswerPair = tuple[Any, Any]  # two users, the one with the smaller id first


@dataclass
class PairRow:
    """How far two people agree, each value with its number of comparisons; None where they share nothing."""

    first: Any
    second: Any
    cuts: float | None = None
    cuts_n: int = 0
    words: float | None = None
    words_n: int = 0
    kappa: float | None = None
    kappa_n: int = 0


@dataclass
class RightRow:
    """How often somebody was right where another person decided: a verifier whose verdict stood in a dispute, an author
    whose words or cuts were taken where two versions differed (other words prove neither right)."""

    user: User
    verdicts: int = 0
    verdicts_n: int = 0
    differences: int = 0
    differences_n: int = 0

    @classmethod
    def of(cls, disputes: DisputeQuerySet, curations: CurationQuerySet) -> list["RightRow"]:
        """A row for each verifier of the disputes that are decided, and for each author of two versions of which one
        was made, by name."""
        rows: dict[Any, RightRow] = {}
        for dispute in disputes.live().exclude(decided_at=None):
            for verdict in dispute.verdicts:
                row = rows.setdefault(verdict.verification.user, cls(verdict.verification.user))
                row.verdicts += verdict.outcome == dispute.outcome
                row.verdicts_n += 1
        for curation in curations.live().finished().with_people().prefetch_related("choices"):
            taken = curation.tally()
            for side, version in zip("ab", (curation.first, curation.second), strict=True):
                row = rows.setdefault(version.user, cls(version.user))
                row.differences += taken[side]
                row.differences_n += taken.total()
        return sorted(rows.values(), key=lambda row: row.user.get_username())


class CuratorRow(NamedTuple):
    """What somebody who makes one of two versions has done."""

    person: str
    made: int
    seconds: int


@dataclass
class AgreementReport:
    cuts: Agreement
    words: Agreement
    kappa: Agreement
    kappa_kind: str  # Cohen or Fleiss
    pairs: list[PairRow]
    right: list["RightRow"]
    curators: list[CuratorRow]
    by_code: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class _Agreements:
    """Values collected by session, from which the interval is computed, and by pair of people."""

    by_session: dict[int, list] = field(default_factory=lambda: defaultdict(list))
    by_pair: dict[AnswerPair, list] = field(default_factory=lambda: defaultdict(list))

    def add(self, session: int, pair: AnswerPair, values: Iterable[Any]) -> None:
        values = list(values)
        self.by_session[session] += values
        self.by_pair[pair] += values

    @property
    def n(self) -> int:
        return sum(map(len, self.by_session.values()))


class CampaignAgreement:
    """The agreement of people of a campaign who worked on the same independently."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign

    def report(self) -> AgreementReport:
        """The agreement on everything that people did independently of each other: submitted annotations of one item,
        verdicts on one version. Sessions in the bin are left out."""
        cuts, words = self._annotations()
        judged = self._judgements()
        curations = Curation.objects.filter(first__item__session__campaign=self.campaign)
        people = {user for row in judged for user in row["who"]}
        kind = "Cohen" if len(people) <= 2 else "Fleiss"
        return AgreementReport(
            cuts=_mean_of(cuts),
            words=_mean_of(words),
            kappa=_kappa(judged, kind),
            kappa_kind=kind,
            pairs=_pair_rows(cuts, words, judged),
            right=RightRow.of(
                Dispute.objects.filter(assignment__item__session__campaign=self.campaign),
                curations,
            ),
            curators=[CuratorRow(*row) for row in curations.live().by_curator()],
            by_code=self._by_code(judged, kind),
        )

    def _annotations(self) -> tuple[_Agreements, _Agreements]:
        """Boundary similarity of decompositions, and chrF of rewrites where both have a part of the same steps; of
        versions of which one was made, as their authors handed them in."""
        cuts, words = _Agreements(), _Agreements()
        rows = Assignment.objects.filter(
            item__session__campaign=self.campaign,
            item__session__deleted_at=None,
            item__stage__in=[Stage.DECOMPOSE, Stage.REWRITE],
            state=Assignment.State.SUBMITTED,
        )
        before = Curation.objects.before(self.campaign)
        groups: dict[int, list[Assignment]] = defaultdict(list)
        for row in rows.select_related("user", "item__session").prefetch_related("parts").order_by("user_id"):
            groups[row.item_id].append(row)
        for group in groups.values():
            if len(group) < 2:
                continue
            session = group[0].item.session
            order = session.places()
            made = [one.contents_at(before[one.pk]) if one.pk in before else one.contents() for one in group]
            for (first, ours), (second, theirs) in combinations(zip(group, made, strict=True), 2):
                pair = first.user, second.user
                if group[0].item.stage == Stage.DECOMPOSE:
                    one_cuts, other_cuts = cuts_of(ours, order), cuts_of(theirs, order)
                    cuts.add(session.pk, pair, [boundary_similarity(one_cuts, other_cuts, len(order))])
                else:
                    one_texts, other_texts = _by_range(ours, order), _by_range(theirs, order)
                    same = [place for place in one_texts if place in other_texts]
                    words.add(session.pk, pair, [agreement.chrf(one_texts[at], other_texts[at]) for at in same])
        return cuts, words

    def _judgements(self) -> list[dict[str, Any]]:
        """For each entry of the rubric and each version that several people have judged: {session, code, who: {user:
        whether they saw a defect}}. Bulk accepts are left out, as nobody looked at those."""
        rows = Verdict.objects.filter(
            assignment__item__session__campaign=self.campaign, assignment__item__session__deleted_at=None, bulk=None
        ).select_related("verification__user", "assignment__item")
        versions: dict[tuple[int, int], list[Verdict]] = defaultdict(list)
        for row in rows.order_by("verification__user_id"):
            versions[row.assignment_id, row.round].append(row)
        return [
            {
                "session": verdicts[0].assignment.item.session_id,
                "code": code,
                "who": {verdict.verification.user: not verdict.checklist[code] for verdict in verdicts},
            }
            for verdicts in versions.values()
            if len(verdicts) > 1
            for code in verdicts[0].checklist
            if all(code in verdict.checklist for verdict in verdicts)
        ]

    def _by_code(self, judged: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
        """Per entry of the rubric: how often it was a defect, and kappa."""
        found = []
        for entry in self.campaign.rubric:
            rows = [row for row in judged if row["code"] == entry["code"]]
            ratings = [rating for row in rows for rating in row["who"].values()]
            share = sum(ratings) / len(ratings) if ratings else None
            found.append(entry | {"kappa": _kappa(rows, kind), "share": share})
        return found


def _by_range(made: dict[int, dict[str, Any]], places: dict[int, int]) -> dict[tuple[int, int], str]:
    """(place of the first step, of the first step after it) -> rewrite, of each part."""
    starts = sorted((places[step], step) for step in made)
    ends = [*(start for start, _ in starts[1:]), len(places)]
    return {(start, end): made[step]["rewrite"] for (start, step), end in zip(starts, ends, strict=True)}


def _mean_of(tally: _Agreements) -> Agreement:
    counts = {session: agreement.mean_counts(values) for session, values in tally.by_session.items() if values}
    return agreement.estimate(counts, agreement.mean, tally.n)


def _kappa(judged: list[dict[str, Any]], kind: str) -> Agreement:
    by_session: dict[int, list] = defaultdict(list)
    for row in judged:
        by_session[row["session"]].append(tuple(row["who"].values()))
    counting, statistic = _of_kind(kind)
    counts = {session: counting(ratings) for session, ratings in by_session.items()}
    return agreement.estimate(counts, statistic, len(judged))


def _of_kind(kind: str) -> tuple[Callable[[Iterable], Counts], Callable[[Counts], Any]]:
    if kind == "Cohen":
        return agreement.cohen_counts, agreement.cohen
    return agreement.fleiss_counts, agreement.fleiss


def _pair_rows(cuts: _Agreements, words: _Agreements, judged: list[dict[str, Any]]) -> list[PairRow]:
    ratings: dict[AnswerPair, list[tuple[bool, bool]]] = defaultdict(list)
    for one in judged:
        for first, second in combinations(one["who"], 2):
            ratings[first, second].append((one["who"][first], one["who"][second]))
    rows: dict[AnswerPair, PairRow] = {}
    for pair, values in cuts.by_pair.items():
        row = rows.setdefault(pair, PairRow(*pair))
        row.cuts, row.cuts_n = sum(values) / len(values), len(values)
    for pair, values in words.by_pair.items():
        row = rows.setdefault(pair, PairRow(*pair))
        row.words, row.words_n = (sum(values) / len(values) if values else None), len(values)
    for pair, both in ratings.items():
        row = rows.setdefault(pair, PairRow(*pair))
        kappa = float(agreement.cohen(agreement.cohen_counts(both)))
        row.kappa, row.kappa_n = (None if kappa != kappa else kappa), len(both)  # nan: chance alone agrees
    return sorted(rows.values(), key=lambda row: (row.first.get_username(), row.second.get_username()))
