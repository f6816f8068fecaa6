"""Examples as flat arrays: rows of all steps one after the other. Core."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from agents.learned import similarity
from agents.learned.examples import OPERATIONS, Example, without_quotes
from agents.learned.prepare import PreparedStep, Values, prepare, prepare_values
from agents.learned.shown.habits import NONE, Habits
from agents.learned.texts import TextTable
from agents.types import NoCandidates
from annotations.dom.limits import PageError

VALUE_EXTRA = 3  # columns of a value that need the encoder


@dataclass
class Arrays:
    """Steps that the network learns from, one entry a step in each list. An entry of `columns`, `texts`, `acted` and
    `gold` has a row for each candidate, one of `values` a row for each possible value."""

    columns: list[np.ndarray] = field(default_factory=list)
    texts: list[np.ndarray] = field(default_factory=list)  # (n, 2) numbers of name and markup
    instruction: list[int] = field(default_factory=list)
    words: list[np.ndarray] = field(default_factory=list)
    acted: list[np.ndarray] = field(default_factory=list)
    gold: list[np.ndarray] = field(default_factory=list)
    operation: list[int] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)  # (v, WIDTH) each; v = 0 where there is nothing to learn
    value_texts: list[tuple[int, np.ndarray, bool]] = field(default_factory=list)  # label, leads, whether options
    value_gold: list[np.ndarray] = field(default_factory=list)
    related: bool = False  # with the columns that came later
    habits: Habits = NONE
    skipped: int = 0  # examples without a readable page or without their element among the candidates

    def __len__(self) -> int:
        return len(self.columns)


def collect(
    arrays: Arrays,
    examples: Iterable[Example],
    common: Collection[str],
    table: TextTable,
    on_progress: Callable[[str, int, int], None] = lambda phase, done, total: None,
    total: int = 0,
    vary: bool = False,
) -> Arrays:
    """Prepare every example into `arrays`, which are still empty; those that nothing can be learnt from are counted in
    `skipped`. `vary`: learn a second time from an instruction with quotes, without the marks."""
    for number, example in enumerate(examples, 1):
        known = _add(arrays, example, common, table)
        plain = without_quotes(example) if vary and known else None
        if plain is not None:
            _add(arrays, plain, common, table)
        if number % 200 == 0:
            on_progress("read", number, total)
    return arrays


def _add(arrays: Arrays, example: Example, common: Collection[str], table: TextTable) -> bool:
    """Take an example in, if it can be learnt from; whether it was."""
    done = example.step.action
    try:
        step = prepare(example.observation, common, arrays.related, arrays.habits)
    except (PageError, NoCandidates):
        arrays.skipped += 1
        return False
    gold = np.array([element.node_id in example.step.positive_ids for element in step.page.candidates])
    if not gold.any() or done.operation not in OPERATIONS:
        arrays.skipped += 1
        return False
    arrays.columns.append(step.columns.astype(np.float16))
    arrays.texts.append(text_numbers(step, table))
    arrays.instruction.append(table.number(step.instruction.text))
    arrays.words.append(table.numbers(step.words))
    arrays.acted.append(step.acted)
    arrays.gold.append(gold)
    arrays.operation.append(OPERATIONS.index(done.operation))
    arrays.groups.append(example.group)
    element = step.page.candidates[int(gold.argmax())]
    values = prepare_values(step, element, done.operation, example.observation.earlier_instructions, common)
    right = np.array([_same(span.text, done.value) for span in values.spans], dtype=bool)
    known = right.any()
    arrays.values.append(values.columns[: len(right) if known else 0].astype(np.float16))
    arrays.value_texts.append(value_numbers(values, done.operation, table))
    arrays.value_gold.append(right if known else right[:0])
    return True


def _same(text: str, gold: str) -> bool:
    return " ".join(text.split()) == " ".join(gold.split())


def text_numbers(step: PreparedStep, table: TextTable) -> np.ndarray:
    return np.stack([table.numbers(texts) for texts in (step.names, step.markup)], axis=1)


def value_numbers(values: Values, operation: str, table: TextTable) -> tuple[int, np.ndarray, bool]:
    if operation == "PRESS" or not values.spans:
        return 0, np.zeros(len(values.spans), dtype=np.int32), False
    return table.number(values.label), table.numbers(values.leads), operation == "SELECT"


def similarity_columns(
    texts: np.ndarray, instruction: int, words: np.ndarray, acted: np.ndarray, vectors: np.ndarray
) -> np.ndarray:
    """The columns of `similarity` for one step, shape (n, len(similarity.NAMES)). Texts are given by their numbers, by
    which `vectors` has a row for each."""
    names, markup = (vectors[texts[:, place]].astype(np.float32) for place in range(2))
    own = vectors[instruction].astype(np.float32)
    return similarity.columns(similarity.Vectors(names, markup, own, vectors[words].astype(np.float32)), acted)


def value_similarity(
    numbers: tuple[int, np.ndarray, bool], instruction: int, words: np.ndarray, vectors: np.ndarray
) -> np.ndarray:
    """Three cosines of each possible value, shape (v, 3). A typed value: its lead words with the field's label, then
    two zeros. An option: zero, then the option with the instruction and with its nearest word."""
    label, leads, options = numbers
    result = np.zeros((len(leads), VALUE_EXTRA), dtype=np.float32)
    own = vectors[leads].astype(np.float32)
    if options and len(leads):
        result[:, 1] = own @ vectors[instruction].astype(np.float32)
        if len(words):
            result[:, 2] = (own @ vectors[words].astype(np.float32).T).max(axis=1)
    elif len(leads):
        result[:, 0] = own @ vectors[label].astype(np.float32)
    return result


def group_shares(groups: Sequence[str], power: float) -> np.ndarray:
    """How often each step is drawn, sums to 1: in proportion to n ** (power - 1), n being the steps of its group."""
    counts = Counter(groups)
    shares = np.array([float(counts[group]) ** (power - 1) for group in groups])
    shares /= shares.sum()
    return shares
