"""Every recipe from end to end: real rows, real tiny weights, a real HTTP endpoint."""

import itertools
import re
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from agents.cookbook.lacking import asks_endpoint
from agents.models import Run, TrajectoryStep
from agents.recipes import literature
from agents.recipes.literature import RECIPES
from annotations.models import Dataset, Rationale, Split, Step
from evaluation.models import Study
from evaluation.studies import running
from tests import factories
from tests.agents.llm_server import LlmServer, good, serve
from tests.evaluation.recipe_world import make_workflows, reply, tiny_weights
from tests.evaluation.test_walks import (
    BEGINS,
    BY_OTHER_RECIPES,
    OBSERVATION,
    Walked,
    once_more,
    section_of,
    unwalked,
    walking_from,
)
from tests.quick import first_is_quick

pytestmark = pytest.mark.django_db
STAGES = ("observe", "rank", "recall", "simplify", "plan", "act", "seconds")
# Without grounded, which asks nobody, what looks up transitions of a train split (agents/test_imagine_retrieval), and
# programs by exemplar sets that people import (live/test_program_agents, conformance/test_synapse_miniwob_prompts).
ON_PAGES = [
    name
    for name, r in RECIPES.items()
    if not r.needs and r.data == "any" and name not in ("grounded", "grounded-world-model", "synapse-miniwob")
]

# Recipes that are walked, of different kinds of stages, memory and judging -> (row, room) of docs/architecture.md that
# each of them enters, and `grounded` does not.
WALKED: dict[str, set[tuple[int, str]]] = {
    "mindact": {(5, "agents/training"), (6, "agents/training"), (6, "agents/weblinx")}
    | {(6, "agents/generators"), (8, "agents/generators"), (8, "agents/llm")},
    "mindact-car": {(6, "agents/llm"), (8, "agents/prompts")},
    "mindact-icl": set(),
    "bare": set(),
    "synapse": {(10, "agents/words")},
    "self-map": {(8, "agents/recipes")},
    "awm-online": {(9, "agents/memory")},
    "mims": set(),
    "wma": {(8, "agents/world_model")},
    "cot": set(),
}


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return tiny_weights(tmp_path_factory.mktemp("weights"))


@pytest.fixture(scope="module")
def stored_dataset(rows_of_the_file: None) -> int:
    """Small pages: two train conversations, one of the test split on a website of its own."""
    dataset = factories.make_dataset()
    for split in (Split.TRAIN, Split.TRAIN, Split.TEST_TASK):
        factories.make_conversation(turns=3, steps=2, split=split, dataset=dataset)
    return dataset.pk


@pytest.fixture
def dataset(stored_dataset: int) -> Dataset:
    return Dataset.objects.get(pk=stored_dataset)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    with serve(reply) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", "test-model")
        monkeypatch.setenv("LLM_API_KEY", "secret")
        yield server


def run(name: str, dataset: Dataset, weights: dict[str, Path], **changes: str) -> Run:
    """The recipe on the test split, with tiny weights where it needs some."""
    recipe = literature.get(name)
    changes = {"batch_size": "4", **changes}
    if recipe.rank.kind == "cross_encoder":
        changes["rank.model"] = str(weights["cross_encoder"])
    if recipe.plan.backend == "local" and recipe.plan.kind != "first":
        changes.setdefault("plan.model", str(weights["seq2seq"]))
        changes["plan.max_new_tokens"] = "4"
    study = running.create_study(
        user=None, dataset=dataset, recipes=[name], splits=[Split.TEST_TASK], overrides=changes, publish=False
    )
    running.run_inline(study)
    return study.runs.get()


@pytest.mark.slow
@first_is_quick("name", ON_PAGES)
def test_every_recipe_runs_and_keeps_the_trace_of_its_stages(name, dataset, weights, endpoint, hash_encoder) -> None:
    make_workflows(dataset)
    result = run(name, dataset, weights)
    assert (result.state, result.error) == (Run.State.DONE, "")
    assert result.steps.count() == result.step_count == 6
    recipe = literature.from_dict(result.recipe)
    for row in result.steps.all():
        assert not row.error, row.error
        stages = [s for s in STAGES if s != "simplify"] if recipe.plan.kind == "first" else [*STAGES, "compose"]
        assert set(stages) <= set(row.trace), name
        assert row.candidate_ids
        assert row.calls >= (recipe.plan.kind != "first")
    assert bool(endpoint.requests) == asks_endpoint(recipe)
    assert result.scores.filter(metric="element_accuracy").exists()
    _check_recall(name, recipe, result)


