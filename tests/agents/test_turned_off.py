"""What hangs on a kind that a recipe turns off, or asks for 0 times, goes with it: no model is asked, no text and no
setting is left over, and what pages and reports say is true."""

import dataclasses
import re

import pytest

from agents.cookbook import checking, sentences
from agents.cookbook.deviations import of_recipe
from agents.cookbook.lacking import asks_endpoint
from agents.recipes.declaring import Declared, settings_of, value_of
from agents.recipes.kinds import KINDS
from agents.recipes.literature import RECIPES, Recipe, override
from agents.stages.known import has_memory, kinds
from agents.stages.recall.earlier import FirstTurns
from agents.stages.registry import overlooked, recipe_kinds, searched, texts_of, training_of
from agents.types import STAGES
from tests.agents.test_checking import vary_or_none


@pytest.mark.parametrize("changes", [{"recall.memory": "none"}, {"recall.k": "0"}])
def test_no_rationale_is_asked_for_where_no_step_is_recalled(changes: dict[str, str]) -> None:
    """Neither in use nor in training; and neither page nor report says that there is one."""
    recipe = checking.vary(RECIPES["self-map"], changes)
    assert recipe.recall.rationales == "model"
    assert asks_endpoint(RECIPES["self-map"])
    assert not asks_endpoint(recipe)
    assert not texts_of(recipe).keys() & {"rationale", "rationale_none"}
    _, training = training_of(recipe)
    assert (training["memory"], training["refinement"]) == ("none", False)
    assert "default-rationale" not in {deviation.key for deviation in of_recipe(recipe)}
    assert sentences.stages(recipe)[STAGES.index("recall")].sentence == "Recalls no earlier steps."


def test_the_fixed_rationale_is_told_of_prompts_that_have_it() -> None:
    awm = checking.vary(RECIPES["awm"], {"recall.memory": "multifaceted", "recall.rationales": "stored"})
    told = {name: "default-rationale" in {deviation.key for deviation in of_recipe(RECIPES[name])} for name in RECIPES}
    assert {name for name, is_told in told.items() if is_told} == {
        *("self-map", "self-map-mcq", "self-map-full-state", "self-map-chronological")
    }
    assert "default-rationale" not in {deviation.key for deviation in of_recipe(awm)}


def test_nothing_is_asked_or_searched_for_no_workflows_and_no_exemplars() -> None:
    none = checking.vary(RECIPES["mims"], {"recall.workflow_k": "0", "recall.exemplar_k": "0"})
    assert searched(RECIPES["mims"]) == {"workflows", "exemplars"}
    assert not searched(none)
    assert "objective" not in texts_of(none)
    said = sentences.stages(none)[STAGES.index("recall")].sentence
    assert said == "Recalls no earlier steps. Shows no exemplars. Shows no workflows."


@pytest.mark.parametrize("name", [name for name, recipe in RECIPES.items() if recipe.plan.kind == "trajectory"])
def test_how_many_elements_are_kept_counts_only_where_a_step_can_fail_unasked(name: str) -> None:
    assert "rank.top_k" in checking.read_by(RECIPES[name])
    asked = checking.vary(RECIPES[name], {"quirks.q27_fails_unasked": "false"})
    assert "rank.top_k" not in checking.read_by(asked)
    said = [sentences.stages(recipe)[STAGES.index("rank")].sentence for recipe in (RECIPES[name], asked)]
    assert [text.endswith("Keeps the best 5.") for text in said] == [True, False]


def test_the_longest_prompt_of_local_weights_is_told_as_it_is_cut() -> None:
    local = checking.vary(RECIPES["bare"], {"plan.backend": "local", "plan.model": "x"})
    assert sentences.stages(local)[STAGES.index("compose")].sentence.endswith("in 2,048 tokens.")
    assert "16,385" in sentences.stages(RECIPES["bare"])[STAGES.index("compose")].sentence


def test_whether_k_counts_a_memory_is_said_by_its_kind(monkeypatch) -> None:
    none = override(RECIPES["mindact"], {"recall.memory": "chronological", "recall.k": "0"})
    assert has_memory(none)
    assert training_of(none, "seq2seq")[1]["memory"] == "chronological"
    monkeypatch.setitem(kinds()["recall.memory"], "chronological", FirstTurns)  # as a package's own may be
    assert not has_memory(none)
    assert training_of(none, "seq2seq")[1]["memory"] == "none"


OFF: list[dict[str, str]] = [  # what turns a kind, or what it gives, off
    {"recall.memory": "none"},
    {"recall.k": "0"},
    {"recall.exemplars": "none"},
    {"recall.exemplar_k": "0"},
    {"recall.workflows": "none"},
    {"recall.workflow_k": "0"},
    {"recall.rewrite_instruction": "false"},
    {"imagine.kind": "none", "plan.samples": "1"},
    {"quirks.q27_fails_unasked": "false"},
    {"observe.observation": "image"},
    {"rank.kind": "none"},
]


