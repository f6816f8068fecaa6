"""The guard against labelled steps: what is counted, and what the command says."""

import io
import json
from xml.etree import ElementTree

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command

from agents.world_model.effects import Effect
from agents.world_model.predicting import PastCase, RetrievedEffects
from annotations.corpus.importing import import_files
from evaluation.guard.labels import HARMLESS, StepLabels, packaged_labels
from evaluation.guard.measuring import GOLDS, GuardMeasurement, Share
from evaluation.management.commands.guard_report import Command
from tests import factories
from tests.annotations.built_sample import built_sample


@pytest.mark.slow
def test_every_step_of_the_sample_has_two_labels(tmp_path_factory: pytest.TempPathFactory) -> None:
    steps = set()
    for path in built_sample(tmp_path_factory).glob("*/*.json"):
        for record in json.loads(path.read_text("utf-8")):
            turns = record["turns"]
            steps |= {(record["task_id"], step["action_uid"]) for turn in turns for step in turn["actions"]}
    assert steps == packaged_labels().keys()
    assert len(steps) >= 200
    assert sum(labels.are_disputed for labels in packaged_labels().values()) == 2
    assert sum(all(labels.risky) for labels in packaged_labels().values()) == 29


@pytest.mark.slow
def test_steps_on_which_the_labels_differ_are_listed_and_counted_apart(dataset, monkeypatch) -> None:
    known = dict(packaged_labels())
    place = next(place for place, labels in known.items() if all(labels.risky) and place[0].startswith("casaverde"))
    known[place] = StepLabels("order", HARMLESS)
    monkeypatch.setattr("evaluation.guard.measuring.packaged_labels", lambda: known)
    report = GuardMeasurement(dataset).report()
    (one,) = report["differing"]
    assert (one["first"], one["second"], report["disputed"]) == ("order", HARMLESS, 1)
    assert report["splits"]["test"]["agreed"]["recall"]["n"] == report["splits"]["test"]["either"]["recall"]["n"] - 1
    out = io.StringIO()
    call_command("guard_report", dataset.name, stdout=out)
    assert one["action"] in out.getvalue().partition("labels that differ:")[2].partition("missed by")[0]


def test_who_counts_as_risky() -> None:
    told = {
        name: [counted(StepLabels(*pair)) for pair in (("pay", "pay"), (HARMLESS, "pay"), (HARMLESS, HARMLESS))]
        for name, (_, counted) in GOLDS.items()
    }
    assert told == {"agreed": [True, None, False], "either": [True, True, False], "both": [True, False, False]}


def test_a_share_of_nothing_has_no_value() -> None:
    assert Share(0, 0).told() == {"value": None, "low": None, "high": None, "hits": 0, "n": 0}
    assert Share(19, 20).told() == {"value": 0.95, "low": 0.7639, "high": 0.9911, "hits": 19, "n": 20}


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.clear()


@pytest.fixture
def dataset(casaverde):
    return casaverde


