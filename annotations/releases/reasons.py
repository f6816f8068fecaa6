"""By whom and why conversations of a dataset changed between two releases."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotations.models import (
    Curation,
    CurationChoice,
    Dataset,
    Edit,
    Redaction,
    Release,
    Verdict,
)
from annotations.releases.corrected import MadeCorrection
from annotations.releases.datasheet import PLACES

ReleaseReason = dict[str, Any]
EDITS: dict[str, str] = {
    Edit.Kind.CUT: "cut",
    Edit.Kind.JOIN: "join",
    Edit.Kind.TEXT: "change of a text",
    Edit.Kind.MENTIONS: "marking of mentions",
}


def reasons_between(older: Release, newer: Release, names: list[str]) -> dict[str, list[ReleaseReason]]:
    """Per conversation, in order of time: {"what", "by": user name or "", "at": ISO time, "why"}.

    Redactions, edits, verdicts, two versions made one and corrections of gold after the older release and up to the
    newer one; where there are none, the imports of that time, and where there is none either, an import that left no
    job behind (the command line).
    """
    span = _BetweenReleases(newer.dataset, older.created_at, newer.created_at, names)
    found: dict[str, list[ReleaseReason]] = defaultdict(list)
    judged = [*span.verdicts(), *span.curations(), *span.corrections()]
    for name, reason in [*span.redactions(), *span.edits(), *judged]:
        found[name].append(reason)
    imports = span.imports()
    for name in names:
        found[name] = sorted(found[name], key=lambda reason: reason["at"]) or imports
    return found


@dataclass(frozen=True)
class _BetweenReleases:
    """The time between two releases of a dataset, with these conversations: each method gives (conversation, reason)
    pairs."""

    dataset: Dataset
    since: datetime
    until: datetime
    names: list[str]

    def _within(self, column: str) -> dict[str, datetime]:
        return {f"{column}__gt": self.since, f"{column}__lte": self.until}

    def _in_work(self, assignment: str = "assignment") -> dict[str, Any]:
        """The filter for rows about annotations that these conversations were made of."""
        session = f"{assignment}__item__session"
        return {f"{session}__campaign__target": self.dataset, f"{session}__name__in": self.names}

    def redactions(self) -> list[tuple[str, ReleaseReason]]:
        """One reason per conversation, person and kind: how often it was taken out of what, and when it last was."""
        rows = Redaction.objects.filter(
            dataset=self.dataset, conversation__source_id__in=self.names, **self._within("created_at")
        ).order_by("created_at")
        columns = ("conversation__source_id", "user__username", "kind", "place", "count", "created_at")
        counts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
        last: dict[tuple[str, str, str], datetime] = {}
        for name, by, kind, place, count, at in rows.values_list(*columns):
            counts[name, by, kind][PLACES[place]] += count
            last[name, by, kind] = at
        return [
            (name, _reason(f"redaction of {kind}", by, last[name, by, kind], _counted_words(places)))
            for (name, by, kind), places in counts.items()
        ]

    def edits(self) -> list[tuple[str, ReleaseReason]]:
        """One reason per conversation and annotator: how many edits of which kind, and the time of the last."""
        rows = Edit.objects.filter(**self._in_work(), **self._within("at")).order_by("at")
        columns = ("assignment__item__session__name", "user__username", "kind", "at")
        counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        last: dict[tuple[str, str], datetime] = {}
        for name, by, kind, at in rows.values_list(*columns):
            counts[name, by][EDITS[kind]] += 1
            last[name, by] = at
        return [
            (name, _reason("annotation", by, last[name, by], _counted_words(kinds)))
            for (name, by), kinds in counts.items()
        ]

    def verdicts(self) -> list[tuple[str, ReleaseReason]]:
        rows = Verdict.objects.filter(**self._in_work(), **self._within("created_at")).prefetch_related("defects")
        found = []
        for verdict in rows.select_related("verification__user", "assignment__item__session"):
            defects = ", ".join(defect.code for defect in verdict.defects.all())
            why = "; ".join(part for part in (verdict.reason, defects, f"round {verdict.round}") if part)
            what = f"verdict: {verdict.get_outcome_display()}"
            by = verdict.verification.user.get_username()
            found.append((verdict.assignment.item.session.name, _reason(what, by, verdict.created_at, why)))
        return found

    def curations(self) -> list[tuple[str, ReleaseReason]]:
        rows = Curation.objects.filter(**self._in_work("first"), **self._within("finished_at"))
        found = []
        for row in rows.with_people().prefetch_related("choices"):
            people, sides = (row.first.user.get_username(), row.second.user.get_username()), row.tally()
            takes = zip(CurationChoice.Take, (*people, "other words"), strict=True)
            told = [" and ".join(people), *(f"{sides[take]} × {word}" for take, word in takes if sides[take])]
            reason = _reason(
                "two versions made one", row.user.get_username(), row.finished_at or self.until, "; ".join(told)
            )
            found.append((row.first.item.session.name, reason))
        return found

    def corrections(self) -> list[tuple[str, ReleaseReason]]:
        """Reasons by corrections of gold, of what turns say and of where they begin."""
        made = MadeCorrection.of(self.dataset, self.names, **self._within("decided_at"))
        return [
            (one.conversation.source_id, _reason(f"correction of {' and '.join(one.what)}", one.by, one.at, one.why))
            for one in made
        ]

    def imports(self) -> list[ReleaseReason]:
        """Imports, which are of the whole dataset; where no job of one is left, an import without name and person."""
        rows = self.dataset.jobs.imports().filter(**self._within("finished_at")).order_by("finished_at")
        listed = [
            _reason(
                "import",
                job.created_by.get_username() if job.created_by else "",
                job.finished_at or self.until,
                job.params.get("original_name") or job.params.get("path") or "",
            )
            for job in rows.select_related("created_by")
        ]
        return listed or [_reason("import", "", self.until)]


def _reason(what: str, by: str | None, at: datetime, why: str = "") -> ReleaseReason:
    return {"what": what, "by": by or "", "at": at.isoformat(), "why": why}


def _counted_words(counts: Counter[str]) -> str:
    return ", ".join(f"{n} × {word}" for word, n in counts.items())
