"""What is trained for a recipe reads what the recipe asks: the same stages compose both."""

import dataclasses
import hashlib
import io
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from agents.cookbook.texts import planned
from agents.encoders.weights import MINILM
from agents.generators.local import prompt_ids
from agents.memory.encoding import memory_encoder, snippet_form
from agents.memory.jobs import endpoint
from agents.memory.rationales import RationaleWriter
from agents.memory.retrieve import DatasetMemory
from agents.models import TrainedModel
from agents.pipeline import Pipeline
from agents.prompts.packs import VERSIONS, webnav
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.runs.building import build_training
from agents.stages.kind import Parts
from agents.stages.registry import trained_for, training_of
from agents.training.fit.loop import TrainingError
from agents.training.jobs import start_training
from agents.training.mismatches import unlike_training
from agents.training.rationales import ShownReasons
from agents.training.samples.rows import SplitRows, StepRows
from agents.training.samples.tokens import PageSamples
from agents.training.settings import PlannerSettings, make_settings
from agents.training.trained.card import Training, card
from agents.training.work import Work
from agents.types import DecisionUsage, Observation, RankedCandidate
from agents.words.generator import Generated, PlannerPrompt
from annotations.models import Dataset, Job, Rationale, Split, Step
from tests import factories
from tests.agents.llm_server import LlmServer, prompt_text, serve
from tests.evaluation.learnt_settings import taken_wrongly
from tests.evaluation.recipe_world import TEXTS, make_workflows
from tests.quick import first_is_quick
from tests.tiny_models import byte_tokenizer, tiny_t5

pytestmark = pytest.mark.django_db
LOCAL, BY_PAGE = {"plan.backend": "local"}, {"recall.state_in_query": "true"}
DUAL = {"rank.kind": "dual_encoder"}
MIXTURES: dict[str, dict[str, str]] = {
    "mindact with workflows": {
        "recall.workflows": "environment",
        "recall.exemplars": "environment",
        "recall.exemplar_k": "1",
        "compose.shots": "2",
        "compose.max_tokens": "4000",
    },
    "self-map by time": {"recall.sort_by": "time", "recall.k": "2", "compose.piece_tokens": "40"},
    "self-map corrected": {"preset": "corrected", "recall.k": "2"},
}
TOKENIZER = byte_tokenizer(TEXTS, 400, pad="<pad>", eos="</s>", template="$A </s>")
TRAINED = [name for name, recipe in literature.RECIPES.items() if recipe.plan.kind in ("multichoice", "generation")]


@pytest.fixture
def dataset(hash_encoder) -> Dataset:
    """Pages with five elements, so that every draw of five is the same; a person's reason for some steps."""
    dataset = factories.make_dataset()
    for _ in range(2):
        factories.make_conversation(turns=4, steps=2, split=Split.TRAIN, dataset=dataset)
    for step in Step.objects.filter(turn__conversation__dataset=dataset, index=0):
        Rationale.objects.create(step=step, text=f"reason {step.pk}", source=Rationale.Source.HUMAN)
    make_workflows(dataset)
    return dataset


@pytest.fixture(autouse=True)
def writer(monkeypatch) -> Iterator[LlmServer]:
    """The endpoint that writes rationales, different ones of different steps; its requests are counted."""
    with serve(lambda body: f"written of {hashlib.sha256(prompt_text(body).encode()).hexdigest()}") as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", "test-model")
        monkeypatch.setenv("LLM_CONCURRENCY", "1")
        yield server


@pytest.fixture
def nobody(writer, monkeypatch) -> None:
    """No model can be asked."""
    for name in ("LLM_BASE_URL", "LLM_MODEL"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("LLM_EMBEDDED", "off")


class _Everything:
    """In place of a ranker: every candidate."""

    def rank(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...]]:
        return [
            tuple(RankedCandidate(node_id, 1.0, rank, "") for rank, node_id in enumerate(seen.candidate_ids))
            for seen in observations
        ]


