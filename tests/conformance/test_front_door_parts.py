"""Recorded parts of the published evaluations, driven by what a study uses: its judge, its stored steps, its scores."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.memory.encoding import snippet_form
from agents.memory.retrieve import DatasetMemory
from agents.observations import RecordedConversation
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.stages.kind import Parts
from agents.stages.rank.cross_encoder import CrossEncoderRanker
from agents.stages.registry import judging_of
from agents.types import Action, Observation, PastAction
from evaluation.metrics.ranking import evaluate_ranking
from evaluation.scores.judging import Gold, judge, judge_as_published
from evaluation.scores.scoring import RunScores
from tests.conformance.cases import first_quick, params
from tests.conformance.front_door import PublishedEvaluation, Scripted
from tests.conformance.results import assert_published_result
from tests.conformance.test_front_door import QUICK
from tests.quick import first_is_quick

PAGE = '<html backend_node_id="1"><input backend_node_id="2" name="wants {}"/><input backend_node_id="3"/></html>'
REPLIES = {
    "ok": "B.\nAction: TYPE\nValue: red cap",
    "wrong_el": "C.\nAction: TYPE\nValue: red cap",
    "wrong_val": "B.\nAction: TYPE\nValue: red hat",
    "none": "A.",
}


class ByPage(Scripted):
    """Answers as the page that it is asked about wants it."""

    def _reply(self, prompt: str) -> str:
        return next(reply for kind, reply in REPLIES.items() if f"wants {kind}" in prompt)


def as_evaluation(steps: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Judged steps as conversations in which a model comes to these judgements."""
    conversations = []
    for conversation, of_it in groupby(steps, key=lambda step: step[0]):
        listed = list(of_it)
        turns = [
            {
                "annotation_id": turn,
                "confirmed_task": "Buy it",
                "action_reprs": ["[input] -> TYPE: red cap"] * len(kinds),
                "actions": [_action(f"{turn}-{number}", kind) for number, kind in enumerate(kinds)],
            }
            for turn, kinds in _turns(listed)
        ]
        site = {"website": listed[0][2], "domain": "Shopping", "subdomain": "Clothes"}
        conversations.append({"task_id": conversation, **site, "turns": turns})
    return {"conversations": conversations, "top_k": 2, "model_outputs_in_order": []}


def _turns(steps: Sequence[Sequence[str]]) -> Iterator[tuple[str, list[str]]]:
    for turn, of_it in groupby(steps, key=lambda step: step[1]):
        yield turn, [step[3] for step in of_it]


def _action(uid: str, kind: str) -> dict[str, Any]:
    """The gold element comes first; of a step that is skipped it lies out of reach."""
    ranks = (2, 0, 1) if kind == "skip" else (0, 1)
    found = [{"backend_node_id": node_id, "rank": rank} for node_id, rank in zip(("2", "3", "1"), ranks, strict=False)]
    return {
        "action_uid": uid,
        "cleaned_html": PAGE.format(kind),
        "operation": {"op": "TYPE", "original_op": "TYPE", "value": "red cap"},
        "pos_candidates": found[:1],
        "neg_candidates": found[1:],
    }


