"""Planners that continue trajectories are trained on the very prompts that their recipe asks."""

import io
import json
from collections.abc import Callable

import pytest
from django.core.management import call_command

from agents.cookbook.lacking import asks_endpoint
from agents.generators.local import prompt_ids
from agents.llm.calls import Endpoint
from agents.llm.chat import ChatLlm
from agents.memory.encoding import memory_encoder, snippet_form
from agents.memory.rationales import RationaleWriter
from agents.memory.retrieve import DatasetMemory
from agents.models import Run, TrainedModel
from agents.observations import RecordedConversation
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.runs.building import build_training
from agents.stages.kind import Parts
from agents.stages.registry import texts_of, told, training_of
from agents.training.jobs import as_asked
from agents.training.mismatches import unlike_training
from agents.training.rationales import ShownReasons
from agents.training.samples.asked import Asked
from agents.training.samples.left_out import LeftOut
from agents.training.samples.prompt_rows import PromptRows
from agents.training.samples.rows import SplitRows
from agents.training.settings import PlannerSettings, make_settings
from agents.words.trajectory_parse import in_backticks, parse_act
from annotations.models import Dataset, Rationale, Split
from tests import factories
from tests.agents.llm_server import prompt_text, serve
from tests.evaluation.learnt_settings import taken_wrongly
from tests.evaluation.recipe_world import TEXTS, make_workflows, reply, tiny_weights
from tests.evaluation.test_recipes_run import run
from tests.evaluation.test_training_of_recipes import _Keeps
from tests.quick import first_is_quick
from tests.tiny_models import CHAT_TEMPLATE, byte_tokenizer

pytestmark = pytest.mark.django_db
TRAJECTORIES = [n for n, r in literature.RECIPES.items() if r.plan.kind == "trajectory" and not r.needs]
MIXTURES = {
    "awm with memory": {"recall.memory": "multifaceted", "recall.k": "2"},
    "synapse in few tokens": {"compose.max_tokens": "900"},
    "bare corrected": {"preset": "corrected"},
}
LIMIT = "compose.max_tokens"  # which leaves out steps whose page does not fit
TOKENIZER = byte_tokenizer(TEXTS, 400, pad="<pad>", eos="</s>", template="$A")
TOKENIZER.chat_template = CHAT_TEMPLATE


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    return tiny_weights(tmp_path_factory.mktemp("weights"))


@pytest.fixture
def dataset(hash_encoder) -> Dataset:
    dataset = factories.make_dataset()
    for _ in range(3):
        factories.make_conversation(turns=2, steps=2, split=Split.TRAIN, dataset=dataset)
    make_workflows(dataset)
    return dataset


def recipe_named(name: str, ranker: object) -> Recipe:
    recipe = as_asked(literature.get(name.partition(" ")[0]))
    changes = {"rank.model": str(ranker), "plan.model": "x", "compose.max_tokens": "16000"}
    return literature.override(recipe, changes | MIXTURES.get(name, {}))


def trained_on(recipe: Recipe, dataset: Dataset, llm: ChatLlm | None) -> list[dict]:
    kind, settings = training_of(recipe)
    made, asked = make_settings(kind, settings), Asked(TOKENIZER)
    assert isinstance(made, PlannerSettings)
    pipeline = build_training(recipe, dataset, 0, llm, asked)
    rows = PromptRows(SplitRows(dataset, Split.TRAIN), made, pipeline, asked)
    pairs = [pair for _, found in rows.groups() for pair in found]
    assert not len(rows.left_out), rows.left_out.warnings()
    return pairs


def asked_in_use(
    recipe: Recipe, dataset: Dataset, llm: ChatLlm | None, writer: RationaleWriter | None = None
) -> list[list[int]]:
    """Token ids of what a run asks of the same steps; its memory leaves out the conversation that asks, as a training's
    must, and its generator counts tokens as the local one does."""
    encoder, keeps = memory_encoder(recipe), _Keeps()
    keeps.count_tokens = lambda text: len(TOKENIZER(text, add_special_tokens=False)["input_ids"])
    key = recipe.recall.exemplar_key
    memory = DatasetMemory(dataset, encoder, snippet_form(recipe), others_only=True, exemplar_key=key)
    pipeline = Pipeline.of(Parts(recipe, 0, llm, memory, encoder, writer, generator=keeps))
    conversations = [recorded for _, recorded in SplitRows(dataset, Split.TRAIN).recorded()]
    pipeline.prepare([recorded.conversation.pk for recorded in conversations])
    for recorded in conversations:
        for step in recorded.steps:  # one by one, where a training takes a conversation at once
            pipeline.decide([recorded.observation(step, told=told(recipe))])
    return [prompt_ids(prompt, TOKENIZER, recipe.compose.max_tokens) for prompt in keeps.prompts]


