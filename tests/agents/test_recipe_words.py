"""Recipes in words: nothing without words, and differences from the parent named."""

import dataclasses
import re

import pytest

from agents.cookbook import checking, sentences
from agents.cookbook.drawing import drawing
from agents.recipes import differences, literature
from agents.recipes.declaring import settings_of
from agents.recipes.literature import RECIPES
from agents.recipes.settings import Quirks
from agents.types import STAGES

ALL = pytest.mark.parametrize("name", RECIPES)


def test_every_setting_has_words() -> None:
    for name, declared in settings_of(literature.Recipe).items():
        assert re.match(r"[A-Za-z@].{5,}[^.]$", declared.words), name


TEXTS = {
    "rank.model",
    "rank.base",
    "recall.encoder",
    "plan.model",
    "plan.base",
    "imagine.model",
    "imagine.value_model",
}  # names of models: no list of them
WEIGHTS = {f"rank.{name}" for name in ("lexical_weight", "role_weight", "order_weight", "option_weight")}


@pytest.mark.parametrize("name", settings_of(literature.Recipe))
def test_a_setting_has_choices_or_bounds_where_not_every_value_makes_sense(name: str) -> None:
    declared = settings_of(literature.Recipe)[name]
    assert not (declared.choices and declared.bounds)
    free = declared.kind is bool or name in TEXTS | WEIGHTS | {"rank.link_penalty", "rank.repeat_penalty"}
    assert bool(declared.allowed) != free
    assert declared.default == literature.values_of(literature.Recipe("any", ""))[name]


@pytest.mark.parametrize("name", [n for n, declared in settings_of(literature.Recipe).items() if declared.choices])
def test_a_setting_takes_its_choices_and_nothing_else(name: str) -> None:
    for choice in settings_of(literature.Recipe)[name].choices:
        assert literature.values_of(literature.override(RECIPES["mindact"], {name: choice}))[name] == choice
    with pytest.raises(ValueError, match=f"{name} must be one of .*; got 'bogus'"):
        literature.override(RECIPES["mindact"], {name: "bogus"})


def test_a_setting_names_the_recipe_that_gave_it_its_value() -> None:
    synapse, bare = RECIPES["synapse"], RECIPES["bare"]
    own = dataclasses.replace(synapse, name="mine", parent="synapse", plan=dataclasses.replace(synapse.plan, base="x"))
    found = {s.name: s for stage in sentences.stages(own, synapse, [bare]) for s in stage.settings}
    names = {name: found[name].set_by and found[name].set_by.name for name in found}
    assert {name: by for name, by in names.items() if name in ("plan.base", "recall.exemplars", "rank.top_k")} == {
        "plan.base": "mine",
        "recall.exemplars": "synapse",
        "rank.top_k": "bare",
    }
    assert names["compose.shots"] is None, "the default"


@ALL
def test_every_recipe_has_eight_stages_in_whole_sentences(name: str) -> None:
    stages = sentences.stages(RECIPES[name])
    assert [stage.name for stage in stages] == list(STAGES)
    for stage in stages:
        assert re.match(r"[A-Z].*\.$", stage.sentence), stage
        assert "{" not in stage.sentence
    shown = {setting.name for stage in stages for setting in stage.settings}
    assert shown == set(sentences.flat(RECIPES[name])), "no setting is left out"


@ALL
def test_what_is_marked_is_what_differs_from_the_parent(name: str) -> None:
    recipe = RECIPES[name]
    parent = RECIPES.get(recipe.parent)
    stages = sentences.stages(recipe, parent)
    marked = {s.name for stage in stages for s in stage.settings if s.before is not None}
    marked |= {f"quirks.{quirk.name}" for quirk in sentences.quirks(recipe, parent) if quirk.before is not None}
    assert marked == (set(differences.changed(recipe, parent)) - {"preset"} if parent else set())


def test_a_marked_setting_shows_the_value_of_its_parent() -> None:
    stages = {s.name: s for s in sentences.stages(RECIPES["synapse"], RECIPES["bare"])}
    assert [(s.name, s.before, s.value) for s in stages["recall"].settings if s.before is not None] == [
        ("recall.exemplars", "none", "semantic"),
        ("recall.exemplar_k", "0", "3"),
    ]
    assert stages["recall"].changed
    assert not stages["rank"].changed