class _Keeps:
    """In place of a model: keeps what it is asked."""

    def __init__(self) -> None:
        self.prompts: list[PlannerPrompt] = []

    def generate(self, prompts: Sequence[PlannerPrompt]) -> list[Generated]:
        self.prompts += prompts
        return [Generated("None", "", DecisionUsage()) for _ in prompts]

    def count_tokens(self, text: str) -> int:
        return len(text.split())


def asked(recipe: Recipe, dataset: Dataset, observations: Sequence[Observation]) -> list[list[int]]:
    """Token ids of the first prompt of each step, in use."""
    encoder, keeps = memory_encoder(recipe), _Keeps()
    key = recipe.recall.exemplar_key
    memory = DatasetMemory(dataset, encoder, snippet_form(recipe), others_only=True, exemplar_key=key)
    llm = endpoint()
    parts = Parts(recipe, 0, llm, memory, encoder, RationaleWriter(llm), ranker=_Everything(), generator=keeps)
    pipeline = Pipeline.of(parts)
    ids = []
    for observation in observations:
        first = len(keeps.prompts)
        pipeline.decide([observation])
        compose = recipe.compose
        ids.append(prompt_ids(keeps.prompts[first], TOKENIZER, compose.max_tokens, compose.piece_tokens))
    return ids


def trained_on(recipe: Recipe, dataset: Dataset) -> tuple[list[list[int]], StepRows]:
    """Token ids of a sample of each step, as a training makes them; never without the gold element."""
    kind, settings = training_of(recipe)
    made = make_settings(kind, settings | {"none_ratio": 0.0, "repeats": 1})
    assert isinstance(made, PlannerSettings)
    model = factories.make_trained_model(dataset, kind=kind)
    params = {"limit": None, "recipe": literature.to_dict(recipe)}
    found = Work(model, params, lambda: False, lambda *said, **more: None)._samples(made, TOKENIZER)
    assert found is not None
    samples = found[0]
    assert isinstance(samples, PageSamples)
    assert isinstance(samples.rows, StepRows)
    return [prompt for prompt, _ in samples.get(0, range(samples.size))], samples.rows


def recipe_named(name: str) -> Recipe:
    recipe = literature.get(name.partition(" ")[0])
    return literature.override(recipe, LOCAL | {"plan.model": "x"} | MIXTURES.get(name, {}))


@pytest.mark.slow
@first_is_quick("name", [*TRAINED, *MIXTURES])
def test_training_and_use_read_the_same_of_the_same_step(name, dataset) -> None:
    recipe = recipe_named(name)
    trained, rows = trained_on(recipe, dataset)
    observations = [found.observation for found in _recorded(dataset)]
    assert len(observations) == len(rows) == 16
    assert asked(recipe, dataset, observations) == trained


@pytest.mark.slow
def test_rewritten_instructions_are_read_in_training_as_in_use(dataset, writer) -> None:
    """What the endpoint writes stands in every sample but those of first turns, which stay as they are."""
    recipe = recipe_named("mindact-car")
    assert recipe.recall.rewrite_instruction
    rewritten, _ = trained_on(recipe, dataset)
    assert len(writer.requests) == 6, "three later turns of two conversations, each once"
    plain, _ = trained_on(literature.override(recipe, {"recall.rewrite_instruction": "false"}), dataset)
    first = [not found.observation.earlier_instructions for found in _recorded(dataset)]
    assert [one == other for one, other in zip(rewritten, plain, strict=True)] == first
    assert 0 < sum(first) < len(first)


@pytest.mark.slow
def test_a_training_has_the_rationales_written_that_are_missing(dataset, writer) -> None:
    recipe = recipe_named("self-map")
    trained, _ = trained_on(recipe, dataset)
    assert len(writer.requests) == 4, "eight of sixteen steps have a person's reason; two ask the same each time"
    assert Rationale.objects.filter(source=Rationale.Source.MODEL, text__startswith="written of").count() == 8
    only_stored = literature.override(recipe, {"recall.rationales": "stored"})
    Rationale.objects.filter(source=Rationale.Source.MODEL).delete()
    assert trained_on(only_stored, dataset)[0] != trained
    assert len(writer.requests) == 4, "where only stored ones are shown, nobody is asked"


