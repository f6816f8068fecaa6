"""Cross-validation over demonstrations of several sources: whose are measured, whose are learned, and how many; and
that what was decided is kept."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.learned.settings import Settings
from annotations.agreement import Agreement
from annotations.corpus.store import ConversationStore
from annotations.datasets.records import ConversationRecord
from annotations.models import Dataset
from evaluation.folds.dividing import Fold
from evaluation.folds.kept import KeptFolds
from evaluation.folds.plotting import curve_svg
from evaluation.folds.results import RIGHT, DecidedFold, HeldOutStep, share_of
from evaluation.folds.running import CrossValidation, Division
from evaluation.folds.sources import ShownEpisode, content, shown_again, shown_episode
from evaluation.folds.telling import lines
from tests import factories
from tests.evaluation.test_cross_validation import EACH, LEARNING, OF_TASK, record

ORACLE = {"by": "oracle"}
CORRECTION = {"by": "person", "source": "human correction"}


@pytest.mark.parametrize(
    ("extra", "source"),
    [
        ({}, "people"),
        ({"reward": 0.7, "rawReward": 1}, "people"),
        ({"by": "person", "source": "human demonstration"}, "people"),
        (CORRECTION, "corrections"),
        (ORACLE, "oracles"),
    ],
)
def test_a_row_tells_who_showed_it(extra: dict[str, Any], source: str) -> None:
    assert shown_episode("a", "sail", extra).source == source


def test_one_episode_is_known_by_its_name_or_its_seed_within_its_task() -> None:
    measured = [ShownEpisode("a-1", "a"), ShownEpisode("shown", "a", seed="7")]
    again = [ShownEpisode("a-1", "a", "oracles"), ShownEpisode("a-7", "a", "oracles", "7")]
    others = [ShownEpisode("a-1", "b"), ShownEpisode("b-7", "b", seed="7"), ShownEpisode("a-2", "a")]
    assert shown_again([*again, *others], measured) == set(again)


def test_the_content_of_a_page_is_the_same_wherever_it_is_drawn_and_whoever_recorded_it() -> None:
    people = '<body backend_node_id="1" bounding_box_rect="0,0,1853,210"><input backend_node_id="2" id="tt"/></body>'
    oracle = people.replace("1853", "332").replace('"2"', '"4"').replace(" id=", ' has_handler="true" id=')
    assert content(people) == content(oracle)
    assert content(people) != content(people.replace("tt", "uu"))


def test_steps_that_were_learned_elsewhere_are_told_apart_and_every_task_says_what_failed() -> None:
    easy = [HeldOutStep("a", True, RIGHT, known=True)] * 6
    share = share_of([*easy, *[HeldOutStep("a", True, "value")] * 2, *[HeldOutStep("b", True, RIGHT)] * 3])
    assert (share.tasks.value, share.novel.value, share.novel.n) == (0.875, 0.5, 5)
    assert share.causes_by_task == {"a": {"value": 2}, "b": {}}
    told = lines("seen tasks", share, None)
    assert "value 2" in told[-2], "the worst task comes first"
    assert any("without 6 steps" in line for line in told)


def test_the_curve_has_a_point_for_each_number_and_part_but_where_nothing_was_measured() -> None:
    some, none = Agreement(0.5, 0.4, 0.6, 20, 20), Agreement(None, None, None, 0, 0)
    svg = curve_svg(["2", "all"], {"unseen tasks": [none, some], "seen tasks": [some, some]})
    assert svg.count("<circle") == 3
    assert "unseen tasks: 0.500 [0.400, 0.600]" in svg
    assert svg.index(">2<") < svg.index(">all<")


def test_kept_folds_are_read_again_and_a_torn_line_is_written_over(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    first, second = (DecidedFold(3, n, (HeldOutStep("a", True, "value", known=True),)) for n in (5, 6))
    KeptFolds(file).add("one", first)
    with file.open("a") as stream:
        stream.write('{"digest": "two", "fo')
    again = KeptFolds(file)
    assert (again.get("one"), again.get("two")) == (first, None)
    again.add("two", second)
    assert KeptFolds(file).get("two") == second
    file.write_text("a letter\n" + file.read_text())
    with pytest.raises(ValueError, match="line 1 of"):
        KeptFolds(file)


def stored(name: str, records: list[ConversationRecord]) -> Dataset:
    dataset = factories.make_dataset(name=name)
    ConversationStore(dataset).store([(one, one.split) for one in records])
    return dataset


@pytest.fixture
def people() -> list[ConversationRecord]:
    rng = random.Random(0)
    return [record(task, number, rng) for task in OF_TASK for number in range(EACH)]


def by(extra: dict[str, Any], count: int = 4) -> list[ConversationRecord]:
    """Further demonstrations of each task."""
    rng = random.Random(1)
    return [
        replace(record(task, 1000 + number, rng), source_id=f"{extra['by']} {task} {number}", extra=extra)
        for task in OF_TASK
        for number in range(count)
    ]


def learned(validation: CrossValidation, fold: Fold, limit: int | None = None) -> dict[str, list[str]]:
    """Source -> the tasks of what a fold learns."""
    found: dict[str, list[str]] = {}
    for one in validation.learned_in(fold, limit):
        found.setdefault(validation.shows(one).source, []).append(validation.shows(one).task)
    return found


@pytest.mark.django_db
def test_oracles_and_corrections_are_learned_and_never_measured(people: list[ConversationRecord]) -> None:
    dataset = stored("ports", [*people, *by(ORACLE), *by(CORRECTION)])
    alone = CrossValidation(stored("alone", people), Division(folds=2), Settings())
    validation = CrossValidation(dataset, Division(folds=2), Settings())
    assert validation.folds == alone.folds, "people's demonstrations are divided as if there were no others"
    for fold in validation.folds:
        held = validation.held(fold)
        assert {validation.shows(one).source for one in held} == {"people"}
        assert len(held) == len(fold.left_out)
        found = learned(validation, fold)
        assert {source: len(tasks) for source, tasks in found.items()} == {
            "people": len(people) - len(fold.left_out),
            "oracles": 4 * 2,
            "corrections": 4 * 2,
        }
        unseen = {name.rpartition("-")[0] for name in fold.unseen}
        assert unseen.isdisjoint(task for tasks in found.values() for task in tasks)
    only = CrossValidation(dataset, Division(folds=2, sources=("oracles",)), Settings())
    assert learned(only, only.folds[0]).keys() == {"oracles"}
    assert len(only.held(only.folds[0])) == len(only.folds[0].left_out)


@pytest.mark.django_db
def test_so_many_demonstrations_of_each_task_are_learned_and_the_same_are_measured(
    people: list[ConversationRecord],
) -> None:
    dataset = stored("ports", [*people, *by(ORACLE)])
    validation = CrossValidation(dataset, Division(folds=2), Settings())
    fold = validation.folds[0]
    few, more = validation.chosen(fold, 3), validation.chosen(fold, 12)
    assert few.keys() < more.keys() < validation.chosen(fold, None).keys()
    tasks = [one.task for one in few.values()]
    assert {task: tasks.count(task) for task in tasks} == dict.fromkeys(set(tasks), 3)
    assert len(validation.learned_in(fold, 3)) == 6


@pytest.mark.django_db
@pytest.mark.parametrize("twin", ["name", "page", "seed"])
def test_no_episode_that_is_measured_is_learned_from_another_source(
    people: list[ConversationRecord], twin: str
) -> None:
    """An oracle's demonstration of the same episode, which would give away the answer, is not learned; another is."""
    measured = [replace(one, extra={"seed": 7_000 + place}) for place, one in enumerate(people)]
    dataset = stored("ports", measured)
    folds = CrossValidation(dataset, Division(folds=2), Settings()).folds
    kept_back = {name for fold in folds for name in fold.seen}
    first = {one.website: one for one in measured if one.source_id in kept_back}
    assert first.keys() == OF_TASK.keys()
    copies = {
        "name": lambda one: replace(one, source_id=first[one.website].source_id),
        "page": lambda one: replace(one, turns=first[one.website].turns),
        "seed": lambda one: replace(one, extra=ORACLE | first[one.website].extra),
    }
    taught = [copies[twin](one) if place % 4 == 0 else one for place, one in enumerate(by(ORACLE))]
    validation = CrossValidation(dataset, Division(folds=2), Settings(), [stored("more", taught)])
    left_out = 0
    for fold in folds:
        found = learned(validation, fold)["oracles"]
        twins = {task for task in found if twin != "page" or first[task].source_id in fold.left_out}
        assert len(found) == 4 * len(set(found)) - len(twins)
        left_out += len(twins)
    assert left_out >= len(OF_TASK), "each in the fold that measures it, at least"


