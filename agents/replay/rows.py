"""What the replay page and the API say about a trajectory: plain dictionaries built from rows.

`seq` counts the steps of a conversation from 0. Whoever may not see gold (`gold=False`) is told of a step that it was
decided, and nothing of what: agents decide on pages that gold actions led to, after they were told those actions.
"""

from datetime import datetime
from typing import Any

from django.db.models.fields.json import KT
from django.urls import reverse

from agents.models import Trajectory, TrajectoryStep
from agents.models.pictures import PICTURE
from agents.models.trajectories import USER
from annotations.corpus.wordings import EarlierWords
from annotations.models import Correction, Step, Turn

SHOWN_APART = {("rank", "top"), ("recall", "snippets")}


def progress(trajectory: Trajectory, steps: list[dict[str, Any]], *, gold: bool) -> dict[str, Any]:
    """What viewers ask for again and again: the trajectory's state and counts around its `steps` (from `rows`).
    `turns`: the outline of an episode, which grows; null for recorded conversations."""
    ends = trajectory.last_words() if gold and trajectory.may_grow else ""
    held = trajectory.held_steps.waiting().first() if gold and not ends else None
    waits = trajectory.waits_text()
    return {
        "turns": trajectory.outline() if trajectory.has_own_steps else None,
        "trajectory": trajectory.pk,
        "state": trajectory.state,
        "run_state": trajectory.run.state,
        "waits": waits,
        "step_count": trajectory.step_count,
        "stored": trajectory.steps.count(),
        "steps": steps,
        "ends": ends,
        "lost": trajectory.lost_text(waits) if gold else "",
        "held": held.shown if held else None,
        "drive": trajectory.driven() if gold else None,
        "kept": trajectory.kept() if gold else None,
    }


def rows(trajectory: Trajectory, *, gold: bool, after: int = -1) -> list[dict[str, Any]]:
    """The stored steps with a greater sequence number, in order. Two queries, without traces or candidates."""
    steps = (
        trajectory.steps.filter(seq__gt=after)
        .annotate(representation=KT("trace__act__representation"), picture=PICTURE)
        .annotate(spoken=KT(f"trace__{USER}__instruction"))
        .select_related("step__turn", "turn", "done_by")
        .prefetch_related("step__targets")
        .defer("trace", "branches", "candidate_ids", "candidate_scores", "step__candidates", "step__extra")
        .order_by("seq")
    )
    return [row_of(step, step.representation or "", gold, step.picture, step.spoken or "") for step in steps]


def detail(trajectory: Trajectory, seq: int, *, gold: bool) -> dict[str, Any]:
    """Everything recorded about one stored step; raises TrajectoryStep.DoesNotExist while it is not stored."""
    steps = trajectory.steps.select_related("step__turn", "turn", "done_by").prefetch_related("step__targets")
    pictured = steps.annotate(picture=PICTURE).defer("step__candidates", "step__extra")
    step = pictured.get(seq=seq)
    spoken = step.trace.get(USER, {}).get("instruction", "")
    row = row_of(step, step.trace.get("act", {}).get("representation", ""), gold, step.picture, spoken)
    return row | (record_of(step) if gold else HIDDEN_DETAIL)


def record_of(step: TrajectoryStep) -> dict[str, Any]:
    """What is recorded about a stored step beyond its row: for those who may see gold."""
    targets = list(step.step.targets.all()) if step.step else []
    return {
        "verdict": step.verdict(targets, step.ranked_count),
        "corrections": _corrections(step.step_id, step.created_at) if step.step_id else [],
        "before": stood_then(step.step_id, step.created_at) if step.step_id else {},
        "candidates": step.ranking(),
        "candidate_total": step.ranked_count,
        "marks": [mark.message() for mark in step.marks(targets)],
        "memory": step.trace.get("recall", {}).get("snippets", []),
        "trace": _trace(step.trace),
        "error": step.error,
        "branches": step.branches,
        "call_index": step.call_index,
        "calls": step.calls,
        "prompt_tokens": step.prompt_tokens,
        "completion_tokens": step.completion_tokens,
    }