def test_a_rationale_that_the_model_does_not_give_is_asked_for_once(dataset, tmp_path, settings, monkeypatch) -> None:
    settings.MODEL_ROOT = tmp_path
    recipe = recipe_named("self-map")
    kind, follows = training_of(recipe)
    model = factories.make_trained_model(dataset, kind=kind)
    told: list[tuple[Any, ...]] = []
    made = make_settings(kind, follows)
    assert isinstance(made, PlannerSettings)
    with serve(lambda body: " ") as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        for asked_before in (0, 4):  # two slices
            assert len(server.requests) == asked_before
            params = {"limit": None, "recipe": literature.to_dict(recipe)}
            work = Work(model, params, lambda: False, lambda *said, **more: told.append(said))
            reasons = ShownReasons(recipe, made, work.rows, work.dev)
            assert reasons.are_written(endpoint, work.unanswered, work.tell, work.until)
        assert len(server.requests) == 4
    assert told[0] == ("asking for rationales", 0, 8, "steps")
    assert work.unanswered.warnings()[0] == "8 recalled steps are shown without a rationale"


def test_a_training_is_refused_where_nobody_can_write_rationales(dataset, tmp_path, settings, nobody) -> None:
    settings.MODEL_ROOT = tmp_path

    base = str(tiny_t5(tmp_path / "t5", TEXTS, layers=1, width=32))

    def start(name: str, **changes: str) -> TrainedModel:
        recipe = literature.override(literature.get("self-map"), changes)
        said: Any = {"user": None, "dataset": dataset, "kind": "seq2seq", "publish": False}
        return start_training(name=name, recipe=recipe, base=base, **said)

    with pytest.raises(ValidationError, match=f"manage.py build_memory {dataset.name} --rationales") as refused:
        start("a")
    assert "self-map shows 8 steps" in str(refused.value)
    with pytest.raises(TrainingError, match="--rationales"):
        trained_on(recipe_named("self-map"), dataset)  # a worker without an endpoint
    start("b", **{"recall.rationales": "stored"})
    for step in Step.objects.unexplained():
        Rationale.objects.create(step=step, text="written", source=Rationale.Source.HUMAN)
    start("c")


@pytest.mark.slow
@first_is_quick(
    "changes",
    [
        {"recall.memory": "none"},
        {"recall.k": "1"},
        {"simplify.memory_pages": "whole", "recall.rationales": "none"},
        {"compose.shots": "1"},
        {"compose.layout": "task"},
        {"compose.max_tokens": "300"},
        {"compose.piece_tokens": "30"},
        {"simplify.group_size": "3"},
        {"quirks.q14_rationale_joined": "false", "recall.memory": "chronological"},
    ],
)
def test_what_a_recipe_changes_changes_its_training(changes, dataset) -> None:
    recipe = recipe_named("self-map")
    other = literature.override(recipe, changes)
    assert trained_on(recipe, dataset)[0] != trained_on(other, dataset)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["self-map", "mindact with workflows"])
def test_what_is_taken_changes_the_samples_and_what_is_refused_does_not(name, dataset) -> None:
    parent = literature.override(recipe_named(name), {"plan.model": ""})

    def samples(recipe: Recipe) -> list[list[int]]:
        Rationale.objects.filter(source=Rationale.Source.MODEL).delete()  # or the next one would find them stored
        return trained_on(recipe, dataset)[0]

    assert taken_wrongly(parent, samples) == []


@pytest.mark.slow
def test_a_step_of_the_train_split_is_never_its_own_exemplar(dataset) -> None:
    recipe = recipe_named("mindact with workflows")
    pipeline = build_training(recipe, dataset)
    pipeline.prepare(list(dataset.conversations.values_list("pk", flat=True)))
    for found in _recorded(dataset):
        (state,) = pipeline.reminded([found.observation])
        assert state.exemplars
        shown = {step.observation.conversation for exemplar in state.exemplars for step in exemplar.steps}
        assert found.observation.conversation not in shown


