"""Where a session could be cut, and which clauses of a task each part asks for: the proposal by rules, without a model.
Core.

A boundary between two steps is a likely cut when the page changes there, when a form has just been sent, or when the
steps before and after it are about different things; within a form that is filled in it is none. Parts of about the
same length are preferred, and those whose steps have the words of their clauses (`dividing.py`).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotations.text.alike_words import alike, informative, placed_words
from annotations.text.tfidf import Vectorise, tfidf
from annotations.work.decompose.clauses import clauses_of, covered, recorded_tasks, slices
from annotations.work.decompose.dividing import SAME_WORDS, divisions, word_matches

PAGE, FORM, SHIFT = 1.0, 0.8, 0.6  # the most that each sign speaks for a cut
WITHIN = -2.0  # that a boundary lies within a form: more than the other signs and lengths say there
ALIKE_PAGES = 0.6  # share of texts in common from which two recordings show one page
MEANT = 1.2  # that a model is sure that a step is done for a clause of its part
REASON = 0.3  # from how much on a sign is told as a reason
SENDING = frozenset(
    "search submit apply continue next book checkout confirm save send go done order pay login sign register find "
    "add update reserve".split()
)
ENTERING = frozenset({"TYPE", "SELECT", "CHANGE", "PASTE"})
FILLING = ENTERING | {"CLICK"}  # what people do in a form: suggestions, dates and boxes are clicked
# Pages are hostile: none of these looks twice at the same characters.
_TITLE = re.compile(r"<title\b[^<>]*>(?:\s*<text\b[^<>]*>)?([^<]*)", re.IGNORECASE)
_TEXT = re.compile(r">([^<>]+)<")


@dataclass(frozen=True)
class Face:
    """What tells one page from another: its address, its title, the texts on it."""

    address: str
    title: str
    texts: frozenset[str]


@dataclass(frozen=True)
class SeenStep:
    """A step as the proposal reads it. `task`: the place of its recorded task among the session's."""

    key: int
    task: int
    operation: str
    text: str  # its representation
    value: str
    face: Face | None


# How sure a model is, 0 … 1, that each step (a column) is done for each of these clauses (a row).
Meaning = Callable[[Sequence[str], Sequence[SeenStep]], NDArray[np.float64]]


@dataclass(frozen=True)
class CutPart:
    """One proposed part: its first step, why it begins there, and its instruction ("": none is proposed)."""

    step: int
    why: tuple[str, ...]
    instruction: str = ""


def face_of(html: str, address: str = "") -> Face:
    """The face of a page, found in its markup without a parser, as proposals look at many pages at once."""
    texts = frozenset(" ".join(text.split()) for text in _TEXT.findall(html)) - {""}
    return Face(address, title_of(html), texts)


def title_of(html: str) -> str:
    """The title in the markup; "" without one."""
    title = _TITLE.search(html)
    return " ".join(title[1].split()) if title else ""


def propose_cuts(
    steps: Sequence[SeenStep],
    tasks: Sequence[str],
    parts: int,
    vectors: Vectorise | None = None,
    meaning: Meaning | None = None,
) -> list[CutPart]:
    """Propose `parts` parts of the steps: at least one per task, at most one per step and one per clause of a task's
    instruction, as a part that asks for nothing cannot be handed in. `tasks`: the tasks' instructions. `vectors` embeds
    the texts of steps; without it they are compared by their words. `meaning`: what a model adds to the words that
    clauses and steps have in common."""
    forced = [place for place in range(1, len(steps)) if steps[place].task != steps[place - 1].task]
    signs = _signs(steps, vectors or tfidf)
    worth = [sum(sign.values()) for sign in signs]
    runs = list(zip([0, *forced], [*forced, len(steps)], strict=True))
    able = sum(min(end - start, len(clauses_of(tasks[steps[start].task]))) for start, end in runs)
    divided = _best_division(steps, tasks, worth, runs, min(max(parts, len(runs)), able), meaning)
    return [CutPart(steps[place].key, _reasons(signs[place], place in forced), text) for place, text in divided]


def each_clause_once(parts: Sequence[CutPart], steps: Sequence[SeenStep], tasks: Sequence[str]) -> list[CutPart]:
    """The parts that another model proposed, with each clause of a task asked for once: where their texts ask for one
    again, in whatever part, the own words of the tasks of those parts are divided among them instead."""
    firsts = {part.step for part in parts}
    sources = recorded_tasks(((step.key, step.task, tasks[step.task]) for step in steps), firsts)
    said = {part.step: part.instruction for part in parts if part.instruction.strip()}
    places = {step.key: place for place, step in enumerate(steps)}
    texts = dict(said)
    asking = {step for task in covered(sources, said) for one in task if one.state == "doubled" for step in one.parts}
    for source in sources:
        if asking.isdisjoint(source.parts):
            continue
        own = [step for step in source.parts if tasks[steps[places[step]].task] == source.instruction]
        ends = [*(places[step] for step in own[1:]), len(steps)]
        spans = [(places[step], end) for step, end in zip(own, ends, strict=True)]
        texts |= dict(zip(own, shared_out(source.instruction, steps, spans), strict=True))
    return [replace(part, instruction=texts.get(part.step, "")) for part in parts]


def _signs(steps: Sequence[SeenStep], vectors: Vectorise) -> list[dict[str, float]]:
    """For each step, the signs of a cut before it: name -> strength."""
    rows = vectors([f"{step.text} {step.value}" for step in steps])
    found: list[dict[str, float]] = [{}]
    within = _within_forms(steps)
    for place in range(1, len(steps)):
        before, after = steps[place - 1], steps[place]
        shift = 1.0 - float(rows[max(0, place - 2) : place].mean(0) @ rows[place : place + 2].mean(0))
        entered = any(step.operation in ENTERING for step in steps[max(0, place - 3) : place - 1])
        sent = _is_sent_by(before)
        form = 1.0 if sent and entered else 0.5 if sent or (entered and before.operation == "CLICK") else 0.0
        found.append(
            {
                "another page": PAGE * _page_change(before.face, after.face),
                "a form was sent": FORM * form,
                "other words": SHIFT * min(1.0, max(0.0, shift)),
                "within a form": WITHIN * (place in within),
            }
        )
    return found


