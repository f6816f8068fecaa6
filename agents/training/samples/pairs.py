"""The pairs that a ranker is trained on, drawn once and kept in a file, as reading pages is slow. Core.

One line of JSON per step: its query, the distinct texts drawn, and the draws as [text, label], those of all epochs one
after another. Steps without a draw have no line.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, BinaryIO, Literal

import numpy as np

from agents.training.samples.examples import RankingStep, cross_encoder_draws, dual_encoder_draws, generator
from agents.training.settings import CrossEncoderSettings, DualEncoderSettings

ConversationsAfter = Callable[[int], Iterator[tuple[int, list[Any]]]]
"""How many conversations to leave out -> the others with their number, in a fixed order."""
LinesOf = Callable[[list[Any]], list[dict[str, Any]]]


def prepare(
    groups: ConversationsAfter, line: LinesOf, path: Path, until: Callable[[], bool]
) -> Literal["paused", "done"]:
    """Write the lines of all conversations; goes on after the last whole conversation when it was interrupted.

    A conversation's lines end with one that names its number, so a file that ends in the middle is cut back.
    """
    if path.exists():
        return "done"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.touch()
    with part.open("rb+") as file:
        done, end = _whole(file)
        file.seek(end)
        file.truncate()
        for number, steps in groups(done):
            rows = [*line(steps), {"done": number + 1}]
            file.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
            if until():
                return "paused"
    part.replace(path)
    return "done"


def _whole(file: BinaryIO) -> tuple[int, int]:
    """How many conversations of the file are whole, and at which byte the last of them ends."""
    done = end = place = 0
    for row in file:
        place += len(row)
        if row.startswith(b'{"done"') and row.endswith(b"\n"):
            done, end = json.loads(row)["done"], place
    return done, end


def cross_encoder_lines(settings: CrossEncoderSettings) -> LinesOf:
    """Makes the lines of steps with a positive; pairs are drawn anew for every epoch."""

    def lines(steps: list[RankingStep]) -> list[dict[str, Any]]:
        rows = []
        for place, step in enumerate(steps):
            if step.positives:
                rng = generator("pairs", settings.seed, step.group, place)
                sizes = len(step.positives), len(step.negatives)
                draws = [
                    d for _ in range(settings.epochs) for d in cross_encoder_draws(*sizes, settings.neg_ratio, rng)
                ]
                rows.append(_row(step, draws))
        return rows

    return lines


def dual_encoder_lines(settings: DualEncoderSettings) -> LinesOf:
    """Makes the lines of steps for a dual encoder; the pairs are the same in every epoch."""

    def lines(steps: list[RankingStep]) -> list[dict[str, Any]]:
        if not steps:
            return []
        # Published: seeded anew with the same number for every demonstration (Q5).
        rng = (
            Random(settings.seed) if settings.q5_reseed_per_demo else generator("pairs", settings.seed, steps[0].group)
        )
        rows = []
        for step in steps:
            draws = dual_encoder_draws(len(step.positives), len(step.negatives), settings.max_negatives, rng)
            if draws:
                rows.append(_row(step, draws))
        return rows

    return lines


def _row(step: RankingStep, draws: list[tuple[int, int]]) -> dict[str, Any]:
    every = (*step.positives, *step.negatives)
    texts = list(dict.fromkeys(every[index] for index, _ in draws))
    places = {text: place for place, text in enumerate(texts)}
    return {"query": step.query, "texts": texts, "draws": [[places[every[i]], label] for i, label in draws]}


class Lines:
    """The lines of a prepared file, read one by one where they are asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.starts: list[int] = []
        place = 0
        with path.open("rb") as file:
            for row in file:
                if not row.startswith(b'{"done"'):
                    self.starts.append(place)
                place += len(row)

    def __len__(self) -> int:
        return len(self.starts)

    def get(self, places: Sequence[int]) -> list[dict[str, Any]]:
        rows = []
        with self.path.open("rb") as file:
            for place in places:
                file.seek(self.starts[place])
                rows.append(json.loads(file.readline()))
        return rows


class Pairs:
    """The pairs of a file; `size` is their number per epoch, and one is read by epoch and index."""

    def __init__(self, path: Path, epochs: int = 1) -> None:
        """`epochs`: how many epochs' draws a line holds; with 1 they serve every epoch."""
        self.lines, self.epochs = Lines(path), epochs
        counts = [len(line["draws"]) // epochs for place in range(len(self.lines)) for line in self.lines.get([place])]
        self.ends = np.cumsum(counts, dtype=np.int64)
        self.size = int(self.ends[-1]) if counts else 0

    def get(self, epoch: int, indices: Sequence[int]) -> list[tuple[str, str, int]]:
        """(query, element's text, label) of each index in 0..size-1."""
        rows = [int(np.searchsorted(self.ends, index, side="right")) for index in indices]
        found = []
        for index, row, line in zip(indices, rows, self.lines.get(rows), strict=True):
            count = len(line["draws"]) // self.epochs
            place = index - (int(self.ends[row]) - count) + (epoch % self.epochs) * count
            text, label = line["draws"][place]
            found.append((line["query"], line["texts"][text], label))
        return found
