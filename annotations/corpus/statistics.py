"""Statistics of a dataset, per split (the papers' Table 1; lengths in tokens of a named tokenizer)."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import Avg, Count, Max, Min

from annotations.models import Dataset, Operation, Snapshot, Split, Step, Turn

TOKENIZER = r"regex \w+|[^\w\s]"
_TOKEN = re.compile(r"\w+|[^\w\s]")


def token_count(text: str) -> int:
    """Words and single punctuation marks; the tokenizer is named with every number made of it."""
    return sum(1 for _ in _TOKEN.finditer(text))


# What is measured on steps, beyond how many there are: of a test split it is gold.
OF_STEPS = (
    *("elements_per_turn", "candidates_per_step", "most_elements", "html_tokens", "html_pages_measured"),
    *("steps_without_gold", "steps_with_pruned_gold", "instructor_turns", "navigator_turns", "active_turns"),
    *("navigator_utterance_tokens", "navigator_utterance_characters", "navigator_utterances_per_conversation"),
    *("turns_of_both_per_conversation", "instructor_turns_per_conversation", "seconds_per_conversation"),
)


def dataset_stats(dataset: Dataset, html_sample: int | None = 200, *, sees_test: bool = True) -> dict[str, Any]:
    """Counts, means and bytes. HTML length is measured on at most `html_sample` pages per split, evenly spread
    (None: on all); the number measured is given. Without `sees_test` what tells gold of test splits is None."""
    found = [split for split in Split.values if dataset.conversations.filter(split=split).exists()]
    return {
        "dataset": dataset.name,
        "tokenizer": TOKENIZER,
        "splits": {
            split: _split_stats(dataset, split, html_sample, told=sees_test or not split.startswith("test"))
            for split in found
        },
        "bytes": _with_ratio(dataset.page_bytes(tests=sees_test)),
    }


def _with_ratio(counts: dict[str, int]) -> dict[str, Any]:
    return counts | {"ratio": round(counts["raw"] / counts["stored"], 2) if counts["stored"] else None}


def _split_stats(dataset: Dataset, split: str, html_sample: int | None, *, told: bool) -> dict[str, Any]:
    rows = dataset.conversations.filter(split=split)
    conversations = rows.count()
    turns = rows.aggregate(n=Count("turns"))["n"]
    steps = Step.objects.filter(turn__conversation__in=rows)
    figures = steps.aggregate(
        n=Count("id"),
        elements=Avg("snapshot__node_count"),
        candidates=Avg("candidate_count"),
        most_elements=Max("snapshot__node_count"),
    )
    lengths = [token_count(text) for text in rows.values_list("turns__instruction", flat=True) if text]
    html, measured = _html_tokens(steps, html_sample) if told else (None, 0)
    stats = {
        "conversations": conversations,
        "turns": turns,
        "steps": figures["n"],
        "turns_per_conversation": _mean(turns, conversations),
        "actions_per_turn": _mean(figures["n"], turns),
        "elements_per_turn": _rounded(figures["elements"]),
        "candidates_per_step": _rounded(figures["candidates"]),
        "most_elements": figures["most_elements"],
        "instruction_tokens": _mean(sum(lengths), len(lengths)),
        "html_tokens": html,
        "html_pages_measured": measured,
        "steps_without_gold": steps.filter(targets=None).count(),
        "steps_with_pruned_gold": steps.filter(targets__pruned=True).distinct().count(),
        **_site_stats(rows, conversations),
        **(_dialogue_stats(rows) if dataset.source_format == "weblinx" else {}),
    }
    return stats if told else stats | {name: None for name in OF_STEPS if name in stats}


def _site_stats(rows, conversations: int) -> dict[str, Any]:
    per_site = rows.order_by().values("website").annotate(n=Count("id")).aggregate(low=Min("n"), high=Max("n"))
    kinds = rows.aggregate(
        websites=Count("website", distinct=True),
        domains=Count("website__domain", distinct=True),
        subdomains=Count("website__subdomain", distinct=True),
    )
    return kinds | {
        "tasks_per_site": {
            "mean": _mean(conversations, kinds["websites"]),
            "min": per_site["low"],
            "max": per_site["high"],
        }
    }


def _dialogue_stats(rows) -> dict[str, Any]:
    """WebLINX's statistics of conversations: turns of either speaker and active turns, in all and on average, and mean
    lengths of messages (Table 1 of the context analysis counts characters) and of recordings. A navigator's turns are
    what it does and says, its utterances what it says alone: those are the "navigator turns" of that table.

    Numbers that only recorded demonstrations tell (chat rows do not) are None where there are none of those.
    """
    recorded = [extra for extra in rows.values_list("extra", flat=True) if "duration" in extra]
    names = ("instructor_turns", "navigator_turns", "active_turns")
    totals = {name: sum(extra[name] for extra in recorded) if recorded else None for name in names}
    spoken = Turn.objects.filter(conversation__in=rows).values_list("extra__utterances", flat=True)
    instructor = [message["utterance"] for messages in spoken for message in messages or ()]
    navigator = list(
        Step.objects.filter(turn__conversation__in=rows, operation=Operation.SAY).values_list("value", flat=True)
    )
    of_both = sum(extra["instructor_turns"] + extra["navigator_turns"] for extra in recorded)
    return totals | {
        "turns_of_both_per_conversation": _mean(of_both, len(recorded)),
        "instructor_turns_per_conversation": _mean(totals["instructor_turns"], len(recorded)),
        "navigator_utterances_per_conversation": _mean(len(navigator), rows.count()),
        "instructor_utterance_characters": _mean_of(len, instructor),
        "navigator_utterance_characters": _mean_of(len, navigator),
        "instructor_utterance_tokens": _mean_of(token_count, instructor),
        "navigator_utterance_tokens": _mean_of(token_count, navigator),
        "seconds_per_conversation": _mean(sum(extra["duration"] for extra in recorded), len(recorded)),
    }


def _html_tokens(steps, sample: int | None) -> tuple[float | None, int]:
    ids = list(steps.exclude(snapshot=None).order_by("snapshot_id").values_list("snapshot_id", flat=True).distinct())
    if sample and len(ids) > sample:
        ids = ids[:: -(-len(ids) // sample)]
    pages = Snapshot.objects.with_content().filter(id__in=ids).iterator(chunk_size=20)
    counts = [token_count(page.html) for page in pages]
    return _mean(sum(counts), len(counts)), len(counts)


def _mean_of(length: Callable[[str], int], texts: Sequence[str]) -> float | None:
    return _mean(sum(length(text) for text in texts), len(texts))


def _mean(total: float | None, n: int) -> float | None:
    return round(total / n, 2) if total is not None and n else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 1)
