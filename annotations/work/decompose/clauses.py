"""The clauses of a source instruction, and which part of a decomposition asks for which. Core.

A clause is cut out of the text as it stands, so that what is put together of neighbouring clauses reads as it was
written. A sentence ends a clause; a comma or "and" does only before what begins like a request.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from annotations.text.alike_words import SaidWords, Word, informative, placed_words
from annotations.work.decompose.spoken import SpokenPart, SpokenParts, is_short, said_share

SAID = 0.5  # share of its informative words that one part says, from which the clause is asked for
SAID_TOGETHER = 0.8  # the same over all parts of the task, as people divide one clause among two parts
NEAR = 100  # characters on each side of a place that may end a clause
ENDS = ".!?"
REQUESTS = frozenset(
    "activate add adjust apply archive arrange ask assign attach authorize begin book browse buy calculate call "
    "cancel change check choose claim clear click close collect compare complete confirm contact continue convert "
    "copy create customize deactivate decline delete deliver deposit describe deselect disable display donate "
    "download edit email enable enter estimate exchange exclude explain explore extend fill filter find finish "
    "follow forward generate get give go help hide hire hold identify include increase insert install invite join "
    "keep leave let like limit list locate log look make map mark measure message move mute name narrow navigate "
    "open order pause pay pick place play pledge post prepare print proceed provide publish purchase put rate read "
    "rebook reduce refine register reject release remind remove renew rent repair repeat replace reply report "
    "request reserve reset resume retrieve return review save schedule scroll search see select send set share ship "
    "show sign skip sort specify sponsor start stop submit subscribe suggest summarize swap switch take tell track "
    "transfer translate try turn type unlock unsubscribe update upgrade upload use verify view visit vote watch "
    "weigh withdraw write zoom "
    "i can could would will please may".split()
)
# Pages are hostile, and so are instructions: none of these looks twice at the same characters.
_BREAK = re.compile(
    r"(?<![.;!?])[.;!?]++[”\"’')\]]*+\s++|\n\s*+|,\s++(?:and\s++)?(?:then\s++)?|(?<!\s)\s++(?:and\s++then|then|and)\s++",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RecordedTask:
    """A recorded task: its instruction, and the first steps of the parts that its steps are in."""

    instruction: str
    parts: tuple[int, ...]


@dataclass(frozen=True)
class Clause:
    """A clause at its place in a source instruction, and the parts (first steps) that ask for it: one that asks twice
    comes twice."""

    start: int
    end: int
    text: str
    parts: tuple[int, ...] = ()

    @property
    def state(self) -> str:
        """How often parts ask for the clause: "" for once, "doubled" for more, "uncovered" for none."""
        return "" if len(self.parts) == 1 else "doubled" if self.parts else "uncovered"


def clause_spans(text: str) -> list[tuple[int, int]]:
    """Where the clauses are, without the separators between them; no word is cut. Together they hold all words but an
    "and" or "then" between clauses."""
    spans: list[tuple[int, int]] = []
    reached = len(text) - len(text.lstrip())
    for found in _BREAK.finditer(text):
        if found.start() < reached or not _divides(found, text, reached):
            continue
        end = found.start() + len(found[0].rstrip()) if found[0][0] in ENDS else found.start()
        spans.append((reached, end))
        reached = found.end()
    return [*spans, (reached, max(reached, len(text.rstrip())))]


def _divides(found: re.Match[str], text: str, reached: int) -> bool:
    """Whether the separator `found` ends the clause that began at `reached`. Looks at a few words on each side only."""
    between, place = found[0], found.start()
    words = (
        placed_words(text[reached : reached + NEAR]) if place - reached > NEAR else placed_words(text[reached:place])
    )
    following = placed_words(text[found.end() : found.end() + NEAR])
    if len(words) < 2 or len(following) < 2:
        return False
    if between[0] in ".;!?\n":
        last = placed_words(text[max(reached, place - NEAR) : place])
        return between[0] != "." or bool(last and _ends_sentence(last[-1], following[0]))
    return "then" in between.casefold() or following[0].key in REQUESTS


def _ends_sentence(last: Word, following: Word) -> bool:
    """Whether a full stop between two words ends a sentence; that of "St." or "approx." does not."""
    return (len(last.text) > 2 or last.text.isdigit()) and not (
        following.text[0].islower() or following.text[0].isdigit()
    )


def clauses_of(text: str) -> list[str]:
    """The clauses alone, without the full stop at their end."""
    text = " ".join(text.split())
    return [text[start:end].rstrip(".") for start, end in clause_spans(text)]


def slices(text: str, counts: Sequence[int]) -> list[str]:
    """The text divided among parts; `counts`: how many clauses each gets, in order. Each piece is as written, but
    begins with a capital; "" for a part with no clause."""
    spans, found, reached = clause_spans(text), [], 0
    for count in counts:
        own = spans[reached : reached + count]
        said = text[own[0][0] : own[-1][1]].strip() if own else ""
        found.append(f"{said[:1].upper()}{said[1:]}")
        reached += count
    return found


def said_by(text: str, places: Sequence[int]) -> str:
    """The clauses at these places, counted from 0, in order. Neighbours stay as written; what lay apart becomes
    sentences of their own."""
    spans, runs = clause_spans(text), list[list[int]]()
    for place in sorted(places):
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    said = [text[spans[run[0]][0] : spans[run[-1]][1]].strip() for run in runs]
    ended = [*(one if one[-1:] in ENDS else f"{one}." for one in said[:-1]), *said[-1:]]
    return " ".join(f"{one[:1].upper()}{one[1:]}" for one in ended)


def recorded_tasks(steps: Iterable[tuple[int, int, str]], firsts: Container[int]) -> list[RecordedTask]:
    """The recorded tasks of a session's steps (key, turn, instruction of the turn), with the parts that begin at these
    first steps."""
    found: dict[int, tuple[str, dict[int, None]]] = {}
    part: int | None = None
    for step, turn, instruction in steps:
        part = step if step in firsts else part
        parts = found.setdefault(turn, (instruction, {}))[1]
        if part is not None:
            parts[part] = None
    return [RecordedTask(instruction, tuple(parts)) for instruction, parts in found.values()]


def covered(tasks: Sequence[RecordedTask], said: Mapping[int, str]) -> list[list[Clause]]:
    """For each task its clauses, with the parts that ask for each. `said`: first step -> instruction of a part.

    One of the task's own parts stands for a clause. Whatever says it once more, in any part of the session or in that
    one, asks for it again; a clause that only a part of another task asks for is uncovered: its steps are not there.
    """
    order = dict.fromkeys(step for task in tasks for step in task.parts if step in said)
    spoken = SpokenParts({step: SpokenPart(said[step], clause_spans(said[step])) for step in order})
    found = [[Clause(a, b, task.instruction[a:b]) for a, b in clause_spans(task.instruction)] for task in tasks]
    own = [[step for step in task.parts if step in said] for task in tasks]
    standing = [
        _standing(clauses, {step: spoken.of_step[step] for step in steps})
        for clauses, steps in zip(found, own, strict=True)
    ]
    beyond = {
        step: pieces
        for task, steps in zip(tasks, own, strict=True)
        for step in steps
        if (pieces := spoken.of_step[step].beyond(task.instruction))
    }
    return [
        [_asked(clause, one, spoken, steps, beyond) for clause, one in zip(clauses, chosen, strict=True)]
        for clauses, chosen, steps in zip(found, standing, own, strict=True)
    ]


def continued(clauses: Sequence[Clause], said: Mapping[int, str]) -> dict[int, int]:
    """Of the parts of a task (first step -> instruction) that ask for none of its clauses, those of which at least half
    of the words that say something are one clause's: they say more of it. First step -> the place of the clause."""
    asking = {step for clause in clauses for step in clause.parts}
    by_clause = [SaidWords(placed_words(clause.text)) for clause in clauses]
    found: dict[int, int] = {}
    for step, text in said.items():
        words = informative(text)
        shares = [sum(word.key in one for word in words) for one in by_clause]
        if step not in asking and words and 2 * (most := max(shares, default=0)) >= len(words):
            found[step] = shares.index(most)
    return found


