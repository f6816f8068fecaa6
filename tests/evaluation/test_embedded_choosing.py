"""`cot` and `wma` decide a conversation without any endpoint: the embedded model draws, past transitions imagine."""

from pathlib import Path

import pytest

from agents.llm.embedded import SMOLLM2
from agents.models import Run
from annotations.models import Dataset
from evaluation.studies import running
from tests.agents.test_transitions import dataset
from tests.evaluation.recipe_world import TEXTS
from tests.tiny_models import tiny_cross_encoder

__all__ = ["dataset"]
pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(scope="module")
def ranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_cross_encoder(tmp_path_factory.mktemp("ranker"), TEXTS, layers=1)


@pytest.mark.parametrize(("name", "chooses"), [("cot", "majority"), ("wma", "retrieval")])
def test_it_decides_without_any_endpoint(
    name: str, chooses: str, dataset: Dataset, ranker: Path, hash_encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(variable, raising=False)
    changes = {"rank.model": str(ranker), "plan.samples": "3"}
    study = running.create_study(
        user=None, dataset=dataset, recipes=[name], splits=["test_task"], overrides=changes, publish=False
    )
    running.run_inline(study)
    run = study.runs.get()
    assert (run.state, run.error, run.recipe["plan"]["model"]) == (Run.State.DONE, "", SMOLLM2)
    rows = list(run.steps.all())
    assert len(rows) == 3
    for row in rows:
        assert not row.error
        assert row.operation, row.trace["plan"]
        assert row.trace["imagine"]["kind"] == chooses
        assert len(row.trace["plan"]["samples"]) == 3
        (taken,) = [branch for branch in row.branches if branch["chosen"]]
        assert (taken["action"]["operation"], taken["action"]["node_id"]) == (row.operation, row.node_id)
    assert run.scores.filter(metric="step_success").exists()