@pytest.mark.slow
@first_is_quick("name", [*TRAJECTORIES, *MIXTURES])
def test_training_and_use_read_the_same_of_the_same_step(name, dataset, weights) -> None:
    recipe = recipe_named(name, weights["cross_encoder"])
    with serve(reply) as server:
        llm = ChatLlm(Endpoint(server.url, "test-model")) if asks_endpoint(recipe) else None
        trained, used = trained_on(recipe, dataset, llm), asked_in_use(recipe, dataset, llm)
    assert len(used) == 12
    assert [pair["prompt"] for pair in trained] == used
    assert all(len(ids) < recipe.compose.max_tokens for ids in used), "nothing is cut"


@pytest.mark.slow
def test_rationales_that_a_training_lacks_are_asked_for_as_in_a_run(dataset: Dataset, weights, monkeypatch) -> None:
    """With the page as text around the gold element, not as groups of elements show it."""
    changes = {"recall.rationales": "model", "preset": "corrected"}
    recipe = literature.override(recipe_named("awm with memory", weights["cross_encoder"]), changes)
    settings = make_settings(*training_of(recipe))
    assert isinstance(settings, PlannerSettings)
    reasons = ShownReasons(recipe, settings, SplitRows(dataset, Split.TRAIN), SplitRows(dataset, Split.DEV))

    def asked_by(asking: Callable[[ChatLlm], object]) -> set[str]:
        Rationale.objects.all().delete()
        with serve(lambda body: "It was asked for.") as server:
            monkeypatch.setenv("LLM_BASE_URL", server.url)
            monkeypatch.setenv("LLM_MODEL", "test-model")
            asking(ChatLlm(Endpoint(server.url, "test-model")))
            return {prompt_text(body) for body in server.requests}

    def train(llm: ChatLlm) -> None:
        assert reasons.are_written(lambda: llm, LeftOut(), lambda *said, **more: None, lambda: False)

    in_use = asked_by(lambda llm: asked_in_use(recipe, dataset, llm, RationaleWriter(llm)))
    assert len(in_use) > 1, "what clicks, and what types"
    assert in_use <= asked_by(train)


@pytest.mark.slow
@first_is_quick(
    "changes",
    [
        {"recall.exemplar_k": "0"},
        {"simplify.page_elements": "2"},
        {"simplify.history_elements": "1"},
        {"compose.max_tokens": "1000"},
        {"compose.trajectory": "false"},
        {"recall.workflows": "environment"},
    ],
)
def test_what_a_recipe_changes_changes_its_training(changes, dataset, weights) -> None:
    recipe = recipe_named("synapse", weights["cross_encoder"])
    before = trained_on(recipe, dataset, None)
    assert before != trained_on(literature.override(recipe, changes), dataset, None)


@pytest.mark.slow
def test_what_is_done_with_an_action_is_not_needed_to_train_on_it(dataset, weights) -> None:
    """Here a guard that looks up past transitions, which no training has."""
    recipe = recipe_named("bare", weights["cross_encoder"])
    guarded = literature.override(recipe, {"act.guard": "policy+prediction"})
    assert trained_on(guarded, dataset, None) == trained_on(recipe, dataset, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["synapse", "bare corrected"])
def test_what_is_taken_changes_the_samples_and_what_is_refused_does_not(name, dataset, weights) -> None:
    parent = literature.override(recipe_named(name, weights["cross_encoder"]), {"plan.model": ""})
    with serve(reply) as server:
        llm = ChatLlm(Endpoint(server.url, "test-model"))
        assert taken_wrongly(parent, lambda recipe: trained_on(recipe, dataset, llm), LIMIT) == []


