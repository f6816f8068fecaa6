"""What the training of `grounded` prepares of a step is what its network is given where a run decides that step.

Hashed words stand for MiniLM, whose last digits depend on which texts are encoded together.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.encoders.embedding import CachedEncoder
from agents.learned import fit
from agents.learned.examples import Example
from agents.learned.model import LearnedModel
from agents.learned.network import CandidateRows, Network
from agents.training.jobs import run_inline, start_training
from agents.training.kinds import grounded
from agents.training.samples.rows import SplitRows
from annotations.models import Dataset, Split
from evaluation.studies import running
from tests.evaluation.sample_rows import import_website

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
# Every step is drawn, and none is learned from otherwise than it is; that little is learned does not matter.
LEARNING = {"epochs": 1, "epoch_steps": 300, "networks": 1, "batch_size": 30, "hidden": 8, "without_quotes": False}
LEARNING |= {"dropout": 0, "forget": 0, "noise": 0}
Inputs = dict[str, np.ndarray]  # of a step, by what they are; half floats, as they are kept in training


Given = dict[int, Inputs]  # by the key of the step


def differing(trained: Given, used: Given) -> set[str]:
    """What was not the same in some step that was learned from. Values that nothing was learned from, as none of them
    is right, are not compared."""
    return {
        name
        for key, own in trained.items()
        for name, values in own.items()
        if not (name == "values" and not len(values)) and not np.array_equal(values, used[key].get(name))
    }


def inputs(rows: CandidateRows) -> Inputs:
    names = ("columns", "name", "markup", "instruction")
    return {name: getattr(rows, name).detach().numpy().astype(np.float16) for name in names}


def keep_trained(trained: Given, keys: list[int], patch: pytest.MonkeyPatch) -> None:
    batch = fit.batch

    def kept(flat: Any, steps: np.ndarray, vectors: np.ndarray) -> Any:
        for step in set(steps.tolist()):
            one = batch(flat, np.array([step]), vectors)
            trained[keys[step]] = inputs(one.rows) | {"values": one.values.numpy().astype(np.float16)}
        return batch(flat, steps, vectors)

    patch.setattr(fit, "batch", kept)


def keep_used(used: Given, gold: dict[int, Example], patch: pytest.MonkeyPatch) -> None:
    """Values are offered for the element and the operation that are right, whatever the network makes of the step: it
    is these whose values a training offers."""
    predict, choose = LearnedModel.predict, LearnedModel._choose
    forward, values = Network.forward, Network.values
    at: dict[str, Any] = {}

    def one_by_one(self: Any, steps: Any, observations: Any, encoder: Any, count: int = 1) -> Any:
        found = []
        for step, observation in zip(steps, observations, strict=True):
            at.update(key=observation.key, step=step)
            found += predict(self, [step], [observation], encoder, count)
        return found

    def given_rows(self: Any, rows: CandidateRows) -> Any:
        used[at["key"]] |= inputs(rows)
        return forward(self, rows)

    def right(self: Any, step: int, place: int, operations: Any) -> Any:
        if at["key"] not in gold:
            return choose(self, step, place, operations)
        wanted, ids = gold[at["key"]].step, [one.node_id for one in at["step"].page.candidates]
        first = next(number for number, node_id in enumerate(ids) if node_id in wanted.positive_ids)
        return step, first, wanted.action.operation, 1.0

    def given_values(self: Any, columns: Any) -> Any:
        used[at["key"]]["values"] = columns.numpy().astype(np.float16)
        return values(self, columns)

    patch.setattr(LearnedModel, "predict", one_by_one)
    patch.setattr(LearnedModel, "_choose", right)
    patch.setattr(Network, "forward", given_rows)
    patch.setattr(Network, "values", given_values)


def trained_on(dataset: Dataset, name: str, encoder: CachedEncoder) -> Given:
    """What the network of a training is given, started as people start it."""
    given: Given = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grounded, "load_encoder", lambda name: encoder)
        keep_trained(given, [one.observation.key for one in examples(dataset)], patch)
        asked: dict[str, Any] = {"user": None, "dataset": dataset, "kind": "grounded", "publish": False}
        model = start_training(**asked, name=name, changes=LEARNING)
        assert run_inline(model).state == "done"
    model.refresh_from_db()
    assert model.metrics["skipped"] == 0
    assert len(given) == model.metrics["examples"]
    return given


def used_in_a_run(dataset: Dataset, name: str) -> Given:
    """What the network of that name is given where a run decides the same steps."""
    given: Given = defaultdict(dict)
    with pytest.MonkeyPatch.context() as patch:
        keep_used(given, {one.observation.key: one for one in examples(dataset)}, patch)
        said: dict[str, Any] = {"splits": ["train"], "overrides": {"plan.model": name}, "publish": False}
        study = running.create_study(user=None, dataset=dataset, recipes=["grounded"], **said)
        running.run_inline(study)
    assert study.runs.get().state == "done"
    return given


def examples(dataset: Dataset) -> list[Example]:
    return list(grounded.examples(SplitRows(dataset, Split.TRAIN)))


def without(name: str, nothing: object) -> Callable[[SplitRows], Iterator[Example]]:
    """The examples of a training that leaves out one thing that an observation tells."""
    whole = grounded.examples

    def found(rows: SplitRows) -> Iterator[Example]:
        for one in whole(rows):
            seen = replace(one.observation, **{name: nothing})
            yield replace(one, step=replace(one.step, observation=seen))

    return found


LEFT_OUT: dict[str, tuple[object, str]] = {  # what an observation tells -> nothing of it, and what differs then
    "turn_actions": ((), "columns"),
    "candidate_ids": ((), "columns"),
    "earlier_instructions": ((), "values"),
    "instruction": ("Do it.", "instruction"),
}


def test_training_and_use_give_the_network_the_same(
    tmp_path: Path, settings: Any, hash_encoder: CachedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MODEL_ROOT = tmp_path / "models"
    (tmp_path / "sample").mkdir()
    dataset = import_website(tmp_path / "sample", conversations=2)
    dataset.conversations.update(split=Split.TRAIN)
    trained = trained_on(dataset, "own", hash_encoder)
    used = used_in_a_run(dataset, "own")
    assert len(trained) > 20
    assert len([own for own in trained.values() if len(own["values"])]) > 2
    assert differing(trained, used) == set()
    for name, (nothing, differs) in LEFT_OUT.items():
        with monkeypatch.context() as patch:
            patch.setattr(grounded, "examples", without(name, nothing))
            less = trained_on(dataset, f"without-{name.replace('_', '-')}", hash_encoder)
        assert differs in differing(less, used), name
