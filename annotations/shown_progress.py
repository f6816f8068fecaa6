"""The progress of long work as pages show it: counts, rate, time left, in words. No queries."""

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone


@dataclass(frozen=True)
class ShownProgress:
    """What a page that follows long work shows; the page polls the same as JSON.

    `version` changes when the rest of the page has to be read again; `bar` holds the fractions done, failed and
    under way.
    """

    running: bool
    version: str
    fields: dict[str, str] = field(default_factory=dict)
    bar: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def span_text(seconds: float) -> str:
    """A duration in words: "40 s", "3 min 20 s", "2 h 5 min", "4 days"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s" if whole else "under 1 s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole < 600 and whole % 60 else f"{whole // 60} min"
    if whole < 48 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min" if whole % 3600 >= 60 else f"{whole // 3600} h"
    return f"{whole // 86400} days"


def about_text(seconds: float) -> str:
    """An estimate in words: "about 40 s", "under 1 s"."""
    return f"{'about ' if round(seconds) > 0 else ''}{span_text(seconds)}"


def between_text(least: float, most: float) -> str:
    """A rough estimate in words: "about 2 to 10 min", "about 40 s to 4 min", "at most 20 s"; "about 3 min" where the
    two are about the same."""
    low, high = _rough_text(least), _rough_text(most)
    if low == high:
        return f"about {high}"
    if least < 5:
        return f"at most {high}"
    number, _, unit = low.partition(" ")
    return f"about {number if high.endswith(unit) else low} to {high}"


def _rough_text(seconds: float) -> str:
    """A duration to ten seconds, to a minute, or, from 100 minutes on, to an hour."""
    if seconds < 55:
        return f"{max(10, round(seconds, -1)):.0f} s"
    return f"{max(1, round(seconds / 60))} min" if seconds < 6000 else f"{round(seconds / 3600)} h"


def ago_text(when: datetime) -> str:
    seconds = (timezone.now() - when).total_seconds()
    if seconds < 1:
        return "now"
    # Minutes are exact enough for what is over.
    return f"{span_text(seconds if seconds < 60 else seconds // 60 * 60)} ago"


def counts_text(done: int, total: int | None, unit: str) -> str:
    return f"{done:,} of {total:,} {unit}" if total is not None else f"{done:,} {unit}"


def pace_text(per_second: float | None, left: float | None, unit: str) -> list[str]:
    """Rate and time left, where they are known: ["38 steps/s", "about 40 s left"]."""
    parts = []
    if per_second:
        digits = 0 if per_second >= 10 else 1 if per_second >= 1 else 2  # what is left must follow from what is shown
        rate = f"{per_second:,.{digits}f}"
        slow = per_second < 0.1  # "0.0 steps/s" says nothing
        parts.append(f"{60 * per_second:.1f} {unit}/min" if slow else f"{rate} {unit}/s")
    if left is not None:
        parts.append(f"{about_text(left)} left")
    return parts
