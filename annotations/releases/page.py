"""What the pages of releases show: what was found before one, one release, the differences between two."""

from collections.abc import Callable
from typing import Any

from annotations.models import Conversation, Dataset, Release
from annotations.releases.checking import KIND_WORDS, Checks, kind_words
from annotations.releases.datasheet import PLACES, statistics_table
from annotations.releases.diffing import NAMES, Difference, Json, details
from annotations.releases.scanning import PrivateText
from annotations.text.guidelines import blocks

SHOWN = 50  # findings of a kind
PAGE_NAMES = {NAMES[name] for name in ("html", "raw_html", "html_after", "negatives")}


def findings(dataset: Dataset, checks: Checks) -> dict[str, Any]:
    """What the page of a new release shows of the checks."""
    kinds = []
    for kind in KIND_WORDS:
        if texts := checks.privacy.of_kind(kind):
            rows = [_found_row(text) for text in texts[:SHOWN]]
            kinds.append({"kind": kind, "words": kind_words(kind, len(texts)), "count": len(texts), "texts": rows})
    return {
        "dataset": dataset,
        "checks": checks,
        "concerns": checks.concerns(),
        "kinds": kinds,
        "pairs": checks.near_duplicates[:SHOWN],
        "tasks": checks.shared_tasks[:SHOWN],
        "redactions": dataset.redactions.count(),
    }


def _found_row(text: PrivateText) -> dict[str, Any]:
    counts = [(words, text.places[place]) for place, words in PLACES.items() if place in text.places]
    places = ", ".join(words if count == 1 else f"{words} {count:,}×" for words, count in counts)
    return {"found": text, "places": places, "conversations": len(text.conversations)}


def release_context(release: Release) -> dict[str, Any]:
    splits, rows = statistics_table(release.statistics)
    return {
        "dataset": release.dataset,
        "release": release,
        "splits": splits,
        "rows": rows,
        "size": release.conversations.count(),
        # Without its table, which stands above.
        "sheet": [block for block in blocks(release.datasheet) if not block.lines[0].startswith("|")],
        "earlier": release.earlier(),
    }


def difference_rows(
    found: Difference,
    names: list[str],
    sees_gold: Callable[[str], bool],
    shown: Callable[[Json], Json],
) -> list[dict[str, Any]]:
    """The differences of these conversations, each with the page of one that is still there, and what is told of each
    turn in short."""
    rows = details(found, names, sees_gold, shown)
    there = Conversation.objects.filter(dataset=found.newer.dataset, source_id__in=names)
    pks = dict(there.values_list("source_id", "pk"))
    for turn in (turn for row in rows for turn in row["turns"]):
        turn["says_words"] = any("words" in field for field in turn["fields"])
        told = [step for step in turn["steps"] if not _only_pages(step)]
        turn["only_pages"], turn["steps"] = len(turn["steps"]) - len(told), told
    return [row | {"pk": pks.get(row["source_id"])} for row in rows]


def _only_pages(step: dict[str, Any]) -> bool:
    """Whether a step differs only in its page and candidates; such steps share one line."""
    return step["change"] == "changed" and {field["field"] for field in step["fields"]} <= PAGE_NAMES
