"""Replies of models that are asked for cuts or rewrites. What is wrong with one is said in a sentence. Core."""

import json
import re
from collections.abc import Sequence
from typing import Any

from annotations.edits.edit_ops import MAX_TEXT
from annotations.edits.mentions import PHENOMENA
from annotations.work.decompose.clauses import clauses_of, said_by
from annotations.work.decompose.cuts import CutPart, SeenStep, each_clause_once

# Replies are foreign: this does not look twice at the same characters.
_RANGES = re.compile(r"(?<!\d)(\d{1,4})(?!\d)(?:\s?[-–]\s?(\d{1,4})(?!\d))?")

MOST_NUMBERS = 2_000  # of clauses that one request may name: no session has as many
_NO_NUMBERS = re.compile(r"[^][\d\s\",–-]")

ProposedParts = list[dict[str, Any]]


class BadProposal(ValueError):
    """A reply that is not what was asked for; the message says what is wrong with it."""


def read_cuts(text: str, steps: Sequence[SeenStep], tasks: Sequence[str]) -> ProposedParts:
    """The parts of a reply that proposes cuts: [{"step", "instruction", "why"}, …]. Each part has the numbers of its
    clauses, which are counted through all tasks, or an instruction of the model's own. Raises BadProposal."""
    found = _object(text, "parts")
    rows = found["parts"]
    firsts = [_number(row, "first_step", len(steps)) for row in rows]
    if firsts[0] != 1:
        raise BadProposal("the first part does not begin at step 1")
    if firsts != sorted(set(firsts)):
        raise BadProposal("the first steps of the parts do not go up")
    for place in range(1, len(steps)):
        if steps[place].task != steps[place - 1].task and place + 1 not in firsts:
            raise BadProposal(f"no part begins at step {place + 1}, where a task begins")
    keys = [steps[first - 1].key for first in firsts]
    if not any("clauses" in row for row in rows):
        said = [CutPart(key, (), _text(row, "instruction")) for key, row in zip(keys, rows, strict=True)]
        said = each_clause_once(said, steps, tasks)
    else:
        numbers = [_numbers(row.get("clauses", [])) for row in rows]
        of_tasks = [steps[first - 1].task for first in firsts]
        texts = _by_number(numbers, of_tasks, tasks, _numbers(found.get("left_out", [])))
        said = [CutPart(key, (), one) for key, one in zip(keys, texts, strict=True)]
    return [{"step": part.step, "instruction": part.instruction, "why": []} for part in said]


def _by_number(
    numbers: Sequence[Sequence[int]], of_tasks: Sequence[int], tasks: Sequence[str], left_out: Sequence[int]
) -> list[str]:
    """The instructions of parts by the numbers of their clauses. Raises BadProposal where these are no partition."""
    counts = [len(clauses_of(task)) for task in tasks]
    before = [sum(counts[:task]) for task in range(len(tasks))]
    given = [number for row in (*numbers, left_out) for number in row]
    for number in range(1, sum(counts) + 1):
        if given.count(number) != 1:
            often = "in none of the requests" if number not in given else "given more than once"
            raise BadProposal(f"clause {number} is {often}")
    if len(given) > sum(counts):
        raise BadProposal(f"there are the clauses 1 to {sum(counts)} only")
    found = []
    for row, task in zip(numbers, of_tasks, strict=True):
        places = [number - 1 - before[task] for number in row]
        if not places or not all(0 <= place < counts[task] for place in places):
            raise BadProposal(f"a request of task {task + 1} has no clause, or one of another task")
        found.append(said_by(" ".join(tasks[task].split()), places))
    return found


def _numbers(told: Any) -> list[int]:
    """Numbers as models write them: in a list, as texts, alone, or as "2-4"."""
    text = json.dumps(told, ensure_ascii=False)
    if told != [] and (not told or _NO_NUMBERS.search(text)):
        raise BadProposal(f"{text[:80]} is no number of a clause")
    ranges = [range(int(first), int(last or first) + 1) for first, last in _RANGES.findall(text)]
    if sum(map(len, ranges)) > MOST_NUMBERS:
        raise BadProposal("a request has more clauses than there are")
    return [number for one in ranges for number in one]


def read_rewrites(text: str, steps: list[int]) -> ProposedParts:
    """The parts of a reply that proposes rewrites: [{"step", "rewrite", "mentions"}, …]; `steps`: the first step of
    each turn. Raises BadProposal."""
    rows = _object(text, "turns")["turns"]
    if [_number(row, "turn", len(steps)) for row in rows] != list(range(1, len(steps) + 1)):
        raise BadProposal(f"it does not have the turns 1 to {len(steps)}, each once and in order")
    said = [_text(row, "text") for row in rows]
    return [
        {"step": steps[turn], "rewrite": said[turn], "mentions": _mentions(row, turn, said, steps)}
        for turn, row in enumerate(rows)
    ]


def _object(text: str, name: str) -> dict[str, Any]:
    """A reply that is one JSON object with a list of objects under `name`, perhaps with words around it."""
    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1] if start >= 0 else text)
    except (ValueError, RecursionError) as error:
        raise BadProposal(f"it is no JSON ({error})") from error
    rows = found.get(name) if isinstance(found, dict) else None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise BadProposal(f'it is no object with a list "{name}" of objects')
    return found


def _number(row: dict[str, Any], name: str, most: int) -> int:
    number = row.get(name)
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        raise BadProposal(f'"{name}" is {json.dumps(number)}, not a number from 1 to {most}')
    return number


def _text(row: dict[str, Any], name: str) -> str:
    text = row.get(name)
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_TEXT:
        raise BadProposal(f'"{name}" is not a text of 1 to {MAX_TEXT:,} characters')
    return " ".join(text.replace("\x00", "").split())


def _mentions(row: dict[str, Any], turn: int, said: list[str], steps: list[int]) -> list[dict[str, Any]]:
    rows = row.get("mentions", [])
    if not isinstance(rows, list) or not all(isinstance(mention, dict) for mention in rows):
        raise BadProposal(f"the mentions of turn {turn + 1} are no list of objects")
    return [_mention(mention, f"p{steps[turn]}-{n}", turn, said, steps) for n, mention in enumerate(rows, 1)]


def _mention(row: dict[str, Any], name: str, turn: int, said: list[str], steps: list[int]) -> dict[str, Any]:
    phenomenon, antecedent = row.get("phenomenon"), row.get("antecedent")
    if phenomenon not in PHENOMENA:
        raise BadProposal(f"{json.dumps(phenomenon)} is no phenomenon")
    place = _place(row, turn, said)
    if phenomenon == "ellipsis":  # a point: after the words before the gap
        place = {"start": place["end"], "end": place["end"], "text": ""}
    if not isinstance(antecedent, dict):
        raise BadProposal(f"a mention of turn {turn + 1} has no antecedent")
    of = _number(antecedent, "turn", turn) - 1 if turn else 0
    if of >= turn:
        raise BadProposal("the first turn has nothing before it to refer to")
    return {
        "id": name,
        "phenomenon": phenomenon,
        **place,
        "antecedent": {"step": steps[of], **_place(antecedent, of, said)},
    }


def _place(row: dict[str, Any], turn: int, said: list[str]) -> dict[str, Any]:
    found = _text(row, "words")
    start = said[turn].find(found)
    if start < 0:
        raise BadProposal(f'turn {turn + 1} does not say "{found}"')
    return {"start": start, "end": start + len(found), "text": found}
