"""Turn a step into arrays and the texts to encode; the same for training and for deciding. Core."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from agents.learned import features, spans
from agents.learned.candidates import PageCandidates, markup_text, name_text, read_page
from agents.learned.examples import Example
from agents.learned.history import History, read_history
from agents.learned.instruction import Instruction, read
from agents.learned.mentions import word_weights
from agents.learned.relations import relation_columns
from agents.learned.shown.habits import NONE, Habits
from agents.types import NoCandidates, Observation
from annotations.dom.elements import DescribedElement
from annotations.sandbox.deadline import page_deadline
from annotations.text.stop_words import NO_MENTION

MAX_TELLING = 16  # words of an instruction that are encoded one by one
TEMPLATE_SHARE = 0.5
MIN_INSTRUCTIONS = 3
MIN_GROUPS = 2  # words of a single group tell: in an unseen task they would as well


@dataclass(frozen=True)
class Values:
    """The possible values of one operation on one element. `leads`: of each the text that the encoder reads for it."""

    spans: list[spans.ValueSpan]
    columns: np.ndarray  # (v, spans.WIDTH), or more of them
    label: str
    leads: list[str]


@dataclass(frozen=True)
class PreparedStep:
    """A step as the network reads it, with texts that are still to be encoded. Shapes: n candidates."""

    page: PageCandidates
    instruction: Instruction
    history: History
    columns: np.ndarray  # (n, features)
    names: list[str]
    markup: list[str]
    words: list[str]  # of the instruction, those that tell
    acted: np.ndarray  # (n,)
    related: bool = False  # with the columns that came later
    habits: Habits = NONE

    def texts(self) -> Iterable[str]:
        return (*self.names, *self.markup, *self.words, self.instruction.text)


@page_deadline()
def prepare(
    observation: Observation, common: Collection[str], related: bool = False, habits: Habits = NONE
) -> PreparedStep:
    """A step as the network reads it; `related`: with the columns that came later; `habits`: what is typed besides what
    the instruction and the page say. Raises PageError for a page that
    cannot be read and NoCandidates for one that offers no element."""
    page = read_page(observation.root, observation.candidate_ids)
    if not page.candidates:
        raise NoCandidates("the page has no element to choose from")
    instruction, history = read(observation.instruction), read_history(observation.turn_actions)
    found = features.columns(page, instruction, history, common)
    if related:
        found |= relation_columns(page, instruction, history, common)
    weights = word_weights(instruction, common)
    pairs = zip(instruction.words, instruction.lower, strict=True)
    telling = [word for word, lower in pairs if weights[lower] == 1.0]
    return PreparedStep(
        page,
        instruction,
        history,
        np.stack(list(found.values()), axis=1),
        names=[name_text(e) for e in page.candidates],
        markup=[markup_text(e) for e in page.candidates],
        words=list(dict.fromkeys([*instruction.quotes, *telling]))[:MAX_TELLING],
        acted=found["acted"],
        related=related,
        habits=habits,
    )


def prepare_values(
    step: PreparedStep, element: DescribedElement, operation: str, earlier: Sequence[str], common: Collection[str]
) -> Values:
    """What an operation on an element could take."""
    found = spans.spans(operation, element, step.page, step.instruction, earlier, step.habits)
    columns = spans.columns(found, operation, element, step.page, step.instruction, step.history, common)
    if step.related:
        columns = np.hstack([columns, spans.kind_columns(found, element, step.page, step.instruction, common)])
    leads = [span.lead if span.source != "option" else span.text for span in found]
    return Values(found, columns, spans.label_text(element), leads)


def template_words(examples: Iterable[Example]) -> frozenset[str]:
    """Words that belong to the templates of tasks: those that at least half of a group's different instructions have,
    in several groups."""
    instructions: dict[str, set[str]] = defaultdict(set)
    for example in examples:
        instructions[example.group].add(example.observation.instruction)
    groups: Counter[str] = Counter()
    for texts in instructions.values():
        counts = Counter(word for text in texts for word in set(read(text).lower))
        if len(texts) >= MIN_INSTRUCTIONS:
            groups.update(word for word, count in counts.items() if count >= TEMPLATE_SHARE * len(texts))
    return frozenset(word for word, count in groups.items() if count >= MIN_GROUPS) - NO_MENTION
