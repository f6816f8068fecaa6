"""From the published data formats to scores by the commands alone: rankers and planners are trained on the sample, an
endpoint answers for LLMs, and every recipe that is built decides a whole conversation of the sample."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from agents.cookbook import checking
from agents.models import Run, TrainedModel
from agents.recipes import literature
from agents.recipes.literature import RECIPES
from agents.words.shown_page import OURS
from annotations.sample.project import order_sample
from annotations.tasks import run_job
from evaluation.models import Study
from tests.agents.llm_server import LlmServer, serve
from tests.evaluation.recipe_world import TEXTS, samples
from tests.tiny_models import tiny_cross_encoder, tiny_encoder, tiny_t5

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LATER = {"synapse-miniwob"}  # its exemplar sets lie in their authors' repository
STAGES = {"observe", "rank", "recall", "plan", "act", "seconds"}
QUICK = ["mixed_precision=no", "dev_examples=0", "batch_size=4"]
# Enough for the form of an answer: an untrained model writes "", which the published parsers cannot read.
LEARNABLE = ["max_length=128", "learning_rate=0.01"]
ON_PAGES = ["repeats=1", "memory=none"]  # settings of trainings on pages alone
RANKERS = {"cross_encoder": "cross_encoder", "dmr": "dual_encoder"}  # kind of ranking -> of the model
PLANNERS = {  # paradigm -> the dataset that it is trained on
    "multichoice": "sample",
    "generation": "sample",
    "action_string": "sample-weblinx",
}


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    with serve(samples) as server:
        for name, value in (("BASE_URL", server.url), ("MODEL", "test-model"), ("API_KEY", "secret")):
            monkeypatch.setenv(f"LLM_{name}", value)
        yield server


@pytest.fixture
def trained(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample, and a model of every kind that was trained on it, called by its kind or paradigm."""
    settings.VAR_DIR, settings.MODEL_ROOT = tmp_path / "var", tmp_path / "models"
    settings.VAR_DIR.mkdir()
    monkeypatch.setenv("MODEL_ROOT", str(settings.MODEL_ROOT))
    job = order_sample()
    assert job is not None
    run_job(job.pk)
    texts = [*TEXTS, OURS.header]
    ranker, t5 = tiny_cross_encoder(tmp_path / "ranker", texts, layers=1), tiny_t5(tmp_path / "t5", texts, layers=1)
    dual = tiny_encoder(tmp_path / "dual", texts, width=384, layers=1)
    more: dict[str, Any] = {"limit": 1, "inline": True}
    for kind, dataset, base in (("cross_encoder", "sample", ranker), ("dual_encoder", "sample-weblinx", dual)):
        told("train_ranker", dataset, kind=kind, name=kind, base=str(base), epochs=1, changes=QUICK, **more)
    for paradigm, dataset in PLANNERS.items():
        options = {"kind": "seq2seq", "name": paradigm, "base": str(t5), "paradigm": paradigm, "epochs": 10}
        own = ON_PAGES if dataset == "sample" else ["ranker=dual_encoder"]  # which scores pages in no time
        told("train_planner", dataset, changes=[*QUICK, *LEARNABLE, *own], **options, **more)
    assert TrainedModel.objects.filter(ready=True).count() == 2 + len(PLANNERS)


def told(*command: str, **options: Any) -> dict[str, Any]:
    """What a command says in its line of JSON."""
    out = io.StringIO()
    call_command(*command, json=True, stdout=out, stderr=io.StringIO(), **options)
    return json.loads(out.getvalue().splitlines()[-1])


def evaluate(name: str) -> dict[str, Any]:
    """The recipe over the first conversation, with what was trained where it needs weights. Five candidates instead of
    fifty, and short answers: models that know nothing need no more."""
    recipe = literature.get(name)
    try:
        checking.vary(recipe, {"rank.top_k": "5"})
    except ValueError:  # nothing in it shows as many as are ranked
        changes = []
    else:
        changes = ["rank.top_k=5"]
    if recipe.plan.kind not in ("first", "grounded"):
        changes.append("plan.max_new_tokens=20")
    if recipe.rank.kind in RANKERS:  # a large one takes minutes for the pages of a demonstration
        changes.append(f"rank.model={RANKERS[recipe.rank.kind]}")
    if recipe.plan.kind in PLANNERS and recipe.plan.backend == "local":
        changes.append(f"plan.model={recipe.plan.kind}")
    dataset = "sample-weblinx" if recipe.data == "weblinx" else "sample"
    return told("evaluate", name, dataset, limit=1, inline=True, changes=changes)


def test_every_recipe_decides_a_conversation_of_the_sample(trained: None, endpoint: LlmServer) -> None:
    told("build_memory", "sample", inline=True)
    told("induce_workflows", "sample", inline=True)
    built = [name for name in RECIPES if name not in LATER]
    assert len(built) == len(RECIPES) - len(LATER) >= 25
    for name in built:
        result = evaluate(name)
        run: Run = Study.objects.get(pk=result["study"]).runs.get()
        errors = {row.error for row in run.steps.all()}
        assert (result["state"], errors) == ("done", {""}), name
        assert result["counts"]["steps"] == run.step_count == run.steps.count() > 5, name
        assert all(set(row.trace) >= STAGES for row in run.steps.all()), name
        assert result["metrics"], name
        local = literature.from_dict(run.recipe).plan
        if local.kind in PLANNERS and local.backend == "local":
            assert local.model == local.kind, name
