"""Recipes: data that is stored whole, overridden by name and compared."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from agents.cookbook import checking, deviations
from agents.cookbook.lacking import missing
from agents.recipes import declaring, differences, literature
from agents.recipes.literature import RECIPES
from agents.recipes.settings import PlanSettings, Quirks, RankSettings, RecallSettings

ROOT = Path(__file__).resolve().parents[2]

NOWHERE = "not trained here, no folder, and not in the Hugging Face cache"


@pytest.mark.parametrize("name", RECIPES)
def test_a_stored_recipe_reads_back_as_it_was(name) -> None:
    recipe = literature.get(name)
    stored = json.loads(json.dumps(literature.to_dict(recipe)))
    assert literature.from_dict(stored) == recipe
    assert literature.sha256(literature.from_dict(stored)) == literature.sha256(recipe)


def test_the_hash_names_the_settings_and_nothing_else() -> None:
    grounded = literature.get("grounded")
    hashes = {literature.sha256(recipe) for recipe in RECIPES.values()}
    assert len(hashes) == len(RECIPES)
    assert literature.sha256(literature.override(grounded, {"rank.top_k": "49"})) not in hashes
    assert literature.sha256(literature.override(grounded, {"rank.top_k": "50"})) == literature.sha256(grounded)


@pytest.mark.slow
def test_the_hash_is_the_same_in_every_process() -> None:
    script = "from agents.recipes import literature as r; print(r.sha256(r.get('grounded')))"
    hashes = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, cwd=ROOT, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert hashes == {literature.sha256(literature.get("grounded")).encode() + b"\n"}


def test_fields_are_overridden_by_dotted_name_and_take_the_type_of_the_field() -> None:
    changed = literature.override(
        literature.get("grounded"),
        {"rank.top_k": "20", "recall.weight": "0.5", "recall.memory": "none", "batch_size": "8", "preset": "faithful"},
    )
    assert (changed.rank.top_k, changed.recall.weight, changed.recall.memory) == (20, 0.5, "none")
    assert (changed.batch_size, changed.preset, changed.quirks) == (8, "faithful", Quirks.of("faithful"))
    assert literature.get("grounded").rank.top_k == 50, "the named recipe stays as it is"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rank.topk", "3", r"there is no setting 'rank.topk'; here one may set: base, element_limit, "),
        (
            "ranks.top_k",
            "3",
            r"there is no setting 'ranks.top_k'; here one may set: act, batch_size, compose, imagine, observe, plan, ",
        ),
        ("name", "mine", r"there is no setting 'name'"),
        ("needs", "nothing", r"there is no setting 'needs'"),
        ("rank", "5", r"rank is a group of settings: rank.kind, rank.model, rank.base"),
        ("rank.top_k.x", "5", r"there is no setting 'rank.top_k.x': rank.top_k is a plain value"),
        ("rank.top_k", "3.5", r"rank.top_k must be int, got '3.5'"),
        ("rank.top_k", "-1", r"rank.top_k must be at least 1, got -1"),
        (
            "rank.kind",
            "magic",
            r"rank.kind must be one of none, dual_encoder, cross_encoder, dmr, score_file; got 'magic'",
        ),
        ("rank.lexical_weight", "nan", r"rank.lexical_weight must be a finite number, got 'nan'"),
        ("rank.role_weight", "inf", r"rank.role_weight must be a finite number, got 'inf'"),
        ("plan.top_p", "0", r"plan.top_p must be above 0, at most 1, got 0.0"),
        ("recall.weight", "1.5", r"recall.weight must lie in 0..1, got 1.5"),
        ("recall.k", "-1", r"recall.k must be at least 0, got -1"),
        ("plan.kind", "guess", r"plan.kind must be one of first, grounded"),
        ("batch_size", "0", r"batch_size must lie in 1..1024, got 0"),
        ("preset", "strict", r"preset must be one of faithful, corrected; got 'strict'"),
    ],
)
def test_a_wrong_override_is_named(name, text, message) -> None:
    with pytest.raises(ValueError, match=message):
        literature.override(literature.get("grounded"), {name: text})


def test_an_unknown_recipe_is_answered_with_the_choices() -> None:
    with pytest.raises(ValueError, match="there is no recipe 'self_map'; choose one of grounded, mindact"):
        literature.get("self_map")


def test_changed_lists_what_differs_from_the_named_recipe() -> None:
    grounded = literature.get("grounded")
    assert differences.changed(grounded) == {}
    other = literature.override(grounded, {"rank.top_k": "20", "recall.memory": "none"})
    assert differences.changed(other) == {"rank.top_k": (50, 20), "recall.memory": ("multifaceted", "none")}
    assert differences.changed(other, other) == {}


BUILT = [name for name, recipe in RECIPES.items() if not recipe.needs]


@pytest.mark.django_db
def test_recipes_say_what_they_lack_and_how_to_get_it(monkeypatch) -> None:
    for name in ("LLM_BASE_URL", "LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    ready = {"grounded", "grounded-world-model", "dmr-minilm"}
    assert {name for name in RECIPES if not missing(literature.get(name))} == ready
    assert missing(literature.get("deberta")) == [
        "rank.model: train one from microsoft/deberta-v3-base (manage.py train_ranker DATASET --recipe deberta "
        "--name NAME) or name a folder"
    ]
    assert "an LLM endpoint: set LLM_BASE_URL and LLM_MODEL" in missing(literature.get("synapse"))
    assert set(RECIPES) == set(BUILT)


@pytest.mark.parametrize("name", BUILT)
def test_every_built_recipe_can_run_once_it_has_weights_and_an_endpoint(name, monkeypatch, tmp_path) -> None:
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setenv("LLM_BASE_URL", "http://localhost:1/v1")
    monkeypatch.setenv("LLM_MODEL", "any")
    recipe = literature.get(name)
    changes = {}
    if recipe.rank.kind != "none" and not recipe.rank.model:
        changes["rank.model"] = str(tmp_path)
    if recipe.plan.kind not in ("first", "grounded") and recipe.plan.backend == "local":
        changes["plan.model"] = str(tmp_path)
    assert missing(literature.override(recipe, changes)) == []
    if changes:
        assert missing(recipe)


@pytest.mark.django_db
def test_a_model_that_is_nowhere_is_named(monkeypatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    recipe = literature.override(literature.get("deberta"), {"rank.model": "no-such-model"})
    assert missing(recipe) == [f"rank.model: there is no model 'no-such-model': {NOWHERE}"]


@pytest.mark.parametrize(
    ("settings", "need"),
    [
        ({"rank.kind": "cross_encoder"}, "rank.kind=dual_encoder"),
        ({"recall.memory": "chronological"}, "recall.memory=none or multifaceted"),
        (
            {"plan.model": "nowhere"},
            "plan.model: there is no model 'nowhere': not trained here, no folder, and not in the Hugging Face cache",
        ),
    ],
)
@pytest.mark.django_db
def test_settings_that_the_grounded_policy_would_overlook_are_lacking(settings, need) -> None:
    assert need in missing(literature.override(literature.get("grounded"), settings))


def test_a_preset_sets_every_quirk() -> None:
    mindact = literature.get("mindact")
    assert all(dataclasses.asdict(mindact.quirks).values())
    assert not any(dataclasses.asdict(literature.with_preset(mindact, "corrected").quirks).values())
    one_off = literature.override(mindact, {"preset": "corrected", "quirks.q7_single_candidate_fails": "true"})
    assert (one_off.preset, one_off.quirks.q7_single_candidate_fails) == ("corrected", True)
    named_first = {"quirks.q7_single_candidate_fails": "true", "preset": "corrected"}
    assert literature.override(mindact, named_first) == one_off, "in whichever order they stand"


@pytest.mark.parametrize("preset", ["faithful", "corrected"])
def test_a_preset_leaves_the_quirks_by_which_a_recipe_was_derived(preset: str) -> None:
    base, other = literature.get("self-map"), {"faithful": "corrected", "corrected": "faithful"}[preset]
    own = {"preset": preset, "quirks.q14_rationale_joined": "true" if preset == "corrected" else "false"}
    derived = literature.override(base, own)
    assert differences.changed(literature.in_preset(derived, preset), derived) == {}
    there = literature.in_preset(derived, other)
    assert there.quirks.q14_rationale_joined == derived.quirks.q14_rationale_joined
    assert dataclasses.replace(there.quirks, q14_rationale_joined=other == "faithful") == Quirks.of(other)


def test_parents_exist_and_settings_stored_before_a_field_existed_still_read() -> None:
    assert all(not recipe.parent or recipe.parent in RECIPES for recipe in RECIPES.values())
    stored = literature.to_dict(literature.get("grounded"))
    old = {name: stored[name] for name in ("name", "description", "rank", "recall", "plan", "preset", "needs")}
    assert literature.from_dict(old).rank == literature.get("grounded").rank


def test_settings_are_checked_where_they_are_made() -> None:
    for make in (lambda: RankSettings(top_k=0), lambda: RecallSettings(weight=-0.1), lambda: PlanSettings("none")):
        with pytest.raises(ValueError, match="must"):
            make()


@pytest.mark.django_db
def test_abstract_workflows_of_the_train_split_are_a_matter_of_their_induction() -> None:
    recipe = literature.override(literature.get("awm"), {"recall.induction_style": "abstract"})
    assert any("induce_workflows DATASET --style abstract" in line for line in missing(recipe))
    online = literature.override(literature.get("awm-online"), {"recall.induction_style": "abstract"})
    assert not any("--style" in line for line in missing(online))


def test_what_was_stored_before_bounds_came_is_read_marked_and_taken_by_nothing_new() -> None:
    stored = literature.to_dict(literature.get("wma"))
    stored["plan"] |= {"samples": 250, "temperature": 0.0001}
    read = literature.from_dict(stored)
    assert (read.plan.samples, read.plan.temperature, read.plan.kind) == (250, 0.0001, "trajectory")
    assert literature.to_dict(read) == stored
    assert differences.changed_settings(stored)["plan.samples"] == (20, 250)
    told = " ".join(one.words for one in deviations.of_stored(stored))
    assert "plan.samples must lie in 1..100, got 250" in told
    assert "plan.temperature must be 0, or at least 0.001, got 0.0001" in told
    assert not [one for one in deviations.of_recipe(literature.get("wma")) if "bounds" in one.key]
    with pytest.raises(ValueError, match=r"^plan\.samples must lie in 1\.\.100, got 250, as wma was stored before"):
        checking.vary(read, {"plan.temperature": "1"})
    mended = checking.vary(read, {"plan.temperature": "1", "plan.samples": "20"})
    assert (mended.plan.samples, declaring.out_of_bounds(mended)) == (20, {})
    for stage, name, value in (("plan", "kind", "poetry"), ("recall", "sort_by", "colour")):
        with pytest.raises(ValueError, match=rf"{name} must be one of"):
            literature.from_dict(stored | {stage: stored[stage] | {name: value}})
