"""Workflows of the train split and of a run: what is asked, what is kept, and that test data never gets in."""

import pytest

from agents.encoders.embedding import HashEncoder
from agents.llm.chat import ChatLlm, Endpoint
from agents.llm.errors import Unreachable
from agents.memory.build import embed_workflows
from agents.memory.workflows.induce import (
    induce_online,
    induce_sites,
    online_examples,
    prompt_of,
    train_prompt,
)
from agents.models import Run, Trajectory, Workflow
from agents.recipes import literature
from annotations.models import Dataset, Split, Turn
from tests import factories
from tests.agents.llm_server import LlmServer, failure, in_turn, prompt_text, serve

pytestmark = pytest.mark.django_db
ENCODER = HashEncoder()


def block(name: str, purpose: str = "searches") -> str:
    return (
        f"## {name}\nGiven that you are on the home page, this workflow {purpose}.\n"
        "[input]  Search -> TYPE: {what}\n[button]  Search -> CLICK"
    )


ANSWER = f"{block('search')}\n\n{block('sort_by_price', 'sorts')}"


@pytest.fixture
def dataset() -> Dataset:
    """A site with two train conversations of two turns, one of the dev split and one of a test split; and another."""
    dataset = factories.make_dataset()
    shop = factories.make_website(dataset, name="shop", domain="Shopping", subdomain="Fashion")
    for split in ("train", "train", "dev", "test_task"):
        conversation = factories.make_conversation(turns=0, dataset=dataset, website=shop, split=split)
        for index in range(2):
            said = f"{split} task {conversation.position} {index}"
            factories.make_turn(conversation, steps=3, index=index, instruction=said)
    inn = factories.make_website(dataset, name="inn", domain="Travel", subdomain="Hotel")
    factories.make_conversation(dataset=dataset, website=inn)
    return dataset


def client(server: LlmServer, **settings) -> ChatLlm:
    return ChatLlm(Endpoint(server.url, "test-model", attempts=1, **settings))


def induce(dataset: Dataset, answer=ANSWER, websites=("shop",)):
    with serve(in_turn(answer)) as server:
        return induce_sites(dataset, dataset.recorded_websites(Split.TRAIN, websites), client(server), ENCODER), server


def names(**fields) -> list[str]:
    return list(Workflow.objects.filter(**fields).order_by("position").values_list("name", flat=True))


def test_a_site_is_asked_for_once_with_all_tasks_of_its_train_conversations(dataset) -> None:
    (found,), server = induce(dataset)
    (request,) = server.requests
    assert (request["temperature"], request["max_tokens"], len(request["messages"])) == (0.0, 1024, 1)
    asked = prompt_text(request).partition("Website: Shopping,Fashion,shop\n")[2]
    turns = Turn.objects.filter(conversation__website__name="shop", conversation__split="train")
    said = list(turns.order_by("conversation__position", "index").values_list("instruction", flat=True))
    assert len(said) == found.tasks == 4
    assert [line.partition(": ")[2] for line in asked.split("\n") if line.startswith("Query #")] == said
    assert asked.count("[input]  Search -> TYPE: red shoes\n[select]  Search -> SELECT: price\n") == 4


def test_what_the_answer_holds_is_stored_with_its_sources_and_embedding(dataset) -> None:
    (found,), _ = induce(dataset)
    rows = list(Workflow.objects.order_by("position"))
    assert [row.pk for row in rows] == list(found.workflows)
    assert [row.name for row in rows] == ["search", "sort_by_price"]
    first = rows[0]
    assert first.body == "[input]  Search -> TYPE: {what}\n[button]  Search -> CLICK"
    assert (first.website.name, first.origin, first.model_name, first.run) == ("shop", "offline", "test-model", None)
    (vector,) = first.vectors.all()
    assert vector.encoder == first.encoder == ENCODER.name
    expected = ENCODER.encode(["Given that you are on the home page, this workflow searches."])[0]
    assert vector.embedding == pytest.approx(expected.tolist(), abs=1e-3)
    train = dataset.conversations.filter(website__name="shop", split="train")
    assert set(first.sources.all()) == set(train)


def test_conversations_of_other_splits_never_contribute(dataset) -> None:
    _, server = induce(dataset, websites=None)
    asked = "\n".join(prompt_text(request) for request in server.requests)
    assert len(server.requests) == 2
    assert "train task" in asked
    assert "dev task" not in asked
    assert "test_task task" not in asked
    used = dataset.conversations.filter(induced_workflows__isnull=False)
    assert set(used.values_list("split", flat=True)) == {"train"}


def test_a_test_turn_that_gets_into_a_prompt_is_an_assertion_error(dataset) -> None:
    turn = Turn.objects.select_related("conversation__website").filter(conversation__split="test_task").first()
    with pytest.raises(AssertionError, match="train split"):
        train_prompt(turn.conversation.website, [turn])


