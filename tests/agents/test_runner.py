"""What a policy is given at each recorded step, and what is kept of its decision."""

from contextlib import nullcontext

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.memory import encoding
from agents.memory.build import build_snippets
from agents.models import Run, Trajectory, TrajectoryStep
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.runs import building, events, runner
from agents.types import Decision, Observation
from annotations.datasets.records import CandidateRecord
from annotations.models import Conversation, Step
from annotations.models.corpus.candidates import pack_candidates
from evaluation.scores.judging import Judgement
from tests import factories

WRONG = Judgement(False, 0.0, False, None)


@pytest.fixture
def seen(monkeypatch) -> list[Observation]:
    """Every observation that was decided, in order."""
    observations: list[Observation] = []

    decide = Pipeline.decide

    def recording(self: Pipeline, batch: list[Observation]) -> list[Decision]:
        observations.extend(batch)
        return decide(self, batch)

    encoder = CachedEncoder(HashEncoder())
    monkeypatch.setattr(Pipeline, "decide", recording)
    monkeypatch.setattr(encoding, "encoder_named", lambda name: encoder)
    return observations


@pytest.fixture
def conversation(db) -> Conversation:
    return factories.make_conversation(turns=3, steps=3)


def run_over(conversation: Conversation) -> Run:
    recipe = literature.to_dict(literature.override(literature.get("grounded"), {"batch_size": "4"}))
    run = factories.make_run(conversation.dataset, recipe=recipe, step_count=9)
    Trajectory.objects.create(run=run, conversation=conversation, step_count=9)
    runner.run_conversations(run, [conversation.pk], lambda decision, step: WRONG, nullcontext)
    return run


def gold(conversation: Conversation) -> list[Step]:
    return list(Step.objects.filter(turn__conversation=conversation).order_by("turn__index", "index"))


@pytest.mark.slow
def test_every_step_is_observed_once_in_order_with_its_own_page(conversation, seen) -> None:
    run_over(conversation)
    steps = gold(conversation)
    assert [observation.key for observation in seen] == [step.pk for step in steps]
    for observation, step in zip(seen, steps, strict=True):
        assert observation.html == step.snapshot.html
        assert observation.instruction == step.turn.instruction
        assert (observation.turn_index, observation.step_index) == (step.turn.index, step.index)
        assert observation.website == conversation.website.name


def test_only_earlier_turns_and_earlier_actions_of_the_turn_are_told(conversation, seen) -> None:
    run_over(conversation)
    instructions = [turn.instruction for turn in conversation.turns.order_by("index")]
    for observation in seen:
        assert list(observation.earlier_instructions) == instructions[: observation.turn_index]
        expected = [("TYPE", "5", "red shoes"), ("SELECT", "6", "price"), ("CLICK", "9", "")]
        told = [(past.operation, past.node_id, past.value) for past in observation.turn_actions]
        assert told == expected[: observation.step_index]


@pytest.mark.slow
def test_an_observation_does_not_depend_on_the_gold_of_its_step_or_of_later_ones(conversation, seen) -> None:
    run_over(conversation)
    before = list(seen)
    seen.clear()
    TrajectoryStep.objects.all().delete()
    changed = gold(conversation)[4:]  # from the middle of the second turn on
    for step in changed:
        step.targets.update(node_id="12")
        candidates = ("5", "6", "9", "12", "14")
        negatives = [CandidateRecord(node_id, "x") for node_id in candidates if node_id != "12"]
        step.candidates = pack_candidates([CandidateRecord("12", "a")], negatives)
        step.operation, step.value, step.action_repr = "CLICK", "", "[link]  First -> CLICK"
        step.save()
    run_over(conversation)
    assert before[:5] == seen[:5], "the changed step itself is seen as before"
    assert before[5] != seen[5], "its successor in the turn is told what was done"
    assert before[6] == seen[6], "a new turn knows no actions of the one before but through memory"


def test_steps_of_the_turn_under_way_are_never_recalled(conversation, seen) -> None:
    run = run_over(conversation)
    for row in run.steps.select_related("step__turn"):
        recalled = [snippet["turn_index"] for snippet in row.trace["recall"]["snippets"]]
        assert all(index < row.step.turn.index for index in recalled)
        assert len(recalled) == min(3, 3 * row.step.turn.index)


def test_what_was_decided_is_kept_with_its_ranking_and_trace(conversation, seen) -> None:
    run = run_over(conversation)
    for row in run.steps.all():
        assert row.operation in {"CLICK", "TYPE", "SELECT"}
        assert row.node_id == row.candidate_ids[0]
        assert set(row.candidate_ids) == {"5", "6", "9", "12", "14"}
        assert row.candidate_scores == sorted(row.candidate_scores, reverse=True)
        assert row.milliseconds > 0
        assert set(row.trace["seconds"]) == {"observe", "recall", "rank", "plan", "act"}


def run_of(name: str, **changes: str) -> Run:
    return Run(recipe=literature.to_dict(literature.override(literature.get(name), changes)))


@pytest.mark.django_db
def test_viewers_hear_how_much_is_stored_and_no_batch_counts_the_rows_of_the_run(
    conversation, seen, monkeypatch
) -> None:
    told: list[tuple[str, int]] = []
    monkeypatch.setattr(events, "publish", lambda group, seq, state: told.append((group, seq)))
    with CaptureQueriesContext(connection) as asked:
        run = run_over(conversation)
    assert [seq for group, seq in told if group == events.run_group(run.pk)] == [4, 8, 9]
    counts = [query["sql"] for query in asked if 'COUNT(*) AS "__count" FROM "agents_trajectorystep"' in query["sql"]]
    assert [sql for sql in counts if '"run_id"' in sql] == []
    assert counts, "of one conversation they are counted: this is how it would look"


@pytest.mark.django_db
def test_a_recipe_that_lacks_something_is_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match=r"synapse-miniwob cannot run: it needs recall\.exemplar_k of at least 1"):
        building.build_pipeline(run_of("synapse-miniwob", **{"recall.exemplar_k": "0"}))


@pytest.mark.django_db
def test_weights_of_other_dimensions_under_the_same_name_are_refused() -> None:
    conversation = factories.make_conversation(turns=2)
    build_snippets([conversation.pk], HashEncoder())
    other = HashEncoder(dimensions=768)
    other.name = HashEncoder().name
    with pytest.raises(ValueError, match="gives 768 dimensions, and what is stored under its name has 384"):
        build_snippets([conversation.pk], other)
