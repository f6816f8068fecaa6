"""How much of the instruction an element and what stands around it speak of together, and whether another is left that
does so as well as the one acted on last. Core.

"Share the post of @mona" names a button that every post has and a person who is no button: neither tells alone.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from agents.learned.candidates import LEVELS, PageCandidates, implied_words, markup_words
from agents.learned.family import around_ids, family_columns
from agents.learned.features import goal_distances
from agents.learned.history import History
from agents.learned.instruction import Instruction, normal, tokens
from agents.learned.mentions import Columns, word_weights
from agents.learned.shown.best import best_columns
from agents.learned.shown.figures import KINDS, TEXT_IN_FIGURE, figure_columns
from agents.learned.shown.paging import paging_columns
from annotations.dom.elements import DescribedElement

AGAIN = (0, 1, 2)  # levels at which another element is compared with the last one
EVERY = frozenset(normal(word) for word in "all every each any both".split())
WIDE = 0.5  # share of the candidates that a block of a part of the page holds at most
GENERAL = frozenset({"shape", "figure"})  # words for every figure tell none apart
MOST_TIMES = 10  # that one thing is done to several elements
SURE = 1e-6  # shares that differ by less are equal


def relation_columns(
    page: PageCandidates, instruction: Instruction, history: History, common: Collection[str]
) -> Columns:
    """Column name -> one float per candidate, in a fixed order."""
    weights = {word: weight for word, weight in word_weights(instruction, common).items() if weight}
    spoken = _spoken(page, weights)
    acted = np.array([history.times(element.node_id) > 0 for element in page.candidates])
    covers = _covers(spoken, weights, acted)
    return {
        **covers,
        **family_columns(page, instruction, covers["covers_0"], acted),
        **_goal(page, instruction),
        **_unplaced(page, weights, history),
        **_again(page, spoken, history, acted),
        **_times(page, instruction, history),
        "names_figure": _names_figure(page),
        **figure_columns(page, instruction),
        **paging_columns(page, instruction),
        **best_columns(page, instruction),
        "every": np.full(len(acted), float(bool(EVERY & set(instruction.lower))), dtype=np.float32),
    }


def _goal(page: PageCandidates, instruction: Instruction) -> Columns:
    """The same of months and of numbers: whether what is shown is what is asked for, or lies before or behind it."""
    months, gap = goal_distances(page, instruction)
    known = [float(np.sign(distance)) for distance in (months, gap) if distance is not None]
    values = {"goal_known": bool(known), "goal_reached": known == [0.0] * max(1, len(known)), "goal_away": sum(known)}
    return {name: np.full(len(page.candidates), float(value), dtype=np.float32) for name, value in values.items()}


def _unplaced(page: PageCandidates, weights: dict[str, float], history: History) -> Columns:
    """Words that tell and that the page does not have, nor an action has dealt with: they are to be typed."""
    dealt = history.words()
    telling = {word for word, weight in weights.items() if weight == 1.0}
    missing = telling - page.words
    columns = {"unplaced": len(missing - dealt) / max(1, len(telling)), "any_unplaced": bool(missing - dealt)}
    columns["all_dealt"] = bool(missing) and missing <= dealt
    return {name: np.full(len(page.candidates), float(value), dtype=np.float32) for name, value in columns.items()}


def _spoken(page: PageCandidates, weights: Collection[str]) -> list[list[set[str]]]:
    """For each level the words of the instruction that each candidate has in itself and in its block of that level."""
    own = [
        {*implied, *markup_words(element)} & set(weights)
        for element, implied in zip(page.candidates, implied_words(page), strict=True)
    ]
    asked, wide = set(weights), _wide(page)
    return [
        [
            said | (words[level] & asked if not level or blocks[level].node_id not in wide else set())
            for said, words, blocks in zip(own, page.around, page.blocks, strict=True)
        ]
        for level in range(LEVELS)
    ]


def _wide(page: PageCandidates) -> set[str]:
    """Blocks that hold most candidates: what they say is of the page rather than of one of these."""
    held = Counter(node_id for element in page.candidates for node_id in {element.node_id, *around_ids(page, element)})
    return {node_id for node_id, count in held.items() if count > max(1, WIDE * len(page.candidates))}


def _covers(spoken: Sequence[Sequence[set[str]]], weights: dict[str, float], acted: np.ndarray) -> Columns:
    """Of the words that the page has, by weight, the share that each candidate covers; whether no other that is still
    to be acted on covers more, and whether it is the first of these."""
    present = set().union(*(words for level in spoken for words in level))
    total = max(_sum_of(present, weights), SURE)
    columns: Columns = {}
    for level, sets in enumerate(spoken):
        share = _column(_sum_of(words, weights) / total for words in sets)
        open_share = np.where(acted, -1.0, share)
        top = (open_share > open_share.max() - SURE) & ~acted
        columns |= {
            f"covers_{level}": share,
            f"covers_more_{level}": (share - share.mean()).astype(np.float32),
            f"covers_most_{level}": top.astype(np.float32),
            f"covers_most_alone_{level}": (top / max(1, top.sum())).astype(np.float32),
            f"covers_most_first_{level}": _first(top),
            f"most_is_left_{level}": np.full(
                len(share), float(open_share.max() > share.max() - SURE), dtype=np.float32
            ),
        }
    return columns


def _sum_of(words: set[str], weights: dict[str, float]) -> float:
    """In the order of the instruction, as that of a set differs from process to process, and so would a sum's end."""
    return sum(weight for word, weight in weights.items() if word in words)


