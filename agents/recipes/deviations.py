"""Where agents here still differ from the code and papers they follow: written down once, told by every report. Core.

What a setting or a named quirk decides is none: it can be set as published.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents.llm.embedded import is_embedded
from agents.prompts.packs import PACKAGED
from agents.recipes.literature import Recipe, from_dict
from agents.recipes.starters import is_starter
from agents.stages.registry import recipe_kinds, texts_of


@dataclass(frozen=True)
class Deviation:
    """One difference in words, and the recipes that it touches."""

    key: str
    words: str
    touches: Callable[[Recipe], bool]


def _embeds(recipe: Recipe) -> bool:
    recall = recipe.recall
    return recall.memory in ("multifaceted", "task_knn") or "semantic" in (recall.exemplars, recall.workflows)


def _in_our_words(recipe: Recipe) -> bool:
    return recipe.prompts.pack == PACKAGED


def _on_pages(recipe: Recipe) -> bool:
    return recipe.plan.kind in ("multichoice", "generation")


def _on_trajectories(recipe: Recipe) -> bool:
    return recipe.plan.kind == "trajectory"


DEVIATIONS = (
    Deviation(
        "stand-ins",
        "Small models stand in for those of the paper, to try the machinery with: MiniLM, trained for an epoch on the "
        "data here, ranks; SmolLM2-135M, untrained, answers. The numbers say nothing about the published agent.",
        lambda recipe: is_starter(recipe.rank.model) or is_embedded(recipe.plan.model),
    ),
    Deviation(
        "wording",
        "Prompts have the published parts, order and cuts, and sentences of our own. Those of the authors can be read "
        "from their repositories (manage.py import_prompts).",
        lambda recipe: _in_our_words(recipe) and bool(texts_of(recipe)),
    ),
    Deviation(
        "default-rationale",
        "The fixed rationale of a step whose answer is none says in our words what the paper quotes.",
        lambda recipe: _in_our_words(recipe) and recipe.recall.rationales != "none",
    ),
    Deviation(
        "encoder",
        "Memory, exemplars and workflows are embedded by all-MiniLM-L6-v2; the papers used text-embedding-ada-002 "
        "(recall.encoder names another).",
        lambda recipe: _embeds(recipe) and not recipe.recall.encoder and recipe.plan.kind != "grounded",
    ),
    Deviation(
        "seeds",
        "What is drawn at random (the order of candidates, the elements beside a snippet's, exemplars) is drawn with "
        "the run's seed for each step; the published evaluations never seed (Q24).",
        lambda recipe: _on_pages(recipe) or recipe.recall.exemplars == "environment",
    ),
    Deviation(
        "fixed-exemplars",
        "The exemplars that every task shares are drawn with the run's seed from the train split as it is stored here; "
        "the published ones from the authors' files, with seed 0.",
        lambda recipe: recipe.recall.exemplars == "fixed",
    ),
    Deviation(
        "search",
        "Vectors are stored in half precision, and pools of 50,000 exemplars or more are searched approximately.",
        lambda recipe: recipe.recall.exemplars == "semantic",
    ),
    Deviation(
        "repaired",
        "Errors of the published code that mix up data or only stop it are not reproduced: element numbers shared "
        "between pages (Q2), settings of the command line that are ignored (Q13), the farthest workflows instead of "
        "the nearest (Q22), trajectories beside other tasks (Q21), the default model that its own counter refuses "
        "(Q23), exemplars that are not found without domain and subdomain (Q28).",
        lambda recipe: _on_pages(recipe) or _on_trajectories(recipe),
    ),
    Deviation(
        "all-skipped",
        "Where every step of a split is skipped, faithful scores are zeros; the published aggregation stops with an "
        "error (Q6).",
        lambda recipe: _on_pages(recipe),
    ),
    Deviation(
        "online",
        "Online workflows are induced after each conversation, the published ones after each task: the same where a "
        "conversation is one task.",
        lambda recipe: recipe.recall.workflows != "none" and recipe.recall.induction == "online",
    ),
    Deviation(
        "workflow-count",
        "A site without workflows gets those of its domain, or of all, at random, as many as recall.workflow_k says: "
        "the AWM paper gives no number, and 9 is what the authors of MIMS used.",
        lambda recipe: recipe.recall.workflows == "environment" and recipe.recall.induction == "offline",
    ),
    Deviation(
        "baselines",
        "The baselines of MT-Mind2Web are not in the published code: they follow the paper's description.",
        lambda recipe: recipe.recall.memory in ("fixed", "task_knn") or recipe.recall.rewrite_instruction,
    ),
    Deviation(
        "turns",
        "A task is a turn of a conversation: an exemplar is one turn of the train split, not a whole conversation.",
        lambda recipe: recipe.recall.exemplars != "none",
    ),
    Deviation(
        "page-limits",
        "A page beyond our limits of size, depth or time is an error of its step alone.",
        lambda recipe: recipe.data == "any",
    ),
)


def of_recipe(recipe: Recipe) -> list[Deviation]:
    """Those that touch it, and what its kinds say of themselves."""
    kinds = recipe_kinds(recipe)
    own = {key: words for kind in kinds for key, words in kind.deviations(recipe).items()}
    told = [deviation for deviation in DEVIATIONS if deviation.touches(recipe)]
    return told + [Deviation(key, words, lambda recipe: True) for key, words in own.items()]


def of_stored(recipe: dict[str, Any]) -> list[Deviation]:
    """The same of a recipe as a run stores it; none where an older version wrote it so that it cannot be read."""
    try:
        return of_recipe(from_dict(recipe))
    except (KeyError, TypeError, ValueError):
        return []