def test_a_site_without_train_conversations_is_named_in_the_error(dataset) -> None:
    with pytest.raises(ValueError, match="no train conversations of museum, zoo"):
        induce(dataset, websites=["shop", "zoo", "museum"])


def test_asking_again_replaces_what_models_made_and_keeps_the_ids_of_equal_names(dataset) -> None:
    induce(dataset)
    before = Workflow.objects.get(name="search").pk
    other = factories.make_workflow(dataset, website=dataset.websites.get(name="inn"), name="book")
    induce(dataset, f"{block('filter')}\n\n{block('search', 'finds things')}")
    assert names(website__name="shop") == ["filter", "search"]
    again = Workflow.objects.get(name="search")
    assert again.pk == before
    assert "finds things" in again.description
    assert Workflow.objects.filter(pk=other.pk).exists()


def test_what_people_wrote_or_edited_stays(dataset) -> None:
    induce(dataset)
    from django.utils import timezone

    Workflow.objects.filter(name="search").update(body="by hand", edited_at=timezone.now())
    shop = dataset.websites.get(name="shop")
    factories.make_workflow(dataset, website=shop, name="pay", origin="person", position=9)
    induce(dataset, f"{block('search')}\n\n{block('pay')}\n\n{block('filter')}")
    assert set(names(website=shop)) == {"search", "filter", "pay"}
    assert Workflow.objects.get(name="search").body == "by hand"
    assert Workflow.objects.get(name="pay").origin == "person"


def test_a_name_that_comes_twice_is_numbered(dataset) -> None:
    induce(dataset, f"{block('search')}\n\n{block('search', 'searches again')}")
    assert names() == ["search", "search (2)"]


@pytest.mark.parametrize("answer", ["I cannot help with that.", "## too_short\nGiven that.\n[a]  x -> CLICK"])
def test_an_answer_without_workflows_is_an_error_and_changes_nothing(dataset, answer) -> None:
    induce(dataset)
    (found,), _ = induce(dataset, answer)
    assert found.workflows == ()
    assert "holds no workflow, and would hold none again" in found.error
    assert names() == ["search", "sort_by_price"]


def test_a_refusal_is_an_error_of_its_site_and_the_others_go_on(dataset) -> None:
    def reply(body):
        return failure(400, "too long") if "Website: Shopping,Fashion,shop" in prompt_text(body) else block("book")

    with serve(reply) as server:
        found = induce_sites(dataset, dataset.recorded_websites(Split.TRAIN, None), client(server), ENCODER)
    by_site = {item.website: item for item in found}
    assert "too long" in by_site["shop"].error
    assert not by_site["inn"].error
    assert names() == ["book"]


def test_the_abstract_prompt_names_elements_by_what_they_are_for(dataset) -> None:
    shop = dataset.websites.filter(name="shop")
    with serve(in_turn(ANSWER)) as server:
        induce_sites(dataset, list(shop), client(server), ENCODER, "abstract")
    asked = prompt_text(server.requests[0])
    example = asked.partition("# Summary Workflows\n")[2].partition("Website: ")[0]
    assert "{link to the departure airport that fits} -> CLICK" in example
    assert "[link]" not in example
    assert "Where tasks differ" not in asked
    workflow = Workflow.objects.get(name="search")
    assert (workflow.style, prompt_of(workflow)) == ("abstract", asked)
    assert "Where tasks differ" in prompt_text(induce(dataset)[1].requests[0])
    workflow.refresh_from_db()
    assert workflow.style == "concrete"


def test_an_endpoint_that_is_down_is_raised(dataset) -> None:
    with pytest.raises(Unreachable):
        induce(dataset, failure(503))


def test_the_prompt_of_a_workflow_can_be_read_again(dataset) -> None:
    _, server = induce(dataset)
    assert prompt_of(Workflow.objects.get(name="search")) == prompt_text(server.requests[0])
    assert prompt_of(factories.make_workflow(dataset, origin="person")) == ""


def test_the_prompt_of_a_workflow_has_the_words_of_the_pack_that_asked_for_it(dataset) -> None:
    own = factories.make_prompt_pack(dataset.project, workflow_summary="Now the routines of this shop")
    with serve(in_turn(ANSWER)) as server:
        induce_sites(dataset, list(dataset.websites.filter(name="shop")), client(server), ENCODER, pack=own.pack())
    asked = prompt_text(server.requests[0])
    assert "Now the routines of this shop" in asked
    assert prompt_of(Workflow.objects.get(name="search")) == asked


def test_vectors_of_several_encoders_stand_side_by_side(dataset) -> None:
    rows = [factories.make_workflow(dataset, description=text) for text in ("sort by price", "pay")]
    other = HashEncoder(dimensions=24)
    for encoder in (ENCODER, other, ENCODER):
        embed_workflows(rows, encoder)
    stored = {vector.encoder: vector.embedding for vector in rows[0].vectors.all()}
    assert set(stored) == {ENCODER.name, other.name}
    for encoder in (ENCODER, other):
        assert stored[encoder.name] == pytest.approx(encoder.encode(["sort by price"])[0].tolist(), abs=1e-3)
        query = encoder.encode(["pay"])[0]
        assert [row.pk for row in dataset.workflows.nearest(encoder.name, query, 1)] == [rows[1].pk]


