"""Probes of world models: the next page of two, the action of ten, how much is foretold."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.llm.chat import ChatLlm, Endpoint
from agents.memory.transitions import PastTransitions
from agents.prompts.packs import webnav
from annotations.models import Dataset
from evaluation.probes.measuring import CHANCE, EMBEDDED, Probed, probe
from evaluation.probes.multiple_choice import actions_chosen, pages_chosen
from evaluation.probes.steps import changes, probed_steps
from tests.agents.llm_server import prompt_text, serve
from tests.agents.test_transitions import dataset, page, past

__all__ = ["dataset"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def known(dataset: Dataset) -> PastTransitions:
    found = past(dataset)
    found.prepare()
    return found


def test_the_other_page_is_the_most_similar_next_page_of_the_website_that_differs(known: PastTransitions) -> None:
    steps = probed_steps(known, "test_task", None)
    assert len(steps) == 3
    assert all(step.other_tree and step.other_tree != step.happened.after for step in steps)
    checked = steps[0]
    assert checked.true == {"changed checkbox 'News' checked: true": 1}
    assert checked.other == checked.true + changes(page_tree("yes"), page_tree("yes", "zoe"))


def page_tree(*marks: str) -> str:
    from annotations.dom.accessibility import accessibility_tree
    from annotations.dom.tree import parse

    return accessibility_tree(parse(page(*marks)))


def test_the_action_that_was_taken_stands_among_others_of_its_page(known: PastTransitions) -> None:
    steps = probed_steps(known, "test_task", None)
    for step in steps:
        assert step.actions[step.taken] == step.happened.situation
        nodes = [one.action.node_id for one in step.actions]
        assert sorted(nodes) == ["3", "4", "5"], "every element once"
    again = probed_steps(known, "test_task", None)
    assert [step.taken for step in steps] == [step.taken for step in again], "drawn the same each time"


def test_past_transitions_know_more_than_who_knows_nothing(known: PastTransitions) -> None:
    found = probe(known, "test_task", None)
    assert found.steps == 3
    assert found.pages["retrieval"].share.value == 1.0
    assert found.pages["nothing changes"].share.value < 1.0
    assert found.coverage["retrieval"] == 1.0
    assert found.coverage["nothing changes"] == 0.0
    assert found.actions[CHANCE].share.value == pytest.approx(1 / 3)
    assert found.actions_foreseen[EMBEDDED].share.value >= found.actions[EMBEDDED].share.value


def asked(known: PastTransitions, reply: object) -> Probed:
    with serve(reply) as server:  # type: ignore[arg-type]
        return probe(known, "test_task", None, llm=ChatLlm(Endpoint(server.url, "m")), pack=webnav())


@pytest.mark.slow
def test_a_language_model_that_knows_is_right_and_one_that_says_a_first_is_not(known: PastTransitions) -> None:
    steps = probed_steps(known, "test_task", None)

    def knows(body: dict) -> str:
        text = prompt_text(body)
        step = next(step for step in steps if f"OBSERVATION:\n{step.happened.situation.tree}\n" in text)
        if "PAGE A" not in text:
            return f"Answer: {'ABCDEFGHIJ'[step.taken]}"
        return "I think so.\nAnswer: " + ("A" if step.true_is_first else "B")

    found = asked(known, knows)
    assert (
        found.pages["m"].share.value == found.actions["m"].share.value == found.actions_foreseen["m"].share.value == 1
    )
    unread = asked(known, lambda body: "I do not know A from B.")
    assert (unread.pages["m"].share.value, unread.pages["m"].unread, unread.actions["m"].unread) == (0.0, 3, 3)


def test_what_is_expected_of_each_action_is_told_where_it_is_asked_for(known: PastTransitions) -> None:
    steps = probed_steps(known, "test_task", None)[:1]
    foreseen = [known.world_model().predict(steps[0].actions)]
    with serve(lambda body: "Answer: A") as server:
        llm = ChatLlm(Endpoint(server.url, "m"))
        assert actions_chosen(llm, webnav(), steps) == actions_chosen(llm, webnav(), steps, foreseen) == [0]
        assert pages_chosen(llm, webnav(), steps) == [0]
        without, told, pages = map(prompt_text, server.requests)
    assert "expected:" not in without
    assert told.count("expected:") == 3
    assert "expected: changed checkbox 'News' checked: true" in told
    assert "PAGE B:\n[1] RootWebArea" in pages


@pytest.mark.slow
def test_the_command_prints_each_probe_with_its_interval(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    from evaluation.management.commands import probe_world_model

    monkeypatch.setattr(probe_world_model, "encoder_named", lambda name: CachedEncoder(HashEncoder()))
    out = StringIO()
    call_command("probe_world_model", dataset.name, "--split", "test_task", "--json", stdout=out)
    (found,) = json.loads(out.getvalue())
    assert found["pages"]["retrieval"] == {
        "value": 1.0,
        "low": pytest.approx(0.438, abs=1e-3),
        "high": 1.0,
        "n": 3,
        "unread": 0,
    }
    said = StringIO()
    call_command("probe_world_model", dataset.name, "--split", "test_task", stdout=said)
    assert "the next page of two" in said.getvalue()
    assert f"    {'retrieval':30}1.000 [0.439, 1.000] of 3\n" in said.getvalue()
