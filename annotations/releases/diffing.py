"""What differs between two releases of a dataset: conversations, turns and steps, field by field, and who changed them
why."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from annotations.models import Release
from annotations.models.corpus.pages import digest
from annotations.releases.reasons import reasons_between
from annotations.releases.said_mentions import with_mentions_said
from annotations.text.opcodes import opcodes

CONVERSATION_FIELDS = ("website", "domain", "subdomain", "split", "extra", "files")
OPEN_CONVERSATION_FIELDS = ("website", "domain", "subdomain", "split")  # where gold is hidden
TURN_FIELDS = ("instruction", "source_index", "extra")
STEP_FIELDS = (
    *("turn", "operation", "value", "action_repr", "original_operation", "html", "raw_html", "html_after"),
    *("positives", "negatives", "screenshot", "source_index", "extra"),
)
NAMES = {
    "html": "page",
    "raw_html": "page as recorded",
    "html_after": "page after",
    "positives": "gold elements",
    "negatives": "other candidates",
    "action_repr": "action",
    "original_operation": "original operation",
    "original": "instruction before rewriting",
    "source_index": "source index",
}
# ann@mail.example and 8:30 are one word each, and so is what stands for a text that was taken out.
WORD = re.compile(r"\[\w+\]|\([\w -]{1,30} taken out\)|\s+|\w+(?:[^\w\s]+\w+)*|[^\w\s]")
MENTIONS = {"mentions"}  # sentences, in the `extra` of turns (`said_mentions`)
Json = dict[str, Any]
Id = TypeVar("Id")


@dataclass(frozen=True)
class Difference:
    """The conversations that differ between two releases: id -> added, removed or changed, in order; `same`: how many
    do not."""

    older: Release
    newer: Release
    changes: dict[str, str]
    same: int

    @classmethod
    def between(cls, older: Release, newer: Release) -> "Difference":
        """Compare two releases by the checksums of their conversations."""
        before, after = older.checksums(), newer.checksums()
        changes = {name: "changed" if name in before else "added" for name in after if after[name] != before.get(name)}
        changes |= {name: "removed" for name in before if name not in after}
        return cls(older, newer, changes, sum(before.get(name) == sha256 for name, sha256 in after.items()))

    def counts(self) -> dict[str, int]:
        found = Counter(self.changes.values())
        return {name: found[name] for name in ("added", "removed", "changed")} | {"same": self.same}


def details(
    difference: Difference, names: list[str], sees_gold: Callable[[str], bool], shown: Callable[[Json], Json] = dict
) -> list[Json]:
    """The differences of these conversations as JSON:

    {"source_id", "change", "split", "gold_hidden", "fields": [field], "turns": [{"source_id", "change", "number",
    "instruction", "fields", "steps": [{"source_id", "change", "action", "fields"}]}], "counts": {"turns", "steps"},
    "reasons": [{"what", "by", "at", "why"}]}, a field being {"field", "before", "after"} and with "words" for an
    instruction. Where `sees_gold` says no to a split, nothing is told of its steps, nor why it was changed. `shown`
    gives what of a released conversation is compared (`TakenOut.hidden`).
    """
    before, after = (
        {row.source_id: shown(row.content()) for row in release.conversations.filter(source_id__in=names)}
        for release in (difference.older, difference.newer)
    )
    reasons = reasons_between(difference.older, difference.newer, names)
    return [_conversation(name, before.get(name), after.get(name), sees_gold, reasons[name]) for name in names]


def word_diff(before: str, after: str) -> list[tuple[str, str]]:
    """Pieces of both texts in order: ("same" | "out" | "in", text). The "same" and "out" pieces are `before`, the
    "same" and "in" ones `after`."""
    one, two = WORD.findall(before), WORD.findall(after)
    pieces: list[tuple[str, str]] = []
    for tag, start, end, other_start, other_end in opcodes(one, two):
        if tag == "equal":
            pieces.append(("same", "".join(one[start:end])))
            continue
        if end > start:
            pieces.append(("out", "".join(one[start:end])))
        if other_end > other_start:
            pieces.append(("in", "".join(two[other_start:other_end])))
    return pieces


def _conversation(
    name: str, before: Json | None, after: Json | None, sees_gold: Callable[[str], bool], reasons: list[Json]
) -> Json:
    either = after or before or {}
    shown = all(sees_gold(side["split"]) for side in (before, after) if side)
    turns = _turns(before, after)
    if not shown:
        turns = [_open_turn(turn) for turn in turns]
        reasons = [reason | {"why": ""} for reason in reasons]
    names = CONVERSATION_FIELDS if shown else OPEN_CONVERSATION_FIELDS
    return {
        "source_id": name,
        "change": _change(before, after),
        "split": either["split"],
        "gold_hidden": not shown,
        "fields": _fields(_headed(before), _headed(after), names) if before and after else [],
        "turns": [turn for turn in turns if turn["change"] != "same" or turn["steps"]],
        "counts": _counts(turns),
        "reasons": reasons,
    }


def _counts(turns: list[Json]) -> Json:
    """How many turns and steps were added, removed and changed."""
    return {
        "turns": dict(Counter(turn["change"] for turn in turns if turn["change"] != "same")),
        "steps": dict(Counter(step["change"] for turn in turns for step in turn["steps"])),
    }


def _open_turn(turn: Json) -> Json:
    """A changed turn as those see it who may not see its gold: only what its user said."""
    fields = [field for field in turn["fields"] if field["field"] == "instruction"]
    change = "same" if turn["change"] == "changed" and not fields else turn["change"]
    return turn | {"fields": fields, "change": change, "steps": []}


def _change(before: object, after: object) -> str:
    return "added" if before is None else "removed" if after is None else "changed"


def _headed(conversation: Json) -> Json:
    """The conversation with its files replaced by their names and the length of their text, so that its own fields can
    be compared."""
    files = {kept["path"]: len(kept.get("text", kept.get("base64", ""))) for kept in conversation["files"]}
    return conversation | {"files": files}


def _turns(before: Json | None, after: Json | None) -> list[Json]:
    """The differences of every turn of either side, in the order of the newer one. A step is listed under the turn that
    it is in now."""
    before, after = with_mentions_said(before), with_mentions_said(after)
    steps = _changed_steps(before, after)
    return [_turn(name, one, two, steps[name]) for name, one, two in _paired(_turns_by_id(before), _turns_by_id(after))]


def _paired(old: dict[Id, Json], new: dict[Id, Json]) -> Iterator[tuple[Id, Json | None, Json | None]]:
    """(id, old, new) for everything on either side, None where it is missing: in the order of the newer side, then what
    is gone."""
    for name in [*new, *(name for name in old if name not in new)]:
        yield name, old.get(name), new.get(name)


def _changed_steps(before: Json | None, after: Json | None) -> dict[str, list[Json]]:
    """For each turn, the differences of its steps."""
    found: dict[str, list[Json]] = defaultdict(list)
    for _, one, two in _paired(_steps_by_id(before), _steps_by_id(after)):
        fields = _fields(one, two, STEP_FIELDS) if one and two else []
        if fields or one is None or two is None:
            either = two or one or {}
            told = {"source_id": either["source_id"], "change": _change(one, two), "action": _action(either)}
            found[either["turn"]].append(told | {"fields": fields})
    return found


def _turn(name: str, one: Json | None, two: Json | None, steps: list[Json]) -> Json:
    fields = _fields(one, two, TURN_FIELDS) if one and two else []
    either = two or one or {}
    return {
        "source_id": name,
        "number": either["number"],
        "instruction": either["instruction"],
        "change": _change(one, two) if fields or one is None or two is None else "same",
        "fields": fields,
        "steps": steps,
    }


def _action(step: Json) -> str:
    return step["action_repr"] or f"{step['operation']} {step['value']}".strip()


def _turns_by_id(conversation: Json | None) -> dict[str, Json]:
    turns = conversation["turns"] if conversation else []
    return {turn["source_id"]: turn | {"number": number} for number, turn in enumerate(turns, 1)}


def _steps_by_id(conversation: Json | None) -> dict[tuple[str, int], Json]:
    """Steps by their id and, as turns may share ids, how often it came before; they may move from turn to turn."""
    seen: Counter[str] = Counter()
    found = {}
    for turn in conversation["turns"] if conversation else []:
        for step in turn["steps"]:
            found[step["source_id"], seen[step["source_id"]]] = step | {"turn": turn["source_id"]}
            seen[step["source_id"]] += 1
    return found


def _fields(before: Json, after: Json, names: tuple[str, ...]) -> list[Json]:
    found = []
    for name in names:
        if before[name] == after[name]:
            continue
        if isinstance(before[name], dict) and isinstance(after[name], dict):
            found += _nested("" if name == "extra" else NAMES.get(name, name), before[name], after[name])
            continue
        one, two = _value_shown(name, before[name]), _value_shown(name, after[name])
        words = {"words": word_diff(one, two)} if name == "instruction" else {}
        found.append({"field": NAMES.get(name, name), "before": one, "after": two} | words)
    return found


def _nested(name: str, before: Json, after: Json) -> list[Json]:
    """What differs within two objects, each value by the way to it: "mentions 1 text"."""
    one, two = dict(_leaves(name, before)), dict(_leaves(name, after))
    for way in MENTIONS & one.keys() & two.keys():  # those of both sides say nothing
        one[way], two[way] = _without(one[way], two[way]), _without(two[way], one[way])
    return [
        {"field": NAMES.get(way, way), "before": one.get(way), "after": two.get(way)}
        for way in [*one, *(way for way in two if way not in one)]
        if one.get(way) != two.get(way)
    ]


def _without(values: object, others: object) -> object:
    if isinstance(values, list) and isinstance(others, list):
        return [value for value in values if value not in others]
    return values


def _leaves(way: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(f"{way} {key}".strip(), inner)
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
        for number, inner in enumerate(value, 1):
            yield from _leaves(f"{way} {number}", inner)
    else:
        yield way, value


def _value_shown(name: str, value: Any) -> Any:
    """A value as a difference shows it: elements by their ids, candidates by their number, pages by their checksum."""
    if name == "positives":
        return [candidate["node_id"] for candidate in value]
    if name == "negatives":  # hundreds: their number and a checksum, for their attributes may differ alone
        return f"{len(value)} ({digest(repr(value).encode())[:8]})"
    if name == "screenshot":
        return value["sha256"][:12] if value else ""
    return value[:12] if name in ("html", "raw_html", "html_after") else value
