"""Cross-validation by tasks: what a fold leaves out, and that it measures what is learned of one task for another."""

import json
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.learned.settings import Settings
from annotations.corpus.store import ConversationStore
from annotations.datasets.records import CandidateRecord, ConversationRecord, StepRecord, TurnRecord
from annotations.models import Dataset
from evaluation.folds.dividing import divide, first_of_each
from evaluation.folds.plotting import tasks_svg
from evaluation.folds.results import RIGHT, HeldOutStep, gained, mean_over, share_of
from evaluation.folds.running import CrossValidation, Division
from tests import factories

PORTS = ("Oban", "Mull", "Skye", "Jura")
OF_TASK = {f"sail-{word}": port for word, port in zip(("amber", "basil", "cedar", "dill"), PORTS, strict=True)}
EACH = 20  # conversations of a task, so that one in each part of four is kept back
OF_NETWORK = {"epochs": 20, "epoch_steps": 300, "networks": 1, "hidden": 32, "batch_size": 30}
OF_NETWORK |= dict.fromkeys(("dropout", "forget", "noise"), 0)
LEARNING = [f"{name}={value}" for name, value in OF_NETWORK.items()]


def names_of(tasks: Iterable[str], each: int) -> dict[str, str]:
    return {f"{task}-{number}": task for task in tasks for number in range(each)}


def test_each_task_is_left_out_whole_and_once() -> None:
    tasks = names_of("abcdefg", 9)
    folds = divide(tasks, 3)
    left_out = Counter(name for fold in folds for name in fold.unseen)
    assert left_out == dict.fromkeys(tasks, 1)
    for fold in folds:
        unseen = {tasks[name] for name in fold.unseen}
        assert fold.unseen == {name for name, task in tasks.items() if task in unseen}
        assert {tasks[name] for name in fold.seen}.isdisjoint(unseen)


def test_of_learned_tasks_a_conversation_is_kept_back_in_one_fold_at_most() -> None:
    tasks = names_of("abcdefgh", 20)
    folds = divide(tasks, 4)
    kept_back = Counter(name for fold in folds for name in fold.seen)
    assert set(kept_back.values()) == {1}
    for fold in folds:  # 20 conversations of each of 6 tasks, in 8 parts: two or three of each
        assert set(Counter(tasks[name] for name in fold.seen).values()) <= {2, 3}


def test_folds_follow_from_names_and_seed_alone() -> None:
    tasks = names_of("abcdef", 4)
    turned = dict(reversed(tasks.items()))
    assert divide(tasks, 3) == divide(turned, 3)
    assert {fold.unseen for fold in divide(tasks, 3)} != {fold.unseen for fold in divide(tasks, 3, seed=1)}
    assert first_of_each(tasks, 2).keys() == first_of_each(turned, 2).keys()
    assert Counter(first_of_each(tasks, 2).values()) == dict.fromkeys("abcdef", 2)


