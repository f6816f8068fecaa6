"""Which past steps of a conversation are recalled (Self-MAP and its baselines; sources.md M5.2, M5.6).

Core. Items are the steps of the earlier turns in chronological order; every function answers with item indices in
prompt order. `encode` maps n texts to an array of shape (n, dimensions); the vectors need not have unit length.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agents.words.memory_text import memory_text

Encode = Callable[[list[str]], np.ndarray]
SortBy = Literal["relevance", "time"]

SNIPPETS = 3  # K of Self-MAP, best of 1..5 in the paper
TURNS = 3  # of the baselines "fixed" and "Synapse"


@dataclass(frozen=True)
class MatchingQuirks:
    """Where the published matching differs from its paper; the flag is named after its number (`Quirks`)."""

    q11_item_without_trajectory: bool  # an item's text has its own action only, not those before it in its turn


FAITHFUL = MatchingQuirks(True)
CORRECTED = MatchingQuirks(False)


def query_text(instruction: str, previous_actions: Sequence[str], state: str = "") -> str:
    """The text of the current step: instruction, actions of the turn so far and, as the paper's Figure 6 tries, page.

    Published Self-MAP never gives a state; where one is given, items need theirs too.
    """
    text = memory_text(instruction, previous_actions)
    return f"{text}\nState: {state}" if state else text


def item_text(
    instruction: str, past_actions: Sequence[str], action: str, quirks: MatchingQuirks = FAITHFUL, state: str = ""
) -> str:
    """The text of a past step; `past_actions` are those before it in its turn and count only without quirk Q11."""
    actions = [action] if quirks.q11_item_without_trajectory else [*past_actions, action]
    return query_text(instruction, actions, state)


def select_multifaceted(
    query: str, item_texts: Sequence[str], encode: Encode, top_k: int = SNIPPETS, sort_by: SortBy = "relevance"
) -> list[int]:
    """The items most like the query; all of them, in order of time and without encoding, when at most `top_k`."""
    if len(item_texts) <= top_k:
        return list(range(len(item_texts)))
    return nearest_items(query, item_texts, encode, top_k, sort_by)


def nearest_items(query: str, item_texts: Sequence[str], encode: Encode, top_k: int, sort_by: SortBy) -> list[int]:
    """The published `knn`: items of the `top_k` nearest distinct texts, most relevant text first or by time.

    Items of the same text stay together, so more than `top_k` can come back.
    """
    if top_k < 1:
        raise ValueError(f"top_k must be at least 1, got {top_k}")
    firsts = {text: index for index, text in reversed(list(enumerate(item_texts)))}
    distinct = list(dict.fromkeys(item_texts))
    order = [firsts[distinct[place]] for place in _by_cosine(query, distinct, encode)]
    return clustered(order, item_texts, top_k, sort_by)


def clustered(order: Sequence[int], item_texts: Sequence[str], top_k: int, sort_by: SortBy) -> list[int]:
    """The items of the first `top_k` distinct texts when items are taken in `order`, the most relevant first.

    Items of one text stay together and in order of time; `order` needs to name only one of them.
    """
    texts = list(dict.fromkeys(item_texts[index] for index in order))[:top_k]
    chosen = [index for text in texts for index, own in enumerate(item_texts) if own == text]
    return sorted(chosen) if sort_by == "time" else chosen


def select_fixed(turn_indices: Sequence[int], turns: int = TURNS) -> list[int]:
    """All steps of the first `turns` turns of the conversation; `turn_indices` is the turn of each item, from 0."""
    return [index for index, turn in enumerate(turn_indices) if turn < turns]


def select_task_knn(
    instruction: str,
    turn_indices: Sequence[int],
    instructions: Sequence[str],
    encode: Encode,
    turns: int = TURNS,
    sort_by: SortBy = "relevance",
) -> list[int]:
    """All steps of the `turns` earlier turns whose instruction is most like this one (Synapse in conversations).

    `turn_indices` and `instructions` name the turn of each item. Most relevant turn first, or by time; steps of a
    turn are in order. With at most `turns` turns all items come back in order of time, without encoding.
    """
    by_turn: dict[int, list[int]] = {}
    for index, turn in enumerate(turn_indices):
        by_turn.setdefault(turn, []).append(index)
    groups = list(by_turn.values())
    if len(groups) <= turns:
        return list(range(len(turn_indices)))
    order = _by_cosine(instruction, [instructions[group[0]] for group in groups], encode)
    chosen = [index for group in order[:turns] for index in groups[group]]
    return sorted(chosen) if sort_by == "time" else chosen


def _by_cosine(query: str, texts: list[str], encode: Encode) -> list[int]:
    """Indices of the texts, most similar to the query first; of equal ones the later first, as published."""
    if not texts:
        return []
    vectors = np.asarray(encode([query, *texts]), dtype=np.float64)
    norms = np.linalg.norm(vectors, axis=1)
    similarity = vectors[1:] @ vectors[0] / np.maximum(norms[1:] * norms[0], np.finfo(np.float64).tiny)
    order: list[int] = np.argsort(similarity, kind="stable")[::-1].tolist()
    return order
