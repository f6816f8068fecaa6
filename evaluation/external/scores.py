"""Scores Mind2Web predictions that were made elsewhere with the metrics of studies; `weblinx.py` does so for
WebLINX."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from django.db.models import QuerySet

from agents.stages.rank.score_file import ScoreFile
from agents.types import Action
from annotations.models import Dataset, Split, Step
from evaluation.external.predictions import ActionPrediction, RecordDefect, read_actions
from evaluation.metrics import is_ranking
from evaluation.metrics.element import element_accuracy
from evaluation.metrics.operation import operation_f1
from evaluation.metrics.outcomes import Metric, StepOutcome
from evaluation.metrics.ranking import gold_rank
from evaluation.metrics.scores import PRESETS, MetricPreset, headlines, score
from evaluation.metrics.step import step_success
from evaluation.models import Study

NONE = ActionPrediction(None, "")


@dataclass
class ExternalScores:
    """The scores of a file: headline metrics by preset and name, counts, and the predictions and steps without partner.

    `unknown` are ids in the file that the split does not have; `missing` are steps of the split that the file does not
    predict: they count as failures.
    """

    counts: dict[str, int]
    metrics: dict[str, dict[str, Metric]]
    unknown: list[str]
    missing: list[str]
    defects: list[RecordDefect] = field(default_factory=list)


def split_of(path: Path) -> str:
    """The split that a published file name starts with ("test_task_predictions_top50.json"); "" for none."""
    return next(
        (split for split in sorted(Split.values, key=len, reverse=True) if path.name.startswith(f"{split}_")), ""
    )


class _GoldStep(NamedTuple):
    """A gold step with those facts for its outcome that hold whatever is predicted."""

    sample: str
    action: str  # "OP value"
    positives: tuple[str, ...]
    place: dict


def score_mind2web(
    dataset: Dataset,
    split: str,
    predictions: Path,
    scores: Path | None = None,
    *,
    top_k: int = 50,
    keeps_punctuation: bool = False,
) -> ExternalScores:
    """Join a file of predictions with the gold steps of a split ("": the whole dataset).

    With candidate scores, `faithful` skips steps without a gold element among the first `top_k` and accepts only gold
    elements among them (sources.md M4.4); without, only steps that have no gold element on their page are skipped, and
    there are no ranking metrics. `keeps_punctuation`: operation F1 as multiple choice computes it (Q25).
    Raises ValueError when a file cannot be used or nothing in it belongs to the split.
    """
    predicted, defects = read_actions(predictions)
    ranked = _ranks(scores) if scores else None
    gold = _by_sample(_gold_of(Step.objects.of_dataset(dataset, split)))
    unknown = [sample for sample in predicted if sample not in gold]
    missing = [sample for sample in gold if sample not in predicted]
    refuse_strangers(predictions, predicted, unknown, defects, gold)
    counts = _counts(list(gold.values()), missing, unknown, defects) | {"skipped": 0}
    metrics: dict[str, dict[str, Metric]] = {}
    for preset in PRESETS:
        cut = top_k if preset == Study.Preset.FAITHFUL else None
        judge = _PredictionJudge(ranked, cut, keeps_punctuation)
        outcomes = [judge.outcome(step, predicted.get(sample, NONE)) for sample, step in gold.items()]
        metrics[preset] = _headlines(outcomes, preset, ranked is not None)
        counts["skipped"] += sum(outcome.skipped for outcome in outcomes)
    if ranked is not None:
        counts["unranked"] = len(gold.keys() - ranked.keys())
    return ExternalScores(counts, metrics, unknown, missing, defects)


def _by_sample(steps: Iterable[_GoldStep]) -> dict[str, _GoldStep]:
    """The steps by their sample ids, by which predictions name them; ValueError where two have the same."""
    found: dict[str, _GoldStep] = {}
    for step in steps:
        if found.setdefault(step.sample, step) is not step:
            raise ValueError(
                "several steps of this dataset share their annotation and action ids, so none can be told apart"
            )
    return found


def _headlines(outcomes: Sequence[StepOutcome], preset: MetricPreset, is_ranked: bool) -> dict[str, Metric]:
    shown = headlines(score(outcomes, preset)).items()
    return {name: value for name, value in shown if is_ranked or not is_ranking(name)}


def _counts(
    gold: list[_GoldStep], missing: list[str], unknown: list[str], defects: list[RecordDefect]
) -> dict[str, int]:
    return {
        "conversations": len({step.place["conversation"] for step in gold}),
        "turns": len({step.place["turn"] for step in gold}),
        "steps": len(gold),
        "predicted": len(gold) - len(missing),
        "missing": len(missing),
        "unknown": len(unknown),
        "defects": len(defects),
    }


def _ranks(path: Path) -> Mapping[str, Mapping[str, int]]:
    try:
        return ScoreFile.read(path).ranks
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error


def _gold_of(steps: QuerySet[Step]) -> Iterator[_GoldStep]:
    rows = steps.select_related("turn__conversation__website").prefetch_related("targets").defer("candidates")
    order = ("turn__conversation__position", "turn__conversation_id", "turn__index", "index")
    for position, step in enumerate(rows.order_by(*order).iterator(chunk_size=2000)):
        turn = step.turn
        site = turn.conversation.website
        yield _GoldStep(
            f"{turn.source_id}_{step.source_id}",
            Action(step.operation, None, step.value).operation_text(),
            tuple(target.node_id for target in step.targets.all() if not target.pruned),
            {
                "conversation": str(turn.conversation_id),
                "turn": str(turn.pk),
                "turn_index": turn.index,
                "website": site.name,
                "domain": site.domain,
                "operation": step.operation,
                "position": position,
            },
        )


@dataclass(frozen=True)
class _PredictionJudge:
    """Judges predictions by one preset. `cut`: the rank from which on gold elements do not count; None in
    `corrected`."""

    ranked: Mapping[str, Mapping[str, int]] | None
    cut: int | None
    keeps_punctuation: bool

    def outcome(self, gold: _GoldStep, predicted: ActionPrediction) -> StepOutcome:
        """The outcome of one step."""
        ranks = None if self.ranked is None else self.ranked.get(gold.sample, {})
        rank = None if ranks is None else gold_rank(ranks, gold.positives)
        accepted = gold.positives
        if self.cut is not None and ranks is not None:
            accepted = tuple(node for node in gold.positives if ranks.get(node, self.cut) < self.cut)
        if self.cut is not None and not accepted:
            return StepOutcome(
                element_correct=0.0, operation_f1=0.0, success=False, skipped=True, gold_rank=rank, **gold.place
            )
        element = element_accuracy(predicted.element, accepted)
        f1 = (
            0.0
            if predicted == NONE
            else operation_f1(self._action_text(predicted), gold.action, not self.keeps_punctuation)
        )
        return StepOutcome(
            element_correct=element, operation_f1=f1, success=step_success(element, f1), gold_rank=rank, **gold.place
        )

    def _action_text(self, predicted: ActionPrediction) -> str:
        """The predicted action's text. A value beside a CLICK, which says nothing, counts in `faithful` only."""
        operation, _, value = predicted.text.partition(" ")
        return predicted.text if self.cut is not None else Action(operation, None, value).operation_text()


def refuse_strangers(
    path: Path, predicted: Collection, unknown: list[str], defects: list[RecordDefect], gold: Collection
) -> None:
    """Raise ValueError, with the likely reason, when no prediction belongs to the split."""
    if not gold:
        raise ValueError("the dataset has no conversation in this split")
    if not predicted:
        raise ValueError(f"no prediction in {path.name} can be read: {defects[0] if defects else 'it is empty'}")
    if len(unknown) == len(predicted):
        raise ValueError(
            f"none of the {len(predicted):,} predictions in {path.name} belongs to this split of the dataset; "
            f"the first is for {unknown[0]!r}"
        )
