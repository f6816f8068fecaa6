"""A planner of WebLINX turns is trained on the very prompts that a run of its recipe asks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.generators.local import LocalGenerator, prompt_ids
from agents.recipes import literature
from agents.stages.registry import training_of
from agents.training.settings import PlannerSettings, make_settings
from agents.training.work import Work
from annotations.corpus.importing import import_files
from annotations.models import Dataset, Split
from evaluation.studies import running
from tests import factories
from tests.agents.llm_server import LlmServer, prompt_text, serve
from tests.annotations.weblinx_folder import write_demo
from tests.evaluation.recipe_world import TEXTS, tiny_weights
from tests.quick import first_is_quick
from tests.tiny_models import byte_tokenizer

pytestmark = pytest.mark.django_db
TOKENIZER = byte_tokenizer(TEXTS, 400, pad="<pad>", eos="</s>", template="$A </s>")
OF_TURNS = [name for name, recipe in literature.RECIPES.items() if recipe.plan.kind == "action_string"]
MIXTURES: dict[str, dict[str, str]] = {
    "weblinx-flan-t5 with few elements": {"compose.candidates": "2"},
    "weblinx-flan-t5 in short": {"compose.max_tokens": "300", "compose.history_turns": "1"},
    "weblinx-flan-t5 ranked otherwise": {"rank.kind": "dual_encoder", "rank.lexical_weight": "0.9"},
    "weblinx-flan-t5 rewritten": {
        "rank.kind": "dual_encoder",
        "rank.lexical_weight": "0.9",
        "recall.rewrite_instruction": "true",
    },
}


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return tiny_weights(tmp_path_factory.mktemp("weights"))


@pytest.fixture
def dataset(db: None, tmp_path: Path, settings) -> Dataset:
    settings.MODEL_ROOT = tmp_path / "models"
    for name in ("aaaaaaa", "bbbbbbb"):
        write_demo(tmp_path / "demos", name)
    dataset = factories.make_dataset(source_format="weblinx")
    assert import_files("weblinx", tmp_path / "demos", dataset, split=Split.TRAIN).error_count == 0
    return dataset


@pytest.fixture(autouse=True)
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    """It rewrites instructions."""
    with serve(lambda body: f"Rewritten, as {len(prompt_text(body))} characters ask.") as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", "writer")
        yield server


@pytest.fixture
def asked(monkeypatch) -> list[list[int]]:
    """Token ids of every prompt that a local model was asked."""
    found: list[list[int]] = []
    answers = LocalGenerator.generate

    def keeping(self, prompts, *more, **named):
        found.extend(prompt_ids(prompt, TOKENIZER, self.max_tokens) for prompt in prompts)
        return answers(self, prompts, *more, **named)

    monkeypatch.setattr(LocalGenerator, "generate", keeping)
    return found


def recipe_of(name: str, weights: dict[str, Path]) -> tuple[literature.Recipe, dict[str, str]]:
    """The recipe as it runs here, and what is changed of the published one."""
    changes = {"rank.model": str(weights["encoder"]), "plan.model": str(weights["seq2seq"]), "plan.max_new_tokens": "2"}
    changes |= MIXTURES.get(name, {})
    return literature.override(literature.get(name.partition(" ")[0]), changes), changes


def trained_on(recipe: literature.Recipe, dataset: Dataset) -> list[list[int]]:
    """Token ids of the prompts of a training for the recipe."""
    kind, follows = training_of(recipe)
    made = make_settings(kind, follows)
    assert isinstance(made, PlannerSettings)
    model = factories.make_trained_model(dataset, kind=kind)
    params = {"limit": None, "recipe": literature.to_dict(recipe)}
    found = Work(model, params, lambda: False, lambda *said, **more: None)._samples(made, TOKENIZER)
    assert found is not None
    return [prompt for prompt, _ in found[0].get(0, range(found[0].size))]


@pytest.mark.slow
@first_is_quick("name", [*OF_TURNS, *MIXTURES])
def test_training_and_use_read_the_same_of_the_same_turns(name, dataset, weights, asked, endpoint) -> None:
    recipe, changes = recipe_of(name, weights)
    study = running.create_study(
        user=None, dataset=dataset, recipes=[name.partition(" ")[0]], overrides=changes, publish=False
    )
    running.run_inline(study)
    assert study.runs.get().state == "done"
    trained = trained_on(recipe, dataset)
    assert len(trained) > 4
    assert sorted(trained) == sorted(asked)
    assert bool(endpoint.requests) == name.endswith("rewritten")


@pytest.mark.slow
def test_prompts_follow_the_recipe_of_the_training(dataset, weights) -> None:
    one, other = (recipe_of(name, weights)[0] for name in ("weblinx-flan-t5", "weblinx-flan-t5 with few elements"))
    assert trained_on(one, dataset) != trained_on(other, dataset)
