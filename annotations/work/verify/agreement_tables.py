"""How far the people of a campaign agree: over all sessions, and for each pair of people."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from annotations import agreement
from annotations.agreement import Agreement, Counts
from annotations.models import Campaign, Curation
from annotations.models.accounts.projects import Account
from annotations.work.verify.compared import ComparedWork, DecidedWork, IndependentWork


@dataclass
class PairRow:
    """How far two people agree, each value with its number of comparisons; None where they share nothing."""

    first: Account
    second: Account
    cuts: float | None = None
    cuts_n: int = 0
    words: float | None = None
    words_n: int = 0
    kappa: float | None = None
    kappa_n: int = 0

    @property
    def names(self) -> dict[str, str]:
        """The two, as the rows behind these numbers are filtered by."""
        return {"person": self.first.get_username(), "other": self.second.get_username()}


@dataclass
class RightRow:
    """How often somebody was right where another person decided: a verifier whose verdict stood in a dispute, an author
    whose words or cuts were taken where two versions differed (other words prove neither right)."""

    user: Account
    verdicts: int = 0
    verdicts_n: int = 0
    differences: int = 0
    differences_n: int = 0

    @classmethod
    def of(cls, verdicts: Iterable[DecidedWork], differences: Iterable[DecidedWork]) -> list["RightRow"]:
        """A row for each verifier in disputes, and for each author of two versions of which one was made, by name."""
        rows: dict[Account, RightRow] = {}
        for one in verdicts:
            for user in one.people:
                row = rows.setdefault(user, cls(user))
                row.verdicts += user in one.right
                row.verdicts_n += 1
        for one in differences:
            for user in one.people:
                row = rows.setdefault(user, cls(user))
                row.differences += user in one.right
                row.differences_n += 1
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


class CampaignAgreement:
    """The agreement of people of a campaign who worked on the same independently."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self._work = IndependentWork(campaign)

    def report(self) -> AgreementReport:
        """The agreement on everything that people did independently of each other: submitted annotations of one item,
        verdicts on one version. Sessions in the bin are left out."""
        work = self._work
        cuts, words, entries = (list(rows()) for rows in (work.decompositions, work.rewrites, work.entries))
        people = {one.user for row in entries for one in row.said}
        kind = "Cohen" if len(people) <= 2 else "Fleiss"
        curations = Curation.objects.live().filter(first__item__session__campaign=self.campaign)
        return AgreementReport(
            cuts=_mean_of(cuts),
            words=_mean_of(words),
            kappa=_kappa(entries, kind),
            kappa_kind=kind,
            pairs=_pair_rows(cuts, words, entries),
            right=RightRow.of(work.verdicts(), work.differences()),
            curators=[CuratorRow(*row) for row in curations.by_curator()],
            by_code=self._by_code(entries, kind),
        )

    def _by_code(self, entries: list[ComparedWork], kind: str) -> list[dict[str, Any]]:
        """Per entry of the rubric: how often it was a defect, and kappa."""
        found = []
        for entry in self.campaign.rubric:
            rows = [row for row in entries if row.place == entry["code"]]
            finds = [one for row in rows for one in row.finds]
            share = sum(finds) / len(finds) if finds else None
            found.append(entry | {"kappa": _kappa(rows, kind), "share": share})
        return found


def _mean_of(rows: list[ComparedWork]) -> Agreement:
    by_session: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        by_session[row.session.pk].append(row.value)
    counts = {session: agreement.mean_counts(values) for session, values in by_session.items()}
    return agreement.estimate(counts, agreement.mean, len(rows))


def _kappa(entries: list[ComparedWork], kind: str) -> Agreement:
    by_session: dict[int, list[tuple[bool, ...]]] = defaultdict(list)
    for row in entries:
        by_session[row.session.pk].append(row.finds)
    counting, statistic = _of_kind(kind)
    counts = {session: counting(ratings) for session, ratings in by_session.items()}
    return agreement.estimate(counts, statistic, len(entries))


def _of_kind(kind: str) -> tuple[Callable[[Iterable], Counts], Callable[[Counts], Any]]:
    if kind == "Cohen":
        return agreement.cohen_counts, agreement.cohen
    return agreement.fleiss_counts, agreement.fleiss


def _pair_rows(cuts: list[ComparedWork], words: list[ComparedWork], entries: list[ComparedWork]) -> list[PairRow]:
    rows: dict[tuple[Account, Account], PairRow] = {}
    for pair, values in _by_pair(cuts).items():
        row = rows.setdefault(pair, PairRow(*pair))
        row.cuts, row.cuts_n = sum(values) / len(values), len(values)
    for pair, values in _by_pair(words).items():
        row = rows.setdefault(pair, PairRow(*pair))
        row.words, row.words_n = sum(values) / len(values), len(values)
    ratings: dict[tuple[Account, Account], list[tuple[bool, bool]]] = defaultdict(list)
    for one in entries:
        for (first, ours), (second, theirs) in combinations(zip(one.said, one.finds, strict=True), 2):
            ratings[first.user, second.user].append((ours, theirs))
    for pair, both in ratings.items():
        row = rows.setdefault(pair, PairRow(*pair))
        kappa = float(agreement.cohen(agreement.cohen_counts(both)))
        row.kappa, row.kappa_n = (None if kappa != kappa else kappa), len(both)  # nan: chance alone agrees
    return sorted(rows.values(), key=lambda row: (row.first.get_username(), row.second.get_username()))


def _by_pair(rows: list[ComparedWork]) -> dict[tuple[Account, Account], list[float]]:
    found: dict[tuple[Account, Account], list[float]] = defaultdict(list)
    for row in rows:
        first, second = row.people
        found[first, second].append(row.value)
    return found
