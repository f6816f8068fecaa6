"""Scores of `grounded`, untrained and trained, stay what they were to the last digit.

Who changes what it decides on purpose takes new ones, and says why they are better. Hashed words stand for MiniLM,
whose last digits depend on the processor; trained is it on the very steps that it decides, so that it is sure of them.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.learned.examples import Example
from agents.learned.settings import Settings
from agents.observations import RecordedConversation
from annotations.models import Dataset
from evaluation.models import Score
from evaluation.studies import running
from tests.agents.learned_world import learn
from tests.evaluation.sample_rows import import_website

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LEARNING = Settings(
    epochs=25,
    epoch_steps=14,
    networks=1,
    batch_size=7,
    hidden=48,
    dropout=0.0,
    forget=0.0,
    noise=0.0,
    learning_rate=4e-3,
    relations=False,
)
UNTRAINED = {
    "step_success by conversation": 0.2777777777777778,
    "turn_success by conversation": 0.16666666666666666,
    "conversation_success by conversation": 0.0,
    "element_accuracy by step": 0.2777777777777778,
    "operation_f1 by step": 0.40740740740740744,
    "step_success by step": 0.2777777777777778,
    "recall@1 by step": 0.2777777777777778,
    "recall@3 by step": 0.5555555555555556,
    "recall@5 by step": 0.7222222222222222,
    "recall@10 by step": 0.7777777777777778,
    "recall@20 by step": 0.9444444444444444,
    "recall@50 by step": 1.0,
    "recall@100 by step": 1.0,
    "mrr by step": 0.47890412057078724,
}
TRAINED = {
    "step_success by conversation": 0.5555555555555556,
    "turn_success by conversation": 0.3333333333333333,
    "conversation_success by conversation": 0.0,
    "element_accuracy by step": 0.6666666666666666,
    "operation_f1 by step": 0.8,
    "step_success by step": 0.5555555555555556,
    "recall@1 by step": 0.6666666666666666,
    "recall@3 by step": 0.9444444444444444,
    "recall@5 by step": 1.0,
    "recall@10 by step": 1.0,
    "recall@20 by step": 1.0,
    "recall@50 by step": 1.0,
    "recall@100 by step": 1.0,
    "mrr by step": 0.8194444444444444,
}


# What the columns of `relations` change of TRAINED.
RELATED = {
    "step_success by conversation": 0.6666666666666666,
    "turn_success by conversation": 0.6666666666666666,
    "element_accuracy by step": 0.7777777777777778,
    "operation_f1 by step": 0.7777777777777778,
    "step_success by step": 0.6666666666666666,
    "recall@1 by step": 0.7777777777777778,
    "recall@3 by step": 1.0,
    "mrr by step": 0.8796296296296297,
}


def examples(dataset: Dataset) -> Iterator[Example]:
    for row in dataset.conversations.order_by("position"):
        recorded = RecordedConversation(row.pk)
        for step in recorded.steps:
            yield Example(recorded.recorded(step), row.website.name)


def scores(dataset: Dataset, **changes: str) -> dict[str, float]:
    study = running.create_study(user=None, dataset=dataset, recipes=["grounded"], overrides=changes, publish=False)
    running.run_inline(study)
    rows = Score.objects.filter(run__in=study.runs.all(), preset="faithful", grouping__in=("step", "conversation"))
    return {f"{row.metric} by {row.grouping}": row.value for row in rows}


def test_scores_are_the_same_to_the_last_digit(tmp_path: Path, hash_encoder: CachedEncoder) -> None:
    (tmp_path / "sample").mkdir()
    dataset = import_website(tmp_path / "sample", conversations=1)
    assert scores(dataset) == UNTRAINED
    learn(examples(dataset), HashEncoder(), LEARNING, tmp_path / "model")
    found = scores(dataset, **{"plan.model": str(tmp_path / "model")})
    assert found == TRAINED
    learn(examples(dataset), HashEncoder(), replace(LEARNING, relations=True), tmp_path / "related")
    assert scores(dataset, **{"plan.model": str(tmp_path / "related")}) == TRAINED | RELATED
