"""Where a run is more than arithmetic, all of it takes half of the time in batches that it takes one by one."""

import gc
import time
from pathlib import Path

import pytest

from agents.encoders.embedding import CachedEncoder, MeanPoolingEncoder
from agents.memory import encoding
from agents.models import MemorySnippet, Run, TextEmbedding
from annotations.models import Dataset
from evaluation.studies import running
from tests.evaluation.recipe_world import tiny_weights

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timed, pytest.mark.usefixtures("one_core")]
TWICE = 2
LOCAL = {"plan.backend": "local", "plan.max_new_tokens": "20"}
WEIGHTS = {  # recipe -> setting -> which of the tiny weights
    "grounded": {},
    "deberta": {"rank.model": "cross_encoder"},
    "mindact": {"rank.model": "cross_encoder", "plan.model": "seq2seq"},
    "self-map-no-rationale": {"rank.model": "cross_encoder", "plan.model": "seq2seq"},
    "synapse": {"rank.model": "cross_encoder", "plan.model": "causal"},
}


def processor_seconds(dataset: Dataset, recipe: str, changes: dict[str, str], batch: int) -> float:
    """Of a new study of all steps, from stored pages to scores; nothing is embedded or ranked before."""
    MemorySnippet.objects.all().delete()
    TextEmbedding.objects.all().delete()
    overrides = changes | {"batch_size": str(batch)}
    study = running.create_study(user=None, dataset=dataset, recipes=[recipe], overrides=overrides, publish=False)
    gc.collect()
    begun = time.process_time()
    running.run_inline(study)
    taken = time.process_time() - begun
    run = study.runs.get()
    assert (run.state, run.steps.count(), {row.error for row in run.steps.all()}) == (Run.State.DONE, 30, {""})
    return taken


@pytest.mark.parametrize("recipe", WEIGHTS)
def test_a_run_in_batches_takes_half_the_time(
    recipe: str, dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = tiny_weights(tmp_path)
    encoder = CachedEncoder(MeanPoolingEncoder("tiny", weights["encoder"]))
    monkeypatch.setattr(encoding, "encoder_named", lambda name: encoder)
    changes = {setting: str(weights[kind]) for setting, kind in WEIGHTS[recipe].items()}
    if "plan.model" in changes:
        changes |= LOCAL
    if recipe == "synapse":
        changes["recall.exemplars"] = "none"
    processor_seconds(dataset, recipe, changes, 32)  # loads weights
    taken = [[processor_seconds(dataset, recipe, changes, batch) for batch in (32, 1)] for _ in range(2)]
    together, alone = map(min, zip(*taken, strict=True))
    assert alone > TWICE * together