@pytest.fixture
def run() -> Run:
    """Four conversations of one turn with two steps on a site, the first two of which are decided."""
    dataset = factories.make_dataset()
    shop = factories.make_website(dataset, name="shop", domain="Shopping", subdomain="Fashion")
    recipe = literature.get("awm-online")
    run = factories.make_run(dataset, recipe=literature.to_dict(recipe), recipe_name=recipe.name, split="test_task")
    for number in (3, 1, 2, 4):  # stored in another order than that of their positions
        made = factories.make_conversation(
            turns=0, split="test_task", dataset=dataset, website=shop, position=number, source_id=f"c{number}"
        )
        factories.make_turn(made, steps=2, instruction=f"Task {number}")
        trajectory = factories.make_trajectory(run, made, stored=2 if number < 3 else 0, step_count=2)
        for step in trajectory.steps.all():
            step.trace = {
                "compose": {"prompt": f"system: You act.\n\nuser: Observation {number}.{step.seq}\nAction:"},
                "plan": {"reply": f"Action: `CLICK [{number}{step.seq}]`"},
            }
            step.save()
    Trajectory.objects.filter(run=run, conversation__position__gt=2).update(state="waiting")
    return run


def induce_run(run: Run, answer=ANSWER):
    with serve(in_turn(answer)) as server:
        return induce_online(run, "shop", client(server)), server


def finish(run: Run, position: int) -> None:
    run.trajectories.filter(conversation__position=position).update(state="done")


def test_a_run_is_asked_about_with_its_own_calls_in_the_order_of_positions(run) -> None:
    found, server = induce_run(run)
    asked = prompt_text(server.requests[0]).partition("Website: Shopping, Fashion, shop\n")[2]
    assert asked.startswith(
        "Query #1: Task 1\nActions and Environments:\n"
        "# Observation 1.0\nAction:\nAction: `CLICK [10]`\n# Observation 1.1\nAction:\nAction: `CLICK [11]`\n\n"
        "Query #2: Task 2\nActions and Environments:\n# Observation 2.0\n"
    )
    assert "Task 3" not in asked
    assert found.tasks == 2
    rows = list(run.workflows.order_by("position"))
    assert [row.name for row in rows] == ["search", "sort_by_price"]
    assert {row.origin for row in rows} == {"online"}
    assert set(rows[0].sources.values_list("source_id", flat=True)) == {"c1", "c2"}
    assert prompt_of(rows[0]) == prompt_text(server.requests[0])


def test_the_recipe_of_a_run_says_how_its_workflows_are_written(run) -> None:
    concrete = prompt_text(induce_run(run)[1].requests[0])
    run.workflows.all().delete()
    run.recipe["recall"]["induction_style"] = "abstract"
    run.save()
    abstract = prompt_text(induce_run(run)[1].requests[0])
    assert concrete != abstract
    assert prompt_of(run.workflows.first()) == abstract


def test_workflows_of_all_past_tasks_replace_those_of_fewer(run) -> None:
    run.trajectories.filter(conversation__position=2).update(state="waiting")
    assert induce_run(run)[0].tasks == 1
    finish(run, 2)
    found, server = induce_run(run, block("filter"))
    assert found.tasks == 2
    assert len(server.requests) == 1
    assert list(run.workflows.values_list("name", flat=True)) == ["filter"]


def test_nothing_is_asked_twice_about_the_same_conversations(run) -> None:
    induce_run(run)
    found, server = induce_run(run)
    assert found is None
    assert server.requests == []


def test_nothing_is_asked_when_fewer_than_two_tasks_are_left_to_use_it(run) -> None:
    finish(run, 3)
    found, server = induce_run(run)
    assert found is None
    assert server.requests == []


def test_nothing_is_asked_before_a_conversation_is_finished(run) -> None:
    run.trajectories.update(state="running")
    found, server = induce_run(run)
    assert found is None
    assert server.requests == []


def test_runs_and_the_train_split_keep_their_workflows_apart(run) -> None:
    factories.make_workflow(run.dataset, website=run.dataset.websites.get(name="shop"), name="search")
    induce_run(run)
    assert Workflow.objects.filter(name="search").count() == 2
    assert Workflow.objects.filter(run=run).count() == 2


def test_steps_without_a_readable_call_are_left_out(run) -> None:
    step = run.steps.order_by("trajectory__conversation__position", "seq").first()
    step.trace = {"compose": {"error": "the page cannot be shown"}}
    step.save()
    trajectories = run.trajectories.order_by("conversation__position")
    examples = online_examples(run, [t.conversation_id for t in trajectories[:2]])
    assert [(task, len(calls)) for task, calls in examples] == [("Task 1", 1), ("Task 2", 2)]