def _within_forms(steps: Sequence[SeenStep]) -> set[int]:
    """The steps before which a form is filled in: something was entered on the page before, and it is sent from there
    by this step or a later one."""
    found: set[int] = set()
    begun: int | None = None  # the step at which something was entered first
    for place, step in enumerate(steps):
        if step.operation not in (*FILLING, "SUBMIT") or (place and _page_change(steps[place - 1].face, step.face)):
            begun = None
        if begun is not None and _is_sent_by(step):
            found |= set(range(begun + 1, place + 1))
            begun = None
        elif begun is None and step.operation in ENTERING:
            begun = place
    return found


def _is_sent_by(step: SeenStep) -> bool:
    return step.operation == "SUBMIT" or (step.operation == "CLICK" and _sends(step.text))


def _sends(text: str) -> bool:
    label = text.partition("->")[0]
    return any(word.key in SENDING for word in placed_words(label))


def _page_change(before: Face | None, after: Face | None) -> float:
    """How much the page changes from one step to the next, 0 (the same page) … 1 (another page); by the addresses where
    they are recorded."""
    if before is None or after is None:
        return 0.0
    if before.address and after.address:
        return float(before.address.partition("#")[0] != after.address.partition("#")[0])
    together = len(before.texts | after.texts)
    common = len(before.texts & after.texts) / together if together else 1.0
    if before.title != after.title:
        return max(0.5, 1.0 - common)
    return 0.0 if common >= ALIKE_PAGES else 1.0 - common


def _best_division(
    steps: Sequence[SeenStep],
    tasks: Sequence[str],
    worth: Sequence[float],
    runs: Sequence[tuple[int, int]],
    parts: int,
    meaning: Meaning | None,
) -> list[tuple[int, str]]:
    """The first steps of `parts` parts with their instructions, at least one part of each run."""
    wanted = len(steps) / parts
    best: dict[int, tuple[float, list[tuple[int, str]]]] = {0: (0.0, [])}  # parts so far -> worth, first steps
    for start, end in runs:
        instruction, own = tasks[steps[start].task], steps[start:end]
        clauses = clauses_of(instruction)
        matches = SAME_WORDS * word_matches(clauses, [f"{step.text} {step.value}" for step in own])
        if meaning is not None and min(matches.shape) > 1:
            matches = matches + MEANT * meaning(clauses, own)
        most = min(len(own), len(clauses), parts - len(runs) + 1)
        found = dict[int, tuple[float, list[tuple[int, str]]]]()
        for division in divisions(worth[start:end], matches, most, wanted):
            texts = _instructions(instruction, [count for _, count in division.parts])
            said = [(start + first, text) for (first, _), text in zip(division.parts, texts, strict=True)]
            for before, (value, earlier) in best.items():
                total = before + len(said)
                if total not in found or found[total][0] < value + division.worth:
                    found[total] = value + division.worth, [*earlier, *said]
        best = found
    return best[parts][1]


def _instructions(instruction: str, counts: Sequence[int]) -> list[str]:
    """A task's instruction divided among its parts by the number of clauses of each; one part keeps it as it is."""
    return slices(" ".join(instruction.split()), counts) if len(counts) > 1 else [instruction]


def _reasons(sign: dict[str, float], forced: bool) -> tuple[str, ...]:
    told = tuple(name for name, value in sign.items() if value >= REASON)
    return ("another task", *told) if forced else told


def shared_out(instruction: str, steps: Sequence[SeenStep], parts: Sequence[tuple[int, int]]) -> list[str]:
    """A task's instruction divided among its parts: each clause, in order, goes to the part whose steps share most
    words with it, the first to the first part, as what is asked first is done first. While there are clauses enough, no
    part goes without; "" for one that does. A task of one part keeps its instruction as it is."""
    if len(parts) < 2:
        return [instruction for _ in parts]
    clauses = clauses_of(instruction)
    said = [{w.key for s in steps[a:b] for w in informative(f"{s.text} {s.value}")} for a, b in parts]
    match = [[sum(any(alike(w.key, k) for k in own) for w in informative(c)) for own in said] for c in clauses]
    chosen = _in_order(match, len(parts))
    return slices(" ".join(instruction.split()), [chosen.count(part) for part in range(len(parts))])


def _in_order(match: Sequence[Sequence[int]], parts: int) -> list[int]:
    """The part of each clause, never going back from the first one, so that most words match; of equally good divisions
    the most even one. Where clauses suffice, every part gets one. `match[clause][part]`: how many words match."""
    suffice = len(match) >= parts
    best: dict[int, tuple[float, list[int]]] = {0: (0.0, [0])}  # part of the last clause -> (words, parts so far)
    for index, row in enumerate(match[1:], 1):
        following = {}
        for part in range(parts):
            from_parts = range(max(0, part - 1) if suffice else 0, part + 1)
            ways = [best[earlier] for earlier in from_parts if earlier in best]
            if not ways:
                continue
            value, path = max(ways, key=lambda option: option[0])
            even = 0.1 * (1 - abs(index / max(1, len(match) - 1) - part / (parts - 1)))
            following[part] = value + row[part] + even, [*path, part]
        best = following
    return best[parts - 1][1] if suffice else max(best.values(), key=lambda option: option[0])[1]
