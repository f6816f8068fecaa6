"""Checks of rewrites while they are written: they warn, with a place and a sentence, and never block. Core.

The heuristics are light: they compare words (`annotations/text/alike_words.py`) and know which words nearly always
refer to something.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from annotations.edits.mentions import MarkedMention
from annotations.edits.warned import PartText, Warned
from annotations.text.alike_words import SaidWords, Word, informative, place_of, placed_words, says
from annotations.work.decompose.invented import REFERRING, AskedFor
from annotations.work.decompose.lost import LOST, is_number, is_number_or_name
from annotations.work.decompose.warnings import INVENTED, VALUE_LOST
from annotations.work.rewrite.said_again import check_said_again

# Of the words that refer to something, the ones that nearly always refer to something: "that" and "there" often do not.
PRONOUNS = frozenset("it its them they their those these".split())

PEOPLE = frozenset("he him his she her hers you your".split())


def check_rewrites(parts: Sequence[PartText]) -> list[Warned]:
    """Warnings about the rewrites of all parts, in order; parts that have none yet are passed over."""
    source = AskedFor([part.instruction for part in parts], [value for part in parts for value in part.values])
    found: list[Warned] = []
    said, telling = SaidWords(), SaidWords()  # all words of the turns so far, and those that carry information
    for place, part in enumerate(parts):
        earlier = parts[:place]
        said.add(placed_words(part.rewrite))
        if part.rewrite.strip():
            if why := source.lacks(part.rewrite, may_refer=True):
                found.append(Warned(part.step, "rewrite", INVENTED, f"Turn {place + 1}: {why}"))
            lost = _lost_values(part, earlier)
            found += lost + _unsaid(part, said, lost) + _unchanged(part, telling) + _unmarked(part, earlier)
        telling.add(informative(part.rewrite))
        found += _mentions(part, place, parts)
    return found + check_said_again(parts)


def _lost_values(part: PartText, earlier: Sequence[PartText]) -> list[Warned]:
    """Warn of values that the steps need and the instruction says, and that neither the rewrite nor an earlier turn
    says."""
    found = []
    for value in dict.fromkeys(part.values):
        if says(part.instruction, value) and not any(says(p.rewrite, value) for p in (*earlier, part)):
            text = f"“{value}” is entered in these steps, and neither this turn nor an earlier one says it."
            found.append(Warned(part.step, "instruction", VALUE_LOST, text, place_of(part.instruction, value)))
    return found


def _unsaid(part: PartText, said: SaidWords, lost: Iterable[Warned]) -> list[Warned]:
    """Warn of runs of words that the instruction says and neither the rewrite nor an earlier turn does; of one that it
    says twice once, in whatever case. `said`: the words of these. A number or a name is lost where the turn has no word
    that could refer to it, as to what a page has shown; a number also where the turn says what it counts."""
    told = [warned.span for warned in lost if warned.span]
    refers = any(word.key in PEOPLE | REFERRING for word in placed_words(part.rewrite))
    counted = _counted(part)
    runs: list[list[Word]] = [[]]
    for word in informative(part.instruction):  # empty words neither break a run nor begin one
        if word.key in said or any(start <= word.start < end for start, end in told):
            runs.append([])
        else:
            runs[-1].append(word)
    once: dict[tuple[str, ...], list[Word]] = {}
    for run in filter(None, runs):
        once.setdefault(tuple(word.key for word in run), run)
    return [
        Warned(
            part.step,
            "instruction",
            LOST
            if any(word in counted or (not refers and is_number_or_name(word, part.instruction)) for word in run)
            else "unsaid",
            f"“{part.instruction[run[0].start : run[-1].end]}” is left out, and no earlier turn says it.",
            (run[0].start, run[-1].end),
        )
        for run in once.values()
        if run
    ]


def _counted(part: PartText) -> set[Word]:
    """The numbers of the instruction before a word that the rewrite says."""
    said = SaidWords(informative(part.rewrite))
    pairs = pairwise(placed_words(part.instruction))
    return {number for number, word in pairs if is_number(number) and word.key in said}


def _unchanged(part: PartText, before: SaidWords) -> list[Warned]:
    """Warn of a rewrite that reads as its instruction although an earlier turn is about the same. `before`: the words
    of those."""
    if [word.key for word in placed_words(part.rewrite)] != [word.key for word in placed_words(part.instruction)]:
        return []
    shared = [word for word in informative(part.rewrite) if word.key in before]
    names = list(dict.fromkeys(f"“{word.text}”" for word in shared))[:3]
    if not shared:
        return []
    text = f"It reads as the instruction does, though an earlier turn already speaks of {', '.join(names)}."
    return [Warned(part.step, "rewrite", "unchanged", text, (shared[0].start, shared[0].end))]


def _unmarked(part: PartText, earlier: Sequence[PartText]) -> list[Warned]:
    """Warn of pronouns that no mention marks and, in the first turn, of referring words before which nothing is
    said."""
    spans = [(mention["start"], mention["end"]) for mention in part.mentions]
    filled = [word.start for word in informative(part.rewrite)]
    found = []
    for word in placed_words(part.rewrite):
        if any(start <= word.start < end for start, end in spans):
            continue
        alone = not any(p.rewrite.strip() for p in earlier) and not any(start < word.start for start in filled)
        if alone and word.key in REFERRING - {"one"}:
            text, code = f"Nothing is said before “{word.text}” that it could stand for.", "no-antecedent"
        elif word.key in PRONOUNS:
            text, code = f"“{word.text}” is not marked with what it stands for.", "unmarked"
        else:
            continue
        found.append(Warned(part.step, "rewrite", code, text, (word.start, word.end)))
    return found


def _mentions(part: PartText, place: int, parts: Sequence[PartText]) -> list[Warned]:
    """Warn of mentions whose words are gone, and of antecedents that do not exist."""
    found = []
    for mention in part.mentions:
        span, said = (mention["start"], mention["end"]), mention["text"]
        if part.rewrite[span[0] : span[1]] != said or span[1] > len(part.rewrite):
            text = f"“{said}” is marked, and the turn does not say it any more."
            found.append(Warned(part.step, "rewrite", "mention-changed", text))
            continue
        name = f"“{said}”" if said else "The ellipsis"
        if (wrong := _wrong_antecedent(mention, name, place, parts)) is not None:
            found.append(Warned(part.step, "rewrite", "no-antecedent", wrong, span))
    return found


def _wrong_antecedent(mention: MarkedMention, name: str, place: int, parts: Sequence[PartText]) -> str | None:
    """What is wrong with a mention's antecedent, as a sentence."""
    antecedent = mention["antecedent"]
    if antecedent is None:
        return f"{name} has no antecedent yet."
    turn = next((index for index, part in enumerate(parts) if part.step == antecedent["step"]), None)
    if turn is None:
        return f"{name} points to a turn that is not there any more."
    if turn > place:
        return f"{name} points to turn {turn + 1}, which comes later."
    if turn == place and antecedent["end"] > mention["start"]:
        return f"{name} points to itself or to what comes after it."
    said = parts[turn].rewrite
    if not antecedent["text"] or said[antecedent["start"] : antecedent["end"]] != antecedent["text"]:
        return f"{name} points to “{antecedent['text']}”, which turn {turn + 1} does not say any more."
    return None