def test_the_sentences_follow_the_settings() -> None:
    changed = literature.override(
        RECIPES["mindact"], {"rank.top_k": "7", "simplify.group_size": "3", "plan.model": "mine"}
    )
    said = {stage.name: stage.sentence for stage in sentences.stages(changed)}
    assert said["rank"].endswith("Keeps the best 7.")
    assert "among 3 elements at a time" in said["plan"]
    assert said["plan"].endswith("Runs mine here.")


def test_quirks_are_named_with_what_they_do_and_whether_they_are_on() -> None:
    parent = RECIPES["mindact"]
    changed = literature.override(parent, {"quirks.q7_single_candidate_fails": "false"})
    quirks = sentences.quirks(changed, parent)
    assert [quirk.name for quirk in quirks] == [field.name for field in dataclasses.fields(Quirks)]
    assert all(quirk.what for quirk in quirks)
    assert [(q.name, q.on, q.before) for q in quirks if q.before is not None] == [
        ("q7_single_candidate_fails", False, True)
    ]


@ALL
def test_the_drawing_has_a_box_for_every_stage_and_an_action_at_its_end(name: str) -> None:
    boxes = drawing(RECIPES[name], RECIPES.get(RECIPES[name].parent))
    assert {box.stage for box in boxes} == set(STAGES)
    assert all(bool(box.hands_on) <= bool(box.title) for box in boxes), "what is left out hands nothing on"
    assert boxes[-1].hands_on == "1 action, judged"
    assert all(box.hands_on for box in boxes if box.stage in ("observe", "plan", "act"))


def test_the_drawing_shows_what_flows_and_what_does_otherwise_than_in_the_parent() -> None:
    boxes = {box.stage: box for box in drawing(RECIPES["synapse"], RECIPES["bare"])}
    assert (boxes["recall"].title, boxes["recall"].before) == ("nearest exemplars", "nothing")
    assert (boxes["recall"].hands_on, boxes["recall"].changed) == ("3 exemplars", 2)
    assert (boxes["rank"].before, boxes["rank"].changed) == ("", 0)
    assert boxes["compose"].hands_on == "prompt of at most 16,385 tokens"
    mcq = {box.stage: box for box in drawing(RECIPES["self-map-mcq"], RECIPES["self-map"])}
    assert (mcq["plan"].title, mcq["plan"].before) == ("multiple choice", "generation")


def test_what_flows_is_what_runs_here() -> None:
    published = RECIPES["self-map"]
    smaller = literature.override(published, {"rank.top_k": "10"})
    note = {"rank": ["10 elements, not 50"]}
    assert {box.stage: box.hands_on for box in drawing(published, None, note)}["rank"] == "best 50 elements"
    boxes = {box.stage: box for box in drawing(published, None, note, smaller)}
    assert (boxes["rank"].here, boxes["rank"].hands_on) == (("10 elements, not 50",), "best 10 elements")


def test_memory_that_a_ranking_takes_is_drawn_before_it() -> None:
    assert [box.stage for box in drawing(RECIPES["grounded"])][:3] == ["observe", "recall", "rank"]
    assert [box.stage for box in drawing(RECIPES["mindact"])][:3] == ["observe", "rank", "recall"]


def test_of_no_exemplars_it_is_not_said_how_they_are_chosen() -> None:
    recipe = checking.vary(RECIPES["awm"], {"recall.exemplar_k": "0"})
    (said,) = (one.sentence for one in sentences.stages(recipe) if one.name == "recall")
    assert "Shows no exemplars." in said
    assert "0 exemplars" not in said


def test_where_every_sample_is_compared_the_page_says_so_of_graded_ones_too() -> None:
    for kind in ("world_model", "value_only"):
        recipe = literature.override(literature.get("wma"), {"imagine.kind": kind, "imagine.loop": "mind2web"})
        said = next(stage for stage in sentences.stages(recipe) if stage.name == "imagine").sentence
        assert "the different ones of 20 sampled actions" in said
