"""The content of the verify page: a conversation turn by turn, what changed in it, and what verifiers have said so
far."""

from dataclasses import dataclass, field, replace
from typing import Any

from django.http import HttpRequest

from annotations import agreement
from annotations.desk.write.document import document
from annotations.edits.mentions import PHENOMENA
from annotations.models import Assignment, Defect, HeldBack, PartChange, Verdict
from annotations.text import diff
from annotations.text.diff import MarkedPiece, Span
from annotations.text.segmentation import boundary_similarity, cuts_of


@dataclass
class ShownChange:
    """One field of a part, before and after."""

    name: str
    before: list[MarkedPiece]
    after: list[MarkedPiece]


@dataclass
class ShownTurn:
    """A part as the conversation's readers will read it, with its steps."""

    number: int
    step: int  # primary key of its first step
    steps: list[dict[str, Any]]  # of the document
    instruction: list[MarkedPiece]
    rewrite: list[MarkedPiece]
    mentions: list[dict[str, Any]]
    warnings: list[dict[str, Any]]
    kind: str = ""  # cut or changed, since the verifier's last verdict
    changes: list[ShownChange] = field(default_factory=list)

    @property
    def range(self) -> str:
        return step_range(self.steps[0]["index"], self.steps[-1]["index"])


@dataclass(frozen=True)
class ShownClause:
    """A clause of the source, and the turns that ask for it or say more of it; `state` tells a fault. Without a text: a
    turn that asks for no clause."""

    text: str
    state: str
    turns: list[ShownTurn]
    begins_task: bool


def shown_clauses(tasks: list[list[dict[str, Any]]], turns: list[ShownTurn]) -> list[ShownClause]:
    """The clauses of each task; turns that ask for none of them stand at their places among those of their task."""
    by_step = {turn.step: turn for turn in turns}
    asking = {step for clauses in tasks for one in clauses for step in (*one["parts"], *one["more"])}
    found: list[ShownClause] = []
    for task, clauses in enumerate(tasks):
        rows = [
            ShownClause(
                one["text"],
                one["state"],
                [by_step[step] for step in dict.fromkeys((*one["parts"], *one["more"]))],
                False,
            )
            for one in clauses
        ]
        for turn in turns:
            if turn.step not in asking and turn.steps[0]["task"] == task:
                later = (place for place, row in enumerate(rows) if row.turns and row.turns[0].number > turn.number)
                rows.insert(next(later, len(rows)), ShownClause("", "", [turn], False))
        found += [replace(row, begins_task=place == 0) for place, row in enumerate(rows)]
    return found


def step_range(first: int, last: int) -> str:
    """A range of steps in words; places count from 0, the words from 1."""
    return f"step {first + 1}" if first == last else f"steps {first + 1}–{last + 1}"


def verify_context(request: HttpRequest, verification: Assignment) -> dict[str, Any]:
    """The template's context; `verification` comes with its item, session, campaign and subject."""
    subject = verification.judged
    campaign = verification.item.session.campaign
    shown = document(request, subject)
    last = verification.given.last()
    changes = subject.changes_since(last.version) if last else []
    turns = shown_turns(shown, {change.step: change for change in changes})
    return {
        "turns": turns,
        "clauses": shown_clauses(shown["clauses"], turns),
        "removed": [_removed(change, shown["steps"]) for change in changes if change.kind == "joined"],
        "unchanged": last is not None and not changes,
        "rubric": _rubric(campaign, Defect.objects.repeated(campaign, subject.user)),
        "verdicts": [told(verdict, campaign.rubric, turns) for verdict in Verdict.objects.told_to(verification)],
        "others": other_versions(subject, shown),
        "document": shown,
        "held_back": HeldBack.objects.filter(item=verification.item).exists(),
    }


def shown_turns(shown: dict[str, Any], changes: dict[int, PartChange]) -> list[ShownTurn]:
    parts, steps = shown["parts"], shown["steps"]
    firsts = {part["step"]: number for number, part in enumerate(parts, 1)}
    mentions = _numbered(parts, firsts)
    marked = [*shown.get("warnings", []), *shown.get("warnings_of_cuts", [])]
    turns = []
    for number, (part, own_steps) in enumerate(zip(parts, _steps_of(parts, steps), strict=True), 1):
        removed, added = diff.changed(part["instruction"], part["rewrite"])
        marks = [Span(m["start"], m["end"], _mark(m)) for m in mentions if m["part"] == number]
        pointed = [
            Span(m["antecedent"]["start"], m["antecedent"]["end"], f"pointed to-{m['number']}")
            for m in mentions
            if m["antecedent"] and m["antecedent"]["step"] == part["step"]
        ]
        turn = ShownTurn(
            number=number,
            step=part["step"],
            steps=own_steps,
            instruction=diff.runs(part["instruction"], removed),
            rewrite=diff.runs(part["rewrite"], [*added, *marks, *pointed]),
            mentions=[m for m in mentions if m["part"] == number],
            warnings=[one for one in marked if one["step"] == part["step"]],
        )
        if change := changes.get(part["step"]):
            turn.kind, turn.changes = change.kind, _shown_changes(change)
        turns.append(turn)
    return turns


