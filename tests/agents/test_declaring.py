"""Settings declare themselves once: what checks, asks for, shows or compares them reads that."""

import dataclasses
import json
import re
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import pytest

from agents.cookbook import sentences
from agents.recipe_pages.forms import DeriveForm
from agents.recipes import declaring, differences, literature
from agents.recipes.declaring import SettingGroup, same, setting
from agents.recipes.literature import Recipe
from agents.recipes.schemas import overrides_schema, recipe_schema
from agents.recipes.settings import PlanSettings, RankSettings
from agents.training.settings import OF_KIND, SETTINGS
from annotations.models import Project


@dataclass(frozen=True)
class LampSettings(SettingGroup):
    stage = "lamp"

    colour: Literal["red", "green"] = setting("red", "what it shines in")
    watts: int = setting(5, "what it draws", least=1, most=60)
    height: float = setting(1.5, "where it hangs", above=0)
    lit: bool = setting(False, "whether it shines")


@dataclass(frozen=True)
class Room(SettingGroup):
    name: str
    lamp: LampSettings = field(default_factory=LampSettings)
    chairs: int = setting(0, "to sit on", least=0)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("lamp.colour", "blue", "lamp.colour must be one of red, green; got 'blue'"),
        ("lamp.watts", "61", "lamp.watts must lie in 1..60, got 61"),
        ("lamp.height", "0", "lamp.height must be above 0, got 0.0"),
        ("lamp.height", "high", "lamp.height must be float, got 'high'"),
        ("lamp.lit", "on", "lamp.lit must be bool, got 'on'"),
        ("chairs", "-1", "chairs must be at least 0, got -1"),
        ("name", "hall", "there is no setting 'name'; here one may set: chairs, lamp"),
        ("lamp", "on", "lamp is a group of settings: lamp.colour, lamp.watts, lamp.height, lamp.lit"),
        ("lamp.watts.x", "1", "there is no setting 'lamp.watts.x': lamp.watts is a plain value"),
    ],
)
def test_a_wrong_value_or_name_is_said_in_one_sentence(name: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        declaring.replaced(Room("kitchen"), name, text)


def test_not_a_number_is_within_no_bounds() -> None:
    with pytest.raises(ValueError, match=r"lamp.height must be above 0, got nan"):
        LampSettings(height=float("nan"))


def test_settings_are_set_and_listed_by_dotted_name() -> None:
    room = declaring.replaced(declaring.replaced(Room("kitchen"), "lamp.lit", "TRUE"), "chairs", "4")
    assert declaring.values_of(room) == {
        "lamp.colour": "red",
        "lamp.watts": 5,
        "lamp.height": 1.5,
        "lamp.lit": True,
        "chairs": 4,
    }
    assert hash(room) == hash(Room("kitchen", LampSettings(lit=True), 4))


def test_the_schema_says_what_each_setting_takes() -> None:
    lamp = declaring.schema(Room)["properties"]["lamp"]
    assert lamp["required"] == ["colour", "watts", "height", "lit"]
    assert lamp["properties"] == {
        "colour": {"type": "string", "default": "red", "description": "what it shines in", "enum": ["red", "green"]},
        "watts": {"type": "integer", "default": 5, "description": "what it draws", "minimum": 1, "maximum": 60},
        "height": {
            "type": "number",
            "default": 1.5,
            "description": "where it hangs",
            "minimum": 0,
            "exclusiveMinimum": True,
        },
        "lit": {"type": "boolean", "default": False, "description": "whether it shines"},
    }


def test_a_group_takes_over_what_another_declares() -> None:
    @dataclass(frozen=True)
    class Torch(SettingGroup):
        watts: int = same(LampSettings, "watts", 2, most=3)

    declared = declaring.declarations(Torch)["watts"]
    assert (Torch().watts, declared.words, declared.bounds) == (2, "what it draws", "1..3")


@dataclass(frozen=True)
class BrightRankSettings(RankSettings):
    shine: int = setting(2, "how bright the best element is", least=1, most=9)


@dataclass(frozen=True)
class BrightRecipe(Recipe):
    rank: BrightRankSettings = field(default_factory=BrightRankSettings)


@pytest.mark.django_db
def test_a_new_setting_is_shown_asked_for_set_checked_and_compared_by_being_declared() -> None:
    plain = BrightRecipe("bright", "One setting more.")
    changed = literature.override(plain, {"rank.shine": "7"})
    assert differences.changed(changed, plain) == {"rank.shine": (2, 7)}
    assert literature.sha256(changed) != literature.sha256(plain)
    (shown,) = [s for stage in sentences.stages(changed, plain) for s in stage.settings if s.name == "rank.shine"]
    assert (shown.words, shown.allowed, shown.value, shown.before) == (
        "how bright the best element is",
        "1..9",
        "7",
        "2",
    )
    asked = DeriveForm(parent=plain, projects=Project.objects.none())["rank.shine"]
    assert (asked.help_text, asked.initial) == ("how bright the best element is; 1..9", 2)
    assert 'min="1"' in str(asked)
    assert 'max="9"' in str(asked)
    with pytest.raises(ValueError, match=r"rank.shine must lie in 1..9, got 10"):
        literature.override(plain, {"rank.shine": "10"})
    assert "shine" in declaring.schema(BrightRecipe)["properties"]["rank"]["properties"]


def test_the_schemas_of_the_api_hold_every_setting_with_what_it_takes() -> None:
    named = overrides_schema()["properties"]
    assert set(named) == set(declaring.settings_of(Recipe))
    assert named["rank.kind"]["enum"][:2] == ["none", "dual_encoder"]
    assert named["recall.weight"]["description"].endswith("; 0..1")
    stored = recipe_schema()
    assert set(stored["required"]) == set(json.loads(json.dumps(literature.to_dict(Recipe("any", "")))))
    assert set(stored["properties"]) == set(literature.to_dict(Recipe("any", "", origin="self-map")))
    assert stored["properties"]["recall"]["properties"]["weight"]["maximum"] == 1
    assert stored["properties"]["plan"]["properties"]["kind"]["enum"][0] == "first"


@pytest.mark.parametrize("kind", OF_KIND)
def test_every_setting_of_a_training_is_declared(kind: str) -> None:
    declared = declaring.declarations(OF_KIND[kind])
    assert set(declared) == {field.name for field in fields(OF_KIND[kind])}
    assert all(len(one.words) > 5 for one in declared.values())


def test_what_a_training_repeats_of_a_recipe_is_one_declaration() -> None:
    dense = declaring.declarations(SETTINGS["dual_encoder"])
    limit = declaring.declarations(RankSettings)["element_limit"]
    assert dense["element_limit"] == replace(limit, repeats="rank.element_limit")
    planner, recalled = declaring.declarations(SETTINGS["seq2seq"]), declaring.settings_of(Recipe)
    assert planner["memory"].choices == recalled["recall.memory"].choices
    assert planner["max_new_tokens"].words == recalled["plan.max_new_tokens"].words


class _Point:
    """An entry point of another package."""

    def __init__(self, name: str, found: Any) -> None:
        self.name, self.found = name, found

    def load(self) -> Any:
        return self.found


def test_another_package_adds_a_setting_that_counts_from_the_day_somebody_changes_it(monkeypatch) -> None:
    points = [_Point("rank.glow", setting(3, "how much the best element glows", least=1))]
    monkeypatch.setattr(declaring, "added", lambda group: {point.name: point for point in points})
    rank = declaring.extended(RankSettings)
    recipe = dataclasses.make_dataclass(
        "Glowing", [("rank", rank, field(default_factory=rank))], bases=(Recipe,), frozen=True
    )
    plain = recipe("grounded", "")
    assert "glow" not in literature.to_dict(plain)["rank"]
    assert literature.sha256(plain) == literature.sha256(Recipe("grounded", "")), "the same without the package"
    changed = literature.override(plain, {"rank.glow": "5"})
    assert literature.to_dict(changed)["rank"]["glow"] == 5
    assert literature.sha256(changed) != literature.sha256(plain)
    shown = declaring.schema(rank)
    assert shown["properties"]["glow"]["minimum"] == 1
    assert "glow" not in shown["required"]
    with pytest.raises(ValueError, match=r"rank\.glow must be at least 1, got 0"):
        literature.override(plain, {"rank.glow": "0"})
    assert declaring.extended(PlanSettings) is PlanSettings, "it belongs to another stage"


@pytest.mark.parametrize(("name", "found"), [("rank.top_k", setting(3, "how many")), ("rank.glow", 3)])
def test_what_is_no_new_setting_is_refused(name: str, found: Any, monkeypatch) -> None:
    monkeypatch.setattr(declaring, "added", lambda group: {name: _Point(name, found)})
    with pytest.raises(
        ValueError, match=f"the entry point '{name}' of webnav.settings is no new setting of RankSettings"
    ):
        declaring.extended(RankSettings)
