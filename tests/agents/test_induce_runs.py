"""Workflows in runs, from end to end: induced online as the run goes, or offline before it, and shown to its steps."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.llm.chat import from_environment
from agents.memory import encoding
from agents.memory.workflows.induce import induce_sites
from agents.models import Run, Trajectory, Workflow
from agents.recipes import literature
from agents.runs import runner
from annotations.models import Conversation, Dataset, Split
from evaluation.scores.judging import Judgement
from tests import factories
from tests.agents.llm_server import LlmServer, prompt_text, serve
from tests.tiny_models import tiny_cross_encoder

pytestmark = pytest.mark.django_db
ENCODER = CachedEncoder(HashEncoder())
INDUCTION = "Below are tasks"


def reply(body) -> str:
    text = prompt_text(body)
    if INDUCTION in text:
        tasks = text.count("Query #") - 4  # of the prompt's example
        return (
            f"## after_{tasks}_tasks\nGiven that you are on the home page, this workflow searches.\n"
            "[input]  Search -> TYPE: {what}\n[button]  Search -> CLICK"
        )
    return "Objective: Given that you are on the home page, search." if "You guide" in text else "`CLICK [9]`"


@pytest.fixture
def server(monkeypatch) -> Iterator[LlmServer]:
    with serve(reply) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", "test-model")
        yield server


@pytest.fixture(scope="module")
def ranker(tmp_path_factory) -> Path:
    return tiny_cross_encoder(tmp_path_factory.mktemp("ranker"), ["search input button"], width=16, layers=1)


@pytest.fixture
def dataset(monkeypatch) -> Dataset:
    """A train conversation and four of a test split on the same site, of one turn with two steps each."""
    monkeypatch.setattr(encoding, "encoder_named", lambda name: ENCODER)
    dataset = factories.make_dataset()
    shop = factories.make_website(dataset, name="shop")
    for number, split in enumerate(["train", *["test_task"] * 4]):
        conversation = factories.make_conversation(
            turns=0, split=split, dataset=dataset, website=shop, position=number, source_id=f"c{number}"
        )
        factories.make_turn(conversation, steps=2, instruction=f"Task {number} please")
    return dataset


def conversations(dataset: Dataset) -> list[Conversation]:
    return list(dataset.conversations.filter(split="test_task").order_by("position"))


def make_run(dataset: Dataset, name: str, ranker: Path, **changes: str) -> Run:
    recipe = literature.override(literature.get(name), {"rank.model": str(ranker), **changes})
    run = factories.make_run(dataset, recipe=literature.to_dict(recipe), recipe_name=name, split="test_task")
    for conversation in conversations(dataset):
        Trajectory.objects.create(run=run, conversation=conversation, step_count=2)
    return run


def work(run: Run, chosen: list[Conversation]) -> None:
    wrong = Judgement(False, 0.0, False, None)
    runner.run_conversations(run, [c.pk for c in chosen], lambda *_: wrong, nullcontext, llm=from_environment())


def inductions(server: LlmServer) -> list[str]:
    asked = [prompt_text(body) for body in server.requests]
    return [text.rpartition("\nWebsite: ")[2] for text in asked if INDUCTION in text]


def shown(run: Run) -> list[list[int]]:
    """Ids of the workflows that the steps were shown, by conversation; all steps of one were shown the same."""
    rows = run.steps.order_by("trajectory__conversation__position", "seq").values_list(
        "trajectory__conversation__position", "workflow_ids"
    )
    return [next(ids for at, ids in rows if at == place) for place in sorted({place for place, _ in rows})]


@pytest.mark.slow
def test_a_run_induces_from_what_it_did_before_and_shows_it_to_later_conversations(dataset, server, ranker) -> None:
    run = make_run(dataset, "awm-online", ranker)
    work(run, conversations(dataset))
    first, second = inductions(server)
    assert "Task 1" in first
    assert "Task 2" not in first
    assert "Query #1: Task 1 please" in second
    assert "Query #2: Task 2 please" in second
    assert "Task 3" not in second
    kept = Workflow.objects.get(run=run)
    assert kept.name == "after_2_tasks"
    by_conversation = shown(run)
    assert by_conversation[0] == [], "nothing was done before the first"
    assert len(by_conversation[1]) == 1
    assert by_conversation[2] == by_conversation[3] == [kept.pk]
    assert "after_1_tasks" in run.steps.get(trajectory__conversation__source_id="c2", seq=0).trace["compose"]["prompt"]


@pytest.mark.slow
def test_a_resumed_run_goes_on_as_if_it_had_not_stopped(dataset, server, ranker) -> None:
    run, chosen = make_run(dataset, "awm-online", ranker), conversations(dataset)
    work(run, chosen[:2])
    work(run, chosen)
    assert len(inductions(server)) == 2
    assert [len(ids) for ids in shown(run)] == [0, 1, 1, 1]


@pytest.mark.slow
def test_in_small_batches_nothing_is_induced_in_the_middle_of_a_conversation(dataset, server, ranker) -> None:
    run = make_run(dataset, "awm-online", ranker, batch_size="1")
    work(run, conversations(dataset))
    assert len(inductions(server)) == 2


@pytest.mark.slow
def test_runs_are_shown_workflows_of_the_train_split_by_their_objective(dataset, server, ranker) -> None:
    (found,) = induce_sites(dataset, dataset.recorded_websites(Split.TRAIN, None), from_environment(), ENCODER)
    run = make_run(dataset, "mims", ranker)
    work(run, conversations(dataset))
    assert shown(run) == [list(found.workflows)] * 4
    assert all("Task 0" in text and "Task 1" not in text for text in inductions(server))