@pytest.mark.parametrize("off", OFF, ids=lambda off: " ".join(f"{name}={value}" for name, value in off.items()))
def test_what_hangs_on_what_is_turned_off_goes_with_it_and_takes_no_other_value(off: dict[str, str]) -> None:
    """A setting that is read no more can be set to nothing beside it, and to nothing else."""
    hanging = 0
    for parent in RECIPES.values():
        recipe = vary_or_none(parent, off)
        if recipe is None:
            continue
        before, now = checking.read_by(parent), checking.read_by(recipe)
        for name in before - now - off.keys():
            hanging += 1
            declared = settings_of(Recipe)[name]
            if declared.default in ("none", "", 0, 1):  # nothing, or the one that there always is
                assert checking.vary(parent, off | {name: str(declared.default)}), f"{parent.name} {off}: {name}"
            elif declared.default != value_of(parent, name):  # what is usual elsewhere counts as little as any other
                with pytest.raises(ValueError, match=f"^{name}.* would change nothing"):
                    checking.vary(parent, off | {name: str(declared.default)})
            if name not in KINDS and (other := another(declared, value_of(parent, name))):
                with pytest.raises(ValueError, match=f"^{name}.* (?:would change nothing|does not go)"):
                    checking.vary(parent, off | {name: other})
    assert hanging or off.keys() & {"recall.rewrite_instruction"}, "else this sweeps nothing"


def another(declared: Declared, value: object) -> str:
    """A value that is neither this one nor one that turns the setting off; "" where there is none."""
    off = {str(value), str(declared.default), "none", "0"}
    number = str(int(declared.most or max(19, (declared.least or 0) + 1)))
    plain = {bool: ("True", "False"), str: ("other",), float: ("0.37",), int: (number,)}[declared.kind]
    some = declared.choices or plain
    return next((one for one in some if one not in off), "")


@pytest.mark.parametrize("name", ["grounded", "grounded-world-model"])
def test_a_trained_planner_that_ranks_by_itself_recalls_no_step_and_its_page_says_so(name: str) -> None:
    recipe = checking.vary(RECIPES[name], {"plan.model": "mine"})
    given = [
        frozenset().union(*(kind.gives for kind in recipe_kinds(one) if kind.stage == "recall"))
        for one in (RECIPES[name], recipe)
    ]
    assert given == [{"memory", "snippets"}, frozenset()]
    page = dict(zip(STAGES, (one.sentence for one in sentences.stages(recipe)), strict=True))
    assert page["recall"] == "Recalls no earlier steps."
    assert page["rank"].startswith("mine orders the elements by what it learned")
    assert "Words in common" not in page["rank"]


def test_what_somebody_had_recalled_is_not_left_to_a_trained_planner_without_a_word() -> None:
    varied = checking.vary(RECIPES["grounded"], {"recall.rewrite_instruction": "true"})
    derived = dataclasses.replace(varied, name="own", parent="grounded")
    said = r"recall\.rewrite_instruction=True would change nothing in own: .*; own was derived by it, so set "
    with pytest.raises(ValueError, match=said + r"recall\.rewrite_instruction=false, too") as refused:
        checking.vary(derived, {"plan.model": "mine"})
    name, _, value = str(refused.value).partition("so set ")[2].removesuffix(", too").partition("=")
    advised = checking.vary(derived, {"plan.model": "mine", name: value})
    assert (advised.plan.model, advised.recall.rewrite_instruction) == ("mine", False)
    assert checking.vary(RECIPES["bare"], {name: "true"}).recall.rewrite_instruction


def test_what_a_planner_overlooks_is_turned_off_by_a_value_that_is_taken() -> None:
    recipe = override(RECIPES["grounded"], {"rank.kind": "cross_encoder", "recall.rewrite_instruction": "true"})
    (said,) = (one for one in overlooked(recipe) if one.startswith("recall.rewrite_instruction"))
    name, _, value = said.partition("=")
    assert override(recipe, {name: value.partition(" or ")[0]}).recall.rewrite_instruction is False


@pytest.mark.parametrize(("name", "value"), [("recall.k", "5"), ("recall.k", "2")])
@pytest.mark.parametrize("recipe", ["grounded", "grounded-world-model"])
def test_what_somebody_has_chosen_of_a_recalled_kind_is_not_dropped_by_a_trained_planner(
    recipe: str, name: str, value: str
) -> None:
    derived = dataclasses.replace(checking.vary(RECIPES[recipe], {name: value}), name="mine", parent=recipe)
    usual = value_of(RECIPES[recipe], name)
    said = rf"^{re.escape(name)}={value} would change nothing in mine: .*so set {re.escape(name)}={usual}, too$"
    with pytest.raises(ValueError, match=said):
        checking.vary(derived, {"plan.model": "x"})
    assert checking.vary(derived, {"plan.model": "x", name: str(usual)}).plan.model == "x"
    with pytest.raises(ValueError, match=r"^recall\.k=. would change nothing"):  # as where all are set at once
        checking.vary(derived, {"plan.model": "x", "recall.memory": "none"})
