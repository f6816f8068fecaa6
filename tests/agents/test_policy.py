"""The policy `grounded` as a contract: what goes in, what comes out, and that one bad page stays alone."""

import dataclasses
import json

import numpy as np
import pytest

from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.stages.kind import Parts
from agents.types import STAGES, Decision, Observation, PastAction, Snippet

PAGE = """<html backend_node_id="1"><body backend_node_id="2">
<h1 backend_node_id="3"><text backend_node_id="4">Boat hire</text></h1>
<input backend_node_id="5" type="text" placeholder="Harbour"/>
<select backend_node_id="6" name="boat"><option backend_node_id="7"><text backend_node_id="8">Kayak</text></option>
<option backend_node_id="9"><text backend_node_id="10">Sailing dinghy</text></option></select>
<button backend_node_id="11"><text backend_node_id="12">Reserve</text></button>
<a backend_node_id="13"><text backend_node_id="14">Imprint</text></a></body></html>"""
SNIPPET = Snippet(9, 0, 0, "We want to hire a kayak.", "[link]  Boats -> CLICK", 0.8)


class ListMemory:
    """Gives the same snippets to everybody and remembers what it was asked."""

    def __init__(self, *snippets: Snippet) -> None:
        self.given = list(snippets)
        self.asked: list[tuple[list[Observation], list[np.ndarray], int]] = []

    def snippets(self, observations, queries, k) -> list[list[Snippet]]:
        self.asked.append((observations, queries, k))
        return [self.given[:k] for _ in observations]


def observation(instruction: str = "Reserve it.", html: str = PAGE, **fields) -> Observation:
    fields = {
        "key": 1,
        "conversation": 1,
        "turn_index": 1,
        "step_index": 0,
        "website": "boats",
        "domain": "Leisure",
        "subdomain": "Water",
    } | fields
    return Observation(instruction=instruction, html=html, **fields)


def policy(memory: ListMemory | None = None, **settings: str) -> Pipeline:
    recipe = literature.override(
        literature.get("grounded"), {name.replace("__", "."): v for name, v in settings.items()}
    )
    return Pipeline.of(Parts(recipe, memory=memory or ListMemory(), encoder=CachedEncoder(HashEncoder())))


def decide(*observations: Observation) -> list[Decision]:
    return policy().decide(list(observations))


def facts(decision: Decision) -> dict:
    """A decision without its timings."""
    return dataclasses.asdict(dataclasses.replace(decision, seconds={}))


def test_an_observation_has_one_field_for_what_people_did_at_this_step_and_it_is_named_a_leak() -> None:
    names = {field.name for field in dataclasses.fields(Observation)}
    assert names == {
        "key",
        "conversation",
        "turn_index",
        "step_index",
        "website",
        "domain",
        "subdomain",
        "instruction",
        "html",
        "markup",
        "url",
        "candidate_ids",
        "turn_actions",
        "earlier_instructions",
        "score_key",
        "screenshot",
        "turn_steps",
        "demo",
        "demo_turn",
        "leaked_gold",
    }


def test_decisions_come_in_the_order_of_the_observations() -> None:
    wanted = [observation("Click Reserve."), observation("Show the Imprint."), observation("Reserve")]
    together = decide(*wanted)
    alone = [decide(one)[0] for one in wanted]
    assert [facts(decision) for decision in together] == [facts(decision) for decision in alone]
    assert [decision.actions[0].node_id for decision in together] == ["11", "13", "11"]


def test_nothing_to_decide_gives_no_decisions() -> None:
    assert decide() == []


def test_every_ranked_candidate_is_an_element_of_the_page_once_best_first() -> None:
    ranking = decide(observation())[0].ranking
    assert [candidate.rank for candidate in ranking] == list(range(len(ranking)))
    scores = [candidate.score for candidate in ranking]
    assert scores == sorted(scores, reverse=True)
    ids = [candidate.node_id for candidate in ranking]
    assert len(set(ids)) == len(ids)
    assert {"5", "6", "11", "13"} <= set(ids)


def test_only_offered_candidates_are_ranked_where_a_list_is_given() -> None:
    ranking = decide(observation("Click Reserve.", candidate_ids=("5", "13", "99")))[0].ranking
    assert {candidate.node_id for candidate in ranking} == {"5", "13"}