def other_versions(subject: Assignment, shown: dict[str, Any]) -> list[dict[str, Any]]:
    """What other annotators made of the same item, with how far they agree with this version."""
    places = {step["id"]: step["index"] for step in shown["steps"]}
    mine = {part["step"]: part["rewrite"] for part in shown["parts"]}
    rows = subject.item.assignments.filter(state=Assignment.State.SUBMITTED).exclude(pk=subject.pk)
    found = []
    for row in rows.select_related("user").prefetch_related("parts"):
        parts = sorted(row.parts.all(), key=lambda part: places[part.first_step_id])
        theirs = {part.first_step_id: part.rewrite for part in parts}
        my_cuts, their_cuts = (cuts_of(version, places) for version in (mine, theirs))
        ends = [*(places[part.first_step_id] for part in parts[1:]), len(places)]
        same = [agreement.chrf(mine[step], theirs[step]) for step in mine if step in theirs]
        found.append(
            {
                "pk": row.pk,
                "user": row.user,
                "cuts": boundary_similarity(my_cuts, their_cuts, len(places)),
                "words": sum(same) / len(same),  # both begin at the first step, so one part is common
                "parts": [
                    {"range": step_range(places[part.first_step_id], end - 1), "part": part}
                    for part, end in zip(parts, ends, strict=True)
                ],
            }
        )
    return found


def _rubric(campaign: Any, repeated: dict[str, int]) -> list[dict[str, Any]]:
    return [entry | {"digit": n, "repeated": repeated.get(entry["code"])} for n, entry in enumerate(campaign.rubric, 1)]


def _steps_of(parts: list[dict], steps: list[dict]) -> list[list[dict]]:
    """The steps of each part: from its first one to the next part's."""
    places = {step["id"]: step["index"] for step in steps}
    starts = [places[part["step"]] for part in parts]
    return [steps[start:end] for start, end in zip(starts, [*starts[1:], len(steps)], strict=True)]


def _numbered(parts: list[dict], firsts: dict[int, int]) -> list[dict[str, Any]]:
    """All mentions of the conversation, numbered from 1, each with the number of its part and of its antecedent's
    part."""
    found: list[dict[str, Any]] = []
    for number, part in enumerate(parts, 1):
        for mention in sorted(part["mentions"], key=lambda mention: mention["start"]):
            antecedent = mention["antecedent"]
            extra = {
                "number": len(found) + 1,
                "part": number,
                "label": PHENOMENA.get(mention["phenomenon"], mention["phenomenon"]).partition(" (")[0],
                "antecedent_part": firsts.get(antecedent["step"]) if antecedent else None,
            }
            found.append(mention | extra)
    return found


def _mark(mention: dict[str, Any]) -> str:
    empty = " ellipsis" if mention["start"] == mention["end"] else ""
    return f"mention from-{mention['number']}{empty}"


def _shown_changes(change: PartChange) -> list[ShownChange]:
    found: list[ShownChange] = []
    for name in change.fields:
        before, after = (change.before or {})[name], (change.after or {})[name]
        if name == "mentions":
            before, after = listed(before), listed(after)
        gone, come = diff.changed(before, after)
        found.append(ShownChange(name, diff.runs(before, gone), diff.runs(after, come)))
    return found


def listed(mentions: list[dict[str, Any]]) -> str:
    """Mentions written as words, so that they can be compared like texts."""
    return " · ".join(
        f"{m['phenomenon']} “{m.get('text', '')}”"
        + (f" → “{m['antecedent'].get('text', '')}”" if m.get("antecedent") else "")
        for m in mentions
    )


def _removed(change: PartChange, steps: list[dict]) -> dict[str, Any]:
    place = next(step["index"] for step in steps if step["id"] == change.step)
    return {"before": change.before, "place": place}


def told(verdict: Verdict, rubric: list[dict], turns: list[ShownTurn]) -> dict[str, Any]:
    questions = {entry["code"]: entry["question"] for entry in rubric}
    defects = [
        {
            "code": row.code,
            "question": questions.get(row.code, ""),
            "note": row.note,
            "place": _place(row.step_id, turns),
            "answers": row.answered(),
        }
        for row in verdict.defects.all()
    ]
    return {"verdict": verdict, "who": verdict.verification.user, "defects": defects}


def _place(step: int | None, turns: list[ShownTurn]) -> str:
    """The name of a defect's place in the current version."""
    if step is None:
        return ""
    number = next((turn.number for turn in turns if turn.step == step), None)
    return f"part {number}" if number else "a part that is gone"
