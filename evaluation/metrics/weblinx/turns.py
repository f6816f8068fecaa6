"""Compare predicted WebLINX actions with recorded ones, turn by turn (A7.1, A7.2)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.weblinx.parse import cast_coordinates, element_record, parse_action, predicted_element
from agents.weblinx.quirks import FAITHFUL, WeblinxQuirks
from agents.weblinx.turns import Demo, ReplayTurn
from evaluation.metrics.weblinx.action import TURN_METRICS, WeblinxAction, action_uid, handled_crashes, overall

MATCHED_BY_ELEMENT = frozenset({"change", "click", "textinput", "submit"})
# Recorded elements hold copies of the page that no metric reads.
ELEMENT_CONTENT = frozenset({"innerHTML", "outerHTML", "textContent"})


@dataclass(frozen=True)
class TurnReply:
    """What a model wrote for one turn."""

    demo: str
    turn: int
    reply: str


@dataclass(frozen=True)
class ComparedTurn:
    """A turn with its predicted and its recorded action; `handled` names crashes of the published code."""

    demo: str
    turn: int
    predicted: WeblinxAction
    gold: WeblinxAction
    handled: tuple[str, ...] = ()


@dataclass(frozen=True)
class TurnScores:
    """The metrics of one turn by name, None where one does not apply, and their combination."""

    demo: str
    turn: int
    predicted_intent: str
    gold_intent: str
    metrics: Mapping[str, float | None]
    handled: tuple[str, ...] = ()

    @property
    def overall(self) -> float | None:
        return overall(self.metrics)


def compare(
    predictions: Iterable[TurnReply], demos: Mapping[str, Demo], quirks: WeblinxQuirks = FAITHFUL
) -> tuple[list[ComparedTurn], list[TurnReply]]:
    """The turns to score, in order, and the predictions whose turn is dropped (A7.2).

    Raises KeyError for an unknown demonstration, IndexError for a turn that it does not have.
    """
    kept, dropped = [], []
    for prediction in predictions:
        # older files of results carry a prefix before the name
        name = prediction.demo if prediction.demo in demos else prediction.demo.rpartition("_")[2]
        demo = demos[name]
        turn = demo.turns[prediction.turn]
        gold = gold_action(demo, turn)
        if is_scored(demo, turn, gold):
            predicted, handled = predicted_action(prediction.reply, demo, turn, quirks)
            handled += handled_crashes(predicted, gold)
            kept.append(ComparedTurn(name, turn.index, predicted, gold, handled))
        else:
            dropped.append(prediction)
    return kept, dropped


def predicted_action(
    reply: str, demo: Demo, turn: ReplayTurn, quirks: WeblinxQuirks = FAITHFUL
) -> tuple[WeblinxAction, tuple[str, ...]]:
    """The action a reply means on the turn's page, and the crashes handled while reading it."""
    parsed = parse_action(reply, quirks)
    args = cast_coordinates(parsed.args)
    element = predicted_element(parsed.intent, args, demo, turn, quirks)
    return WeblinxAction(parsed.intent, args, element), parsed.handled


def gold_action(demo: Demo, turn: ReplayTurn) -> WeblinxAction:
    """The recorded action; its texts are neither cut nor stripped (A7.1)."""
    return WeblinxAction(turn.intent, _gold_args(turn), _gold_element(demo, turn))


def is_scored(demo: Demo, turn: ReplayTurn, gold: WeblinxAction) -> bool:
    """False for turns without the element they need, and for clicks that the next turn's copy or submit repeats."""
    if gold.intent not in MATCHED_BY_ELEMENT:
        return True
    if action_uid(gold) is None:
        return False
    following = demo.turns[turn.index + 1] if turn.index + 1 < len(demo.turns) else None
    if gold.intent != "click" or following is None:
        return True
    return following.intent != "copy" and not (following.intent == "submit" and following.uid == action_uid(gold))


def score_turns(
    compared: Sequence[ComparedTurn], future: int = 1, quirks: WeblinxQuirks = FAITHFUL
) -> list[TurnScores]:
    """The metrics of each turn, unrounded; with `future` n, the best over this and the next n - 1 recorded actions."""
    scored = []
    for index, turn in enumerate(compared):
        golds = []
        for later in compared[index : index + future]:
            if later.demo != turn.demo:
                break
            golds.append(later.gold)
        metrics = {name: _best(metric, turn.predicted, golds, quirks) for name, metric in TURN_METRICS.items()}
        scored.append(TurnScores(turn.demo, turn.turn, turn.predicted.intent, turn.gold.intent, metrics, turn.handled))
    return scored


def rounded(scores: TurnScores) -> TurnScores:
    """The metrics with two decimals (half to even), as the published table holds them."""
    metrics = {name: None if value is None else float(np.round(value, 2)) for name, value in scores.metrics.items()}
    return TurnScores(scores.demo, scores.turn, scores.predicted_intent, scores.gold_intent, metrics, scores.handled)


def _best(metric: Any, predicted: WeblinxAction, golds: Sequence[WeblinxAction], quirks: WeblinxQuirks) -> float | None:
    values = [value for gold in golds if (value := metric(predicted, gold, quirks)) is not None]
    return max(values, default=None)


def _gold_args(turn: ReplayTurn) -> dict[str, Any]:
    given, properties = turn.arguments, turn.properties
    match turn.intent:
        case "say":
            return {"speaker": turn.speaker, "utterance": turn.utterance}
        case "textinput":
            return {"text": given["text"]}
        case "change":
            return {"value": given["value"]}
        case "load":
            return {"url": turn.url}
        case "scroll":
            return {"x": given["scrollX"], "y": given["scrollY"]}
        case "copy":
            return {"text": given["selected"]}
        case "paste":
            return {"text": given["pasted"]}
        case "tabremove":
            return {"tab_id": properties["tabId"]}
        case "tabswitch":
            return {"tab_id_from": properties["tabIdOrigin"], "tab_id_to": properties["tabId"]}
    return {}


def _gold_element(demo: Demo, turn: ReplayTurn) -> Mapping[str, Any] | None:
    if turn.uid is not None:
        return element_record(demo, turn, turn.uid)
    if not turn.element:
        return None
    return {key: value for key, value in turn.element.items() if key not in ELEMENT_CONTENT}