def _again(page: PageCandidates, spoken: Sequence[Sequence[set[str]]], history: History, acted: np.ndarray) -> Columns:
    """Whether a candidate that was not acted on is called like the one acted on last, and has all the words around it
    that that one has."""
    count = len(acted)
    last = history.last.node_id if history.last else None
    place = next((i for i, element in enumerate(page.candidates) if element.node_id == last), None)
    columns: Columns = {}
    for level in AGAIN:
        alike = np.zeros(count, dtype=bool)
        if place is not None:
            wanted, called, kind = spoken[level][place], page.names[place], page.kinds[place]
            alike = np.array(
                [
                    not done and name == called and own == kind and wanted <= words
                    for done, name, own, words in zip(acted, page.names, page.kinds, spoken[level], strict=True)
                ]
            )
        columns |= {
            f"again_{level}": alike.astype(np.float32),
            f"again_first_{level}": _first(alike),
            f"again_left_{level}": np.full(count, min(alike.sum(), 4) / 4, dtype=np.float32),
        }
    return columns


def _times(page: PageCandidates, instruction: Instruction, history: History) -> Columns:
    """The same of how often something is to be done, where the instruction says one number: how often what was done
    last is still to be done to others of its name."""
    asked = {number for number in instruction.numbers if 1 <= number <= MOST_TIMES}
    done = sum(name == history.names[-1] for name in history.names) if history.names else 0
    left = asked.pop() - done if len(asked) == 1 else None
    values = {
        "times_asked": left is not None,
        "times_left": 0.0 if left is None else float(np.clip(left, -1, MOST_TIMES)) / MOST_TIMES,
        "times_over": left is not None and left <= 0,
    }
    return {name: np.full(len(page.candidates), float(value), dtype=np.float32) for name, value in values.items()}


def _names_figure(page: PageCandidates) -> np.ndarray:
    """Whether a candidate is called what people see in a figure of the page: "triangle", "number"."""
    seen = set().union(*map(_figure_words, page.everything))
    return _column(
        bool(seen & set(tokens(name))) and not _figure_words(element)
        for element, name in zip(page.candidates, page.names, strict=True)
    )


def _figure_words(element: DescribedElement) -> set[str]:
    if element.tag != TEXT_IN_FIGURE:
        return KINDS.get(element.tag, set()) - GENERAL
    text = element.text.strip()
    return {"number", "digit"} if text.isdigit() else {"letter"} if len(text) == 1 else set()


def _first(chosen: np.ndarray) -> np.ndarray:
    result = np.zeros(len(chosen), dtype=np.float32)
    if chosen.any():
        result[int(chosen.argmax())] = 1.0
    return result


def _column(values: Iterable[float]) -> np.ndarray:
    return np.fromiter((float(value) for value in values), dtype=np.float32)
