"""The published evaluation of a cross encoder on a split, which writes a score file and results (sources.md M1.3, M3).

Every candidate of every step is scored, positives first, so that ties favour them as published (Q4).
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from agents.observations import RecordedConversation
from agents.stages.rank.cross_encoder import CrossEncoderRanker
from agents.stages.rank.score_file import ScoreFile
from agents.types import Observation
from annotations.models import Conversation, Dataset, Step
from evaluation.metrics.ranking import evaluate_ranking, gold_rank

BATCH = 32  # steps scored together


@dataclass
class RankerEvaluation:
    """Scores of a split's steps. A step that cannot be ranked is a miss, and `errors` says why."""

    file: ScoreFile = field(default_factory=ScoreFile)
    gold_ranks: list[int | None] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def results(self) -> dict[str, float]:
        """mrr, acc and recall@k over all steps."""
        return evaluate_ranking(self.gold_ranks)

    def write(self, folder: Path, split: str) -> None:
        """Write `scores_{split}.json` and `results_{split}.json` into the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self.file.write(folder / f"scores_{split}.json")
        (folder / f"results_{split}.json").write_text(json.dumps(self.results(), indent=1) + "\n", "utf-8")


def evaluate_ranker(
    ranker: CrossEncoderRanker,
    dataset: Dataset,
    split: str,
    limit: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> RankerEvaluation:
    """Score the first `limit` conversations of a split. ValueError when it has none."""
    rows = Conversation.objects.filter(dataset=dataset, split=split).in_order()
    ids = list(rows.values_list("pk", flat=True)[:limit])
    if not ids:
        raise ValueError(f"{dataset.name} has no conversations in split {split}")
    evaluation = RankerEvaluation()
    steps = _steps(ids)
    while batch := list(islice(steps, BATCH)):
        _score(ranker, batch, evaluation)
        say(f"{len(evaluation.gold_ranks):,} steps")
    return evaluation


def _steps(conversations: list[int]) -> Iterator[tuple[Observation, list[str]]]:
    """For each step, its observation with all candidates, positives first, and the ids of the positives."""
    for pk in conversations:
        recorded = RecordedConversation(pk)
        for step in recorded.steps:
            lists = Step.objects.only("candidates").get(pk=step.pk).candidate_records()
            positives, negatives = ([candidate.node_id for candidate in group] for group in lists)
            ids = tuple(dict.fromkeys((*positives, *negatives)))
            yield replace(recorded.observation(step), candidate_ids=ids), positives


def _score(
    ranker: CrossEncoderRanker, batch: list[tuple[Observation, list[str]]], evaluation: RankerEvaluation
) -> None:
    inputs = {}
    for observation, _ in batch:
        try:
            inputs[observation.key] = ranker.input(observation)
        except (ValueError, IndexError) as error:  # the page cannot be read, or lacks a candidate
            evaluation.errors.append(f"{observation.score_key}: {error}")
    scored = ranker.score([(step.query, step.texts) for step in inputs.values()])
    scores = {
        key: dict(zip(step.node_ids, row.tolist(), strict=True))
        for (key, step), row in zip(inputs.items(), scored, strict=True)
    }
    for observation, positives in batch:
        rank = None
        if observation.key in scores:
            evaluation.file.add(observation.score_key, scores[observation.key])
            rank = gold_rank(evaluation.file.ranks[observation.score_key], positives)
        evaluation.gold_ranks.append(rank)
