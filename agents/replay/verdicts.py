"""The plain words about a decision that the replay page shows: what was wrong, and where the gold element was."""

from collections.abc import Sequence

from agents.models import TrajectoryStep
from annotations.models import Target


def verdict(step: TrajectoryStep, targets: Sequence[Target], ranked: int) -> list[str]:
    """Phrases such as "wrong element", "gold was rank 2 of 50", "operation right"; `ranked` elements were ranked."""
    if step.error and not step.operation:
        return ["no decision", step.error]
    if not step.operation and not targets:
        return ["the gold action has no element to rank"]
    phrases = ["right element" if step.element_correct else "wrong element"]
    if not step.element_correct or step.gold_rank:
        phrases.append(_gold_place(step, targets, ranked))
    return [*phrases, *_operation(step)]


def _gold_place(step: TrajectoryStep, targets: Sequence[Target], ranked: int) -> str:
    if step.gold_rank is not None:
        return f"gold was rank {step.gold_rank + 1:,} of {ranked:,}"
    if targets and all(target.pruned for target in targets):
        return "the gold element is not in the page"
    return f"gold was not among the {ranked:,} ranked"


def _operation(step: TrajectoryStep) -> list[str]:
    gold = step.step
    if step.node_id and not step.operation:
        return ["an element only, no operation"]
    if step.operation != gold.operation:
        return [f"operation wrong: {step.operation or 'none'} instead of {gold.operation}"]
    if step.operation == "CLICK" or (step.value == gold.value):
        return ["operation right"]
    if step.operation_f1 == 1.0:
        return ["operation right", "value right but for case, spaces or order"]
    return ["operation right", f"value differs (F1 {step.operation_f1:.2f})"]