@pytest.mark.parametrize(("tasks", "folds", "said"), [("abc", 1, "at least 2"), ("abc", 4, "there are 3")])
def test_too_few_of_either_are_refused(tasks: str, folds: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        divide(names_of(tasks, 2), folds)


def test_a_task_counts_as_much_as_another_and_its_steps_as_much_as_they_are() -> None:
    steps = [HeldOutStep("long", False, RIGHT)] * 9 + [HeldOutStep("short", False, "value")]
    share = share_of(steps)
    assert (share.steps.value, share.tasks.value) == (0.9, 0.5)
    assert share.by_task == {"long": (1.0, 9), "short": (0.0, 1)}
    assert share.causes == {"value": 1}
    assert share.tasks.too_few_of("task")


def test_intervals_draw_tasks_and_what_is_gained_is_paired_by_task() -> None:
    before = {f"task {number}": number / 20 for number in range(20)}
    now = {task: share + 0.05 for task, share in before.items()} | {"another": 1.0}
    alone, paired = mean_over(now), gained(before, now)
    assert paired.value == pytest.approx(0.05)
    assert paired.n == 20
    assert paired.low == pytest.approx(paired.high)  # each gained the same, whatever the tasks are like
    assert alone.low is not None
    assert alone.high is not None
    assert alone.high - alone.low > 0.1


def test_the_plot_has_a_mark_for_each_task_and_part() -> None:
    svg = tasks_svg({"unseen tasks": {"a<b": (0.5, 4), "c": (0.9, 8)}, "seen tasks": {"c": (1.0, 2)}})
    assert svg.count("<circle") == 3
    assert "a&lt;b, unseen tasks: 50% of 4" in svg
    assert svg.index(">c<") < svg.index(">a&lt;b<")  # the best on top


def page(ports: list[str], own: object = "") -> str:
    """A button a port. `own`: what no other page says."""
    buttons = "".join(
        f'<button backend_node_id="{10 + place}"><text backend_node_id="{20 + place}">{port}</text></button>'
        for place, port in enumerate(ports)
    )
    return f'<html backend_node_id="1"><body backend_node_id="2">{buttons}<text>{own}</text></body></html>'


def record(task: str, number: int, rng: random.Random) -> ConversationRecord:
    """One click. Which port is meant stands nowhere but in other demonstrations of the task."""
    ports = rng.sample(PORTS, len(PORTS))
    gold = 10 + ports.index(OF_TASK[task])
    others = tuple(CandidateRecord(str(10 + place), "button") for place in range(len(ports)) if 10 + place != gold)
    step = StepRecord(
        "step",
        "CLICK",
        html=page(ports, rng.random()),
        positives=(CandidateRecord(str(gold), "button"),),
        negatives=others,
    )
    turn = TurnRecord("turn", f"Sail for {task.partition('-')[2]}.", (step,))
    return ConversationRecord(f"{task}-{number}", task, "sea", "sea", (turn,), "train")


@pytest.fixture
def dataset() -> Dataset:
    """Four tasks, each with a port of its own that nothing but its demonstrations tells."""
    dataset, rng = factories.make_dataset(name="ports"), random.Random(0)
    records = [record(task, number, rng) for task in OF_TASK for number in range(EACH)]
    ConversationStore(dataset).store([(one, one.split) for one in records])
    return dataset


@pytest.mark.django_db
@pytest.mark.parametrize(("kin", "learned"), [("", {"sail-amber-2", "row-amber"}), ("[a-z]+-[a-z]+", {"row-amber"})])
def test_of_other_datasets_nothing_is_learned_of_a_task_that_is_left_out(
    dataset: Dataset, kin: str, learned: set[str]
) -> None:
    other, rng = factories.make_dataset(name="more"), random.Random(1)
    rows = [record("sail-amber", number, rng) for number in range(3)]
    rows = [
        *rows,
        *(
            replace(row, source_id=f"{name} {row.source_id}", website=name)
            for name in ("sail-amber-2", "row-amber")
            for row in rows
        ),
    ]
    ConversationStore(other).store([(row, row.split) for row in rows])
    validation = CrossValidation(dataset, Division(folds=2, kin=kin), Settings(), [other])
    (left_out,) = [fold for fold in validation.folds if "sail-amber-0" in fold.unseen]
    (kept,) = [fold for fold in validation.folds if fold is not left_out]
    found = {one.group for one in validation.learned_in(left_out)} & {"sail-amber", "sail-amber-2", "row-amber"}
    assert found == learned
    assert len(validation.learned_in(kept)) == len(validation.examples) - len(kept.left_out)


def validated(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    call_command("cross_validate", "grounded", "ports", "--folds=2", "--json", "--set", *LEARNING, *options)
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


@pytest.mark.slow
@pytest.mark.django_db
def test_no_fold_learns_from_what_it_leaves_out_and_a_leak_would_be_seen(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    learned_in = CrossValidation.learned_in
    learned: list[tuple[set[str], set[str]]] = []

    def noted(self: CrossValidation, fold: Any, limit: int | None = None) -> Any:
        found = learned_in(self, fold, limit)
        learned.append(({self.shows(one).name for one in found}, {one.group for one in found}))
        assert learned[-1][0].isdisjoint(fold.left_out)
        assert learned[-1][1].isdisjoint({self.tasks[name] for name in fold.unseen})
        return found

    monkeypatch.setattr(CrossValidation, "learned_in", noted)
    told = validated(capsys)
    assert [len(groups) for _, groups in learned] == [2, 2]
    unseen, seen = told["unseen tasks"], told["seen tasks"]
    assert unseen["steps"]["n"] == len(OF_TASK) * EACH  # each step is decided once by who never saw its task
    assert seen["tasks"]["value"] > 0.9
    assert unseen["tasks"]["value"] < 0.3
    assert sum(unseen["failures"].values()) == round((1 - unseen["steps"]["value"]) * unseen["steps"]["n"])

    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps(told), "utf-8")
    monkeypatch.setattr(CrossValidation, "learned_in", lambda self, fold, limit=None: self.examples)
    leaky = validated(capsys, "--against", str(earlier))
    assert leaky["unseen tasks"]["tasks"]["value"] > 0.9
    assert leaky["gained"]["unseen tasks"]["value"] > 0.6


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["ports", "--folds=5"], "5 folds need as many tasks; there are 4"),
        (["ports", "--by=domain"], "there are 1"),
        (["ports", "--set", "epoch=1"], "there is no setting 'epoch'"),
        (["ports", "--against=nowhere.json"], "holds no output of cross_validate"),
        (["harbours"], "no dataset"),
    ],
)
def test_what_cannot_be_is_said(dataset: Dataset, options: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("cross_validate", "grounded", *options)
