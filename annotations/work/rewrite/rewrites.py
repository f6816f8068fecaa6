"""How instructions could be said in a conversation: the proposal of rewrites by rules, without a model. Core.

Three things that people do are tried, on words that an earlier turn has said: a request that begins as the one before
leaves its beginning out ("And to Denver"), a thing that was named becomes "it" or "them", a place becomes "there" and a
day "the same day". Each is marked with its antecedent. An instruction that none of these fits keeps its words and is
not proposed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotations.edits.mentions import MarkedMention
from annotations.edits.warned import PartText
from annotations.text.alike_words import Word, alike, placed_words
from annotations.text.stop_words import NOT_INFORMATIVE
from annotations.work.decompose.clauses import REQUESTS
from annotations.work.rewrite.warnings import check_rewrites

MAX_CHANGES = 2  # of one instruction; with more of them people would not follow
WIDEST = 6  # words that an antecedent spans
DETERMINERS = frozenset("the this that these those my our".split())
BEFORE_IT = REQUESTS | frozenset("collect have has need that want about of".split())
# What follows belongs to the thing: "the refund for June" is not "it for June", nor "the first one" "it one".
GOES_ON = frozenset("of for from about with without between that which who whose where in at one ones".split())
PLACES = frozenset("in at to".split())
MONTHS = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday".split()
)
_NUMBER = re.compile(r"\d")


# The place of the best of several wordings of a turn, after the turns before it.
Choose = Callable[[Sequence[str], Sequence[str]], int]


@dataclass(frozen=True)
class Rewrite:
    """A proposed rewrite of the part that begins at `step`, with its mentions."""

    step: int
    rewrite: str
    mentions: list[MarkedMention] = field(default_factory=list)


@dataclass(frozen=True)
class _Replacement:
    """A change of an instruction: its characters `start` .. `end` are replaced by `said`, which refers to a place in an
    earlier turn."""

    start: int
    end: int
    said: str
    phenomenon: str
    antecedent: dict[str, Any]


def propose_rewrites(instructions: Sequence[tuple[int, str]], choose: Choose | None = None) -> list[Rewrite]:
    """Rewrites of the instructions (first step, text) that one of the three ways fits, in order. Every one can be
    understood: the wording checks have nothing against it. `choose` picks one of several ways, or the instruction as it
    is, which comes last; without it the first way is taken."""
    said: list[PartText] = []
    found = []
    for step, instruction in instructions:
        ways = _fitting(step, instruction, said)
        if choose is not None and ways:
            chosen = choose([part.rewrite for part in said], [*(way.rewrite for way in ways), instruction])
            ways = ways[chosen : chosen + 1]
        rewrite = ways[0] if ways else None
        if rewrite is not None:
            found.append(rewrite)
        text = rewrite.rewrite if rewrite else instruction
        said.append(PartText(step, instruction, text, rewrite.mentions if rewrite else []))
    return found


def _fitting(step: int, instruction: str, said: Sequence[PartText]) -> list[Rewrite]:
    """The rewrites of an instruction that can be understood, one for each way that fits, the first way first."""
    if not said or not instruction.strip():
        return []
    found = []
    for changes in (_ellipsis(instruction, said), _things(instruction, said)):
        if changes:
            rewrite = _made(step, instruction, changes)
            part = PartText(step, instruction, rewrite.rewrite, rewrite.mentions)
            if not any(w.step == step and w.code != "unmarked" for w in check_rewrites([*said, part])):
                found.append(rewrite)
    return found


def _made(step: int, instruction: str, changes: Sequence[_Replacement]) -> Rewrite:
    text, mentions, reached = "", [], 0
    for number, change in enumerate(sorted(changes, key=lambda change: change.start), 1):
        text += instruction[reached : change.start]
        start = len(text)
        text, reached = text + change.said, change.end
        if change.phenomenon == "ellipsis":  # a point: what is left out stood after "And"
            start, marked = len(text), ""
        else:
            marked = change.said
        mentions.append(
            {
                "id": f"p{step}-{number}",
                "phenomenon": change.phenomenon,
                "start": start,
                "end": start + len(marked),
                "text": marked,
                "antecedent": change.antecedent,
            }
        )
    return Rewrite(step, text + instruction[reached:], mentions)


def _ellipsis(instruction: str, said: Sequence[PartText]) -> list[_Replacement]:
    """Leave out the beginning that the turn before has as well, down to the preposition before what is new. At most one
    change."""
    own, before = placed_words(instruction), placed_words(said[-1].rewrite)
    shared = next((i for i, (a, b) in enumerate(zip(own, before, strict=False)) if a.key != b.key), 0)
    while shared and own[shared - 1].key in NOT_INFORMATIVE:
        shared -= 1
    if shared < 2 or shared >= len(own) or own[shared].key not in NOT_INFORMATIVE:
        return []  # "Add the red shoes" does not become "And red shoes"
    antecedent = _place(said[-1], before[:shared])
    return [_Replacement(0, own[shared - 1].end, "And", "ellipsis", antecedent)]


def _things(instruction: str, said: Sequence[PartText]) -> list[_Replacement]:
    """Changes for named things, places and days that an earlier turn has said, the longest first."""
    own = placed_words(instruction)
    found: list[_Replacement] = []
    for place in range(len(own)):
        change = _thing(own, place, instruction, said) or _where_or_when(own, place, instruction, said)
        if change is not None and all(change.start >= other.end for other in found):
            found.append(change)
    longest = sorted(found, key=lambda change: change.start - change.end)[:MAX_CHANGES]
    if len({change.said for change in longest}) < len(longest):
        longest = longest[:1]  # two different things would both be "it"
    return longest


def _thing(own: Sequence[Word], place: int, text: str, said: Sequence[PartText]) -> _Replacement | None:
    """ "the red shoes" -> "them", where all of its words are in one earlier turn."""
    if own[place].key not in DETERMINERS:
        return None
    run = _run(own, place + 1, text)
    if not run:
        return None
    if not _can_be_it(own, place, len(run)):
        return None
    antecedent = _said_by(run, said)
    if antecedent is None or _is_to_do(antecedent, said) or _is_plural(antecedent["text"]) != _is_plural(run[-1].key):
        return None
    pronoun = "them" if _is_plural(run[-1].key) else "it"
    return _Replacement(own[place].start, run[-1].end, _cased(pronoun, own[place]), "pronoun", antecedent)


def _can_be_it(own: Sequence[Word], place: int, size: int) -> bool:
    """Whether a thing of so many words behind its determiner can be a pronoun where it stands: it is what something is
    done with ("fill in the form" is not "fill in it"), nothing of it follows, and no other thing is named before it."""
    following = own[place + size + 1 : place + size + 2]
    is_done_with = place > 0 and own[place - 1].key in BEFORE_IT
    is_another = any(word.key in DETERMINERS for word in own[: max(0, place - 1)])
    return is_done_with and not is_another and not any(word.key in GOES_ON for word in following)


def _is_to_do(antecedent: Mapping[str, Any], said: Sequence[PartText]) -> bool:
    """Whether an antecedent begins with what is to be done, not with a thing: "Claim a refund"."""
    text = next(part.rewrite for part in said if part.step == antecedent["step"])
    first, before = placed_words(antecedent["text"])[0], text[: antecedent["start"]].rstrip()
    return first.key in REQUESTS and (before[-1:] in ("", *".!?,:;") or before.endswith((" and", " then")))


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")


def _where_or_when(own: Sequence[Word], place: int, text: str, said: Sequence[PartText]) -> _Replacement | None:
    """ "in New York" -> "there", "on June 3" -> "on the same day", where an earlier turn has said it just so."""
    run = _run(own, place + 1, text)
    if not run or not all(word.text[0].isupper() or _NUMBER.match(word.text) for word in run):
        return None
    antecedent = _said_by(run, said, together=True)
    if antecedent is None:
        return None
    dated = any(word.key in MONTHS for word in run)
    if own[place].key == "on" and dated:
        return _Replacement(run[0].start, run[-1].end, "the same day", "definite", antecedent)
    is_way = own[place].key == "to" and any(word.key == "from" for word in own[:place])  # "from Oslo there" is no way
    if own[place].key in PLACES and not is_way and not dated and not any(_NUMBER.match(word.text) for word in run):
        return _Replacement(own[place].start, run[-1].end, _cased("there", own[place]), "pronoun", antecedent)
    return None


def _run(own: Sequence[Word], start: int, text: str) -> list[Word]:
    """The words with information from `start` on, up to an empty word or a punctuation mark."""
    run: list[Word] = []
    for word in own[start : start + WIDEST]:
        gap = text[run[-1].end : word.start] if run else " "
        if (word.key in NOT_INFORMATIVE and not (run and word.text[0].isupper())) or gap.strip():
            break
        run.append(word)
    return run


def _said_by(run: list[Word], said: Sequence[PartText], *, together: bool = False) -> dict[str, Any] | None:
    """Where the nearest earlier turn says all of these words: a place of at most WIDEST words that covers them."""
    for part in reversed(said):
        there = placed_words(part.rewrite)
        for width in range(len(run), (len(run) if together else WIDEST) + 1):
            for start in range(len(there) - width + 1):
                window = there[start : start + width]
                if together:
                    fits = all(a.key == b.key for a, b in zip(run, window, strict=True))
                else:
                    fits = all(any(alike(word.key, other.key) for other in window) for word in run)
                if fits:
                    return _place(part, window)
    return None


def _place(part: PartText, window: Sequence[Word]) -> dict[str, Any]:
    start, end = window[0].start, window[-1].end
    return {"step": part.step, "start": start, "end": end, "text": part.rewrite[start:end]}


def _cased(said: str, instead_of: Word) -> str:
    return said.capitalize() if instead_of.text[0].isupper() else said
