"""The learned planner: it learns what it is shown, gives the same weights again, and continues where it was killed."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents.encoders.embedding import CachedEncoder, Encoder, HashEncoder
from agents.learned import train as training
from agents.learned.model import CONFIG, NotAModel, load
from agents.learned.settings import Settings
from agents.learned.train import NothingToLearn, Paused
from agents.pipeline import Pipeline
from agents.recipes import literature
from agents.stages.kind import CannotRun, Parts
from agents.types import STAGES, Action
from tests.agents.learned_world import learn, make_examples
from tests.agents.test_policy import ListMemory

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = Settings(
    epochs=25,
    epoch_steps=50,
    networks=1,
    batch_size=10,
    hidden=48,
    dropout=0.0,
    forget=0.0,
    noise=0.0,
    learning_rate=4e-3,
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learned")
    metrics = learn(make_examples(50), HashEncoder(), SETTINGS, folder, dev=make_examples(24, seed=1))
    return folder, metrics


def policy(folder, encoder: Encoder | None = None) -> Pipeline:
    recipe = literature.override(literature.get("grounded"), {"plan.model": str(folder)})
    return Pipeline.of(Parts(recipe, memory=ListMemory(), encoder=encoder or CachedEncoder(HashEncoder())))


def decided(folder, examples) -> list[Action]:
    return [decision.actions[0] for decision in policy(folder).decide([e.observation for e in examples])]


def wanted(examples) -> list[Action]:
    return [Action(e.step.action.operation, e.step.positive_ids[0], e.step.action.value) for e in examples]


@pytest.mark.slow
def test_fifty_examples_are_learnt_exactly(trained) -> None:
    folder, _ = trained
    examples = make_examples(50)
    assert decided(folder, examples) == wanted(examples)


@pytest.mark.slow
def test_other_pages_of_the_same_kinds_are_solved_too(trained) -> None:
    folder, _ = trained
    examples = make_examples(40, seed=7)
    right = [one == two for one, two in zip(decided(folder, examples), wanted(examples), strict=True)]
    assert np.mean(right) >= 0.9


def test_what_is_measured_on_dev_is_what_decisions_give(trained) -> None:
    folder, metrics = trained
    examples = make_examples(24, seed=1)
    actions = decided(folder, examples)
    right = [one == two for one, two in zip(actions, wanted(examples), strict=True)]
    assert metrics["dev"]["success"] == pytest.approx(np.mean(right), abs=1e-3)


def test_the_folder_says_how_it_was_trained(trained) -> None:
    folder, metrics = trained
    config = json.loads((folder / CONFIG).read_text())
    assert config["encoder"] == HashEncoder().name
    assert config["settings"]["epochs"] == SETTINGS.epochs
    assert json.loads((folder / training.METRICS).read_text()) == metrics
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "metrics.json", "model.safetensors"]


class Killed(Exception):
    """Stands for the end of the process: nothing is cleaned up."""


@pytest.mark.slow
def test_an_interrupted_training_continues_and_ends_with_the_same_weights(tmp_path) -> None:
    settings = replace(SETTINGS, epochs=5)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    learn(make_examples(50), HashEncoder(), settings, whole, dev=make_examples(24, seed=1))
    done: list[int] = []

    def kill_later(phase: str, number: int, total: int) -> None:
        if phase == "fit":
            done.append(number)
            if number == 3:
                raise Killed

    with pytest.raises(Killed):
        learn(make_examples(50), HashEncoder(), settings, broken, kill_later, dev=make_examples(24, seed=1))
    assert not (broken / CONFIG).exists()
    done.clear()
    learn(
        make_examples(50),
        HashEncoder(),
        settings,
        broken,
        lambda phase, number, total: done.append(number) if phase == "fit" else None,
        dev=make_examples(24, seed=1),
    )
    assert done[0] == 3, "where it was, which is told first"
    for name, value in load(whole).networks[0].state_dict().items():
        assert load(broken).networks[0].state_dict()[name].equal(value), name


@pytest.mark.slow
def test_one_that_pauses_after_every_batch_ends_with_the_same_weights(tmp_path) -> None:
    """A person who waited for its worker waited for the end of an epoch, minutes on a busy machine."""
    settings = replace(SETTINGS, epochs=2, epoch_steps=40, batch_size=8, networks=2)
    folders = [tmp_path / "whole", tmp_path / "paused"]
    learn(make_examples(50), HashEncoder(), settings, folders[0])
    pauses = 0
    while True:
        try:
            learn(make_examples(50), HashEncoder(), settings, folders[1], until=lambda: True)
            break
        except Paused:
            pauses += 1
    assert pauses == 2 * (2 * 5 - 1), "five batches an epoch; the last of a network ends it"
    networks = [load(folder).networks for folder in folders]
    for whole, paused in zip(*networks, strict=True):
        for name, value in whole.state_dict().items():
            assert paused.state_dict()[name].equal(value), name


@pytest.mark.slow
def test_texts_encoded_before_an_interruption_are_not_encoded_again(tmp_path) -> None:
    encoder = CachedEncoder(HashEncoder())

    def kill_at_fit(phase: str, number: int, total: int) -> None:
        if phase == "fit":
            raise Killed

    with pytest.raises(Killed):
        learn(make_examples(8), encoder, SETTINGS, tmp_path, kill_at_fit)
    again = CachedEncoder(HashEncoder())
    with pytest.raises(Killed):
        learn(make_examples(8), again, SETTINGS, tmp_path, kill_at_fit)
    assert (encoder.encoded > 0, again.encoded) == (True, 0)


@pytest.mark.slow
def test_several_networks_vote(tmp_path) -> None:
    settings = Settings(epochs=2, epoch_steps=20, networks=2, hidden=16)
    learn(make_examples(12), HashEncoder(), settings, tmp_path)
    model = load(tmp_path)
    assert len(model.networks) == 2
    assert not model.networks[0].score.weight.equal(model.networks[1].score.weight)
    assert len(decided(tmp_path, make_examples(4))) == 4


def test_a_page_that_cannot_be_read_leaves_the_others_alone(trained) -> None:
    folder, _ = trained
    good = make_examples(1)[0].observation
    first, broken, last = policy(folder).decide([good, replace(good, html="<body>"), good])
    assert broken.actions == ()
    assert "not well-formed" in broken.error
    assert first.actions == last.actions


def test_decisions_are_the_same_alone_and_in_a_batch(trained) -> None:
    folder, _ = trained
    examples = make_examples(8, seed=3)
    assert decided(folder, examples) == [decided(folder, [example])[0] for example in examples]


def test_the_trace_has_the_stage_words_and_survives_json(trained) -> None:
    folder, _ = trained
    decision = policy(folder).decide([make_examples(2)[1].observation])[0]
    assert decision.trace.keys() <= set(STAGES)
    assert {"observe", "rank", "recall", "plan", "act"} <= decision.trace.keys()
    assert json.loads(json.dumps(decision.trace, allow_nan=False)) == decision.trace
    assert set(decision.trace["plan"]["why"]) == {"element", "operation", "value"}


def test_examples_without_their_element_are_counted_and_nothing_else_is_refused(tmp_path) -> None:
    absent = [replace(example, step=replace(example.step, positive_ids=("999",))) for example in make_examples(3)]
    with pytest.raises(NothingToLearn):
        learn(absent, HashEncoder(), SETTINGS, tmp_path)
    metrics = learn(
        [*absent, *make_examples(4)], HashEncoder(), Settings(epochs=1, epoch_steps=4, networks=1, hidden=8), tmp_path
    )
    assert metrics["skipped"] == 3


def test_a_folder_without_a_model_is_named(tmp_path) -> None:
    with pytest.raises(NotAModel, match="holds no trained planner"):
        load(tmp_path)


def test_a_model_of_other_columns_is_refused(trained, tmp_path) -> None:
    folder, _ = trained
    config = json.loads((folder / CONFIG).read_text())
    (tmp_path / CONFIG).write_text(json.dumps(config | {"features_version": -1}))
    (tmp_path / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    with pytest.raises(NotAModel, match="train it again"):
        load(tmp_path)


def test_a_policy_with_another_encoder_is_refused(trained) -> None:
    folder, _ = trained
    with pytest.raises(CannotRun, match="was trained with"):
        policy(folder, HashEncoder(64))


TRAIN_ALONE = """
import sys
from pathlib import Path
from agents.encoders.embedding import HashEncoder
from tests.agents.learned_world import learn, make_examples
from tests.agents.test_learned_planner import SETTINGS

def tell(phase, done, total):
    if phase == "fit":
        print(done, flush=True)

learn(make_examples(50), HashEncoder(), SETTINGS, Path(sys.argv[1]), tell, dev=make_examples(24, seed=1))
"""


@pytest.mark.slow
def test_a_process_killed_in_the_middle_loses_at_most_one_epoch(trained, tmp_path) -> None:
    whole, _ = trained
    command = [sys.executable, "-c", TRAIN_ALONE, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) == 6:
                process.send_signal(signal.SIGKILL)
                break
    assert process.wait() == -signal.SIGKILL
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    assert int(done.stdout.split()[0]) >= 6
    again = load(tmp_path).networks[0].state_dict()
    assert all(again[name].equal(value) for name, value in load(whole).networks[0].state_dict().items())
