"""Settings of a recipe that a training for it does not read are refused before anything starts."""

import io
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from agents.cookbook import saved
from agents.models import SavedRecipe, TrainedModel
from agents.recipes import literature
from agents.recipes.declaring import declarations, settings_of
from agents.recipes.literature import Recipe
from agents.stages.registry import trained_for, training_of
from agents.training.jobs import start_training
from agents.training.settings import OF_KIND, PlannerSettings
from annotations.models import Dataset, Job, Split
from tests.factories import PAGE, make_conversation, make_dataset
from tests.tiny_models import tiny_cross_encoder

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    dataset = make_dataset()
    make_conversation(turns=1, steps=2, split=Split.TRAIN, dataset=dataset)
    return dataset


NOTHING = "{} would change nothing in a training {} for {}: it needs {}"
PLANNER, RUN, TURNS = "manage.py train_planner", "manage.py evaluate", "recorded WebLINX turns"


@pytest.mark.parametrize(
    ("command", "recipe", "given", "what", "wants"),
    [
        ("train_ranker", "self-map", "recall.k=2", "of kind=cross_encoder", f"{PLANNER} or {RUN}"),
        ("train_ranker", "mindact", "simplify.group_size=3", "of kind=cross_encoder", f"{PLANNER} or {RUN}"),
        ("train_ranker", "mindact", "compose.shots=1", "of kind=cross_encoder", f"{PLANNER} or {RUN}"),
        ("train_ranker", "mindact", "prompts.pack=mine", "of kind=cross_encoder", f"{PLANNER} or {RUN}"),
        ("train_ranker", "self-map", "plan.max_new_tokens=9", "of kind=cross_encoder", f"{PLANNER} or {RUN}"),
        ("train_ranker", "wma", "imagine.samples=2", "of kind=cross_encoder", RUN),
        ("train_ranker", "mindact", "act.guard=policy", "of kind=cross_encoder", RUN),
        ("train_ranker", "mindact", "rank.model=mine", "of kind=cross_encoder", RUN),
        ("train_ranker", "mindact", "rank.top_k=9", "of kind=cross_encoder", RUN),
        ("train_ranker", "dmr-minilm", "rank.history_turns=2", "of kind=dual_encoder", f"{TURNS} or {RUN}"),
        ("train_planner", "self-map", "rank.model=mine", "of kind=seq2seq", RUN),
        ("train_planner", "self-map", "rank.top_k=9", "of kind=seq2seq", RUN),
        ("train_planner", "self-map", "plan.model=mine", "of kind=seq2seq", RUN),
        ("train_planner", "self-map", "plan.backend=endpoint", "of kind=seq2seq", RUN),
        ("train_planner", "self-map", "quirks.q10_unreadable_picks_first=false", "of kind=seq2seq", RUN),
        ("train_planner", "self-map", "act.guard=policy", "of kind=seq2seq", RUN),
        ("train_planner", "wma", "imagine.samples=2", "of kind=causal", RUN),
        ("train_planner", "mims", "recall.induction=online", "of kind=causal", RUN),
        ("train_planner", "grounded", "recall.k=2", "of kind=grounded", RUN),
        ("train_world_model", "self-map", "recall.k=2", "on world_model", f"{PLANNER} or {RUN}"),
        ("train_world_model", "wma", "imagine.page_tokens=99", "on world_model", RUN),
    ],
)
def test_a_setting_that_a_training_does_not_read_is_refused_with_what_reads_it(
    command, recipe, given, what, wants, dataset
) -> None:
    with pytest.raises(CommandError) as refused:
        call_command(command, dataset.name, name="x", recipe=recipe, changes=[given], inline=True)
    assert str(refused.value) == NOTHING.format(given.partition("=")[0], what, recipe, wants)
    assert not TrainedModel.objects.exists()
    assert not Job.objects.exists()


@pytest.mark.slow
def test_what_comes_with_a_recipe_is_no_error_and_one_may_say_it_again(dataset, tmp_path, settings) -> None:
    """Also of a recipe that somebody derived by settings of other stages."""
    settings.MODEL_ROOT = tmp_path
    base = str(tiny_cross_encoder(tmp_path / "base", [PAGE], layers=1, width=16))
    said = {"parent": "self-map", "changes": {"recall.k": "2", "act.guard": "policy"}}
    SavedRecipe.objects.create(project=dataset.project, name="mine", **said)
    for recipe, given in (("self-map", ["recall.k=3"]), ("mine", ["recall.k=2", "rank.kind=cross_encoder"])):
        asked: dict[str, Any] = {"name": f"of-{recipe}", "recipe": recipe, "base": base, "limit": 1}
        told = io.StringIO()
        changes = [*given, "epochs=1", "mixed_precision=no"]
        call_command("train_ranker", dataset.name, **asked, changes=changes, inline=True, stdout=told)
        assert f"of-{recipe}: " in told.getvalue()


