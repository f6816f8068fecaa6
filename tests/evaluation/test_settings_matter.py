"""Every setting of every recipe changes what is asked, ranked or decided, or is refused by its name."""

import random
from collections.abc import Iterator

import pytest

from agents.cookbook import checking
from agents.encoders.weights import MINILM
from agents.recipes import literature
from agents.recipes.declaring import Declared, settings_of, values_of
from agents.recipes.literature import RECIPES, Recipe
from agents.stages.kind import CannotRun
from tests.evaluation.settings_world import SettingsWorld, Telling
from tests.quick import first_is_quick

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows_of_the_file")]
QUICK = "deberta"
OTHERS = [name for name, recipe in RECIPES.items() if not recipe.needs and name != QUICK]
MIXED = [
    *("mindact", "mindact-icl", "self-map", "bare", "synapse", "awm", "mims", "mindact-car", "deberta"),
    *("grounded", "grounded-world-model", "wma", "cot", "synapse-miniwob"),
    *("dmr-minilm", "mindact-weblinx", "weblinx-flan-t5"),
]
ELSEWHERE = {
    "act.guard": "what a live run holds: recorded steps are decided as without it",
    "act.guard_seconds": "how long a live run holds it",
    "plan.programs": "how many programs a live episode takes",
    "batch_size": "how many steps are decided together: results must not depend on it",
}
CHANGED = [
    name for name, one in settings_of(Recipe).items() if name not in ELSEWHERE and len(one.choices) != 1
]  # of others there is no choice, where no package adds to them
# In mixtures: of one element alone none can be chosen and no more shown, and of one recalled step there is no order,
# however the rest is set. Where a mixture draws two actions, the two are imagined, however many are asked for.
MIXED_OTHER = {"rank.top_k": ("4",), "recall.k": ("3",), "imagine.samples": ("1",)}
OTHER: dict[str, tuple[str, ...]] = {  # values to try of settings that are no choice
    "rank.top_k": ("1", "4"),
    "recall.k": ("1",),
    "recall.exemplar_k": ("1", "2"),
    "recall.workflow_k": ("1",),
    "simplify.group_size": ("2",),
    "compose.shots": ("1",),
    "compose.max_tokens": ("16",),
    "compose.context_tokens": ("300",),
    "compose.candidates": ("1",),
    "rank.element_limit": ("30",),
    "imagine.page_tokens": ("16",),
    "plan.samples": ("2",),
    "imagine.samples": ("2",),
    "imagine.depth": ("2",),
}


@pytest.fixture(scope="module")
def world(rows_of_the_file: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SettingsWorld]:
    with pytest.MonkeyPatch.context() as patch:
        yield SettingsWorld(tmp_path_factory.mktemp("weights"), patch)


def others(name: str, declared: Declared, value: object, world: SettingsWorld, parent: Recipe) -> list[str]:
    if name in OTHER:
        return [other for other in OTHER[name] if other != str(value)]
    if declared.kind is bool:
        return [str(not value).lower()]
    if declared.choices:
        return [choice for choice in declared.choices if choice != value]
    if name == "plan.model":
        return [world.weights["grounded" if parent.plan.kind == "grounded" else "t5-2"]]
    if name == "recall.encoder":
        return [world.weights["cross-2"]]  # of a folder that is there: its vectors are the world's own
    if name == "rank.model":
        return [MINILM if value == world.weights["cross-2"] else world.weights["cross-2"]]
    if declared.kind is str:
        return ["other"]
    return [str(value * 2 + 1) if declared.kind is int else "0.37"]


def untold(parent: Recipe, told: Telling, setting: str, value: str, world: SettingsWorld) -> tuple[Recipe, str]:
    """The recipe with a setting changed, and what is wrong with that: nothing where it is refused by its name, or where
    the steps are asked about, ranked, decided or judged otherwise."""
    try:
        recipe = checking.vary(parent, {setting: value, **world.beside(setting, value)})
    except ValueError as error:
        return parent, "" if setting in str(error) else f"{setting}={value} is refused: {error}"
    try:
        if Telling(world, recipe).differs(told):
            return recipe, ""
        if setting == "preset" and not quirks_between(parent, recipe):
            return recipe, ""  # it says which metrics are shown first, and no more
        return recipe, f"{setting}={value} changes nothing"
    except CannotRun as error:
        return parent, f"{setting}={value} is taken and cannot run: {error}"