def _recorded(dataset: Dataset) -> list[Any]:
    rows = SplitRows(dataset, Split.TRAIN)
    return [recorded.recorded(step) for _, recorded in rows.recorded() for step in recorded.steps]


def test_the_settings_follow_from_the_recipe_and_may_be_changed(dataset, tmp_path, settings) -> None:
    settings.MODEL_ROOT = tmp_path
    recipe, base = literature.get("self-map"), str(tiny_t5(tmp_path / "t5", TEXTS, layers=1, width=32))
    asked = {"kind": "seq2seq", "name": "own", "base": base, "recipe": recipe, "changes": {"epochs": 2}}
    model = start_training(user=None, dataset=dataset, **asked, publish=False)
    assert model.job is not None
    changes = model.job.params["changes"]
    assert changes == {
        "paradigm": "generation",
        "num_candidates": 5,
        "layout": "conversation",
        "memory": "multifaceted",
        "memory_k": 3,
        "simplification": True,
        "refinement": True,
        "max_length": 2048,
        "max_new_tokens": 50,
        "epochs": 2,
    }
    assert literature.from_dict(model.job.params["recipe"]) == planned(recipe, dataset)


@pytest.mark.parametrize(
    ("name", "before", "now", "said"),
    [
        ("self-map", {}, {}, ""),
        ("self-map", {}, {"plan.max_new_tokens": "9", "rank.top_k": "10"}, ""),
        ("self-map", {"recall.workflows": "semantic"}, {}, "recall.workflows=none"),
        ("self-map", {"compose.shots": "3"}, {}, "compose.shots=0"),
        ("self-map", {}, {"recall.exemplars": "semantic", "recall.exemplar_k": "2"}, "recall.exemplars=semantic"),
        ("mindact-car", {}, {"recall.rewrite_instruction": "false"}, "recall.rewrite_instruction=False"),
        ("self-map", {}, {"recall.sort_by": "time"}, "recall.sort_by=time"),
        ("self-map", {}, {"simplify.group_size": "12"}, "simplify.group_size=12"),
        ("self-map", {}, {"compose.piece_tokens": "64"}, "compose.piece_tokens=64"),
        ("self-map", {}, {"quirks.q14_rationale_joined": "false"}, "quirks.q14_rationale_joined=False"),
        ("self-map", {}, {"recall.memory": "chronological"}, "recall.memory=chronological"),
        ("synapse", LOCAL, LOCAL | {"prompts.pack": "mine"}, "prompts.pack=mine"),
        # another ranker chose the elements of those prompts, another encoder the steps and exemplars
        ("bare", LOCAL | {"rank.model": "one"}, LOCAL | {"rank.model": "other"}, "rank.model=other"),
        ("bare", LOCAL | {"rank.model": "one"}, LOCAL | {"rank.model": "one"}, ""),
        ("synapse", LOCAL, LOCAL | {"recall.encoder": "endpoint:ada"}, "recall.encoder=endpoint:ada"),
        ("self-map", {}, {"recall.encoder": "endpoint:ada"}, "recall.encoder=endpoint:ada"),
        ("self-map", {}, {"recall.encoder": MINILM}, ""),
        # where the ranker embeds what is recalled
        ("self-map", DUAL | {"rank.model": "one"}, DUAL | {"rank.model": "other"}, "rank.model=other"),
        ("self-map", DUAL | {"rank.model": "one"}, DUAL | {"rank.model": "one"}, ""),
        ("self-map", {}, DUAL | {"rank.model": "one"}, "rank.kind=dual_encoder"),
        ("mindact", DUAL | {"rank.model": "one"}, DUAL | {"rank.model": "other"}, ""),  # it recalls nothing
        ("bare", LOCAL | {"rank.top_k": "5"}, LOCAL | {"rank.top_k": "9"}, ""),  # says which steps are failed unasked
        ("weblinx-flan-t5", {"rank.top_k": "5"}, {"rank.top_k": "9"}, "rank.top_k=9"),
        ("self-map", {"rank.model": "one"}, {"rank.model": "other"}, ""),  # its samples show what no ranker chose
        ("self-map", {"rank.model": "one"} | BY_PAGE, {"rank.model": "other"} | BY_PAGE, "rank.model=other"),
        ("weblinx-flan-t5", {"rank.model": "one"}, {"rank.model": "other"}, "rank.model=other"),
        ("weblinx-flan-t5", {"rank.model": "one"}, {"rank.model": "one"}, ""),
        ("self-map-no-rationale", {}, {"plan.constrained": "true"}, ""),  # it writes otherwise what it read
        # a page of fewer elements than a group of training has
        ("mindact", {}, {"rank.top_k": "3"}, "rank.top_k=3"),
        ("mindact", {"rank.top_k": "3"}, {"rank.top_k": "3"}, "rank.top_k=3"),
        ("mindact", {"simplify.group_size": "3"}, {"simplify.group_size": "3", "rank.top_k": "3"}, ""),
        ("mindact", {}, {"rank.top_k": "5"}, ""),
    ],
)
def test_a_model_that_is_asked_otherwise_than_it_was_trained_is_named(name, before, now, said, dataset) -> None:
    trained_by = literature.override(literature.get(name), before)
    kind, follows = training_of(trained_by)
    job = Job(kind=Job.Kind.TRAIN, project=dataset.project, params={"recipe": literature.to_dict(trained_by)})
    job.save()
    config = dataclasses.asdict(make_settings(kind, follows))
    TrainedModel.objects.create(name="own", kind=kind, project=dataset.project, job=job, config=config)
    asks = literature.override(literature.get(name), now | {"plan.model": "own"})
    found = unlike_training(literature.to_dict(asks), dataset.project_id)
    assert found == [] if not said else said in found[0].partition("asks it with")[2]


