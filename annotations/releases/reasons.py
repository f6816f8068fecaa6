"""By whom and why conversations of a dataset changed between two releases."""

from collections import Counter, defaultdict
from datetime import datetime
from typing import Any

from annotations.models import Edit, Job, Redaction, Release, Verdict
from annotations.releases.datasheet import PLACES

Reason = dict[str, Any]
EDITS: dict[str, str] = {
    Edit.Kind.CUT: "cut",
    Edit.Kind.JOIN: "join",
    Edit.Kind.TEXT: "change of a text",
    Edit.Kind.MENTIONS: "marking of mentions",
}


def reasons_between(older: Release, newer: Release, names: list[str]) -> dict[str, list[Reason]]:
    """Per conversation, in order of time: {"what", "by": user name or "", "at": ISO time, "why"}.

    Redactions, edits and verdicts after the older release and up to the newer one; where there are none, the imports
    of that time, and where there is none either, an import that left no job behind (the command line).
    """
    span = (older.created_at, newer.created_at)
    found: dict[str, list[Reason]] = defaultdict(list)
    for name, reason in [*_redactions(newer, span, names), *_edits(newer, span, names), *_verdicts(newer, span, names)]:
        found[name].append(reason)
    imports = _imports(newer, span)
    for name in names:
        found[name] = sorted(found[name], key=lambda reason: reason["at"]) or imports
    return found


def _reason(what: str, by: str | None, at: datetime, why: str = "") -> Reason:
    return {"what": what, "by": by or "", "at": at.isoformat(), "why": why}


def _redactions(release: Release, span: tuple[datetime, datetime], names: list[str]) -> list[tuple[str, Reason]]:
    """One reason per conversation, person and kind: how often it was taken out of what, and the time of the last."""
    rows = (
        Redaction.objects.filter(
            dataset=release.dataset, conversation__source_id__in=names, created_at__gt=span[0], created_at__lte=span[1]
        )
        .order_by("created_at")
        .values_list("conversation__source_id", "user__username", "kind", "place", "count", "created_at")
    )
    counts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    last: dict[tuple[str, str, str], datetime] = {}
    for name, by, kind, place, count, at in rows:
        counts[name, by, kind][PLACES[place]] += count
        last[name, by, kind] = at
    return [
        (name, _reason(f"redaction of {kind}", by, last[name, by, kind], _told(places)))
        for (name, by, kind), places in counts.items()
    ]


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{n} × {word}" for word, n in counts.items())


def _edits(release: Release, span: tuple[datetime, datetime], names: list[str]) -> list[tuple[str, Reason]]:
    """One reason per conversation and annotator: how many edits of which kind, and the time of the last."""
    rows = (
        Edit.objects.filter(
            assignment__item__session__campaign__target=release.dataset,
            assignment__item__session__name__in=names,
            at__gt=span[0],
            at__lte=span[1],
        )
        .order_by("at")
        .values_list("assignment__item__session__name", "user__username", "kind", "at")
    )
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    last: dict[tuple[str, str], datetime] = {}
    for name, by, kind, at in rows:
        counts[name, by][EDITS[kind]] += 1
        last[name, by] = at
    return [
        (
            name,
            _reason("annotation", by, last[name, by], _told(kinds)),
        )
        for (name, by), kinds in counts.items()
    ]


def _verdicts(release: Release, span: tuple[datetime, datetime], names: list[str]) -> list[tuple[str, Reason]]:
    rows = (
        Verdict.objects.filter(
            assignment__item__session__campaign__target=release.dataset,
            assignment__item__session__name__in=names,
            created_at__gt=span[0],
            created_at__lte=span[1],
        )
        .prefetch_related("defects")
        .select_related("verification__user", "assignment__item__session")
    )
    found = []
    for verdict in rows:
        defects = ", ".join(defect.code for defect in verdict.defects.all())
        why = "; ".join(part for part in (verdict.reason, defects, f"round {verdict.round}") if part)
        what = f"verdict: {verdict.get_outcome_display()}"
        by = verdict.verification.user.get_username()
        found.append((verdict.assignment.item.session.name, _reason(what, by, verdict.created_at, why)))
    return found


def _imports(release: Release, span: tuple[datetime, datetime]) -> list[Reason]:
    rows = Job.objects.filter(
        dataset=release.dataset, kind=Job.Kind.IMPORT, finished_at__gt=span[0], finished_at__lte=span[1]
    ).order_by("finished_at")
    listed = [
        _reason(
            "import",
            job.created_by.get_username() if job.created_by else "",
            job.finished_at or span[1],
            job.params.get("original_name") or job.params.get("path") or "",
        )
        for job in rows.select_related("created_by")
    ]
    return listed or [_reason("import", "", span[1])]
