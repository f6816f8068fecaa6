"""Memory: what may be recalled, in which order, and how its shared pools are searched."""

import hashlib
import random
from copy import copy

import numpy as np
import pytest
from django.db import IntegrityError, connection, transaction

from agents.encoders.embedding import HashEncoder, load_encoder
from agents.memory.build import SnippetForm, build_exemplars, build_snippets
from agents.memory.retrieve import ConversationMemory, DatasetMemory
from agents.models import Exemplar, MemorySnippet, Workflow, WorkflowVector
from agents.models.memory import ExemplarQuerySet
from agents.types import Observation, Snippet
from agents.words.memory_text import memory_text
from annotations.models import Conversation, Dataset, Step
from tests import factories
from tests.tiny_models import tiny_encoder

ENCODER = HashEncoder()


def observation(conversation: Conversation, turn_index: int) -> Observation:
    return Observation(
        key=0,
        conversation=conversation.pk,
        turn_index=turn_index,
        step_index=0,
        website="",
        domain="",
        subdomain="",
        instruction="",
        html="",
    )


def recall(conversation: Conversation, turn_index: int, query: np.ndarray, k: int = 3) -> list[Snippet]:
    return ConversationMemory(ENCODER.name).snippets([observation(conversation, turn_index)], [query], k)[0]


