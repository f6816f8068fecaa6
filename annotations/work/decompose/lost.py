"""What the source says and no part of a decomposition does, though its clause is asked for. Core.

People word a clause in their own way and may leave a word out. What can hardly be left out on purpose is told: several
words in a row, a number, a name, what a step presses, and a "not". Clauses that nobody asks for are told as such
(`clauses.py`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from annotations.edits.warned import PartText, Warned
from annotations.text.alike_words import SaidWords, Word, informative, is_name, placed_words
from annotations.work.decompose.clauses import SAID, RecordedTask, clause_spans
from annotations.work.decompose.spoken import UNSPACED, said_share

LOST = "lost"  # the code of such a warning
RUN = 2  # words that stand one after the other, from which none is left out by another wording
# As words; "one" stands for things, too.
NUMBERS = {
    word: number
    for number, word in enumerate(
        "zero . two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty".split()
    )
} | {word: 10 * tens for tens, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)}
_DIGITS = re.compile(r"\d{1,18}")  # of longer numbers, which texts may hold, one piece after the other
_NUMBER = re.compile(r"(?P<number>\d{1,4})(?:st|nd|rd|th|am|pm|(?P<hour>[:.]00))?")
NEGATIONS = frozenset("not no never none nobody nothing neither nor without cannot except unless".split())


def check_lost(tasks: Sequence[RecordedTask], parts: Sequence[PartText], pressed: Sequence[str] = ()) -> list[Warned]:
    """Warn of what is lost of each task, at the first part that has steps of it. `pressed`: what the steps are
    called."""
    by_step, named, found = {part.step: part.instruction for part in parts}, words_of(pressed), []
    for task in tasks:
        said = [by_step.get(step, "") for step in task.parts]
        if lost := left_out(task.instruction, said, named):
            found.append(Warned(task.parts[0], "instruction", LOST, f"No part says {lost}, which the source does."))
    return found


def words_of(texts: Iterable[str]) -> SaidWords:
    """The words of what steps are called, read once for all tasks."""
    return SaidWords(word for text in texts for word in placed_words(text))


def left_out(instruction: str, said: Iterable[str], named: SaidWords) -> str:
    """What an instruction says and none of these texts does, quoted; "" where nothing is said instead of it. `named`:
    words of what its steps are called."""
    words = [word for text in said for word in placed_words(text)]
    return ", ".join(f"“{one}”" for one in _lost(instruction, words, named)) if words else ""


def negations(words: Sequence[Word]) -> int:
    """How many words say "not"."""
    return sum(word.key in NEGATIONS or word.key.replace("’", "'").endswith("n't") for word in words)


def _lost(task: str, words: Sequence[Word], named: SaidWords) -> Iterator[str]:
    said, counted = SaidWords(words), {number for word in words for number in _counted(word)}
    for start, end in clause_spans(task):
        clause = task[start:end]
        if said_share(clause, said) < SAID:
            continue  # nobody asks for it: told as such
        run: list[Word] = []
        for word in [*informative(clause), None]:
            if word is not None and word.key not in said and not counted & _counted(word):
                run.append(word)
                continue
            if len(run) >= RUN or any(_matters(one, clause, named) for one in run):
                yield clause[run[0].start : run[-1].end]
            run = []
    if negations(placed_words(task)) > negations(words):
        yield "not"


def _counted(word: Word) -> set[int]:
    """The number that a word is, in digits or not, as an ordinal, too; of a full hour both of a day."""
    if word.key in NUMBERS:
        return {NUMBERS[word.key]}
    found = _NUMBER.fullmatch(word.key)
    if found is None:
        return set()
    number = int(found["number"])
    return {number, number - 12, number + 12} if found["hour"] else {number}


def numbers_in(text: str) -> list[tuple[int, str]]:
    """The numbers of a text, in digits or not, with what says them; without the zeros of a full hour."""
    found = [(number, one[0]) for one in _DIGITS.finditer(text) if (number := int(one[0]))]
    return found + [(NUMBERS[word.key], word.text) for word in placed_words(text) if word.key in NUMBERS]


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
