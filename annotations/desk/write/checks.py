"""What the checks find in an annotation as it is: which clauses of the source it asks for, and what is warned of. Who
writes sees it, who hands it in and who accepts it is asked about it, and it is accepted unseen only without."""

from dataclasses import asdict
from typing import Any

from annotations.edits.saving import Desk
from annotations.edits.warned import PartText, Warned
from annotations.models import Stage
from annotations.work.decompose.clauses import Clause, RecordedTask, continued, covered, recorded_tasks
from annotations.work.decompose.cuts import ENTERING
from annotations.work.decompose.invented import AskedFor
from annotations.work.decompose.lost import LOST, check_lost
from annotations.work.decompose.warnings import GARBLED, INVENTED, VALUE_LOST, check_instructions
from annotations.work.rewrite.said_again import SAID_AGAIN
from annotations.work.rewrite.warnings import check_rewrites

# Warnings about which whoever hands a text in is asked, not shown alone; the page's list is the same.
ASKED = frozenset({GARBLED, INVENTED, LOST, SAID_AGAIN, VALUE_LOST})


def warnings(desk: Desk) -> list[dict[str, Any]]:
    """What the wording checks of its stage find in the parts as they are. They read texts only, no page."""
    found = check_rewrites(_texts(desk)) if desk.assignment.item.stage == Stage.REWRITE else _of_cuts(desk)
    return [warned.as_dict() for warned in found]


def warnings_of_cuts(desk: Desk) -> list[dict[str, Any]]:
    """What the checks of cuts find, for who judges a rewrite: whoever wrote that could not change them."""
    return [] if desk.assignment.item.stage != Stage.REWRITE else [warned.as_dict() for warned in _of_cuts(desk)]


def _of_cuts(desk: Desk) -> list[Warned]:
    steps, texts = list(desk.steps.values()), _texts(desk)
    pressed, tasks = [step.action_repr for step in steps], _recorded_tasks(desk)
    source = list(dict.fromkeys(task.instruction for task in tasks))
    return [*check_instructions(texts, source, pressed), *check_lost(tasks, texts, pressed)]


def _texts(desk: Desk) -> list[PartText]:
    """The parts as the checks read them, with what their steps type and select."""
    places = {step: place for place, step in enumerate(desk.steps)}
    steps, parts = list(desk.steps.values()), desk.ordered()
    ends = [places[part["step"]] for part in parts[1:]] + [len(steps)]
    return [
        PartText(**part, values=tuple(s.value for s in steps[places[part["step"]] : end] if s.operation in ENTERING))
        for part, end in zip(parts, ends, strict=True)
    ]


def _recorded_tasks(desk: Desk) -> list[RecordedTask]:
    steps = ((step.pk, step.turn_id, step.turn.instruction) for step in desk.steps.values())
    return recorded_tasks(steps, desk.draft)


def clauses(desk: Desk) -> list[list[dict[str, Any]]]:
    """The clauses of each recorded task's instruction, with the parts (by their first steps) that ask for each, and
    those that say more of one that another part asks for."""
    tasks, said = _recorded_tasks(desk), {step: content.instruction for step, content in desk.draft.items()}
    return [
        _with_more(found, {step: said[step] for step in task.parts if step in said})
        for task, found in zip(tasks, covered(tasks, said), strict=True)
    ]


def _with_more(task: list[Clause], said: dict[int, str]) -> list[dict[str, Any]]:
    more = continued(task, said)
    return [
        asdict(one) | {"state": one.state, "more": [step for step, its in more.items() if its == place]}
        for place, one in enumerate(task)
    ]


def faulty_clauses(desk: Desk) -> list[str]:
    """Sentences about the clauses of the source that no part asks for, or that are asked for again."""
    said = {"uncovered": "No part with its steps asks for", "doubled": "More than once the parts ask for"}
    found = (clause for task in clauses(desk) for clause in task if clause["state"])
    return [f"{said[clause['state']]} “{clause['text']}”." for clause in found]


def doubts(desk: Desk, *, of_all: bool = False) -> list[str]:
    """What whoever hands this in is asked about, as sentences: of cuts the clauses, and the warnings that are asked
    about. Cuts are no matter of who rewrites; `of_all`: of who decides about both."""
    cuts = of_all or desk.assignment.item.stage == Stage.DECOMPOSE
    found = [*warnings(desk), *(warnings_of_cuts(desk) if of_all else [])]
    return (faulty_clauses(desk) if cuts else []) + [one["text"] for one in found if one["code"] in ASKED]


def open_warnings(desk: Desk) -> list[str]:
    """What is warned of about words and cuts, as sentences, for who accepts it."""
    return [warned["text"] for warned in (*warnings(desk), *warnings_of_cuts(desk))]


def new_words(desk: Desk) -> list[str]:
    """The words of the instructions that no source says: too few to ask about, and not to be accepted unseen."""
    steps = list(desk.steps.values())
    tasks = list(dict.fromkeys(step.turn.instruction for step in steps))
    source = AskedFor(tasks, [step.value for step in steps], [step.action_repr for step in steps])
    return [word for content in desk.draft.values() for word in source.new_words(content.instruction)]