def random_unit(generator: np.random.Generator, count: int, dimensions: int = 384) -> np.ndarray:
    vectors = generator.normal(size=(count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def conversation(db) -> Conversation:
    """Four turns with three steps each, and another conversation beside it; both with snippets."""
    conversation = factories.make_conversation(turns=4, steps=3)
    other = factories.make_conversation(turns=4, steps=3, dataset=conversation.dataset)
    build_snippets([conversation.pk, other.pk], ENCODER)
    return conversation


# Snippets


@pytest.mark.parametrize("turn_index", [0, 1, 3])
def test_only_earlier_turns_of_the_same_conversation_are_recalled(conversation, turn_index) -> None:
    query = ENCODER.encode(["Please do part 3 of the task."])[0]
    found = recall(conversation, turn_index, query, k=100)
    earlier = Step.objects.filter(turn__conversation=conversation, turn__index__lt=turn_index)
    assert {snippet.step for snippet in found} == set(earlier.values_list("pk", flat=True))
    assert len(found) == 3 * turn_index


def test_recall_equals_brute_force_in_order_and_similarity(conversation) -> None:
    generator = np.random.default_rng(7)
    rows = list(MemorySnippet.objects.filter(conversation=conversation).select_related("step__turn"))
    vectors = random_unit(generator, len(rows))
    for row, vector in zip(rows, vectors, strict=True):
        MemorySnippet.objects.filter(pk=row.pk).update(embedding=vector)
    for query in random_unit(generator, 5):
        allowed = [i for i, row in enumerate(rows) if row.step.turn.index < 3]
        nearest = sorted(allowed, key=lambda i: -float(vectors[i] @ query))[:4]
        found = recall(conversation, 3, query, k=4)
        assert [snippet.step for snippet in found] == [rows[i].step_id for i in nearest]
        assert [snippet.similarity for snippet in found] == pytest.approx(
            [float(vectors[i] @ query) for i in nearest], abs=1e-5
        )


def test_of_equally_similar_snippets_the_later_step_comes_first(conversation) -> None:
    MemorySnippet.objects.update(embedding=factories.unit_vector())
    found = recall(conversation, 3, np.array(factories.unit_vector(), dtype=np.float32), k=4)
    assert [(snippet.turn_index, snippet.step_index) for snippet in found] == [(2, 2), (2, 1), (2, 0), (1, 2)]


def test_a_batch_recalls_for_each_observation_what_it_recalls_alone(conversation) -> None:
    other = conversation.dataset.conversations.exclude(pk=conversation.pk).get()
    queries = list(ENCODER.encode(["TYPE: red shoes", "Search -> CLICK", "part 2"]))
    observations = [observation(conversation, 3), observation(other, 2), observation(conversation, 0)]
    memory = ConversationMemory(ENCODER.name)
    together = memory.snippets(observations, queries, 3)
    alone = [memory.snippets([o], [q], 3)[0] for o, q in zip(observations, queries, strict=True)]
    assert together == alone
    assert [len(found) for found in together] == [3, 3, 0]


def test_snippets_of_another_encoder_are_not_recalled(conversation) -> None:
    query = ENCODER.encode(["Search"])[0]
    assert ConversationMemory("another").snippets([observation(conversation, 3)], [query], 3) == [[]]


def test_a_snippet_tells_the_instruction_and_the_action_of_its_step(conversation) -> None:
    step = Step.objects.get(turn__conversation=conversation, turn__index=1, index=0)
    query = ENCODER.encode([memory_text(step.turn.instruction, [step.action_repr])])[0]
    first = recall(conversation, 2, query, k=1)[0]
    assert (first.step, first.turn_index, first.step_index) == (step.pk, 1, 0)
    assert (first.instruction, first.action) == (step.turn.instruction, "[input]  Search -> TYPE: red shoes")
    assert first.similarity == pytest.approx(1.0, abs=1e-5)


def test_the_text_of_a_snippet_is_the_task_and_its_action() -> None:
    assert memory_text("Find shoes.", ["a", "b"]) == "Task: Find shoes.\nActions: a; b"
    assert memory_text("Find shoes.", []) == "Task: Find shoes.\nActions: "


def test_building_snippets_again_adds_only_what_is_missing(conversation) -> None:
    assert MemorySnippet.objects.count() == 24
    assert build_snippets([conversation.pk], ENCODER) == 0
    MemorySnippet.objects.filter(step__turn__conversation=conversation, step__turn__index=2).delete()
    assert build_snippets([conversation.pk], ENCODER) == 3
    assert MemorySnippet.objects.count() == 24
    assert build_snippets([conversation.pk], HashEncoder(dimensions=384)) == 0, "the same encoder by name"


def test_the_models_own_query_for_earlier_snippets_agrees(conversation) -> None:
    turn = conversation.turns.get(index=2)
    own = MemorySnippet.objects.filter(encoder=ENCODER.name).before(turn)
    found = recall(conversation, 2, ENCODER.encode(["x"])[0], k=100)
    assert {snippet.step for snippet in found} == set(own.values_list("step_id", flat=True))


# Exemplars


@pytest.mark.django_db
@pytest.mark.parametrize("split", ["dev", "test_task", "test_website"])
def test_the_database_refuses_exemplars_that_are_not_from_train(split) -> None:
    with pytest.raises(IntegrityError, match="exemplar_from_train_only"), transaction.atomic():
        factories.make_exemplar(split=split)


@pytest.fixture(scope="module")
def stored_pool(rows_of_the_file: None) -> tuple[list[Exemplar], np.ndarray]:
    """600 exemplars of one dataset; the last four are of the domain "Rare" and point away from the others."""
    dataset = factories.make_dataset()
    website = factories.make_website(dataset)
    conversations = Conversation.objects.bulk_create(
        Conversation(
            dataset=dataset,
            website=website,
            split="train",
            source_id=f"c{i}",
            position=i,
            content_sha256=hashlib.sha256(b"%d" % i).hexdigest(),
        )
        for i in range(600)
    )
    vectors = random_unit(np.random.default_rng(3), 600)
    vectors[:596, 0], vectors[596:, 0] = 2.0, -2.0
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    Exemplar.objects.open_for("test", 384)
    exemplars = Exemplar.objects.bulk_create(
        Exemplar(
            dataset=dataset,
            conversation=conversation,
            split="train",
            domain="Rare" if i >= 596 else "Common",
            encoder="test",
            key_text=str(i),
            embedding=vector,
        )
        for i, (conversation, vector) in enumerate(zip(conversations, vectors, strict=True))
    )
    return exemplars, vectors


@pytest.fixture
def pool(stored_pool: tuple[list[Exemplar], np.ndarray], db: None) -> tuple[list[Exemplar], np.ndarray]:
    exemplars, vectors = stored_pool
    return [copy(exemplar) for exemplar in exemplars], vectors


@pytest.fixture
def through_the_index(pool) -> None:
    """The planner would sort so small a table; a large one goes through HNSW."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_sort = off")
        assert "exemplar_hnsw" in Exemplar.objects.filter(encoder="test").by_distance(pool[1][0])[:3].explain()


def rare(dataset: Dataset) -> ExemplarQuerySet:
    return dataset.exemplars.filter(encoder="test", domain="Rare")


def test_the_nearest_exemplars_equal_brute_force(pool) -> None:
    exemplars, vectors = pool
    for query in vectors[[5, 100, 599]]:
        expected = np.argsort(-(vectors @ query))[:5]
        found = exemplars[0].dataset.exemplars.filter(encoder="test").nearest(query, 5)
        assert [row.pk for row in found] == [exemplars[i].pk for i in expected]
        assert [row.distance for row in found] == sorted(row.distance for row in found)


def test_a_rare_domain_far_from_the_query_still_gives_k_exemplars(pool, through_the_index) -> None:
    exemplars, vectors = pool
    query = vectors[0]
    found = rare(exemplars[0].dataset).nearest(query, 4, ef_search=10)
    expected = 596 + np.argsort(-(vectors[596:] @ query))
    assert [row.pk for row in found] == [exemplars[i].pk for i in expected]


def test_a_domain_rarer_than_what_the_index_scans_is_searched_exactly(pool, through_the_index) -> None:
    exemplars, vectors = pool
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL hnsw.max_scan_tuples = 50")
    found = rare(exemplars[0].dataset).nearest(vectors[0], 4, ef_search=10)
    assert {row.pk for row in found} == {exemplar.pk for exemplar in exemplars[596:]}


def test_exemplars_of_other_datasets_and_encoders_are_not_found(pool) -> None:
    exemplars, vectors = pool
    own = exemplars[0].dataset.exemplars
    assert own.filter(encoder="another").nearest(vectors[0], 3) == []
    assert factories.make_dataset().exemplars.filter(encoder="test").nearest(vectors[0], 3) == []
    assert len(own.filter(encoder="test").nearest(vectors[0], 2000)) == 600


def test_exemplars_and_workflows_tell_their_l2_distance(pool) -> None:
    exemplars, vectors = pool
    dataset = exemplars[0].dataset
    site = exemplars[0].conversation.website
    workflow = Workflow.objects.create(dataset=dataset, website=site, name="w")
    WorkflowVector.objects.put("test", [(workflow, vectors[7])])
    encoder = HashEncoder()
    encoder.name = "test"
    memory = DatasetMemory(dataset, encoder, SnippetForm())
    seen = observation(factories.make_conversation(), 0)
    distances = np.linalg.norm(vectors - vectors[5], axis=1)
    shown = memory.exemplars(seen, vectors[5], 3)
    assert [e.distance for e in shown] == pytest.approx(np.sort(distances)[:3].tolist(), abs=0.01), (
        "stored in half precision"
    )
    (found,) = memory.workflows(seen, vectors[5], 1)
    assert (found.key, found.distance) == (workflow.pk, pytest.approx(distances[7], abs=1e-3))


def test_workflows_are_embedded_by_an_encoder_that_has_not_seen_them(conversation) -> None:
    (workflow,) = [Workflow.objects.create(dataset=conversation.dataset, name="a", description="b", body="c")]
    for encoder in (HashEncoder(64), ENCODER):
        memory = DatasetMemory(conversation.dataset, encoder, SnippetForm())
        memory.prepare_workflows(embedded=True)
        (found,) = memory.workflows(observation(conversation, 0), encoder.encode(["b"])[0], 1)
        assert found.key == workflow.pk
    assert WorkflowVector.objects.filter(workflow=workflow).count() == 2
    memory.prepare_workflows(embedded=True)
    assert WorkflowVector.objects.filter(workflow=workflow).count() == 2


def test_exemplars_are_found_by_their_metadata_or_by_their_task_alone(db) -> None:
    conversation = factories.make_conversation(turns=2, split="train")
    dataset, seen = conversation.dataset, observation(conversation, 0)
    texts = {}
    for key in ("metadata", "task"):
        memory = DatasetMemory(dataset, ENCODER, SnippetForm(), exemplar_key=key)
        assert build_exemplars(dataset, ENCODER, key=key) == 2
        shown = memory.exemplars(seen, ENCODER.encode(["any"])[0], 2)
        texts[key] = set(dataset.exemplars.filter(pk__in=[e.key for e in shown]).values_list("key_text", flat=True))
    assert texts["task"] == set(conversation.turns.values_list("instruction", flat=True))
    assert all(text.startswith("Website: ") and text.count("\n") == 3 for text in texts["metadata"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 3])
def test_what_all_tasks_share_is_drawn_as_published_whenever_it_was_embedded(db, seed) -> None:
    """Of the train tasks in the order of their files: random.seed(0); random.sample(tasks, 3)."""
    dataset = factories.make_dataset()
    tasks = [factories.make_conversation(dataset=dataset, turns=1, split="train") for _ in range(30)]
    memory = DatasetMemory(dataset, ENCODER, SnippetForm(), seed)
    build_exemplars(dataset, ENCODER)
    again = dataset.exemplars.earliest("pk")  # one that came last, as after a kill
    again.delete()
    build_exemplars(dataset, ENCODER)
    for asking in (tasks[0], factories.make_conversation(dataset=dataset, split="test_task")):
        shown = memory.exemplars(observation(asking, 0), None, 3, fixed=True)
        names = [exemplar.source_id for exemplar in shown]
        assert names == [task.source_id for task in random.Random(seed).sample(tasks, 3)]


# Several encoders


NAMES = {'it\'s "48"': 48, "x" * 200: 768, "ada-002": 1536, "3-large": 3072}


@pytest.mark.slow
def test_each_encoder_is_searched_through_its_own_index(pool, through_the_index) -> None:
    """Vectors of any length lie beside each other; the planner takes the index of the encoder that is asked."""
    rows = pool[0][:40]
    vectors = {name: random_unit(np.random.default_rng(4), 40, size) for name, size in NAMES.items()}
    for name, size in NAMES.items():
        Exemplar.objects.open_for(name, size)
        for row, vector in zip(rows, vectors[name], strict=True):
            row.pk, row.encoder, row.embedding = None, name, vector
        Exemplar.objects.bulk_create(rows)
    unlike_others = "; ".join(f"SET LOCAL enable_{how} = off" for how in ("seqscan", "bitmapscan", "sort"))
    for name, known in vectors.items():
        own = rows[0].dataset.exemplars.filter(encoder=name)
        with connection.cursor() as cursor:  # again, as an exact search settles it for the rest of the transaction
            cursor.execute(f"{unlike_others}; SET LOCAL enable_indexscan = on")
        plan = own.by_distance(known[3])[:3].explain()
        assert f"Index Scan using {ExemplarQuerySet.INDEX.named(name)} " in plan
        nearest = [rows[i].conversation_id for i in np.argsort(-(known @ known[3]))[:5]]
        assert [row.conversation_id for row in own.nearest(known[3], 5)] == nearest


def test_an_index_is_made_once(db) -> None:
    for _ in range(2):
        Exemplar.objects.open_for("a", 8)
    Exemplar.objects.open_for("b", 5000)  # more than an index can hold: it is searched exactly
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'agents_exemplar' AND indexname ~ 'hnsw'")
        names = [name for (name,) in cursor.fetchall()]  # those of encoders that other tests have used stay
    assert names.count(ExemplarQuerySet.INDEX.named("a")) == 1
    assert ExemplarQuerySet.INDEX.named("b") not in names


@pytest.mark.slow
def test_a_random_bert_of_768_dimensions_serves_as_memory_encoder(conversation, tmp_path) -> None:
    """As `thenlper/gte-base`, which has as many. Its snippets stand beside those of the other encoder."""
    texts = list(MemorySnippet.objects.values_list("text", flat=True))
    encoder = load_encoder(str(tiny_encoder(tmp_path / "bert", texts, width=768)))
    assert build_snippets([conversation.pk], encoder) == 12
    query = encoder.encode([texts[0]])
    (found,) = ConversationMemory(encoder.name).snippets([observation(conversation, 3)], list(query), 2)
    assert found[0].similarity == pytest.approx(1.0, abs=1e-3)
    assert len(recall(conversation, 3, ENCODER.encode([texts[0]])[0])) == 3
