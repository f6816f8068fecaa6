"""Recipes: data that is stored whole, overridden by name and compared."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agents import recipes
from agents.policy import POLICIES
from agents.recipes import RECIPES, PlanSettings, RankSettings, RecallSettings

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", RECIPES)
def test_a_stored_recipe_reads_back_as_it_was(name) -> None:
    recipe = recipes.get(name)
    stored = json.loads(json.dumps(recipes.to_dict(recipe)))
    assert recipes.from_dict(stored) == recipe
    assert recipes.sha256(recipes.from_dict(stored)) == recipes.sha256(recipe)


def test_the_hash_names_the_settings_and_nothing_else() -> None:
    grounded = recipes.get("grounded")
    hashes = {recipes.sha256(recipe) for recipe in RECIPES.values()}
    assert len(hashes) == len(RECIPES)
    assert recipes.sha256(recipes.override(grounded, {"rank.top_k": "49"})) not in hashes
    assert recipes.sha256(recipes.override(grounded, {"rank.top_k": "50"})) == recipes.sha256(grounded)


def test_the_hash_is_the_same_in_every_process() -> None:
    script = "from agents import recipes; print(recipes.sha256(recipes.get('grounded')))"
    hashes = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, cwd=ROOT, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert hashes == {recipes.sha256(recipes.get("grounded")).encode() + b"\n"}


def test_fields_are_overridden_by_dotted_name_and_take_the_type_of_the_field() -> None:
    changed = recipes.override(
        recipes.get("grounded"),
        {"rank.top_k": "20", "recall.weight": "0.5", "recall.memory": "none", "batch_size": "8", "preset": "faithful"},
    )
    assert (changed.rank.top_k, changed.recall.weight, changed.recall.memory) == (20, 0.5, "none")
    assert (changed.batch_size, changed.preset) == (8, "faithful")
    assert recipes.get("grounded").rank.top_k == 50, "the named recipe stays as it is"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rank.topk", "3", r"there is no setting 'rank.topk'; here one may set: kind, lexical_weight, "),
        ("ranks.top_k", "3", r"there is no setting 'ranks.top_k'; here one may set: batch_size, plan, preset"),
        ("name", "mine", r"there is no setting 'name'"),
        ("needs", "nothing", r"there is no setting 'needs'"),
        ("rank", "5", r"rank is a group of settings: rank.kind, rank.model, rank.top_k"),
        ("rank.top_k.x", "5", r"there is no setting 'rank.top_k.x': rank.top_k is a plain value"),
        ("rank.top_k", "3.5", r"rank.top_k must be int, got '3.5'"),
        ("rank.top_k", "-1", r"rank.top_k must be at least 1, got -1"),
        ("rank.kind", "magic", r"rank.kind must be one of none, dual_encoder, cross_encoder; got 'magic'"),
        ("rank.lexical_weight", "nan", r"rank.lexical_weight must be a finite number, got 'nan'"),
        ("rank.role_weight", "inf", r"rank.role_weight must be a finite number, got 'inf'"),
        ("recall.weight", "1.5", r"recall.weight must lie in 0..1, got 1.5"),
        ("recall.k", "-1", r"recall.k must not be negative, got -1"),
        ("plan.kind", "guess", r"plan.kind must be one of first, grounded"),
        ("batch_size", "0", r"batch_size must lie in 1..1024, got 0"),
        ("preset", "strict", r"preset must be one of faithful, corrected; got 'strict'"),
    ],
)
def test_a_wrong_override_is_named(name, text, message) -> None:
    with pytest.raises(ValueError, match=message):
        recipes.override(recipes.get("grounded"), {name: text})


def test_an_unknown_recipe_is_answered_with_the_choices() -> None:
    with pytest.raises(ValueError, match="there is no recipe 'self_map'; choose one of grounded, mindact"):
        recipes.get("self_map")


def test_changed_lists_what_differs_from_the_named_recipe() -> None:
    grounded = recipes.get("grounded")
    assert recipes.changed(grounded) == {}
    other = recipes.override(grounded, {"rank.top_k": "20", "recall.memory": "none"})
    assert recipes.changed(other) == {"rank.top_k": (50, 20), "recall.memory": ("multifaceted", "none")}
    assert recipes.changed(other, other) == {}


def test_grounded_runs_here_and_published_recipes_say_what_they_lack(monkeypatch) -> None:
    monkeypatch.delenv("LLM_BASE_URL", raising=False)
    assert recipes.missing(recipes.get("grounded")) == []
    for name, recipe in RECIPES.items():
        assert (name == "grounded") == (recipes.missing(recipe) == [])
    lacking = recipes.missing(recipes.get("synapse"))
    assert any("LLM_BASE_URL" in need for need in lacking)
    monkeypatch.setenv("LLM_BASE_URL", "http://localhost:1/v1")
    assert not any("LLM_BASE_URL" in need for need in recipes.missing(recipes.get("synapse")))


@pytest.mark.parametrize(
    ("settings", "need"),
    [
        ({"plan.kind": "multichoice"}, "a planner for plan.kind=multichoice, which is not built yet"),
        ({"rank.kind": "cross_encoder"}, "rank.kind=dual_encoder"),
        ({"recall.memory": "chronological"}, "recall.memory=none or multifaceted"),
    ],
)
def test_settings_that_the_policy_would_overlook_are_lacking_stages(settings, need) -> None:
    assert need in recipes.missing(recipes.override(recipes.get("grounded"), settings))


def test_built_planners_are_the_policies_there_are() -> None:
    assert set(POLICIES) == recipes.BUILT_PLANNERS


def test_settings_are_checked_where_they_are_made() -> None:
    for make in (lambda: RankSettings(top_k=0), lambda: RecallSettings(weight=-0.1), lambda: PlanSettings("none")):
        with pytest.raises(ValueError, match="must"):
            make()
