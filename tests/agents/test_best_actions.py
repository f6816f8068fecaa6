"""What `grounded` tells beside the action it takes: its best ones, once each, with the probability it gives them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from agents.cookbook import checking
from agents.encoders.embedding import CachedEncoder, HashEncoder
from agents.learned.settings import Settings
from agents.llm.chat import ChatLlm, Endpoint
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.stages.kind import CannotRun, Parts
from agents.stages.state import StepState
from tests.agents.learned_world import learn, make_examples
from tests.agents.llm_server import prompt_text, serve
from tests.agents.test_policy import ListMemory, observation

GROUNDED = literature.get("grounded")


def planned(recipe: Recipe, asked: object | None = None) -> StepState:
    """What stands at the state of one step behind the stage `plan`."""
    pipeline = Pipeline.of(Parts(recipe, memory=ListMemory(), encoder=CachedEncoder(HashEncoder())), ("rank", "plan"))
    state = StepState.of(asked or observation("Type “Oban” as the harbour and reserve it."), 0)  # type: ignore[arg-type]
    for stage in ("rank", "plan"):
        for kind in pipeline.stages[stage]:
            kind.run([state])
    return state


def telling(count: int = 3, temperature: str = "0.5", **more: str) -> Recipe:
    changes = {"plan.samples": str(count), "plan.temperature": temperature}
    return literature.override(GROUNDED, changes | {name.replace("__", "."): value for name, value in more.items()})


def test_the_best_elements_are_told_each_with_its_own_action() -> None:
    state = planned(telling(3))
    assert [action.node_id for action in state.drawn if action] == state.best_ids(3)
    assert len(set(state.drawn)) == 3
    assert state.drawn[0] == state.action == planned(GROUNDED).action, "what it takes is what it takes alone"
    operations = {action.operation for action in planned(telling(6)).drawn if action}
    assert operations >= {"TYPE", "CLICK"}


def test_the_shares_are_the_softmax_of_all_scores_of_the_page() -> None:
    state = planned(telling(3, "0.5"))
    scores = np.array([candidate.score for candidate in state.ranking])
    whole = np.exp(scores / 0.5) / np.exp(scores / 0.5).sum()
    assert len(scores) > 3
    assert state.shares == pytest.approx(whole[:3])
    assert sum(state.shares) < 1, "what the rest of the page has is not given to those that are told"
    assert planned(telling(3, "5")).shares[0] < state.shares[0] < planned(telling(3, "0.05")).shares[0]
    assert state.trace["plan"]["shares"] == [round(share, 4) for share in state.shares]


def test_alone_it_tells_nothing_more() -> None:
    assert planned(GROUNDED).drawn == ()
    assert planned(telling(1)).drawn == ()


@pytest.mark.slow
def test_a_trained_network_weighs_operation_and_value_too(tmp_path: Path) -> None:
    examples = make_examples(12)
    encoder = HashEncoder()
    learn(examples, encoder, Settings(epochs=1, epoch_steps=4, networks=1, batch_size=2, hidden=8), tmp_path / "g")
    recipe = telling(3, "1", plan__model=str(tmp_path / "g"), rank__model=encoder.name)
    state = planned(recipe, examples[1].observation)
    elements = np.exp([candidate.score for candidate in state.ranking])
    assert elements.sum() == pytest.approx(1, abs=1e-4), "its scores are logarithms of probabilities"
    assert [action.node_id for action in state.drawn if action] == state.best_ids(3)
    for share, element, one in zip(state.shares, elements, state.best, strict=False):
        assert share == pytest.approx(element * one.operation_share * (one.value_share or 1), rel=1e-3)
    alone = planned(literature.override(recipe, {"plan.samples": "1"}), examples[1].observation)
    assert alone.action == state.action


def test_a_world_model_of_an_endpoint_compares_what_grounded_proposes() -> None:
    recipe = checking.vary(
        GROUNDED,
        {
            "plan.samples": "3",
            "plan.temperature": "0.5",
            "imagine.kind": "world_model",
            "imagine.samples": "2",
            "imagine.value_samples": "1",
        },
    )
    first, second = planned(recipe).drawn[:2]

    def reply(body: object) -> str:
        text = prompt_text(body)
        if "You judge single actions" not in text:
            return "[Rationale] r\n[Next State] The expected effect is that it works."
        found = re.search(r"CURRENT ACTION: .*? on \[(\d+)\]", text)
        assert found is not None
        assert first is not None
        return "[Score]: 2" if found[1] == first.node_id else "[Score]: 5"

    with serve(reply) as server:
        llm = ChatLlm(Endpoint(server.url, "m"))
        parts = Parts(recipe, 7, llm, ListMemory(), CachedEncoder(HashEncoder()))
        (decision,) = Pipeline.of(parts).decide([observation("Type “Oban” as the harbour and reserve it.")])
    assert [branch.action for branch in decision.branches] == [first, second]
    assert decision.actions == (second,), "the better valued one, although the ranking had it second"
    assert "counts" not in decision.trace["imagine"], "nothing was counted"
    json.dumps(decision.trace)
    with pytest.raises(CannotRun, match="asks an LLM endpoint what actions lead to"):
        Pipeline.of(Parts(recipe, memory=ListMemory(), encoder=CachedEncoder(HashEncoder())))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"plan.samples": "3"}, "plan.samples would change nothing in grounded"),
        ({"plan.temperature": "0.5"}, "plan.temperature would change nothing in grounded"),
        (
            {"plan.samples": "3", "plan.temperature": "1", "imagine.kind": "majority"},
            "counts equal samples, and plan.kind=grounded gives each action once",
        ),
        ({"imagine.kind": "world_model"}, "compares samples: set plan.samples of at least 2"),
    ],
)
def test_what_nobody_would_be_told_is_refused(changes: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        checking.vary(GROUNDED, changes)
