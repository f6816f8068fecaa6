"""The guard on small pages that were written by somebody who had not seen it, read as live pages are."""

import io
import json

import pytest
from django.core.management import call_command

from agents.environments.pieces import piece_reader
from agents.guard import pressing
from agents.guard.learned import LearnedPart, packaged
from evaluation.guard.controls import (
    JudgedControl,
    controls_report,
    judged_controls,
    packaged_controls,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def judged(has_chromium: None) -> list[JudgedControl]:
    return judged_now(packaged())


@pytest.fixture(scope="module")
def by_rules(has_chromium: None) -> list[JudgedControl]:
    return judged_now()


def judged_now(learned: LearnedPart | None = None) -> list[JudgedControl]:
    with piece_reader() as read:
        return list(judged_controls(packaged_controls(), read, learned))


RULES = {"odd": (0.99, 0.01), "develop": (0.99, 0.02), "held": (0.92, 0.06), "learn": (0.97, 0.03)}
RULES |= {"former": (0.97, 0.03), "taught": (0.95, 0.02), "test": (0.98, 0.03)}
LEARNED = RULES | {"held": (0.96, 0.06), "former": (0.99, 0.03), "taught": (0.99, 0.02), "test": (0.99, 0.04)}


@pytest.mark.parametrize("how", ["by_rules", "judged"])
def test_it_holds_what_docs_say_and_no_less(how: str, request: pytest.FixtureRequest) -> None:
    """What nobody read who made the rules is the measure: a rule that loses some of it is noticed here."""
    parts = controls_report(request.getfixturevalue(how))["parts"]
    sizes = {"odd": 320, "develop": 160, "held": 160, "learn": 320, "former": 320, "taught": 320, "test": 320}
    assert {name: found["controls"] for name, found in parts.items()} == sizes
    for name, (recall, alarms) in (RULES if how == "by_rules" else LEARNED).items():
        agreed = parts[name]["agreed"]
        assert agreed["recall"]["value"] >= recall, name
        assert agreed["false_alarms"]["value"] <= alarms, name
        assert agreed["recall"]["low"] < agreed["recall"]["value"] <= agreed["recall"]["high"]
        by_kind = parts[name]["recall_by_kind"].values()
        assert sum(one["n"] for one in by_kind) == agreed["recall"]["n"]
        assert sum(one["hits"] for one in by_kind) == agreed["recall"]["hits"]


def test_without_what_pages_say_around_a_control_it_holds_less(
    by_rules: list[JudgedControl], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pressing, "consequence", lambda element, name: None)
    without = controls_report(judged_now())["parts"]
    for name, found in controls_report(by_rules)["parts"].items():
        assert without[name]["agreed"]["recall"]["hits"] < found["agreed"]["recall"]["hits"]


def test_the_command_prints_a_part_and_what_is_wrong(judged: list[JudgedControl]) -> None:
    out = io.StringIO()
    call_command("guard_controls", "--part", "develop", "--json", stdout=out)
    report = json.loads(out.getvalue())
    assert report == controls_report([one for one in judged if one.control.part == "develop"])
    out = io.StringIO()
    call_command("guard_controls", "--part", "develop", stdout=out)
    assert "develop  agreed" in out.getvalue()
    assert "160 controls. Written and labelled by a language model" in out.getvalue()
