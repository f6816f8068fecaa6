"""Recipes in words: nothing without words, and differences from the parent named."""

import dataclasses
import re

import pytest

from agents.recipes import literature, sentences
from agents.recipes.literature import RECIPES
from agents.recipes.settings import Quirks

ALL = pytest.mark.parametrize("name", RECIPES)


def test_every_setting_has_words_and_none_has_them_in_vain() -> None:
    assert set(sentences.SETTINGS) == set(sentences.flat(RECIPES["grounded"]))


@pytest.mark.parametrize("name", sentences.CHOICES)
def test_the_choices_of_a_form_are_those_that_the_settings_take(name: str) -> None:
    with pytest.raises(ValueError, match="must be one of") as caught:
        literature.override(RECIPES["mindact"], {name: "bogus"})
    taken = re.search(r"must be one of (.*); got", str(caught.value))[1]
    assert tuple(taken.split(", ")) == tuple(sentences.CHOICES[name])


def test_every_text_setting_with_fixed_values_offers_them() -> None:
    fixed = set()
    for name, value in sentences.flat(RECIPES["mindact"]).items():
        if isinstance(value, str):
            try:
                literature.override(RECIPES["mindact"], {name: "bogus"})
            except ValueError:
                fixed.add(name)
    assert fixed == set(sentences.CHOICES)


@ALL
def test_every_recipe_has_eight_stages_in_whole_sentences(name: str) -> None:
    stages = sentences.stages(RECIPES[name])
    assert [stage.name for stage in stages] == list(sentences.STAGES)
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
    assert marked == (set(literature.changed(recipe, parent)) - {"preset"} if parent else set())


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
