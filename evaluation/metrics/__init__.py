"""The metrics, a pure function each; `METRICS` names them all. Core: no Django, no torch.

`scores.score` turns judged steps into named values with intervals; `aggregate` groups them as published or corrected.
May import `agents/words` and `annotations/text`.
"""

from annotations.extensions import METRICS as GROUP
from annotations.extensions import load_into
from evaluation.metrics.definition import Definition, Unit
from evaluation.metrics.ranking import PUBLISHED_MRR_CUT, recall_at, reciprocal_rank
from evaluation.metrics.turn import all_succeeded

__all__ = [
    "ADDED",
    "LIVE_LABELS",
    "METRICS",
    "WEBLINX_LABELS",
    "Definition",
    "Unit",
    "is_ranking",
    "label",
    "wants_operation",
]


def _recall(k: int) -> Definition:
    return Definition(f"Recall@{k}", "step", lambda step: recall_at(step.gold_rank, k))


WEBLINX_LABELS = {  # turn scores of action strings, which `weblinx.turns` judges
    "overall": "Overall",
    "intent_match": "IM",
    "element_group": "Element IoU",
    "text_group": "Text chrF/URLF",
}
LIVE_LABELS = {  # of episodes, by what came of them
    "episode_success": "Success",
    "episode_reward": "Reward",
    "episode_steps": "Steps",
    "human_share": "Human share",
    "live_turn_success": "Turns",
    "recovery": "Recovery",
    "path_ratio": "Steps : recorded",
    "side_effects": "Side effects",
    "ask_f1": "Ask-F1",
    "told_success": "Turns when told",
    "untold_success": "Turns when not told",
    "told_after": "Steps before it is told",
    "user_leaks": "Told unasked",
    "said_unasked": "Said at once",
    "user_content": "User content",
    "user_agrees": "User agrees",
    "user_stood_in": "User stood in for",
}
METRICS: dict[str, Definition] = {
    "element_accuracy": Definition("Ele. Acc", "step", lambda step: step.element_correct),
    "operation_f1": Definition("Op. F1", "step", lambda step: step.operation_f1),
    "step_success": Definition("SSR", "step", lambda step: step.success),
    "turn_success": Definition("TSR", "turn", all_succeeded),
    "conversation_success": Definition("CSR", "conversation", all_succeeded),
    "recall@1": _recall(1),
    "recall@3": _recall(3),
    "recall@5": _recall(5),
    "recall@10": _recall(10),
    "recall@20": _recall(20),
    "recall@50": _recall(50),
    "recall@100": _recall(100),
    "mrr": Definition("MRR", "step", lambda step: reciprocal_rank(step.gold_rank)),
    "mrr@50": Definition("MRR@50", "step", lambda step: reciprocal_rank(step.gold_rank, PUBLISHED_MRR_CUT)),
}
ADDED = load_into(METRICS, GROUP)  # by other packages; ours cannot be replaced


def is_ranking(metric: str) -> bool:
    """Whether the metric judges the rank of the gold element."""
    return metric.startswith(("recall@", "mrr"))


def wants_operation(metric: str) -> bool:
    """Whether the metric needs an operation, so that it says nothing of agents that only rank."""
    return metric in ("operation_f1", "step_success", "turn_success", "conversation_success")


def label(metric: str) -> str:
    """The metric's short name in tables; a metric of a single WebLINX intent has its own name."""
    return METRICS[metric].label if metric in METRICS else (WEBLINX_LABELS | LIVE_LABELS).get(metric, metric)