@pytest.mark.slow
def test_the_answer_is_the_gold_action_as_the_planner_reads_it(dataset, weights) -> None:
    recipe = recipe_named("synapse", weights["cross_encoder"])
    pairs = trained_on(recipe, dataset, None)
    gold = []
    for pk in dataset.conversations.order_by("position", "pk").values_list("pk", flat=True):
        recorded = RecordedConversation(pk)
        gold += [recorded.recorded(step) for step in recorded.steps]
    for pair, step in zip(pairs, gold, strict=True):
        found = parse_act(in_backticks(pair["answer"]))
        assert (found.operation, found.node_id) == (step.action.operation, step.positive_ids[0])
        assert f"id={step.positive_ids[0]} " in TOKENIZER.decode(pair["prompt"])


@pytest.mark.slow
def test_an_adapter_is_trained_registered_and_used_in_a_run(dataset, weights, settings, tmp_path, monkeypatch) -> None:
    settings.MODEL_ROOT = tmp_path
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    ranker = f"rank.model={weights['cross_encoder']}"
    command = f"train_planner {dataset.name} --recipe bare --name small --preset synapse-codellama --kind seq2seq"
    command += f" --base {weights['seq2seq']} --epochs 1 --inline --set {ranker} lora_targets=q,v lora_rank=4"
    call_command(*f"{command} batch_size=4 accumulate=1 mixed_precision=no".split(), stdout=io.StringIO())
    model = TrainedModel.objects.get(name="small")
    assert (model.config["adapter"], model.config["lora_rank"], model.config["learning_rate"]) == ("lora", 4, 3e-4)
    assert 0 < model.metrics["trained_parameters"] < model.metrics["parameters"] / 10
    assert model.job.params["recipe"]["simplify"]["page_elements"] == 20
    card = (model.folder / "README.md").read_text()
    assert "library_name: peft" in card
    assert f"a LoRA adapter alone: it is merged into `{weights['seq2seq']}`" in card
    factories.make_conversation(turns=1, steps=2, split=Split.TEST_TASK, dataset=dataset)
    local = {"plan.max_new_tokens": "4", "plan.model": "small", "plan.backend": "local", "compose.max_tokens": "4096"}
    result = run("bare", dataset, weights, **local)
    assert (result.state, result.error) == (Run.State.DONE, "")
    assert {step.calls for step in result.steps.all()} == {1}


@pytest.mark.slow
def test_a_trained_trajectory_planner_is_used_and_told_from_how_it_was_trained(
    dataset, weights, settings, tmp_path, monkeypatch
) -> None:
    settings.MODEL_ROOT = tmp_path
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    ranker = f"rank.model={weights['cross_encoder']}"
    out = io.StringIO()
    call_command(
        *("train_planner", dataset.name, "--recipe", "synapse", "--name", "own", "--inline", "--json"),
        *("--base", str(weights["causal"]), "--epochs", "1", "--set", ranker, "compose.max_tokens=4000"),
        *("recall.exemplar_k=1", "batch_size=2"),
        stdout=out,
    )
    said = json.loads(out.getvalue())
    assert said["metrics"]["examples"] == 12
    model = TrainedModel.objects.get(name="own")
    assert (model.kind, model.config["paradigm"]) == ("causal", "trajectory")
    text = (model.folder / "README.md").read_text()
    assert "--set plan.backend=local plan.model=own" in text
    assert model.job is not None
    assert model.job.params["texts"]["sha256"].keys() == set(texts_of(literature.get("synapse")))
    changes = {"plan.model": "own", "plan.backend": "local", "compose.max_tokens": "4000", "recall.exemplar_k": "1"}
    changes["rank.model"] = str(weights["cross_encoder"])
    as_trained = literature.override(literature.get("synapse"), changes)
    assert unlike_training(literature.to_dict(as_trained), dataset.project_id) == []
    other = literature.override(as_trained, {"recall.exemplar_k": "3", "simplify.page_elements": "9"})
    (sentence,) = unlike_training(literature.to_dict(other), dataset.project_id)
    assert "recall.exemplar_k=1" in sentence
    assert "asks it with recall.exemplar_k=3, simplify.page_elements=9" in sentence
