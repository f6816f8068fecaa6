"""What people type at a task though neither its instruction nor its page says it: commands, and words before a name.
Core."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from agents.learned.candidates import PageCandidates
from agents.learned.examples import Example

OFTEN = 3  # different instructions of a group, and different words behind an opening
MOST_WORDS = 60  # of a page, that may stand behind an opening
MIN_ENDING = 2  # characters of the instruction that a word may end with


@dataclass(frozen=True)
class Habits:
    """Texts that are typed as they are, and first words that a word of the page follows, in order."""

    whole: tuple[str, ...] = ()
    openings: tuple[str, ...] = ()

    def values(self, page: PageCandidates, instruction: str) -> Iterable[tuple[str, bool]]:
        """(value, whether it ends as a word of the instruction does): all that may be typed on the page."""
        yield from ((text, False) for text in self.whole)
        texts = " ".join(e.text for e in page.everything if e.text and not e.interactive) if self.openings else ""
        endings = tuple(word for word in instruction.split() if len(word) >= MIN_ENDING)
        for opening in self.openings:
            for word in list(dict.fromkeys(reversed(texts.split())))[:MOST_WORDS]:
                yield f"{opening} {word}", word.endswith(endings)


NONE = Habits()


def habits_of(examples: Iterable[Example]) -> Habits:
    """The habits of people who did tasks that are told in at least OFTEN ways."""
    whole: dict[tuple[str, str], set[str]] = defaultdict(set)
    behind: dict[tuple[str, str], set[str]] = defaultdict(set)
    for example in examples:
        value, instruction = example.step.action.value.strip(), example.observation.instruction
        if example.step.action.operation != "TYPE" or not value or value.lower() in instruction.lower():
            continue
        whole[example.group, value].add(instruction)
        opening, _, rest = value.partition(" ")
        if rest and " " not in rest and opening.lower() not in instruction.lower().split():
            behind[example.group, opening].add(rest)
    openings = _often(behind)
    return Habits(tuple(text for text in _often(whole) if text.split()[0] not in openings), openings)


def _often(found: dict[tuple[str, str], set[str]]) -> tuple[str, ...]:
    return tuple(sorted({text for (_, text), others in found.items() if len(others) >= OFTEN}))