# What stands for `record_of` where gold is hidden.
HIDDEN_DETAIL: dict[str, Any] = {
    "verdict": [],
    "corrections": [],
    "before": {},
    "candidates": [],
    "candidate_total": None,
    "marks": [],
    "memory": [],
    "trace": {},
    "error": "",
    "branches": [],
    "call_index": None,
    "calls": None,
    "prompt_tokens": None,
    "completion_tokens": None,
}


def row_of(
    step: TrajectoryStep, representation: str, gold: bool, picture: str | None = None, spoken: str = ""
) -> dict[str, Any]:
    """One stored step in short, with `screenshot` where there is one: its SHA-256, the `picture`. Where gold is hidden,
    all but its place is null. Without a recorded step, what compares it with gold is null. `spoken`: the instruction in
    the words of a user that is a model."""
    turn = step.followed
    decided = {
        "operation": step.operation,
        "value": step.value,
        "node_id": step.node_id,
        "action_repr": representation,
        "element_correct": step.element_correct if step.step else None,
        "operation_f1": step.operation_f1 if step.step else None,
        "success": step.success if step.step else None,
        "gold_rank": step.gold_rank,
        "milliseconds": step.milliseconds,
        "gold": _gold(step.step) if step.step else None,
        "url": step.url,
        "happened_at": step.happened_at.isoformat() if step.happened_at else None,
        "reward": step.reward,
        "outcome": step.outcome,
        "done_by": step.done_by.get_username() if step.done_by else "",
    }
    return {
        "seq": step.seq,
        "step": step.step_id,
        "turn_index": turn.index,
        "step_index": step.step.index if step.step else None,
        "instruction": spoken or turn.instruction,
        # Most steps have none: as a null it would be a twentieth of a long replay's first answer.
        **({"screenshot": picture} if gold and picture else {}),
        **({"last_page": True} if gold and step.snapshot_after_id else {}),
    } | (decided if gold else dict.fromkeys(decided))


def _gold(step: Step) -> dict[str, Any]:
    return {
        "operation": step.operation,
        "value": step.value,
        "node_ids": [target.node_id for target in step.targets.all()],
        "action_repr": step.action_repr,
    }


def _corrections(step: int, stored_at: datetime) -> list[dict[str, Any]]:
    """The corrections of a recorded step's gold, the newest first. `is_later`: it was made after the agent was
    judged."""
    return [
        {
            "url": reverse("correction", args=[row.pk]),
            "account": row.account,
            "is_later": row.state == Correction.State.DONE and (row.decided_at or stored_at) > stored_at,
        }
        for row in Correction.objects.filter(step=step).with_people()
    ]


def stood_then(step: int, stored_at: datetime) -> dict[str, str]:
    """What was corrected since the agent decided, as it was then: `gold`, by which it is judged here, and the
    `instruction` that it was told, with what is said `now`."""
    gold = Correction.objects.gold_at(step, stored_at)
    turn = Turn.objects.get(steps=step)
    told = EarlierWords([turn.conversation_id]).at(step, stored_at)
    return ({"gold": gold["action"]} if gold else {}) | ({"instruction": told, "now": turn.instruction} if told else {})


def _trace(trace: dict[str, Any]) -> dict[str, Any]:
    """The stages' records without the ranking and the snippets, which `candidates` and `memory` hold."""
    shown = {}
    for word, record in trace.items():
        kept = isinstance(record, dict) and word != "seconds"
        shown[word] = {k: v for k, v in record.items() if (word, k) not in SHOWN_APART} if kept else record
    return shown


def record_text(record: object) -> str:
    """What a stage recorded as text: a prompt with its messages, where it has several, one after another."""
    if isinstance(record, str):
        return record
    if isinstance(record, list):
        return "\n".join(record_text(part) for part in record)
    if isinstance(record, dict):
        return "\n".join(f"[{key}] {record_text(value)}" for key, value in record.items())
    return "" if record is None else str(record)