def test_the_action_is_on_the_best_candidate() -> None:
    for decision in decide(observation("Click Reserve."), observation("Hire a Sailing dinghy")):
        assert len(decision.actions) == 1
        assert decision.actions[0].node_id == decision.ranking[0].node_id


@pytest.mark.parametrize(
    ("html", "message"),
    [
        ("", "no page was recorded"),
        ("<html><body>never closed", "not well-formed"),
        ('<!DOCTYPE html [<!ENTITY a "b">]><html backend_node_id="1"/>', "entities"),
        ('<html backend_node_id="1"><body backend_node_id="2"/></html>', "no element to choose from"),
    ],
)
def test_a_page_that_cannot_be_used_gives_a_decision_without_action_and_leaves_the_others_alone(html, message) -> None:
    good = observation("Click Reserve.")
    first, broken, last = decide(good, observation(html=html), good)
    assert broken.actions == ()
    assert broken.ranking == ()
    assert message in broken.error
    assert facts(first) == facts(last) == facts(decide(good)[0])


def test_the_trace_has_the_stage_words_and_survives_json() -> None:
    memory = ListMemory(SNIPPET)
    decision = policy(memory).decide([observation("Hire a “Kayak”.")])[0]
    for recorded in (decision.trace, decision.seconds):
        assert recorded.keys() <= set(STAGES)
    assert {"observe", "rank", "recall", "plan", "act"} <= decision.trace.keys()
    assert json.loads(json.dumps(decision.trace, allow_nan=False)) == decision.trace
    assert all(seconds >= 0 for seconds in decision.seconds.values())


def test_recalled_snippets_are_part_of_the_decision_and_of_its_trace() -> None:
    memory = ListMemory(SNIPPET)
    decision = policy(memory, recall__k="2").decide([observation()])[0]
    assert decision.memory == (SNIPPET,)
    assert decision.trace["recall"]["snippets"][0]["instruction"] == "We want to hire a kayak."
    assert [k for _, _, k in memory.asked] == [2]


def test_without_memory_nothing_is_asked_for() -> None:
    memory = ListMemory(SNIPPET)
    decision = policy(memory, recall__memory="none").decide([observation()])[0]
    assert memory.asked == []
    assert decision.memory == ()


def test_memory_is_asked_once_for_a_whole_batch_with_a_unit_query_each() -> None:
    memory = ListMemory()
    policy(memory).decide([observation("Click Reserve."), observation("Show the Imprint.")])
    [(observations, queries, _)] = memory.asked
    assert [o.instruction for o in observations] == ["Click Reserve.", "Show the Imprint."]
    assert np.linalg.norm(queries, axis=1) == pytest.approx([1, 1], abs=1e-3)


def test_the_memory_query_holds_the_actions_of_the_turn_so_far() -> None:
    memory = ListMemory()
    past = PastAction("[textbox]  Harbour -> TYPE: Oban", "TYPE", "5", "Oban")
    decision = policy(memory).decide([observation(turn_actions=(past,))])[0]
    expected = "Task: Reserve it.\nActions: [textbox]  Harbour -> TYPE: Oban"
    assert decision.trace["recall"]["query"] == expected
    assert memory.asked[0][1][0] == pytest.approx(HashEncoder().encode([expected])[0], abs=1e-3)


def test_recalled_snippets_move_the_ranking_by_their_weight_only() -> None:
    def scores(weight: str) -> list[float]:
        (decision,) = policy(ListMemory(SNIPPET), recall__weight=weight).decide([observation()])
        return [candidate.score for candidate in decision.ranking]

    assert scores("1.0") != scores("0.0")
    assert scores("0.0") == [c.score for c in policy(recall__memory="none").decide([observation()])[0].ranking]


def test_an_element_acted_on_in_this_turn_falls_behind() -> None:
    past = PastAction("[button]  Reserve -> CLICK", "CLICK", "11")
    fresh, again = decide(observation("Reserve"), observation("Reserve", turn_actions=(past,)))

    def score(decision: Decision) -> float:
        return next(candidate.score for candidate in decision.ranking if candidate.node_id == "11")

    assert score(again) < score(fresh)


def test_texts_that_pages_share_are_encoded_once() -> None:
    encoder = CachedEncoder(HashEncoder())
    several = Pipeline.of(Parts(literature.get("grounded"), memory=ListMemory(), encoder=encoder))
    several.decide([observation("Click Reserve.")])
    before = encoder.encoded
    several.decide([observation("Click Reserve.") for _ in range(5)])
    assert encoder.encoded == before