def quirks_between(parent: Recipe, recipe: Recipe) -> set[str]:
    """The quirks by which two recipes differ and that count in one of them."""
    before, after = values_of(parent), values_of(recipe)
    read = checking.read_by(parent) | checking.read_by(recipe)
    return {name for name in read if name.startswith("quirks.") and before[name] != after[name]}


@pytest.mark.slow
@first_is_quick("name", [QUICK, *OTHERS])
def test_every_setting_changes_what_a_recipe_does_or_is_refused(name: str, world: SettingsWorld) -> None:
    parent = literature.override(RECIPES[name], world.runnable(RECIPES[name]))
    told = world.told(parent)
    assert told == world.told(parent), "the same twice, or any change would look as if it counted"
    assert all_untold(parent, world) == []


TURNED_OFF = {  # of a recipe, what is turned off: all other settings still count beside it, or are refused
    "self-map": [{"recall.k": "0"}, {"recall.memory": "none"}],
    "grounded": [{"recall.k": "0"}],
    "mims": [{"recall.workflow_k": "0"}, {"recall.workflows": "none"}],
    "awm": [{"recall.exemplar_k": "0"}, {"recall.exemplars": "none"}],
    "synapse": [{"recall.exemplar_k": "0", "recall.workflows": "environment"}],
    "wma": [{"imagine.kind": "none", "plan.samples": "1"}, {"plan.backend": "local"}],
    "bare": [{"quirks.q27_fails_unasked": "false"}, {"observe.observation": "image"}, {"plan.backend": "local"}],
    "weblinx-flan-t5": [{"rank.kind": "none"}],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "off"),
    [(name, off) for name, offs in TURNED_OFF.items() for off in offs],
)
def test_every_setting_counts_beside_what_is_turned_off_or_is_refused(
    name: str, off: dict[str, str], world: SettingsWorld
) -> None:
    parent = literature.override(RECIPES[name], world.runnable(RECIPES[name]))
    beside = {key: value for one in off.items() for key, value in world.beside(*one).items()}
    recipe = checking.vary(parent, off | beside)
    told = world.told(recipe)
    assert told == world.told(recipe)
    assert told != world.told(parent)
    assert all_untold(recipe, world) == []


def all_untold(parent: Recipe, world: SettingsWorld) -> list[str]:
    told = Telling(world, parent)
    found = [
        untold(parent, told, setting, value, world)[1]
        for setting, declared in settings_of(Recipe).items()
        if setting not in ELSEWHERE
        for value in others(setting, declared, values_of(parent)[setting], world, parent)
    ]
    return [wrong for wrong in found if wrong]


def test_recipes_that_are_not_mixed_are_derived_from_one_that_is() -> None:
    """By settings alone, which mixtures of that one draw."""
    assert [name for name in {*RECIPES} - {*MIXED} if RECIPES[name].parent not in MIXED] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", MIXED)
def test_random_mixtures_count_setting_by_setting(name: str, world: SettingsWorld) -> None:
    """Settings that stages know are changed one after another, as far as they are taken: each step is another agent."""
    drawn = random.Random(MIXED.index(name))
    recipe = literature.override(RECIPES[name], world.runnable(RECIPES[name]))
    told, known = Telling(world, recipe), settings_of(Recipe)
    taken: list[str] = []
    for setting in drawn.sample(CHANGED, 30):
        value = values_of(recipe)[setting]
        values = MIXED_OTHER.get(setting) or others(setting, known[setting], value, world, recipe)
        if not values:
            continue
        value = drawn.choice(values)
        changed, wrong = untold(recipe, told, setting, value, world)
        assert not wrong, f"{recipe.name} with {taken}: {wrong}"
        if changed is not recipe:
            recipe, told = changed, Telling(world, changed)
            taken.append(f"{setting}={value}")
    assert taken
