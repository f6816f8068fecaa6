"""The check of rewrites for what another turn asks for already, as an agent would do it twice. Core.

A turn that goes on where an earlier one ended leaves words out or refers to them, and may repeat names and values: only
words beyond its own instruction that say a clause of another turn's, or a piece of one, ask for it again.
"""

from collections.abc import Iterator, Sequence

from annotations.edits.warned import PartText, Warned
from annotations.text.alike_words import placed_words
from annotations.work.decompose.clauses import SAID, clause_spans
from annotations.work.decompose.spoken import FEW_WORDS, SpokenPart, is_short

SAID_AGAIN = "said-again"  # the code of such a warning


def check_said_again(parts: Sequence[PartText]) -> list[Warned]:
    """Warn of rewrites that ask for what another turn's instruction asks for, where that turn's rewrite does, too."""
    spoken = {place: _beyond_its_own(part) for place, part in enumerate(parts) if part.rewrite.strip()}
    asked = {place: list(_asked(parts[place], said)) for place, said in spoken.items()}
    found: list[Warned] = []
    for place, said in spoken.items():
        left, there = said.keys_left(), frozenset(word.key for word in said.words)
        for other in spoken:
            # Quickly told for nearly all: a conversation of 200 turns has 40,000 of these pairs.
            near = (c for c, keys in asked[other] if len(keys & left) >= FEW_WORDS - 1 or keys <= there)
            again = (clause for clause in near if other != place and _says(said, clause, spoken[other]))
            if (clause := next(again, None)) is not None:
                text = f"“{clause}” is asked for here and in turn {other + 1}: a turn says its own part alone."
                found.append(Warned(parts[place].step, "rewrite", SAID_AGAIN, text))
    return found


def _beyond_its_own(part: PartText) -> SpokenPart:
    """A rewrite, in which the words of its own instruction stand for that."""
    said = SpokenPart(part.rewrite, clause_spans(part.rewrite))
    for start, end in clause_spans(part.instruction):
        said.take(part.instruction[start:end])
    return said


def _asked(part: PartText, said: SpokenPart) -> Iterator[tuple[str, frozenset[str]]]:
    """The clauses of an instruction that its rewrite asks for; not those that are said by chance ("save it"). With
    their words, as keys."""
    for start, end in clause_spans(part.instruction):
        clause = part.instruction[start:end]
        if not is_short(clause) and said.share(clause) >= SAID:
            yield clause, frozenset(word.key for word in placed_words(clause))


def _says(said: SpokenPart, clause: str, other: SpokenPart) -> bool:
    """Whether a rewrite says a clause that is another's, or a piece of it that the other says as well. It has to say
    all of it, as tasks differ in one word ("Order cetirizine at Bridge Chemist")."""
    whole = said.share(clause) == 1.0 and said.repeats(clause, alone=False)
    return whole or said.echoes(clause, other)
