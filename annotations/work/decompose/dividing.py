"""A task's steps and the clauses of its instruction divided into parts together: where the cuts lie, and which clauses
each part asks for. Core.

Clauses keep their order, and every part has steps and at least one clause. A division is worth what its cuts are worth,
less a deduction for parts of other lengths than the wanted one, and the more, the more words of clauses stand in steps
of their own parts.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations.text.alike_words import SaidWords, informative, placed_words

UNEVEN = 0.5  # the most that a part counts against its length, at twice or none of the wanted one
SAME_WORDS = 1.5  # that a word of a clause stands in the steps of its part, and in no others
IMPOSSIBLE = -1e9


class DividedTask(NamedTuple):
    """What a division is worth, and of each part its first step and the number of its clauses."""

    worth: float
    parts: list[tuple[int, int]]


def word_matches(clauses: Sequence[str], steps: Sequence[str]) -> NDArray[np.float64]:
    """How many words each clause (a row) has in common with each step. A word that several steps have counts but a
    share in each, and so does one that several clauses have."""
    found = np.zeros((len(clauses), len(steps)))
    said = [SaidWords(placed_words(step)) for step in steps]
    of_clause = [{word.key for word in informative(clause)} for clause in clauses]
    clauses_with = Counter(key for keys in of_clause for key in keys)
    places = {key: [place for place, words in enumerate(said) if key in words] for key in clauses_with}
    for row, keys in zip(found, of_clause, strict=True):
        for key in keys:
            row[places[key]] += 1 / (clauses_with[key] * max(1, len(places[key])))
    return found


def divisions(worth: Sequence[float], matches: NDArray[np.float64], most: int, wanted: float) -> list[DividedTask]:
    """The best division into each of 1 … `most` parts. `worth[step]`: of a cut before the step; `matches`: what it is
    worth that each step (a column) is in the part of each clause; `wanted`: the length that parts should have. No more
    parts than steps or clauses can be asked for."""
    clauses, steps = matches.shape
    inside = np.zeros((steps + 1, clauses + 1))  # what the first clauses have in the first steps
    inside[1:, 1:] = matches.cumsum(0).cumsum(1).T
    cut = np.array([0.0, *worth[1:]])
    best = np.full((steps + 1, clauses + 1), IMPOSSIBLE)  # of the first steps and the first clauses
    best[0, 0] = 0.0
    tables = [best]
    begun: list[NDArray[np.intp]] = []  # where the last of so many parts begins
    for _ in range(most):
        following, firsts = np.full_like(best, IMPOSSIBLE), np.zeros(best.shape, np.intp)
        for end in range(1, steps + 1):
            ways = _ways(tables[-1], inside, cut, end, wanted)
            firsts[end] = ways.argmax(0)
            following[end] = ways.max(0)
        tables.append(following)
        begun.append(firsts)
    return [DividedTask(float(tables[n][-1, -1]), _traced(tables, begun[:n], inside)) for n in range(1, most + 1)]


def _ways(
    best: NDArray[np.float64], inside: NDArray[np.float64], cut: NDArray[np.float64], end: int, wanted: float
) -> NDArray[np.float64]:
    """What it is worth when the last part is of the steps from a first one (a row) to `end`, and its last clause is the
    one before a column's."""
    lengths = end - np.arange(end)
    uneven = UNEVEN * np.minimum(1.0, ((lengths - wanted) / wanted) ** 2)
    before = np.maximum.accumulate(best[:end] - inside[end] + inside[:end], axis=1)
    ways = np.full((end, best.shape[1]), IMPOSSIBLE)  # a part without a clause is none
    ways[:, 1:] = before[:, :-1] + inside[end, 1:] - inside[:end, 1:]
    ways += (cut[:end] - uneven)[:, None]
    return ways


def _traced(
    tables: Sequence[NDArray[np.float64]], begun: Sequence[NDArray[np.intp]], inside: NDArray[np.float64]
) -> list[tuple[int, int]]:
    """The parts that led to all steps and all clauses being divided."""
    end, last = (size - 1 for size in inside.shape)
    parts: list[tuple[int, int]] = []
    for table, firsts in zip(reversed(tables[: len(begun)]), reversed(begun), strict=True):
        start = int(firsts[end, last])
        first = int((table[start, :last] - inside[end, :last] + inside[start, :last]).argmax())
        parts.append((start, last - first))
        end, last = start, first
    return parts[::-1]
