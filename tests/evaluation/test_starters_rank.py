"""What a fresh machine trains by itself is worth its minute: on pages that it has not seen it ranks gold far above
chance."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from agents.models import TrainedModel
from agents.training.prepare import preparing
from agents.training.prepare.preparing import SAMPLE_STEPS
from annotations.models import Dataset, Split
from annotations.sample.project import order_sample
from annotations.tasks import run_job
from tests.evaluation.test_recipes_on_the_sample import told

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
NAMES = ("sample", "sample-weblinx")
ENOUGH = 0.5  # by chance 0.08: ten elements of some 130


def test_the_ranker_that_the_sample_trains_has_gold_among_its_first_ten(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(name, raising=False)
    settings.VAR_DIR, settings.MODEL_ROOT = tmp_path / "var", tmp_path / "models"
    settings.VAR_DIR.mkdir()
    monkeypatch.setenv("MODEL_ROOT", str(settings.MODEL_ROOT))
    job = order_sample()
    assert job is not None
    run_job(job.pk)
    sample = {preparing.reads(dataset): dataset for dataset in Dataset.objects.filter(name__in=NAMES)}
    assert {data: dataset.recorded_counts(Split.TRAIN)[1] for data, dataset in sample.items()} == SAMPLE_STEPS
    call_command("prepare", "deberta", inline=True)
    assert TrainedModel.objects.get(name="starter-cross-encoder").ready
    found = told("evaluate", "deberta", "sample", split="test_task", inline=True)
    assert found["metrics"]["recall@10"]["value"] > ENOUGH
