"""Score action texts as Synapse and AWM do (sources.md M7.6)."""

from collections.abc import Sequence
from typing import NamedTuple

from agents.words.trajectory import FAITHFUL, TrajectoryQuirks
from agents.words.trajectory_parse import parse_act
from evaluation.metrics.element import element_accuracy
from evaluation.metrics.operation import operation_f1


class ActScore(NamedTuple):
    """Scores of one step."""

    element_accuracy: float
    operation_f1: float
    success: bool


FAILED = ActScore(0.0, 0.0, False)  # of steps that are not asked about, or whose query exceeds the model's context


def score_act(
    act: str, gold: str, positives: Sequence[str], quirks: TrajectoryQuirks = FAITHFUL, *, by_parts: bool = False
) -> ActScore:
    """Compare an action text, as it stood between backticks, with the gold one in the same notation.

    `positives` are the acceptable elements, the one named in `gold` first. Corrected (Q19, Q20), any of them counts,
    and a step succeeds when element, operation and value are right, however the text is written. `by_parts`: where
    texts would be compared (Q20), what is read from them is, as the published code for CodeLlama does.
    """
    predicted, wanted = parse_act(act), parse_act(gold)
    accepted = positives[:1] if quirks.q19_first_positive_only else positives
    element = element_accuracy(predicted.node_id, accepted)
    f1 = operation_f1(predicted.operation_text(), wanted.operation_text(), strip_punctuation=True)
    if quirks.q20_exact_string_success:
        return ActScore(element, f1, predicted == wanted if by_parts else act == gold)
    return ActScore(element, f1, element == 1 and predicted.operation_text() == wanted.operation_text())
