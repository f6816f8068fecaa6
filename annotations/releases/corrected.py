"""Corrections of gold actions and of turns that a dataset holds: who made them, why, and who verified that."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from annotations.models import Conversation, Correction, Dataset, TurnCorrection
from annotations.releases.privacy import replacement, scan, take_out
from annotations.text.amounts import amount

LISTED = 100  # in a datasheet; the data beside it name all
COUNTED = {"gold": "gold action", "wording": "wording", "cut": "cut"}  # what may be corrected, as it is counted


class MadeCorrection(NamedTuple):
    """A correction that was verified. `what`: of `COUNTED`."""

    conversation: Conversation
    what: tuple[str, ...]
    place: str
    by: str
    verified_by: str
    at: datetime
    said: str

    @classmethod
    def of(cls, dataset: Dataset, names: Collection[str] | None = None, **within: datetime) -> "list[MadeCorrection]":
        """Those of a dataset, or of its conversations with these names, in order of time. `within`: filters of the time
        at which they were verified."""
        found = []
        for kind, place in ((Correction, "step__turn__conversation"), (TurnCorrection, "turn__conversation")):
            rows = kind.objects.done().filter(**{f"{place}__dataset": dataset}, **within)
            rows = rows if names is None else rows.filter(**{f"{place}__source_id__in": names})
            for row in rows.select_related("corrected_by", "decided_by", place):
                by, verifier = (who.get_username() if who else "" for who in (row.corrected_by, row.decided_by))
                said = "; ".join(part for part in (row.reason, row.note) if part)
                found.append(
                    cls(row.conversation, row.parts, row.place, by, verifier, row.decided_at or row.asked_at, said)
                )
        return sorted(found, key=lambda one: one.at)

    @property
    def why(self) -> str:
        """Where it was made, why, and who has verified it."""
        return "; ".join(part for part in (self.place, self.said, f"verified by {self.verified_by}") if part)

    def released(self) -> dict[str, Any]:
        """It as data of a release, which leaves the product: without private texts, and in test splits without its
        reason, which may tell their gold."""
        hidden = self.conversation.split.startswith("test")
        return {
            "conversation": self.conversation.source_id,
            "what": " and ".join(self.what),
            "place": self.place,
            "by": self.by,
            "verified_by": self.verified_by,
            "at": self.at.isoformat(),
            "why": "" if hidden else _without_private(" ".join(self.said.split())),
        }


def correction_figures(made: Sequence[MadeCorrection]) -> dict[str, Any]:
    """What was corrected, as data of a release: counts by what it was, people who did, each correction; {} for
    nothing."""
    counts = {what: sum(what in one.what for one in made) for what in COUNTED}
    people = {"people": len({one.by for one in made}), "verifiers": len({one.verified_by for one in made})}
    return counts | people | {"made": [one.released() for one in made]} if made else {}


def corrections_told(figures: dict[str, Any]) -> list[str]:
    """Paragraphs of a datasheet on what `correction_figures` has found; none for nothing."""
    if not figures:
        return []
    counted = [amount(figures[what], noun) for what, noun in COUNTED.items() if figures[what]]
    by, verifiers = amount(figures["people"], "person", "people"), amount(figures["verifiers"], "person", "people")
    made, more = figures["made"], len(figures["made"]) - LISTED
    lines = [
        f"- {one['conversation']}, {one['place']}: correction of {one['what']} by {one['by']}, verified by "
        + ": ".join(filter(None, (one["verified_by"], one["why"])))
        for one in made[:LISTED]
    ]
    return [
        f"Corrected after that: {', '.join(counted)}, by {by}; each correction was accepted by a second person "
        f"({verifiers} in all). Reasons of corrections in test splits are not told, as they may tell the gold.",
        "\n".join([*lines, *([f"- and {more:,} more, which ANNOTATION.json lists"] if more > 0 else [])]),
    ]


def _without_private(text: str) -> str:
    """The text with what looks private in it replaced by its kind in brackets."""
    for kind, private in [(kind, text[start:end]) for kind, start, end in scan(text, True)]:
        text = take_out(text, private, replacement(kind))[0]
    return text
