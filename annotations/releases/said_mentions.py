"""Marked mentions of released turns in words, so that a difference of releases shows what they say, not at which
character they stand."""

from collections.abc import Mapping
from typing import Any


def with_mentions_said(conversation: dict[str, Any] | None) -> dict[str, Any] | None:
    """The conversation with the mentions of each turn as sentences: "“it” in turn 2 → “the boots” of turn 1 (pronoun)".
    Those of another shape, as a source may bring them along, stay as they are."""
    if conversation is None:
        return None
    texts = [turn["instruction"] for turn in conversation["turns"]]
    turns = []
    for number, turn in enumerate(conversation["turns"]):
        mentions = turn["extra"].get("mentions")
        said = [_said(one, number, texts) for one in mentions] if isinstance(mentions, list) else [None]
        if None not in said:
            turn = turn | {"extra": turn["extra"] | {"mentions": said}}
        turns.append(turn)
    return conversation | {"turns": turns}


def _said(mention: object, number: int, texts: list[str]) -> str | None:
    """The mention as a sentence; None for what has another shape."""
    if not isinstance(mention, Mapping) or (words := _words(mention, number, texts)) is None:
        return None
    antecedent = mention.get("antecedent")
    if antecedent is None:
        meant = "nothing said before"
    elif isinstance(antecedent, Mapping) and (before := _words(antecedent, antecedent.get("turn"), texts)) is not None:
        meant = f"“{before}” of turn {antecedent['turn'] + 1}"
    else:
        return None
    what = f"“{words}”" if words else "what is left out"
    sort = mention.get("phenomenon")
    return f"{what} in turn {number + 1} → {meant}{f' ({sort})' if sort else ''}"


def _words(place: Mapping[str, Any], turn: object, texts: list[str]) -> str | None:
    """The words of a place; None where there is no such place."""
    start, end = place.get("start"), place.get("end")
    if type(turn) is not int or type(start) is not int or type(end) is not int:
        return None
    if not 0 <= turn < len(texts) or not 0 <= start <= end <= len(texts[turn]):
        return None
    return texts[turn][start:end]
