"""What the pages show that compare runs: where they differ, and one place of a conversation with what each run was
shown and did there."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from agents.models import Run, Trajectory, TrajectoryStep
from agents.replay.frames import own_page_view, page_view
from agents.replay.rows import record_text
from annotations.access import rules
from annotations.corpus.browse.step_page import sight_of
from annotations.dom.marks import Mark
from annotations.models import Conversation, Step
from annotations.paging import page_of
from annotations.text.amounts import whole
from evaluation.comparing.choosing import query_of, tells_gold
from evaluation.comparing.prompts import prompt_changes
from evaluation.comparing.steps import SLICED_BY, ComparedPlace, DifferenceSlice, RunDifferences, places
from evaluation.models import ReviewedRun

TOP = 5  # candidates that are shown of each run


def differences(request: HttpRequest, runs: Sequence[Run]) -> dict[str, Any]:
    """The differences of the runs for the page; none where the user may not know which of their steps are right."""
    gold = tells_gold(rules.rights_of(request), runs)
    found = RunDifferences(runs)
    rows = found.conversations() if gold else []
    page = page_of(request, rows)
    named = Conversation.objects.select_related("website").in_bulk([row.conversation for row in page])
    return {
        "of_elements": found.of_elements,
        "paired": found.paired() if gold else [],
        "slices": _by_kind(found) if gold else [],
        "page": page,
        "rows": [(named[row.conversation], row) for row in page if row.conversation in named],
        "gold": gold,
        "reviewed": ReviewedRun.objects.judged_otherwise(runs) if gold else [],
        "query": query_of([run.pk for run in runs]),
    }


def _by_kind(found: RunDifferences) -> list[tuple[str, list[DifferenceSlice]]]:
    """The heading and the rows of each way to slice; a way with one name only says what the whole says."""
    slices = found.slices()
    kinds = [(title, [one for one in slices if one.kind == kind]) for kind, title in SLICED_BY.items()]
    return [(title, rows) for title, rows in kinds if len({row.name for row in rows}) > 1]


def step_context(
    request: HttpRequest, conversation: Conversation, trajectories: Sequence[Trajectory | None]
) -> dict[str, Any]:
    rows = places(trajectories)
    if not rows:
        return {}
    asked = whole(request.GET.get("step", ""))
    first = next((row.seq for row in rows if row.differs), rows[0].seq)
    seq = first if asked is None else asked
    place = min(rows, key=lambda row: abs(row.seq - seq))
    details = _details(place)
    return {
        "places": rows,
        "place": place,
        "columns": details,
        "first_difference": next((row.seq for row in rows if row.differs), None),
        "has_gold": any(row.gold for row in rows),
        "reviewed": ReviewedRun.objects.judged_otherwise([one.run for one in trajectories if one]),
        "links": _links(request, conversation, rows, place),
        "frames": _frames(request, conversation, place, details),
        "count": {"differs": sum(row.differs for row in rows), "splits": sum(row.splits for row in rows)},
    }


def _details(place: ComparedPlace) -> list[dict[str, Any]]:
    """What each run was shown and what it answered at a place, with its prompt compared with that of the first."""
    rows = TrajectoryStep.objects.select_related("run__dataset")
    full = rows.in_bulk([cell.step.pk for cell in place.cells if cell.step])
    targets = list(place.gold.targets.all()) if place.gold else []
    columns: list[dict[str, Any]] = []
    for cell in place.cells:
        step = full.get(cell.step.pk) if cell.step else None
        if step is None:
            columns.append({"cell": cell})
            continue
        prompt = record_text(step.trace.get("compose", {}).get("prompt"))
        columns.append(
            {
                "cell": cell,
                "step": step,
                "verdict": step.verdict(targets, step.ranked_count),
                "top": step.ranking()[:TOP],
                "memory": step.trace.get("recall", {}).get("snippets", [])[:TOP],
                "reply": record_text(step.trace.get("plan", {}).get("reply")),
                "prompt": prompt,
                "tokens": step.prompt_tokens + step.completion_tokens,
                "gold_ids": {target.node_id for target in targets},
            }
        )
    shown = [column for column in columns if column.get("prompt")]
    for column in shown[1:]:
        try:
            column["changes"] = prompt_changes(shown[0]["prompt"], column["prompt"])
        except ValueError as error:
            column["too_long"] = str(error)
        column["against"] = shown[0]["cell"].letter
    return columns


def _links(
    request: HttpRequest, conversation: Conversation, rows: Sequence[ComparedPlace], place: ComparedPlace
) -> dict[str, str]:
    """The addresses that keys lead to: the places before and after, the nearest that differ, and the next where some
    runs are right and some wrong."""
    before = [row for row in rows if row.seq < place.seq][::-1]
    after = [row for row in rows if row.seq > place.seq]
    found = {
        "previous": before[:1],
        "next": after[:1],
        "next_difference": [row for row in after if row.differs][:1],
        "previous_difference": [row for row in before if row.differs][:1],
        "next_split": [row for row in after if row.splits][:1],
    }
    address = reverse("compare-conversation", args=[conversation.pk])
    runs = ",".join(part for value in request.GET.getlist("runs") for part in value.split(","))
    return {name: f"{address}?{urlencode({'runs': runs, 'step': row[0].seq})}" for name, row in found.items() if row}


def _frames(
    request: HttpRequest, conversation: Conversation, place: ComparedPlace, columns: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The page that all runs saw, as it was recorded where that is kept (the replay begins with it, too), marked with
    what each chose; of episodes, each run's own page."""
    if place.gold is None:
        return [_own_frame(request, column) for column in columns if column.get("step")]
    letters: dict[str, list[str]] = {}
    for column in columns:
        if column.get("step") and column["step"].node_id:
            letters.setdefault(column["step"].node_id, []).append(column["cell"].letter)
    gold = {target.node_id for target in place.gold.targets.all() if not target.pruned}
    marks = [Mark(node, "gold", _mark_label("gold", letters.get(node))) for node in sorted(gold)]
    marks += [Mark(node, "predicted", " ".join(who)) for node, who in letters.items() if node not in gold]
    step = Step.objects.light().select_related("turn").get(pk=place.gold.pk)
    sight = sight_of(request, step, conversation.dataset.project_id, conversation.split)
    shown = page_view(request, step, marks, sight)
    return _frame("", shown["raw"] or shown["before"], marks)


def _own_frame(request: HttpRequest, column: dict[str, Any]) -> dict[str, Any]:
    step: TrajectoryStep = column["step"]
    marks = [Mark(step.node_id, "predicted", column["cell"].letter)] if step.node_id else []
    page = own_page_view(request, step.snapshot, marks, gold=True)["before"]
    return (_frame(column["cell"].letter, page, marks) or [{"letter": column["cell"].letter, "data": None}])[0]


def _frame(letter: str, page: dict[str, Any] | None, marks: Sequence[Mark]) -> list[dict[str, Any]]:
    if page is None:
        return []
    return [{"letter": letter, "data": page | {"marks": [mark.message() for mark in marks]}}]


def _mark_label(kind: str, who: Sequence[str] | None) -> str:
    return f"{kind} = {' '.join(who)}" if who else kind
