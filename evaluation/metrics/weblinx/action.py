"""Metrics of one WebLINX action (A7.3, A7.4): intent match, exact match, chrF, URLF, IoU and their product.

A metric is None where it does not apply; `TURN_METRICS` names the five, `overall` combines them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

from agents.weblinx.quirks import FAITHFUL, WeblinxQuirks
from agents.weblinx.turns import ELEMENT_INTENTS, RecordedBox
from annotations.dom.weblinx_page import UID

if TYPE_CHECKING:
    from sacrebleu.metrics import CHRF

TEXT_INTENTS = frozenset("say textinput copy paste load change".split())
TEXT_KEYS = {"say": ("utterance",), "textinput": ("text", "value"), "load": ("url",), "change": ("value",)}
EXACT_KEYS = {
    "say": ("utterance",),
    "textinput": ("text",),
    "change": ("value",),
    "load": ("url",),
    "scroll": ("x", "y"),
}


@dataclass(frozen=True)
class WeblinxAction:
    """An action to compare: intent, arguments and the element (attributes and bbox) or None."""

    intent: str
    args: Mapping[str, Any]
    element: Mapping[str, Any] | None


def intent_match(predicted: WeblinxAction, gold: WeblinxAction, quirks: WeblinxQuirks = FAITHFUL) -> float:
    return float(predicted.intent == gold.intent)


def exact_match(predicted: WeblinxAction, gold: WeblinxAction, quirks: WeblinxQuirks = FAITHFUL) -> float:
    """1.0 for the same intent, uid and text; always 0.0 for scrolls, whose recording has no element (published)."""
    if predicted.intent != gold.intent:
        return 0.0
    if gold.intent in ELEMENT_INTENTS and (action_uid(predicted) is None or action_uid(predicted) != action_uid(gold)):
        return 0.0
    keys = EXACT_KEYS.get(gold.intent, ())
    return float(all(predicted.args.get(key) == gold.args.get(key) for key in keys))


def chrf(predicted: WeblinxAction, gold: WeblinxAction, quirks: WeblinxQuirks = FAITHFUL) -> float | None:
    """Character n-gram F2 in [0, 1] of the actions' texts; 0.0 when one is no text (quirk Q2 makes such)."""
    if predicted.intent != gold.intent or gold.intent not in TEXT_INTENTS:
        return None
    return text_chrf(_text(predicted), _text(gold))


def text_chrf(hypothesis: Any, reference: Any) -> float:
    """sacreBLEU's sentence chrF / 100; 0.0 when either is no text."""
    if not isinstance(hypothesis, str) or not isinstance(reference, str):
        return 0.0
    return float(_chrf().sentence_score(hypothesis, [reference]).score / 100)


@cache
def _chrf() -> "CHRF":
    """sacreBLEU's chrF as published: character n-grams up to 6, no words, beta 2, case kept, spaces dropped."""
    from sacrebleu.metrics import CHRF  # loads in a tenth of a second, for those who score texts

    return CHRF()


def urlf(predicted: WeblinxAction, gold: WeblinxAction, quirks: WeblinxQuirks = FAITHFUL) -> float | None:
    """F1 of the sets of host and path segments of two addresses; 0.0 for none and for unreadable ones.

    Raises AttributeError for a number under `wq13b_crashes` only.
    """
    if not predicted.intent == gold.intent == "load":
        return None
    urls = (_text(predicted), _text(gold))
    if not all(urls) or (_numeric(*urls) and not quirks.wq13b_crashes):
        return 0.0
    try:
        found, wanted = (_segments(url, quirks) for url in urls)
    except ValueError:
        return 0.0
    common = len(found & wanted)
    return 2 * common / (len(found) + len(wanted))


def iou(predicted: WeblinxAction, gold: WeblinxAction, quirks: WeblinxQuirks = FAITHFUL) -> float | None:
    """Intersection over union of the two elements' boxes; 0.0 when one is missing or both are empty.

    Raises ZeroDivisionError for two empty boxes under `wq14_crashes` only.
    """
    if predicted.intent != gold.intent or gold.intent not in ELEMENT_INTENTS:
        return None
    one, other = _box(predicted), _box(gold)
    if not one or not other:
        return 0.0
    intersection, union = _overlap(one, other)
    return intersection / union if union or quirks.wq14_crashes else 0.0


TURN_METRICS: dict[str, Callable[..., float | None]] = {
    "exact-match": exact_match,
    "intent-match": intent_match,
    "chrf": chrf,
    "iou": iou,
    "urlf": urlf,
}


def overall(scores: Mapping[str, float | None]) -> float | None:
    """The score of a turn from its metrics: IoU x chrF, else URLF, else chrF, else IoU, else None (A7.4)."""
    if scores["iou"] is not None and scores["chrf"] is not None:
        return scores["iou"] * scores["chrf"]
    return next((scores[name] for name in ("urlf", "chrf", "iou") if scores[name] is not None), None)


def handled_crashes(predicted: WeblinxAction, gold: WeblinxAction) -> tuple[str, ...]:
    """Which crashes of the published metrics this pair would have caused (Q13b, Q14)."""
    found = []
    if predicted.intent == gold.intent == "load" and all(urls := (_text(predicted), _text(gold))) and _numeric(*urls):
        found.append("numeric URL")
    one, other = _box(predicted), _box(gold)
    if iou(predicted, gold) is not None and one and other and not _overlap(one, other)[1]:
        found.append("two empty boxes")
    return tuple(found)


def action_uid(action: WeblinxAction) -> Any:
    """The uid of the action's element; None without one."""
    return ((action.element or {}).get("attributes") or {}).get(UID)


def _text(action: WeblinxAction) -> Any:
    """The argument that is compared as text: the first of its keys that is there; None for copy and paste."""
    return next((action.args[key] for key in TEXT_KEYS.get(action.intent, ()) if key in action.args), None)


def _numeric(*urls: Any) -> bool:
    return any(not isinstance(url, str) for url in urls)


def _segments(url: str, quirks: WeblinxQuirks) -> set[str]:
    parsed = urlparse(url)
    # quirk Q13 strips any leading "w" and "."
    host = parsed.netloc.lstrip("w.") if quirks.wq13_strips_w_and_dots else parsed.netloc.removeprefix("www.")
    path = parsed.path.strip("/")
    return {host, *path.split("/")} if path else {host}


def _box(action: WeblinxAction) -> RecordedBox | None:
    return (action.element or {}).get("bbox")


def _overlap(one: RecordedBox, other: RecordedBox) -> tuple[float, float]:
    """Areas of the intersection and of the union."""
    width = min(one["right"], other["right"]) - max(one["left"], other["left"])
    height = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    intersection = max(0, width) * max(0, height)
    areas = [(box["right"] - box["left"]) * (box["bottom"] - box["top"]) for box in (one, other)]
    return intersection, sum(areas) - intersection