@pytest.mark.slow
@pytest.mark.django_db
@first_is_quick("case", first_quick("metric_aggregation", QUICK))
def test_a_study_aggregates_as_published(case: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = PublishedEvaluation(as_evaluation(case["steps"]), "multichoice", tmp_path, monkeypatch)
    published.model = ByPage(())
    run = published.run(batch_size=8)
    assert_published_result(RunScores(run).outcomes("faithful"), case["result"], case["error"])


@pytest.mark.parametrize(("recipe", "wanted"), [("mindact", "f1_multichoice"), ("self-map", "f1_generation")])
@pytest.mark.parametrize("case", params("op_f1"))
def test_the_judge_compares_operations_as_published(case: dict, recipe: str, wanted: str) -> None:
    judging = judging_of(literature.get(recipe))
    said, label = (text.partition(" ")[::2] for text in (case["pred"], case["label"]))
    if label[0] == "CLICK" and label[1].strip():
        pytest.skip("no recorded CLICK has a value")
    assert judging is not None
    _, f1, _ = judge_as_published(judging, Action(said[0], "2", said[1]), "", Gold(label[0], label[1], ("2",)))
    assert f1 == pytest.approx(case[wanted], abs=1e-9)


class Scores(CrossEncoderRanker):
    """The cross encoder of the case: the score of each document, found by the words of its element."""

    def __init__(self, scores: Mapping[str, float]) -> None:
        self.scores, self.queries = scores, list[str]()
        self.documents = sorted(scores, key=len, reverse=True)  # "n 11" before "n 1"

    def score(self, steps: Sequence[tuple[str, Sequence[str]]]) -> list[np.ndarray]:
        self.queries += [query for query, _ in steps]
        return [np.array([self._of(text) for text in texts], dtype=np.float32) for _, texts in steps]

    def _of(self, text: str) -> float:
        return self.scores[next(document for document in self.documents if document in text)]


def _ranked_step(number: int, step: dict[str, Any]) -> tuple[Observation, Gold]:
    """Positives come first, as the published loader lists them: ties favour them (Q4)."""
    listed = [*step["pos_candidates"], *step["neg_candidates"]]
    elements = "".join(f'<p><a backend_node_id="{node_id}" name="{document}"/></p>' for node_id, document in listed)
    seen = Observation(
        *(number, 1, 0, len(step["previous_actions"])),
        *("site", "", "", step["confirmed_task"]),
        html=f'<html backend_node_id="0">{elements}</html>',
        candidate_ids=tuple(node_id for node_id, _ in listed),
        turn_actions=tuple(PastAction(text, "CLICK", None) for text in step["previous_actions"]),
    )
    return seen, Gold("CLICK", "", tuple(node_id for node_id, _ in step["pos_candidates"]))


@pytest.mark.parametrize("case", params("ranker_eval"))
def test_a_recipe_ranks_and_its_decisions_are_judged_as_published(case: dict) -> None:
    steps = [_ranked_step(number, step) for number, step in enumerate(case["instances"])]
    ranker = Scores(case["doc_scores"])
    pipeline = Pipeline.of(Parts(literature.get("deberta"), ranker=ranker))
    decisions = pipeline.decide([seen for seen, _ in steps])
    assert ranker.queries == case["queries"]
    ranked = [{found.node_id: found.rank for found in decision.ranking} for decision in decisions]
    assert ranked == [case["ranks"][f"{one['annotation_id']}_{one['action_uid']}"] for one in case["instances"]]
    judged = [
        judge(next(iter(decision.actions), None), decision.ranking, gold)
        for decision, (_, gold) in zip(decisions, steps, strict=True)
    ]
    assert evaluate_ranking([one.gold_rank for one in judged]) == pytest.approx(case["results"], abs=1e-9)


class Embeddings:
    """The vectors of the case, of length one; texts that it does not name point anywhere."""

    name, dimensions = "of-the-case", 4

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = vectors

    def encode(self, texts: list[str]) -> np.ndarray:
        rows = np.array([self.vectors.get(text, (1, 0, 0, 0)) for text in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _conversation_of(case: dict[str, Any]) -> dict[str, Any]:
    """The items as earlier turns, their actions as steps; the query's own turn comes last."""
    asked = [*case["previous_actions"], "[x] -> CLICK"]
    tasks = [(task, [item["action_reprs"] for item in of_it]) for task, of_it in groupby(case["items"], _task)]
    turns = [
        {
            "annotation_id": f"turn-{number}",
            "confirmed_task": task,
            "action_reprs": actions,
            "actions": [_action(f"{number}-{place}", "ok") for place, _ in enumerate(actions)],
        }
        for number, (task, actions) in enumerate([*tasks, (case["query_task"], asked)])
    ]
    return {"task_id": "c", "website": "site", "domain": "Shopping", "subdomain": "Clothes", "turns": turns}


def _task(item: dict[str, str]) -> str:
    return item["confirmed_task"]


@pytest.mark.django_db
@pytest.mark.parametrize("case", first_quick("memory_knn", QUICK))
def test_a_recipe_recalls_as_published(case: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = {"conversations": [_conversation_of(case)], "top_k": 2, "model_outputs_in_order": []}
    dataset = PublishedEvaluation(evaluation, "generation", tmp_path, monkeypatch).dataset
    changes = {"recall.k": str(case["top_k"]), "recall.sort_by": case["sort_by"]}
    recipe = literature.override(literature.get("self-map-no-rationale"), changes)
    encoder = Embeddings(case["embeddings"])
    memory = DatasetMemory(dataset, encoder, snippet_form(recipe))
    parts = Parts(recipe, memory=memory, encoder=encoder, ranker=Scores({"": 0.0}), generator=Scripted(()))
    pipeline = Pipeline.of(parts)
    recorded = RecordedConversation(dataset.conversations.get().pk)
    pipeline.prepare([recorded.conversation.pk])
    (state,) = pipeline.reminded([recorded.observation(recorded.steps[-1])])
    assert state.trace["recall"]["query"] == case["query_text"]
    places = [step.pk for step in recorded.steps]
    few = len(case["items"]) <= case["top_k"]  # then the published code shows all of them and compares nothing
    chosen = list(range(len(case["items"]))) if few else case["selected_indices"]
    assert [places.index(step.observation.key) for step in state.memory] == chosen
