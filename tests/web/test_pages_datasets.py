"""Pages of datasets, conversations and steps: what they show, to whom, and at what cost."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations.datasets.records import CandidateRecord
from annotations.models import Conversation, Dataset, Snapshot, Step
from annotations.models.corpus.candidates import pack_candidates
from annotations.models.corpus.pages import compress, digest
from annotations.text.actions import in_words
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


def member_client(dataset: Dataset, role: str = "reader", **fields) -> Client:
    return client_of(factories.make_user(role, dataset.project, **fields))


def first_step(conversation: Conversation) -> Step:
    return Step.objects.filter(turn__conversation=conversation).order_by("turn__index", "index")[0]


def text(response) -> str:
    assert response.status_code == 200
    return response.content.decode()


def test_the_list_shows_counts_and_sizes_of_own_datasets() -> None:
    dataset = factories.make_conversation(turns=2, steps=3).dataset
    factories.make_dataset(name="of-others")
    response = member_client(dataset).get("/datasets/")
    (row,) = response.context["datasets"]
    assert (row.conversation_count, row.turn_count, row.step_count, row.bytes["pages"]) == (1, 2, 6, 6)
    assert "of-others" not in text(response)


def test_the_list_costs_the_same_number_of_queries_for_two_conversations_as_for_one() -> None:
    dataset = factories.make_conversation().dataset
    client = member_client(dataset)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(f"/datasets/{dataset.name}/")
        counts.append(len(queries))
        factories.make_conversation(dataset=dataset)
    assert counts[1] <= counts[0]


def test_an_empty_page_says_what_to_do_next_by_role() -> None:
    project = factories.make_project()
    assert "Import data" in text(client_of(factories.make_user("admin", project)).get("/datasets/"))
    page = text(client_of(factories.make_user("reader", project)).get("/datasets/"))
    assert "Ask an admin" in page
    assert reverse("import") not in page


@pytest.mark.parametrize(
    ("role", "shown"),
    [("admin", {"Import more", "Start export", "Evaluate"}), ("reviewer", {"Start export"}), ("reader", set())],
)
def test_a_dataset_offers_what_the_role_may_do(role: str, shown: set[str]) -> None:
    dataset = factories.make_conversation().dataset
    page = text(member_client(dataset, role).get(f"/datasets/{dataset.name}/"))
    assert {label for label in ("Import more", "Start export", "Evaluate") if label in page} == shown


def test_splits_are_counted() -> None:
    dataset = factories.make_dataset()
    factories.make_conversation(turns=1, steps=2, dataset=dataset)
    factories.make_conversation(turns=3, steps=1, split="test_task", dataset=dataset)
    rows = member_client(dataset).get(f"/datasets/{dataset.name}/").context["splits"]
    found = {row["split"]: (row["conversation_count"], row["turn_count"], row["step_count"]) for row in rows}
    assert found == {"train": (1, 1, 2), "test_task": (1, 3, 3)}


def listed(client: Client, dataset: Dataset, query: str) -> list[str]:
    page = client.get(f"/datasets/{dataset.name}/{query}").context["page"]
    return [row.source_id for row in page]


@pytest.mark.slow
def test_filters_narrow_the_list_and_nonsense_is_ignored() -> None:
    dataset = factories.make_dataset()
    one = factories.make_conversation(dataset=dataset, source_id="one")
    factories.make_conversation(dataset=dataset, source_id="two", split="test_task")
    one.turns.filter(index=1).update(instruction="Also compare 100% cotton.")
    client = member_client(dataset)
    assert listed(client, dataset, "?split=test_task") == ["two"]
    assert listed(client, dataset, f"?website={one.website.name}") == ["one"]
    assert listed(client, dataset, "?q=100%25 COTTON") == ["one"]
    assert listed(client, dataset, "?q=nothing like it") == []
    assert listed(client, dataset, "?split=nonsense&website=%00&page=99") == ["one", "two"]


def test_a_long_list_comes_in_pages_that_keep_the_filter() -> None:
    dataset = factories.make_dataset()
    site = factories.make_website(dataset)
    for _ in range(51):
        factories.make_conversation(turns=0, dataset=dataset, website=site)
    page = text(member_client(dataset).get(f"/datasets/{dataset.name}/?split=train"))
    assert "page 1 of 2" in page
    assert "?split=train&amp;page=2" in page


def test_a_conversation_opens_at_its_first_step() -> None:
    conversation = factories.make_conversation()
    response = member_client(conversation.dataset).get(f"/conversations/{conversation.pk}/")
    assert response.context["step"] == first_step(conversation)


def test_a_conversation_without_steps_can_be_opened() -> None:
    conversation = factories.make_conversation(turns=1, steps=0)
    assert "no steps" in text(member_client(conversation.dataset).get(f"/conversations/{conversation.pk}/"))


def test_a_step_shows_its_action_target_and_marked_page() -> None:
    step = first_step(factories.make_conversation())
    response = member_client(step.turn.conversation.dataset).get(f"/steps/{step.pk}/")
    assert in_words(step.action_repr).replace(">", "&gt;") in text(response)
    assert [row.node_id for row in response.context["candidates"] if row.gold] == ["5"]
    assert response.context["panel"]["frame"]["marks"] == ({"id": "5", "kind": "gold", "label": "gold"},)


@pytest.mark.parametrize(("recorded", "said"), [("say", ""), ("click", ""), ("textInput", "was textInput")])
def test_the_recorded_name_of_an_operation_is_said_where_it_is_another(recorded: str, said: str) -> None:
    operation = {"textInput": "TYPE"}.get(recorded, recorded.upper())
    step = factories.make_step(operation=operation, original_operation=recorded, action_repr=f"{recorded} [a] Book")
    page = text(member_client(step.turn.conversation.dataset).get(f"/steps/{step.pk}/"))
    assert ("was " in page.partition("<dt>Action</dt>")[2].partition("</dd>")[0]) == bool(said)
    assert said in page
    assert f"<span>{operation} Book</span>" in page


def test_keys_lead_to_neighbouring_steps_turns_and_conversations() -> None:
    dataset = factories.make_dataset()
    before, here, after = (factories.make_conversation(turns=2, steps=2, dataset=dataset) for _ in range(3))
    steps = list(Step.objects.filter(turn__conversation=here).order_by("turn__index", "index"))
    links = member_client(dataset).get(f"/steps/{steps[1].pk}/?split=train&tab=raw").context["links"]
    query = "?split=train&tab=raw"
    assert links == {
        "previous_step": f"/steps/{steps[0].pk}/{query}",
        "next_step": f"/steps/{steps[2].pk}/{query}",
        "previous_turn": f"/steps/{steps[0].pk}/{query}",
        "next_turn": f"/steps/{steps[2].pk}/{query}",
        "previous_conversation": f"/conversations/{before.pk}/{query}",
        "next_conversation": f"/conversations/{after.pk}/{query}",
    }


def test_neighbouring_conversations_are_those_of_the_filtered_list() -> None:
    dataset = factories.make_dataset()
    here = factories.make_conversation(dataset=dataset)
    factories.make_conversation(dataset=dataset, split="dev")
    after = factories.make_conversation(dataset=dataset)
    response = member_client(dataset).get(f"/conversations/{here.pk}/?split=train")
    assert [row.pk for row in response.context["listed"]] == [here.pk, after.pk]


@pytest.mark.parametrize("tab", ["page", "tree", "accessibility", "changes", "raw"])
def test_every_view_of_the_page_can_be_opened(tab: str) -> None:
    step = first_step(factories.make_conversation())
    text(member_client(step.turn.conversation.dataset).get(f"/steps/{step.pk}/?tab={tab}"))


@pytest.mark.slow
def test_recorded_text_is_escaped_wherever_it_is_shown() -> None:
    attack = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    conversation = factories.make_conversation(turns=0, source_id=attack)
    turn = factories.make_turn(conversation, steps=0, instruction=attack)
    html = (
        '<html backend_node_id="1"><input backend_node_id="5" aria_label="&lt;script&gt;alert(1)&lt;/script&gt;"/>'
        '<p backend_node_id="7"><text>&lt;script&gt;alert(1)&lt;/script&gt;</text></p></html>'
    )
    step = factories.make_step(turn, html=html, action_repr=attack, value=attack)
    client = member_client(conversation.dataset)
    for tab in ("page", "tree", "accessibility", "changes", "raw"):
        assert "<script>alert" not in text(client.get(f"/steps/{step.pk}/?tab={tab}"))
    assert "<script>alert" not in text(client.get(f"/datasets/{conversation.dataset.name}/"))


def test_a_page_that_cannot_be_parsed_is_told_and_still_readable_as_raw() -> None:
    step = first_step(factories.make_conversation())
    data = b"<html><div></html>"
    broken = Snapshot.objects.create(
        sha256=digest(data), raw_size=len(data), stored_size=1, node_count=2, data=compress(data)
    )
    Step.objects.filter(pk=step.pk).update(snapshot=broken)
    client = member_client(step.turn.conversation.dataset)
    assert "cannot be parsed" in text(client.get(f"/steps/{step.pk}/?tab=tree"))
    assert "&lt;html&gt;&lt;div&gt;" in text(client.get(f"/steps/{step.pk}/?tab=raw"))


def test_a_branch_of_the_tree_comes_by_itself() -> None:
    step = first_step(factories.make_conversation())
    page = text(member_client(step.turn.conversation.dataset).get(f"/steps/{step.pk}/tree/?node=10"))
    assert page.count("<b>li</b>") == 2


@pytest.mark.parametrize("query", ["?node=10&from=-1", "?node=10&from=x", "?node=10&to=x"])
def test_a_branch_with_a_nonsense_range_does_not_exist(query: str) -> None:
    step = first_step(factories.make_conversation())
    client = member_client(step.turn.conversation.dataset)
    assert client.get(f"/steps/{step.pk}/tree/{query}").status_code == 404


def hidden_step() -> Step:
    step = first_step(factories.make_conversation(split="test_task"))
    gold = [CandidateRecord("9", "button")]
    others = [CandidateRecord("5", "input"), CandidateRecord("6", "select")]
    values = {
        "value": "secret shoes",
        "action_repr": "[input] secret -> TYPE",
        "candidates": pack_candidates(gold, others),
    }
    Step.objects.filter(pk=step.pk).update(**values)
    step.targets.update(node_id="9")
    return Step.objects.get(pk=step.pk)


@pytest.mark.slow
def test_hidden_gold_leaves_no_trace_on_any_view_of_the_step() -> None:
    step = hidden_step()
    client = member_client(step.turn.conversation.dataset, "annotator")
    for tab in ("page", "tree", "accessibility", "changes", "raw"):
        response = client.get(f"/steps/{step.pk}/?tab={tab}")
        page = text(response)
        assert "secret" not in page
        assert 'class="tag gold"' not in page
        assert response.context["panel"].get("frame", {}).get("marks", ()) == ()
        # Gold candidates are stored first; in page order the place says nothing.
        assert [row.node_id for row in response.context["candidates"]] == ["5", "6", "9"]


def test_hidden_gold_is_not_marked_in_a_branch_of_the_tree() -> None:
    step = hidden_step()
    client = member_client(step.turn.conversation.dataset, "annotator")
    assert 'class="tag gold"' not in text(client.get(f"/steps/{step.pk}/tree/?node=4"))


def test_gold_of_test_splits_is_shown_to_those_who_may_see_it() -> None:
    step = hidden_step()
    client = member_client(step.turn.conversation.dataset, "annotator", sees_test_gold=True)
    assert "secret shoes" in text(client.get(f"/steps/{step.pk}/"))


def test_pages_of_another_project_do_not_exist() -> None:
    conversation = factories.make_conversation()
    step = first_step(conversation)
    client = client_of(factories.make_user("admin"))
    name = conversation.dataset.name
    for url in (
        f"/datasets/{name}/",
        f"/datasets/{name}/export/",
        f"/conversations/{conversation.pk}/",
        f"/steps/{step.pk}/",
        f"/steps/{step.pk}/tree/?node=1",
    ):
        assert client.get(url).status_code == 404, url
