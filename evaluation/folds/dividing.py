"""Which tasks and conversations a fold leaves out. Core: by names alone, so that a dataset is divided the same way
wherever it is imported."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SEEN_PARTS = 2  # times as many parts as folds: a conversation of a task that is learned is kept back in one of them


@dataclass(frozen=True)
class Fold:
    """What one training does without, by the names of conversations. `unseen`: all of the tasks that are left out;
    `seen`: some of the tasks that are learned."""

    number: int
    unseen: frozenset[str]
    seen: frozenset[str]

    @property
    def left_out(self) -> frozenset[str]:
        return self.unseen | self.seen


def divide(tasks: Mapping[str, str], folds: int, seed: int = 0) -> list[Fold]:
    """Folds that leave out each task once. `tasks`: conversation -> its task. ValueError where there are fewer tasks
    than folds, or fewer than two folds."""
    if folds < 2:
        raise ValueError(f"there must be at least 2 folds, not {folds}")
    by_task: dict[str, list[str]] = defaultdict(list)
    for conversation, task in tasks.items():
        by_task[task].append(conversation)
    if len(by_task) < folds:
        raise ValueError(f"{folds} folds need as many tasks; there are {len(by_task)}")
    fold_of = {task: place % folds for place, task in enumerate(_mixed(list(by_task), seed))}
    part_of = {
        name: place % (SEEN_PARTS * folds)
        for members in by_task.values()
        for place, name in enumerate(_mixed(members, seed))
    }
    return [
        Fold(
            number,
            frozenset(name for name, task in tasks.items() if fold_of[task] == number),
            frozenset(name for name, task in tasks.items() if fold_of[task] != number and part_of[name] == number),
        )
        for number in range(folds)
    ]


def first_of_each(tasks: Mapping[str, str], limit: int, seed: int = 0) -> dict[str, str]:
    """`limit` conversations of each task, or all where it has no more; chosen by the seed, in the given order."""
    by_task: dict[str, list[str]] = defaultdict(list)
    for conversation, task in tasks.items():
        by_task[task].append(conversation)
    chosen = {name for members in by_task.values() for name in _mixed(members, seed)[:limit]}
    return {name: task for name, task in tasks.items() if name in chosen}


def _mixed(names: Sequence[str], seed: int) -> list[str]:
    """The names in an order that only they and the seed decide over."""
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
