"""Scores of runs on WebLINX data, in the published grouping and in the clean one (sources.md A5.2, A7.5)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from agents.models import Run, Trajectory
from agents.observations import RecordedConversation
from agents.recipes import literature
from agents.runs.weblinx_demos import demo_of
from agents.stages.registry import installed_planner
from agents.weblinx.quirks import WeblinxQuirks
from evaluation.metrics.bootstrap import intervals
from evaluation.metrics.outcomes import Metric
from evaluation.metrics.weblinx.groups import aggregate
from evaluation.metrics.weblinx.ranking import CUTS, MRR_CUT
from evaluation.metrics.weblinx.turns import TurnReply, compare, score_turns
from evaluation.models import Study

Sums = dict[tuple[str, str], list[tuple[float, int]]]  # (metric, grouping) -> (sum, count) of each conversation
# What is shown of the two sets of groups; rows of single intents follow in both.
GROUPS = {
    "faithful": (
        ("overall", "overall", "overall"),
        ("overall", "intent-match", "intent_match"),
        ("element-group", "iou", "element_group"),
        ("text-group", "chrf-urlf", "text_group"),
    ),
    "corrected": (
        ("overall", "overall", "overall"),
        ("overall", "intent-match", "intent_match"),
        ("element-clean", "iou", "element_group"),
        ("text-clean", "chrf-urlf", "text_group"),
    ),
}


def weblinx_metrics(run: Run, preset: str) -> list[Metric]:
    """Action metrics of runs that write action strings, ranking metrics of all; headlines first.

    Turn scores are averaged over turns, intervals are drawn over conversations that have such turns.
    """
    recipe = literature.readable(run.recipe)
    sums: Sums = defaultdict(list)
    planner = installed_planner(recipe) if recipe else None
    if recipe and planner and planner.of_turns:
        quirks = literature.with_preset(recipe, preset).quirks.narrowed(WeblinxQuirks)
        quirks = replace(quirks, rounds_to_two_decimals=preset == Study.Preset.FAITHFUL)  # of scores, so of no recipe
        for trajectory in run.trajectories.order_by("conversation__position", "pk"):
            _add_actions(sums, trajectory, preset, quirks)
    _add_ranking(sums, run)
    return [
        _measured(metric, grouping, parts, run.seed) for (metric, grouping), parts in sums.items() if _counted(parts)
    ]


def _add_actions(sums: Sums, trajectory: Trajectory, preset: str, quirks: WeblinxQuirks) -> None:
    recorded = RecordedConversation(trajectory.conversation_id)
    demo = demo_of(recorded)
    rows = trajectory.steps.order_by("seq").values_list("step__source_index", "trace")
    predictions = []
    for turn, trace in rows:
        if "reply" in (plan := trace.get("plan", {})):
            assert turn is not None  # recorded turns of WebLINX have numbers
            predictions.append(TurnReply(demo.name, turn, plan["reply"]))
    kept, _ = compare(predictions, {demo.name: demo}, quirks)
    means = aggregate(score_turns(kept, quirks=quirks), quirks)
    shown = {(row, metric): name for row, metric, name in GROUPS[preset]}
    intents = {key: f"{key[0]}.{key[1].replace('-', '_')}" for key in means if key[0].isalpha() and key[0] != "overall"}
    for key, name in {**shown, **intents}.items():
        mean = means.get(key)
        if mean is not None and mean.unconditional is not None:
            sums[name, "turn"].append((mean.unconditional * mean.n, mean.n))


def _add_ranking(sums: Sums, run: Run) -> None:
    """Add recall and MRR over positive elements; turns without a positive among their candidates do not count
    (A5.2)."""
    by_conversation: dict[int, list[int]] = defaultdict(list)
    rows = run.steps.filter(gold_rank__isnull=False).order_by("trajectory__conversation__position", "seq")
    for conversation, rank in rows.values_list("trajectory__conversation_id", "gold_rank"):
        assert rank is not None  # as the filter says
        by_conversation[conversation].append(rank + 1)
    for ranks in by_conversation.values():
        for k in CUTS:
            sums[f"recall@{k}", "positive element"].append((float(sum(rank <= k for rank in ranks)), len(ranks)))
        reciprocal = sum(1 / rank for rank in ranks if rank <= MRR_CUT)
        sums["mrr", "positive element"].append((reciprocal, len(ranks)))


def _counted(parts: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    return [(total, count) for total, count in parts if count]


def _measured(metric: str, grouping: str, parts: Sequence[tuple[float, int]], seed: int) -> Metric:
    totals, counts = np.array(_counted(parts), dtype=float).T
    low, high = intervals(totals[:, None], counts[:, None], seed)[:, 0]
    return Metric(metric, float(totals.sum() / counts.sum()), float(low), float(high), int(counts.sum()), grouping)
