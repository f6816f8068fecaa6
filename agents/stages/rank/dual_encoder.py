"""Rank elements by embedding similarity plus the evidence an untrained encoder cannot see. Core."""

from collections.abc import Sequence

import numpy as np

from agents.recipes.settings import RankSettings
from agents.types import Observation
from agents.words.values import best_option, content_words, words
from annotations.dom.elements import DescribedElement

NEIGHBOURHOOD = 8.0  # elements within which reading order falls to 1/e
BACKWARDS = 0.3


def lexical_overlap(texts: Sequence[str], instruction: str, done: Sequence[str]) -> np.ndarray:
    """Share in 0..1 of each text's words that the instruction names, rare words on the page counting more.

    Words that earlier actions of the turn have dealt with (`done`) count half. Shape (len(texts),).
    """
    wanted = dict.fromkeys(content_words(instruction) | {w for w in words(instruction) if w.isdigit()}, 1.0)
    for word in {word for text in done for word in words(text)} & wanted.keys():
        wanted[word] = 0.5
    tokens = [set(words(text)) for text in texts]
    counts: dict[str, int] = {}
    for own in tokens:
        for word in own:
            counts[word] = counts.get(word, 0) + 1
    total = max(1, len(texts))
    weight = {word: np.log(1 + total / count) for word, count in counts.items()}
    result = np.zeros(len(texts), dtype=np.float32)
    for row, own in enumerate(tokens):
        whole = sum(weight[word] for word in own)
        if whole:
            result[row] = sum(weight[word] * wanted[word] for word in own if word in wanted) / whole
    return result


def reading_order(elements: Sequence[DescribedElement], last_node_id: str | None) -> np.ndarray:
    """Closeness in 0..1 to the element acted on last: people fill in forms from top to bottom, so what comes next
    counts more than what came before. Zero without an earlier action. Shape (len(elements),)."""
    place = next((i for i, element in enumerate(elements) if element.node_id == last_node_id), None)
    if place is None:
        return np.zeros(len(elements), dtype=np.float32)
    distance = np.arange(len(elements), dtype=np.float32) - place
    closeness = np.exp(-np.abs(distance) / NEIGHBOURHOOD)
    return np.where(distance > 0, closeness, np.where(distance < 0, BACKWARDS * closeness, 0.0)).astype(np.float32)


def named_option(elements: Sequence[DescribedElement], instruction: str) -> np.ndarray:
    """How well the instruction names an option of each list of options, 0..1. Shape (len(elements),)."""
    found = [best_option([text for _, text in e.options], instruction) if e.options else None for e in elements]
    return np.array([score[1] if score else 0.0 for score in found], dtype=np.float32)


def score_elements(
    elements: Sequence[DescribedElement],
    names: Sequence[str],
    vectors: np.ndarray,
    query: np.ndarray,
    observation: Observation,
    settings: RankSettings,
) -> np.ndarray:
    """One score per element, higher is better; shape (n,).

    Cosine, plus: words that the instruction names, being interactive, reading order, an option that is named; minus:
    being a link (most lead away from the task), having been acted on in this turn.
    """
    done = [past.representation for past in observation.turn_actions]
    acted = [past.node_id for past in observation.turn_actions if past.node_id]
    flags = np.array(
        [(element.interactive, element.role == "link", element.node_id in acted) for element in elements],
        dtype=np.float32,
    ).reshape(-1, 3)
    scores: np.ndarray = (
        vectors @ query
        + settings.lexical_weight * lexical_overlap(names, observation.instruction, done)
        + settings.order_weight * reading_order(elements, acted[-1] if acted else None)
        + settings.option_weight * named_option(elements, observation.instruction)
        + flags @ np.array([settings.role_weight, -settings.link_penalty, -settings.repeat_penalty], dtype=np.float32)
    )
    return scores