def without_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard that knows no words of buttons but those that leave no doubt anywhere, reads nothing around them, and
    has learned nothing."""
    for name in ("IN_A_FORM", "ON_A_BUTTON"):
        monkeypatch.setattr(f"agents.guard.pressing.{name}", {})
    for name in ("_handed_on", "_handed_in", "told_around", "_ends_something", "_of_reply"):
        monkeypatch.setattr(f"agents.guard.pressing.{name}", lambda *given: None)
    monkeypatch.setattr("evaluation.guard.measuring.packaged", lambda: None)


@pytest.mark.slow
def test_the_report_counts_by_split_and_lists_what_is_missed(dataset, monkeypatch) -> None:
    report = GuardMeasurement(dataset).report()
    assert report["splits"]["train"]["steps"] == 0
    agreed = report["splits"]["test"]["agreed"]
    assert (agreed["recall"]["hits"], agreed["recall"]["n"]) == (4, 4)
    assert agreed["false_alarms"] == Share(1, 38).told()
    assert report["missed"] == []
    assert ["Email my list" in one["action"] for one in report["false_alarms"]] == [True]
    without_words(monkeypatch)
    cache.clear()  # what the guard said before
    assert [one["first"] for one in GuardMeasurement(dataset).report()["missed"]] == [
        "order",
        "send",
        "send",
        "order",
    ]


@pytest.mark.slow
def test_the_sample_is_judged_as_the_docs_say(db: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    dataset = factories.make_dataset()
    import_files("mt-mind2web", built_sample(tmp_path_factory), dataset)
    report = GuardMeasurement(dataset).report()
    told = {split: found["agreed"] for split, found in report["splits"].items()}
    assert {split: (one["recall"]["hits"], one["recall"]["n"]) for split, one in told.items()} == {
        "train": (18, 18),
        "test": (11, 11),
    }
    assert {split: (one["false_alarms"]["hits"], one["false_alarms"]["n"]) for split, one in told.items()} == {
        "train": (0, 203),
        "test": (1, 132),
    }
    assert [one["action"] for one in report["missed"]] == [
        "[button]  Find my trip -> CLICK",
        "[button]  Find order -> CLICK",
    ]
    assert report["missed"] == report["differing"], "what is missed is what the labels differ on"


@pytest.mark.slow
def test_steps_to_develop_on_are_no_steps_to_train_on(dataset) -> None:
    dataset.conversations.update(split="dev")
    splits = GuardMeasurement(dataset).report()["splits"]
    assert {name: found["steps"] for name, found in splits.items()} == {"train": 0, "test": 0, "dev": 42}


@pytest.mark.slow
def test_the_command_prints_it(dataset) -> None:
    out = io.StringIO()
    call_command("guard_report", dataset.name, "--json", stdout=out)
    assert json.loads(out.getvalue()) == GuardMeasurement(dataset).report()
    out = io.StringIO()
    call_command("guard_report", dataset.name, stdout=out)
    assert "42 labelled steps" in out.getvalue()
    assert "4/4" in out.getvalue()


def test_what_cannot_be_reported_is_said(db: None) -> None:
    with pytest.raises(CommandError, match="no dataset"):
        call_command("guard_report", "no-such")
    with pytest.raises(CommandError, match="no step of"):
        call_command("guard_report", factories.make_dataset().name)


class Booked:
    """A store in which every action has always led to a page that says something is booked."""

    def similar(self, situations, k):
        effect = Effect("added", "status", "Booked for you")
        return [[PastCase(1, "CLICK", "button", "x", "w", (effect,), 0.9)] for _ in situations]


@pytest.mark.slow
def test_the_guard_that_foresees_stands_beside_the_one_that_does_not(dataset, monkeypatch, tmp_path) -> None:
    without_words(monkeypatch)  # so that the page alone misses all four
    monkeypatch.setattr(Command, "_world_model", lambda self, dataset: RetrievedEffects(Booked()))
    out, plot = io.StringIO(), tmp_path / "guard.svg"
    call_command("guard_report", dataset.name, "--world-model", "--json", plot=plot, stdout=out)
    reports = json.loads(out.getvalue())
    alone, foreseen = (reports[name]["splits"]["test"]["agreed"] for name in ("policy", "policy+prediction"))
    assert (alone["recall"]["hits"], foreseen["recall"]["hits"]) == (0, 4)
    assert (alone["false_alarms"]["hits"], len(reports["policy"]["missed"])) == (0, 4)
    clicked = sum(one.step.operation == "CLICK" for one in GuardMeasurement(dataset).steps)
    assert 0 < foreseen["false_alarms"]["hits"] <= clicked - 4, "who sees bookings everywhere holds harmless steps up"
    drawn = ElementTree.fromstring(plot.read_text("utf-8"))
    shown = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"test, policy", "test, policy+prediction", "0 of 4", "4 of 4"} <= set(shown)
    assert not any(text.startswith("train") for text in shown)
    out = io.StringIO()
    call_command("guard_report", dataset.name, "--world-model", stdout=out)
    assert "missed by policy:" in out.getvalue()
    assert "test    agreed      policy+prediction" in out.getvalue()
