"""What the source says and no part of a decomposition does, though its clause is asked for. Core.

People word a clause in their own way and may leave a word out. What can hardly be left out on purpose is told: several
words in a row, a number, a name, what a step presses, and a "not". Clauses that nobody asks for are told as such
(`clauses.py`).
"""

from collections.abc import Iterator, Sequence

from annotations.edits.warned import PartText, Warned
from annotations.text.alike_words import SaidWords, Word, informative, is_name, placed_words
from annotations.work.decompose.clauses import SAID, RecordedTask, clause_spans
from annotations.work.decompose.spoken import UNSPACED, said_share

LOST = "lost"  # the code of such a warning
RUN = 2  # words that stand one after the other, from which none is left out by another wording
NUMBERS = "zero . two three four five six seven eight nine ten eleven twelve".split()  # "one" stands for things, too
NEGATIONS = frozenset("not no never none nobody nothing neither nor without cannot except unless".split())


def check_lost(tasks: Sequence[RecordedTask], parts: Sequence[PartText], pressed: Sequence[str] = ()) -> list[Warned]:
    """Warn of what is lost of each task, at the first part that has steps of it. `pressed`: what the steps are
    called."""
    by_step = {part.step: part.instruction for part in parts}
    named = SaidWords(word for one in pressed for word in placed_words(one))
    found: list[Warned] = []
    for task in tasks:
        words = [word for step in task.parts for word in placed_words(by_step.get(step, ""))]
        if words and (lost := ", ".join(f"“{one}”" for one in _lost(task.instruction, words, named))):
            found.append(Warned(task.parts[0], "instruction", LOST, f"No part says {lost}, which the source does."))
    return found


def negations(words: Sequence[Word]) -> int:
    """How many words say "not"."""
    return sum(word.key in NEGATIONS or word.key.replace("’", "'").endswith("n't") for word in words)


def _lost(task: str, words: Sequence[Word], named: SaidWords) -> Iterator[str]:
    said = SaidWords(words)
    for start, end in clause_spans(task):
        clause = task[start:end]
        if said_share(clause, said) < SAID:
            continue  # nobody asks for it: told as such
        run: list[Word] = []
        for word in [*informative(clause), None]:
            if word is not None and word.key not in said:
                run.append(word)
                continue
            if len(run) >= RUN or any(_matters(one, clause, named) for one in run):
                yield clause[run[0].start : run[-1].end]
            run = []
    if negations(placed_words(task)) > negations(words):
        yield "not"


def _matters(word: Word, clause: str, named: SaidWords) -> bool:
    """Whether a word is hardly left out alone: a number, a name, what a step presses, or a whole phrase of a writing
    that puts no spaces between words."""
    is_phrase = len(word.text) > 1 and word.text[0] >= UNSPACED
    return is_number_or_name(word, clause) or word.key in named or is_phrase


def is_number_or_name(word: Word, text: str) -> bool:
    """Whether a word of a text is a number or a name."""
    return is_number(word) or is_name(word, text)


def is_number(word: Word) -> bool:
    """Whether a word is a number, in digits or not."""
    return word.key[:1].isdigit() or word.key in NUMBERS
