"""What the replay page and the API say about a trajectory: plain dictionaries built from rows.

`seq` counts the steps of a conversation from 0. Whoever may not see gold (`gold=False`) gets nothing derived from
it: not the action, its rank or whether the agent was right, nor texts that repeat gold actions of earlier steps.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count
from django.db.models.fields.json import KT

from agents.models import Trajectory, TrajectoryStep
from agents.replay_words import verdict
from annotations.dom.marks import Kind, Mark
from annotations.models import Step, Target, Turn

MARKED_CANDIDATES = 5  # more marks than this hide the page; the list shows the rest one at a time
# What stages say without gold. Queries, prompts and memory are teacher-forced: they repeat gold actions.
SHOWN_WITHOUT_GOLD: dict[str, frozenset[str]] = {
    "observe": frozenset({"elements", "candidates", "error"}),
    "recall": frozenset({"of", "kind"}),
    "simplify": frozenset({"kept"}),
    "plan": frozenset({"reply"}),
    "act": frozenset({"representation"}),
}
SHOWN_APART = {("rank", "top"), ("recall", "snippets")}
SNIPPET_WITHOUT_GOLD = ("step", "turn_index", "step_index", "instruction", "similarity")


def outline(trajectory: Trajectory) -> list[dict[str, Any]]:
    """The turns of its conversation: {index, instruction, step_count}. One query."""
    turns = Turn.objects.filter(conversation=trajectory.conversation_id).order_by("index")
    return list(turns.values("index", "instruction").annotate(step_count=Count("steps")))


def gold_steps(trajectory: Trajectory) -> list[Step]:
    """The steps of its conversation in sequence: the place in the list is `seq`. Without candidates."""
    steps = Step.objects.filter(turn__conversation=trajectory.conversation_id).defer("candidates", "extra")
    return list(steps.order_by("turn__index", "index"))


def progress(trajectory: Trajectory, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """State and counts around rows of `rows`: what a viewer asks for again and again."""
    return {
        "trajectory": trajectory.pk,
        "state": trajectory.state,
        "run_state": trajectory.run.state,
        "step_count": trajectory.step_count,
        "stored": trajectory.steps.count(),
        "steps": steps,
    }


def rows(trajectory: Trajectory, *, gold: bool, after: int = -1) -> list[dict[str, Any]]:
    """The stored steps with a greater sequence number, in order. Two queries, without traces or candidates."""
    steps = (
        trajectory.steps.filter(seq__gt=after)
        .annotate(representation=KT("trace__act__representation"))
        .select_related("step__turn")
        .prefetch_related("step__targets")
        .defer("trace", "candidate_ids", "candidate_scores", "step__candidates", "step__extra")
        .order_by("seq")
    )
    return [_row(step, step.representation or "", gold) for step in steps]


def detail(trajectory: Trajectory, seq: int, *, gold: bool) -> dict[str, Any]:
    """Everything recorded about one stored step; raises TrajectoryStep.DoesNotExist while it is not stored."""
    steps = trajectory.steps.select_related("step__turn").prefetch_related("step__targets")
    step = steps.defer("step__candidates", "step__extra").get(seq=seq)
    targets = list(step.step.targets.all()) if gold else []
    candidates = _candidates(step)
    total = _candidate_total(step)
    return _row(step, step.trace.get("act", {}).get("representation", ""), gold) | {
        "verdict": verdict(step, targets, total) if gold else [],
        "candidates": candidates,
        "candidate_total": total,
        "marks": _marks(step, targets),
        "memory": _memory(step.trace, gold),
        "trace": _trace(step.trace, gold),
        "error": step.error,
        "call_index": step.call_index,
        "calls": step.calls,
        "prompt_tokens": step.prompt_tokens,
        "completion_tokens": step.completion_tokens,
    }


def _row(step: TrajectoryStep, representation: str, gold: bool) -> dict[str, Any]:
    """One stored step in short. What compares with gold is null without it."""
    return {
        "seq": step.seq,
        "step": step.step_id,
        "turn_index": step.step.turn.index,
        "step_index": step.step.index,
        "instruction": step.step.turn.instruction,
        "operation": step.operation,
        "value": step.value,
        "node_id": step.node_id,
        "action_repr": representation,
        "element_correct": step.element_correct if gold else None,
        "operation_f1": step.operation_f1 if gold else None,
        "success": step.success if gold else None,
        "gold_rank": step.gold_rank if gold else None,
        "milliseconds": step.milliseconds,
        "gold": _gold(step.step) if gold else None,
    }


def _gold(step: Step) -> dict[str, Any]:
    return {
        "operation": step.operation,
        "value": step.value,
        "node_ids": [target.node_id for target in step.targets.all()],
        "action_repr": step.action_repr,
    }


def _candidates(step: TrajectoryStep) -> list[dict[str, Any]]:
    """The ranking, best first; only the first ones have a text."""
    texts = {item["node_id"]: item["text"] for item in step.trace.get("rank", {}).get("top", [])}
    ranked = zip(step.candidate_ids, step.candidate_scores, strict=False)
    return [{"node_id": node, "score": score, "text": texts.get(node, "")} for node, score in ranked]


def _candidate_total(step: TrajectoryStep) -> int:
    """How many elements were ranked: the row keeps the best 200 of them."""
    seen = step.trace.get("observe", {}).get("candidates")
    return seen if isinstance(seen, int) else len(step.candidate_ids)


def _marks(step: TrajectoryStep, targets: Sequence[Target]) -> list[dict[str, str]]:
    """What is marked in the page, most important first, as `SnapshotFrame` takes it."""
    ranks = {node: rank for rank, node in enumerate(step.candidate_ids, 1)}
    found = [_mark("gold", target.node_id, ranks) for target in targets if not target.pruned]
    if step.node_id:
        found.append(_mark("predicted", step.node_id, ranks))
    named = {mark.node_id for mark in found}
    best = [node for node in step.candidate_ids[:MARKED_CANDIDATES] if node not in named]
    return [mark.message() for mark in [*found, *(Mark(node, "candidate", str(ranks[node])) for node in best)]]


def _mark(kind: Kind, node: str, ranks: dict[str, int]) -> Mark:
    return Mark(node, kind, f"{kind} · rank {ranks[node]}" if node in ranks else f"{kind} · not ranked")


def _trace(trace: dict[str, Any], gold: bool) -> dict[str, Any]:
    """The stages' records without the ranking and the snippets, which `candidates` and `memory` hold."""
    shown = {}
    for word, record in trace.items():
        if word == "seconds" or (gold and not isinstance(record, dict)):
            shown[word] = record
        elif isinstance(record, dict):
            rest = {key: value for key, value in record.items() if (word, key) not in SHOWN_APART}
            shown[word] = rest if gold else _without_gold(word, rest)
    return shown


def _without_gold(word: str, record: dict[str, Any]) -> dict[str, Any]:
    """`hidden` names what is left out."""
    allowed = SHOWN_WITHOUT_GOLD.get(word, frozenset())
    hidden = sorted(record.keys() - allowed)
    shown = {key: value for key, value in record.items() if key in allowed}
    return shown | {"hidden": hidden} if hidden else shown


def _memory(trace: dict[str, Any], gold: bool) -> list[dict[str, Any]]:
    """The recalled snippets, most similar first; without gold, not what was done at them."""
    snippets = trace.get("recall", {}).get("snippets", [])
    return snippets if gold else [{key: snippet.get(key) for key in SNIPPET_WITHOUT_GOLD} for snippet in snippets]