def validated(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    call_command("cross_validate", "grounded", "ports", "--folds=2", "--json", *options, "--set", *LEARNING)
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


@pytest.mark.django_db
def test_the_curve_rises_where_demonstrations_teach_and_what_was_decided_is_not_decided_again(
    people: list[ConversationRecord],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    stored("ports", people)
    kept, plot = tmp_path / "kept.jsonl", tmp_path / "curve.svg"
    curve = ["--curve", "1", "all", "--keep", str(kept), "--plot", str(plot)]
    told = validated(capsys, *curve)
    few, every = told["curve"]
    assert (few["demonstrations_per_task"], every["demonstrations_per_task"]) == (1, None)
    assert few["learned"] == {"demonstrations": 2, "steps": 2}
    assert few["seen tasks"]["steps"]["n"] == every["seen tasks"]["steps"]["n"]
    assert few["seen tasks"]["tasks"]["value"] < every["seen tasks"]["tasks"]["value"] - 0.1
    assert every["seen tasks"] == told["seen tasks"]
    assert plot.read_text().count("<circle") == 4
    assert len(kept.read_text().splitlines()) == 4

    monkeypatch.setattr(CrossValidation, "decide", None)  # a call of it would fail
    assert validated(capsys, *curve) == told
    with pytest.raises(TypeError):
        validated(capsys, *curve, "--seed=1")


@pytest.mark.django_db
def test_what_a_curve_is_not_of_is_said(people: list[ConversationRecord], tmp_path: Path) -> None:
    stored("ports", by(ORACLE))
    with pytest.raises(CommandError, match="there are 0"):
        call_command("cross_validate", "grounded", "ports", "--folds=2")
    for value in ("0", "some"):
        with pytest.raises(CommandError, match="neither a number of demonstrations nor 'all'"):
            call_command("cross_validate", "grounded", "ports", "--curve", value)