def _check_recall(name: str, recipe: literature.Recipe, result: Run) -> None:
    rows = list(result.steps.select_related("step__turn"))
    later = [row for row in rows if row.step.turn.index > 0]
    if recipe.recall.memory != "none":
        assert all(row.trace["recall"]["snippets"] for row in later)
        assert not any(row.trace["recall"]["snippets"] for row in rows if row.step.turn.index == 0)
    if recipe.recall.exemplars != "none":
        assert all(len(row.exemplar_ids) == recipe.recall.exemplar_k for row in rows)
    if recipe.recall.workflows != "none" and recipe.recall.induction == "offline":
        assert all(row.workflow_ids for row in rows)
    if recipe.recall.workflow_query == "objective":
        assert all(row.trace["recall"]["objective"].startswith("Given that") for row in rows)
        assert all(row.calls == 2 for row in rows), "predicting the objective counts"
    if recipe.recall.rationales == "model":
        assert Rationale.objects.filter(source="model", model_name="test-model").exists()
    if recipe.recall.rewrite_instruction:
        assert all(row.trace["recall"]["rewritten"] == "Book the cheaper one on Casaverde." for row in later)


@pytest.mark.slow
@pytest.mark.parametrize("name", WALKED)
def test_a_recipe_enters_the_rooms_that_are_told(name, dataset, weights, endpoint, hash_encoder) -> None:
    """Rows 5 to 10 of docs/architecture.md: test_walks.py walks all rows, by the recipe `grounded` alone."""
    make_workflows(dataset)
    assert run(name, dataset, weights).state == Run.State.DONE  # modules are loaded before
    walked: Walked = {}
    with walking_from(walked, 5, BEGINS):
        assert run(name, dataset, weights).state == Run.State.DONE
    assert {(row,) for row in range(5, 11)} <= walked.keys()
    assert once_more(walked, section_of(OBSERVATION)) == []
    assert {(row, room) for row, room in WALKED[name] if unwalked({room}, walked[row,])} == set()


def test_what_grounded_does_not_enter_is_walked_by_others() -> None:
    assert set().union(*WALKED.values()) == BY_OTHER_RECIPES


@pytest.mark.slow
def test_the_gold_element_is_shown_under_its_quirk_only(dataset, weights, endpoint, hash_encoder) -> None:
    def shown(**changes: str) -> list[bool]:
        result = run("bare", dataset, weights, **changes)
        rows = result.steps.prefetch_related("step__targets").exclude(error__gt="")
        return [row.step.targets.first().node_id in row.trace["simplify"]["elements"] for row in rows]

    assert all(shown())
    assert not all(shown(**{"quirks.q18_gold_in_top_k": "false", "simplify.page_elements": "1"}))


@pytest.mark.slow
def test_a_budget_stops_a_study_cleanly_and_raising_it_goes_on(dataset, weights, endpoint, hash_encoder) -> None:
    changes = {"rank.model": str(weights["cross_encoder"]), "batch_size": "2"}
    study = running.create_study(
        user=None,
        dataset=dataset,
        recipes=["bare"],
        splits=[Split.TEST_TASK],
        overrides=changes,
        publish=False,
        budget={"tokens": 600},
    )
    running.run_inline(study)
    stopped = study.runs.get()
    assert stopped.state == Run.State.CANCELLED
    assert "limit of 600 tokens is reached" in stopped.error
    assert f"Raise the budget of study {study.pk}" in stopped.error
    stored, asked = stopped.steps.count(), len(endpoint.requests)
    assert stored < stopped.step_count
    study.refresh_from_db()
    assert study.spent_tokens <= 600
    study.set_budget(tokens=None, cost=None, seconds=None)
    running.resume_study(Study.objects.get(pk=study.pk))
    running.run_inline(study)
    assert study.runs.get().state == Run.State.DONE
    assert len(endpoint.requests) - asked <= stopped.step_count - stored, "what was answered is not asked again"


def test_a_limit_on_time_holds_within_a_batch_and_keeps_what_was_answered(
    dataset, weights, endpoint, hash_encoder
) -> None:
    """Of four steps asked about together, two are answered; the others would take far longer than there is time. The
    command says so as a failure, and counts the steps that were never asked about, too."""
    places = itertools.count()
    endpoint.reply = lambda body: good(reply(body), delay=0 if next(places) < 2 else 60)
    begun = time.monotonic()
    settings = [f"--set=rank.model={weights['cross_encoder']}", "--set=batch_size=4", "--max-seconds=4"]
    with pytest.raises(CommandError, match="limit of 4 seconds is reached"):
        call_command("evaluate", "bare", dataset.name, "--split=test_task", *settings, "--inline", stdout=StringIO())
    stopped = Run.objects.latest("pk")
    assert time.monotonic() - begun < 50
    assert (stopped.state, stopped.steps.count()) == (Run.State.CANCELLED, 2)
    assert re.search(r"Not decided are 4 of 6 steps: turn [^;]*; turn [^;]* and 2 more\.$", stopped.error)


