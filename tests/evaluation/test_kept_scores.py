"""Agents with the same ranker: each pair of query and element is scored once, and nobody can tell from their rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.models import Run, TextEmbedding
from agents.stages.rank import kinds
from agents.stages.rank.cross_encoder import CrossEncoderRanker
from annotations.models import Dataset
from evaluation.studies import running
from tests.evaluation.recipe_world import tiny_weights

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hash_encoder")]
LOCAL = {"plan.backend": "local", "plan.max_new_tokens": "4"}
AGENTS = {"deberta": {}, "mindact": LOCAL, "mindact-faithful": LOCAL, "self-map-no-rationale": LOCAL}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The pairs that models read."""
    pairs: list[tuple[str, str]] = []
    scores = CrossEncoderRanker._score_pairs

    def counted(self: CrossEncoderRanker, wanted: Sequence[tuple[str, str]]) -> np.ndarray:
        pairs.extend(wanted)
        return scores(self, wanted)

    monkeypatch.setattr(CrossEncoderRanker, "_score_pairs", counted)
    return pairs


def rows_of(dataset: Dataset, recipe: str, changes: dict[str, str]) -> list[dict[str, Any]]:
    """What a new run of the recipe stores of each step but for when it was; its ranker is loaded anew."""
    kinds._cross_encoder.cache_clear()
    recipe = recipe.removesuffix("-faithful")
    study = running.create_study(user=None, dataset=dataset, recipes=[recipe], overrides=changes, publish=False)
    running.run_inline(study)
    run = study.runs.get()
    assert (run.state, run.steps.count(), {row.error for row in run.steps.all()}) == (Run.State.DONE, 30, {""})
    left_out = ("id", "run_id", "trajectory_id", "milliseconds", "created_at", "trace")
    return [
        {name: value for name, value in row.items() if name not in left_out} | {"ranked": row["trace"]["rank"]}
        for row in run.steps.order_by("trajectory__conversation_id", "seq").values()
    ]


@pytest.mark.slow
def test_agents_score_each_pair_once_and_decide_as_alone(
    dataset: Dataset, read: list[tuple[str, str]], tmp_path: Path
) -> None:
    weights = tiny_weights(tmp_path)
    changes = {
        name: more
        | {"rank.model": str(weights["cross_encoder"])}
        | ({"plan.model": str(weights["seq2seq"])} if more else {})
        | ({"preset": "faithful"} if name.endswith("-faithful") else {})
        for name, more in AGENTS.items()
    }
    alone = {}
    for name, settings in changes.items():
        TextEmbedding.objects.all().delete()
        read.clear()
        alone[name] = rows_of(dataset, name, settings)
        assert len(read) == len(set(read)) >= 30
    TextEmbedding.objects.all().delete()
    read.clear()
    assert {name: rows_of(dataset, name, settings) for name, settings in changes.items()} == alone
    assert len(read) == len(set(read)), "a pair was scored twice"
    assert TextEmbedding.objects.computed().count() <= 2 * 30

    every_other = TextEmbedding.objects.order_by("pk").values_list("pk", flat=True)[::2]
    TextEmbedding.objects.filter(pk__in=list(every_other)).delete()
    read.clear()
    assert rows_of(dataset, "deberta", changes["deberta"]) == alone["deberta"]
    assert 0 < len(read) < len({row["step_id"] for row in alone["deberta"]}) * 100


@pytest.mark.slow
def test_another_ranker_scores_them_itself(dataset: Dataset, read: list[tuple[str, str]], tmp_path: Path) -> None:
    first, second = (str(tiny_weights(tmp_path / name)["cross_encoder"]) for name in ("one", "two"))
    rows_of(dataset, "deberta", {"rank.model": first})
    wanted = list(read)
    rows_of(dataset, "deberta", {"rank.model": second})
    assert read == wanted, "equal weights in another folder are the same weights"
    changed = Path(second) / "model.safetensors"
    changed.write_bytes(changed.read_bytes()[:-4] + b"\0\0\0\1")
    rows_of(dataset, "deberta", {"rank.model": second})
    assert read == wanted * 2