TEXTS_OF_ALL = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in webnav().texts.items()}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ("page_question_multichoice", ""),  # which self-map does not show
        (
            "page_question_generation",
            "webnav@5; self-map asks it with prompts.pack=webnav@{} (other texts: page_question_generation).",
        ),
        (None, "prompts.pack=webnav@5; self-map asks it with prompts.pack=webnav@{}."),  # which texts was not kept
        ("", ""),
    ],
)
def test_other_words_are_told_by_their_versions_where_the_recipe_shows_them(changed, said, dataset) -> None:
    recipe = planned(literature.get("self-map"), dataset)
    trained_by = literature.to_dict(recipe) | {"prompts": {"pack": "webnav", "sha256": VERSIONS[5]}}
    kept = {"pack": "webnav@5", "sha256": TEXTS_OF_ALL | ({changed: "before"} if changed else {})}
    params = {"recipe": trained_by} | ({} if changed is None else {"texts": kept})
    job = Job.objects.create(kind=Job.Kind.TRAIN, project=dataset.project, params=params)
    kind, follows = training_of(recipe)
    config = dataclasses.asdict(make_settings(kind, follows))
    TrainedModel.objects.create(name="own", kind=kind, project=dataset.project, job=job, config=config)
    asks = literature.override(recipe, {"plan.model": "own"})
    found = unlike_training(literature.to_dict(asks), dataset.project_id)
    assert len(found) == bool(said)
    assert said.format(webnav().version) in "".join(found)


@pytest.mark.parametrize(("name", "instead"), [("memory", "recall.memory"), ("memory_k", "recall.k")])
def test_what_the_recipe_recalls_cannot_be_set_beside_it(name, instead, dataset) -> None:
    recipe, given = literature.get("self-map"), {name: "none" if name == "memory" else "1"}
    with pytest.raises(ValidationError, match=f"{name} follows from the recipe: set {instead}"):
        start_training(
            user=None, dataset=dataset, kind="seq2seq", name="x", recipe=recipe, changes=given, publish=False
        )


