"""Where agents here still differ from the code and papers they follow: written down once, told by every report. Core.

What a setting or a named quirk can set as published is no deviation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents.cookbook.checking import read_by
from agents.cookbook.starters import is_starter
from agents.llm.embedded import is_embedded
from agents.prompts.packs import PACKAGED
from agents.recipes.declaring import out_of_bounds
from agents.recipes.differences import based_on
from agents.recipes.differences import changed as changed_settings
from agents.recipes.literature import Recipe, readable
from agents.stages.registry import embeds_apart, planner_of, recipe_kinds, texts_of


@dataclass(frozen=True)
class Deviation:
    """One deviation, in words; `touches` says of a recipe whether it applies to it. `brief`: in a few words, of one by
    which somebody made another agent than was published; each of its numbers says it."""

    key: str
    words: str
    touches: Callable[[Recipe], bool]
    brief: str = ""


def _embeds(recipe: Recipe) -> bool:
    """Whether what is recalled is compared by vectors: of an encoder of its own, or of the ranking's where the
    published recipe does not rank so."""
    ranks_otherwise = recipe.rank.kind != based_on(recipe).rank.kind
    return embeds_apart(recipe) or (ranks_otherwise and any(kind.embeds for kind in recipe_kinds(recipe)))


def _turned_off(recipe: Recipe) -> bool:
    """Whether a quirk is off that the packaged recipe has and that counts in it."""
    changed = changed_settings(recipe, based_on(recipe))
    off = {name for name, (before, _) in changed.items() if name.startswith("quirks.") and before}
    return bool(off) and not off.isdisjoint(read_by(recipe) | read_by(based_on(recipe)))


def _in_other_words(recipe: Recipe) -> bool:
    """Whether models are given the texts of another pack than the packaged one."""
    return recipe.prompts.pack.partition("@")[0] != PACKAGED and bool(texts_of(recipe))


def _in_our_words(recipe: Recipe) -> bool:
    return recipe.prompts.pack == PACKAGED


STORED = "A value was stored before its bounds of today, runs as stored and is taken by no new run"
DEVIATIONS = (
    Deviation(
        "ranking-stands-in",
        "A small model stands in for the paper's, to try the machinery with: MiniLM, trained for an epoch on the data "
        "here, ranks. The numbers say nothing about the published agent.",
        lambda recipe: is_starter(recipe.rank.model),
    ),
    Deviation(
        "planner-stands-in",
        "A small model stands in for the paper's, to try the machinery with: SmolLM2-135M, untrained, answers. The "
        "numbers say nothing about the published agent.",
        lambda recipe: planner_of(recipe).asks and is_embedded(recipe.plan.model),
    ),
    Deviation(
        "quirks-off",
        "Behaviour of the published code that changes numbers is turned off (preset=corrected, or single quirks): "
        "printed numbers are those of the agent that has it.",
        _turned_off,
        brief="quirks off",
    ),
    Deviation(
        "other-texts",
        "Models are given the texts of another prompt pack than the one that comes with WebNav (prompts.pack says "
        "which): how near they are to the published ones depends on the pack.",
        _in_other_words,
        brief="other prompt pack",
    ),
    Deviation(
        "wording",
        "Prompts have the published parts, order and cuts, but for what is told here of single stages, and sentences "
        "of our own. Those of the authors can be read from their repositories (manage.py import_prompts).",
        lambda recipe: _in_our_words(recipe) and bool(texts_of(recipe)),
    ),
    Deviation(
        "default-rationale",
        "The fixed rationale of a step whose answer is none says in our words what the paper quotes.",
        lambda recipe: _in_our_words(recipe) and "rationale_none" in texts_of(recipe),
    ),
    Deviation(
        "encoder",
        "Memory, exemplars and workflows are embedded by all-MiniLM-L6-v2, or by the encoder that ranks; the papers "
        "used text-embedding-ada-002 (recall.encoder names another).",
        lambda recipe: _embeds(recipe) and not recipe.recall.encoder,
    ),
    Deviation(
        "page-limits",
        "A page beyond our limits of size, depth or time is an error of its step alone.",
        lambda recipe: recipe.data == "any",
    ),
)


def of_recipe(recipe: Recipe) -> list[Deviation]:
    """The deviations of a recipe: those that apply to it, and those that its kinds tell."""
    kinds = recipe_kinds(recipe)
    own = {key: words for kind in kinds for key, words in kind.deviations(recipe).items()}
    told = [deviation for deviation in DEVIATIONS if deviation.touches(recipe)]
    own |= {f"bounds-{name}": f"{STORED}: {said}." for name, said in out_of_bounds(recipe).items()}
    return told + [Deviation(key, words, lambda recipe: True) for key, words in own.items()]


def of_stored(recipe: dict[str, Any]) -> list[Deviation]:
    """The deviations of a recipe as a run stores it; none where it cannot be read any more."""
    found = readable(recipe)
    return of_recipe(found) if found else []


def told_at_numbers(recipe: dict[str, Any]) -> dict[str, str]:
    """What each number of a run says, by the recipe that it stores: deviations in a few words -> in a sentence."""
    return {deviation.brief: deviation.words for deviation in of_stored(recipe) if deviation.brief}