@pytest.mark.slow
def test_a_repeated_study_costs_nothing(dataset, weights, endpoint, hash_encoder) -> None:
    first = run("bare", dataset, weights)
    asked = len(endpoint.requests)
    second = run("bare", dataset, weights)
    assert len(endpoint.requests) == asked
    same = ("seq", "operation", "node_id", "value", "success")
    assert list(first.steps.values_list(*same)) == list(second.steps.values_list(*same))
    assert sum(second.steps.values_list("cost", flat=True)) == 0


@pytest.mark.slow
def test_an_endpoint_that_is_down_ends_the_run_with_the_reason(dataset, weights, monkeypatch, hash_encoder) -> None:
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LLM_MODEL", "test-model")
    monkeypatch.setenv("LLM_ATTEMPTS", "1")
    result = run("bare", dataset, weights)
    assert result.state == Run.State.FAILED
    assert "127.0.0.1:9" in result.error
    assert not TrajectoryStep.objects.filter(run=result).exists()


@pytest.mark.slow
def test_constrained_decoding_only_gives_answers_of_the_expected_form(dataset, weights, hash_encoder) -> None:
    result = run("mindact", dataset, weights, **{"plan.constrained": "true"})
    replies = [r["reply"] for row in result.steps.all() for r in row.trace["plan"]["rounds"]]
    assert replies
    assert all(reply.lstrip()[0] in "ABCDEF" and reply.lstrip()[1] == "." for reply in replies)


@pytest.mark.slow
def test_a_causal_model_plans_too(dataset, weights, hash_encoder) -> None:
    result = run("mindact", dataset, weights, **{"plan.model": str(weights["causal"])})
    assert result.state == Run.State.DONE
    assert all(row.prompt_tokens > 0 for row in result.steps.all() if row.calls)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mims", "has no workflows: manage.py induce_workflows"),
        ("synapse", "has no train split to take exemplars from"),
    ],
)
def test_recipes_say_what_the_dataset_lacks(name, message, dataset, weights, endpoint, hash_encoder) -> None:
    if name == "synapse":
        dataset.conversations.update(split=Split.TEST_TASK)
    with pytest.raises(ValueError, match=message):
        run(name, dataset, weights)
    assert not Run.objects.exists(), "before anything runs"


@pytest.mark.slow
def test_a_step_without_the_screenshot_that_alone_would_be_shown_is_not_asked_about(
    dataset, weights, endpoint, hash_encoder
) -> None:
    with pytest.raises(ValueError, match=r"has no screenshots: choose observe\.observation=text"):
        run("mindact-icl", dataset, weights, **{"observe.observation": "image"})
    train = dataset.conversations.filter(split=Split.TRAIN).first()  # it has one, those that are decided have none
    Step.objects.filter(pk=train.turns.first().steps.first().pk).update(screenshot=factories.make_screenshot())
    result = run("mindact-icl", dataset, weights, **{"observe.observation": "image"})
    said = "the step has no screenshot, and observe.observation=image shows nothing else"
    assert {row.error for row in result.steps.all()} == {said}
    assert endpoint.requests == []


@pytest.mark.slow
def test_a_screenshot_alone_takes_the_room_of_no_page_text(dataset, weights, endpoint, hash_encoder) -> None:
    """Its tokens are not counted against exemplars, and no elements are chosen of it."""
    for step in Step.objects.filter(turn__conversation__dataset=dataset):
        Step.objects.filter(pk=step.pk).update(screenshot=factories.make_screenshot())
    seen = {
        seen_as: [step.trace for step in run("bare", dataset, weights, **{"observe.observation": seen_as}).steps.all()]
        for seen_as in ("text", "image")
    }
    for text, image in zip(seen["text"], seen["image"], strict=True):
        assert text["simplify"]["elements"]
        assert image["simplify"]["elements"] == []
        assert "Observation: `" in text["compose"]["prompt"].rpartition("user: ")[2]
        assert image["compose"]["prompt"].rpartition("user: ")[2].startswith("Task: ")
        assert image["compose"]["tokens"] < text["compose"]["tokens"]