def test_every_recipe_says_what_is_trained_for_it() -> None:
    kinds = {name: trained_for(recipe, ("seq2seq", "grounded")) for name, recipe in literature.RECIPES.items()}
    assert {kinds[name] for name in TRAINED} == {"seq2seq"}
    assert kinds["grounded"] == "grounded"
    assert kinds["weblinx-flan-t5-w10"] == "seq2seq"
    assert training_of(literature.get("weblinx-flan-t5-w10"))[1]["history_turns"] == 10
    by_threes = literature.override(literature.get("self-map-mcq"), {"simplify.group_size": "3"})
    assert training_of(by_threes)[1]["num_candidates"] == 3
    assert training_of(literature.get("dmr-minilm"), "dual_encoder")[1]["element_limit"] == 200
    assert kinds["deberta"] == ""
    assert trained_for(literature.get("synapse"), ("seq2seq", "causal")) == "causal"
    assert training_of(literature.get("synapse"), "seq2seq")[1]["paradigm"] == "trajectory"
    with pytest.raises(ValueError, match="deberta has no use for a seq2seq trained here"):
        training_of(literature.get("deberta"), "seq2seq")
    with pytest.raises(ValueError, match="mindact has no use for a dual_encoder trained here; it uses a cross_encoder"):
        training_of(literature.get("mindact"), "dual_encoder")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "name a --recipe, or a --kind"),
        (["--set", "recall.k=2", "--kind", "seq2seq"], "recall.k: settings of a recipe, and --recipe names none"),
        (["--recipe", "deberta"], "deberta uses nothing that this command trains"),
        (["--recipe", "synapse", "--base", "x"], "synapse needs rank.model: train one from"),
        (["--kind", "causal", "--base", "x", "--paradigm", "trajectory"], "Name the recipe whose prompts are trained"),
        (["--recipe", "nothing"], "there is no recipe 'nothing'"),
        (["--recipe", "self-map", "--set", "recall.k=many"], "recall.k must be int"),
        (["--recipe", "self-map", "--set", "recall.k=2", "recall.k=3"], "--set gives recall.k twice: 2 and 3"),
        (
            ["--recipe", "self-map", "--set", "compose.context_tokens=100"],
            "compose.context_tokens would change nothing",
        ),
        (["--recipe", "self-map", "--kind", "grounded"], "has no use for a grounded trained here"),
    ],
)
def test_the_command_says_what_does_not_fit(options, message, dataset) -> None:
    with pytest.raises(CommandError, match=message.replace("(", r"\(")):
        call_command("train_planner", dataset.name, "--name", "x", "--inline", *options, stdout=io.StringIO())
    assert not TrainedModel.objects.exists()


def test_the_card_names_the_recipe() -> None:
    fields = {field.name: "" for field in dataclasses.fields(Training)}
    numbers = {"conversations": 2, "seed": 0, "lessons": 0}
    settings = {"paradigm": "generation"}
    made = Training(**(fields | numbers | {"kind": "seq2seq", "settings": settings, "metrics": {}}))
    assert "## Recipe" not in card(made)
    named = dataclasses.replace(made, recipe="self-map", recipe_sha256="abc")
    assert "as the recipe `self-map` composes what it asks (SHA-256 of the recipe `abc`)" in card(named)


def test_the_card_of_what_reads_no_prompts_claims_none() -> None:
    fields = {field.name: "" for field in dataclasses.fields(Training)}
    numbers = {"conversations": 2, "seed": 0, "lessons": 0, "settings": {"epochs": 1}, "metrics": {}}
    told = {
        "kind": "grounded",
        "recipe": "grounded",
        "recipe_sha256": "abc",
        "prompts": "webnav",
        "prompts_sha256": "x",
    }
    written = card(Training(**(fields | numbers | told)))
    assert "Trained for the recipe `grounded` (SHA-256 of the recipe `abc`)." in written
    assert "Words: prompt pack" not in written