def refused(dataset: Dataset, kind: str, recipe: Recipe, **more: Any) -> str:
    """What start_training says, whoever calls it; nothing is started."""
    with pytest.raises(ValidationError) as error:
        start_training(user=None, dataset=dataset, kind=kind, name="x", recipe=recipe, publish=False, **more)
    assert not TrainedModel.objects.exists()
    assert not Job.objects.exists()
    return " ".join(error.value.messages)


def test_whoever_starts_a_training_is_told_of_settings_that_it_does_not_read(dataset) -> None:
    def changed(name: str, **settings: str) -> Recipe:
        named = {setting.replace("__", "."): value for setting, value in settings.items()}
        return literature.override(literature.get(name), named)

    assert refused(dataset, "cross_encoder", changed("mindact", simplify__group_size="3")) == NOTHING.format(
        "simplify.group_size", "of kind=cross_encoder", "mindact", f"{PLANNER} or {RUN}"
    )
    assert refused(dataset, "grounded", changed("grounded", recall__k="2")) == NOTHING.format(
        "recall.k", "of kind=grounded", "grounded", RUN
    )
    assert refused(dataset, "seq2seq", changed("self-map", plan__backend="endpoint")) == NOTHING.format(
        "plan.backend", "of kind=seq2seq", "self-map", RUN
    )
    said = {"parent": "self-map", "changes": {"act.guard": "policy"}}
    SavedRecipe.objects.create(project=dataset.project, name="mine", **said)
    again = literature.override(saved.get("mine"), {"imagine.page_tokens": "99"})
    assert "imagine.page_tokens would change nothing in a training of kind=seq2seq for mine" in refused(
        dataset, "seq2seq", again
    )


@pytest.mark.parametrize(
    ("command", "recipe", "long", "short"),
    [
        ("train_planner", "self-map", "compose.layout=task", "layout=conversation"),
        ("train_planner", "self-map", "compose.layout=conversation", "layout=task"),  # as it was
        ("train_planner", "self-map", "compose.max_tokens=900", "max_length=800"),
        ("train_planner", "self-map", "simplify.group_size=3", "num_candidates=4"),
        ("train_planner", "self-map", "simplify.memory_pages=whole", "simplification=true"),
        ("train_planner", "self-map", "recall.rationales=none", "refinement=true"),
        ("train_planner", "self-map", "plan.max_new_tokens=9", "max_new_tokens=8"),
        ("train_planner", "self-map", "recall.k=2", "memory_k=4"),
        ("train_planner", "self-map", "plan.kind=multichoice", "paradigm=generation"),
        ("train_ranker", "dmr-minilm", "rank.history_turns=2", "history_turns=3"),
        ("train_ranker", "dmr-minilm", "rank.element_limit=9", "element_limit=8"),
    ],
)
def test_a_setting_is_given_by_one_of_its_names(command, recipe, long, short, dataset) -> None:
    both = [text.partition("=")[0] for text in (long, short)]
    for given in ([long, short], [short, long]):
        with pytest.raises(CommandError) as error:
            call_command(command, dataset.name, name="x", recipe=recipe, changes=given, inline=True)
        assert str(error.value) == f"{both[0]} and {both[1]} are two names of one setting: give one of them"
    assert not TrainedModel.objects.exists()


@pytest.mark.parametrize(("option", "value"), [("epochs", 3), ("seed", 1), ("devices", 1), ("paradigm", "generation")])
def test_an_option_and_a_setting_of_its_name_are_not_both_given(option, value, dataset) -> None:
    asked: dict[str, Any] = {"name": "x", "recipe": "self-map", "changes": [f"{option}={value}"], option: value}
    with pytest.raises(CommandError) as error:
        call_command("train_planner", dataset.name, **asked, inline=True)
    assert str(error.value) == f"--{option} and --set {option}= both give {option}: give one of them"


def test_what_a_training_repeats_of_a_recipe_is_there() -> None:
    """A setting of a training that follows from a recipe says which one it repeats, by its dotted name."""
    told = settings_of(Recipe)
    for kind, group in OF_KIND.items():
        repeated = {name: one.repeats for name, one in declarations(group).items() if one.repeats}
        assert set(repeated.values()) <= told.keys()
        recipes = (recipe for recipe in literature.RECIPES.values() if trained_for(recipe, (kind,)))
        follows = {name for recipe in recipes for name in training_of(recipe, kind)[1]}
        assert follows <= repeated.keys(), kind


def test_what_a_training_repeats_of_a_recipe_has_its_meaning_and_bounds() -> None:
    """But for what only looks alike: a switch for a choice, and where none is no training."""
    of_recipe = settings_of(Recipe)
    other = {"paradigm", "simplification", "refinement", "ranker", "memory_k"}
    for name, own in declarations(PlannerSettings).items():
        if own.repeats and name not in other:
            found = of_recipe[own.repeats]
            assert (own.words, own.kind, own.choices, own.least, own.most) == (
                (found.words, found.kind, found.choices, found.least, found.most)
            ), name