def _standing(clauses: Sequence[Clause], own: Mapping[int, SpokenPart]) -> list[int | None]:
    """For each clause of a task the part that asks for it first of all, whose words then stand for the clause."""
    together = SaidWords(word for part in own.values() for word in part.words)
    found: list[int | None] = []
    before: set[str] = set()
    for clause in clauses:
        said_before = clause.text.casefold().rstrip(ENDS) in before
        before.add(clause.text.casefold().rstrip(ENDS))
        best = _best(own, clause.text, anew=said_before)
        if best is not None:
            own[best].take(clause.text)
        elif own and not said_before and said_share(clause.text, together) >= SAID_TOGETHER:
            best = next(iter(own))
        found.append(best)
    return found


def _best(own: Mapping[int, SpokenPart], clause: str, *, anew: bool) -> int | None:
    """The part that has most of a clause's words, the earlier of equals, and rather one whose words stand for no other
    clause; None where none has enough. `anew`: the task has said it before, so that it has to be said once more."""
    shares = {step: (part.share(clause), part.share_left(clause)) for step, part in own.items()}
    enough = {step: (left >= SAID, share, left) for step, (share, left) in shares.items() if share >= SAID}
    if anew:
        enough = {step: order for step, order in enough.items() if order[0]}
    return max(enough, key=lambda step: enough[step], default=None)


def _asked(
    clause: Clause,
    standing: int | None,
    spoken: SpokenParts,
    own: Sequence[int],
    beyond: Mapping[int, Sequence[frozenset[str]]],
) -> Clause:
    """The clause with the parts that ask for it, in order; one that asks for it twice comes twice. A part of another
    task has to say all of it: tasks differ in one word ("Order cetirizine at Bridge Chemist"). A piece of it, which the
    part that stands for it says as well, asks for it again in a part of its own task, and in one of another where it is
    `beyond` that part's own task."""
    parts, short = spoken.of_step, is_short(clause.text)
    again = [
        step
        for step, part in spoken.near(clause.text)
        if part.repeats(clause.text, alone=step == standing or (short and step not in own))
        and (step in own or part.share(clause.text) == 1.0)
    ]
    if standing is not None:
        others = [step for step in own if step != standing and step not in again]
        again += [
            step
            for step in others
            if parts[step].echoes(clause.text, parts[standing]) or parts[step].says_a_piece_twice(clause.text)
        ]
        if standing not in again and parts[standing].says_a_piece_again(clause.text):
            again.append(standing)
        elsewhere = (step for step in beyond if step not in own and step not in again)
        stands = parts[standing]
        again += [s for s in elsewhere if any(stands.says_most_of(piece, clause.text) for piece in beyond[s])]
    if standing is None:
        return replace(clause, parts=tuple(again) if len(again) > 1 else ())
    return replace(clause, parts=tuple(sorted([standing, *again], key=spoken.places.__getitem__)))
