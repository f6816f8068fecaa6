"""Means of WebLINX turn scores (A7.5): per intent, overall, and per group, as published and cleaned up.

Every mean comes twice: "conditional" skips turns where a metric does not apply; "unconditional", the published
one, first sets every metric of a turn with the wrong intent to 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from agents.weblinx.quirks import FAITHFUL, WeblinxQuirks
from evaluation.metrics.weblinx.turns import TurnScores, rounded

INTENT_METRICS = {
    "say": ("exact-match", "intent-match", "chrf"),
    "click": ("exact-match", "intent-match", "iou"),
    "load": ("exact-match", "intent-match", "urlf"),
    "textinput": ("exact-match", "intent-match", "chrf", "iou"),
    "submit": ("exact-match", "intent-match", "iou"),
    "change": ("exact-match", "intent-match", "iou"),
    "scroll": ("exact-match", "intent-match"),
}
CLEAN_ELEMENT_INTENTS = frozenset({"click", "submit", "textinput"})
CLEAN_TEXT_INTENTS = frozenset({"load", "say", "textinput"})


@dataclass(frozen=True)
class Mean:
    """One mean in both versions, None over no turn; `n` is how many turns the unconditional one is over."""

    conditional: float | None
    unconditional: float | None
    n: int


GroupColumn = Callable[[TurnScores], float | None]


def aggregate(scores: Sequence[TurnScores], quirks: WeblinxQuirks = FAITHFUL) -> dict[tuple[str, str], Mean]:
    """(row, metric) -> mean. Rows: the reference intents present, "overall", the two groups as published
    ("element-group", "text-group") and the paper's groups ("element-clean", "text-clean").

    Turns of other intents than the seven that are evaluated are left out (the published code fails on them).
    Under quirk Q15 every turn with the wrong intent is a 0 in both published groups, whatever it should have been.
    """
    rows = [turn for turn in scores if turn.gold_intent in INTENT_METRICS]
    if quirks.rounds_to_two_decimals:
        rows = [rounded(turn) for turn in rows]
    result = {}
    for intent, metrics in INTENT_METRICS.items():
        of_intent = [turn for turn in rows if turn.gold_intent == intent]
        for metric in metrics if of_intent else ():
            result[intent, metric] = _mean(of_intent, _metric(metric))
    result["overall", "overall"] = _mean(rows, lambda turn: turn.overall)
    result["overall", "intent-match"] = _mean(rows, _metric("intent-match"))
    result["element-group", "iou"] = _mean(rows, _metric("iou"))
    result["text-group", "chrf-urlf"] = _mean(rows, _larger_text_metric)
    result["element-clean", "iou"] = _mean([t for t in rows if t.gold_intent in CLEAN_ELEMENT_INTENTS], _metric("iou"))
    result["text-clean", "chrf-urlf"] = _mean([t for t in rows if t.gold_intent in CLEAN_TEXT_INTENTS], _text_metric)
    return result


def _mean(rows: Sequence[TurnScores], column: GroupColumn) -> Mean:
    conditional = [value for turn in rows if (value := column(turn)) is not None]
    unconditional = [value for turn in rows if (value := column(turn) if _matched(turn) else 0.0) is not None]
    return Mean(_average(conditional), _average(unconditional), len(unconditional))


def _average(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _matched(turn: TurnScores) -> bool:
    return turn.metrics["intent-match"] != 0


def _metric(name: str) -> GroupColumn:
    return lambda turn: turn.metrics[name]


def _larger_text_metric(turn: TurnScores) -> float | None:
    values = [value for name in ("chrf", "urlf") if (value := turn.metrics[name]) is not None]
    return max(values, default=None)


def _text_metric(turn: TurnScores) -> float | None:
    return turn.metrics["urlf" if turn.gold_intent == "load" else "chrf"]
