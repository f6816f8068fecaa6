"""Settings of a recipe one by one: whether a training takes just those that change its samples."""

from collections.abc import Callable
from typing import Any

from agents.cookbook import checking
from agents.recipes.declaring import Declared, settings_of, values_of
from agents.recipes.literature import Recipe
from agents.stages.registry import trained_for
from agents.training.settings import learning

ELSEWHERE = {
    "plan.base": "the weights that the training starts from",
    "plan.max_new_tokens": "how much is written where the training is measured",
    "plan.kind": "samples of another kind",
    "prompts.pack": "no other pack is there",
    "rank.kind": "no other ranker is there",
    "rank.model": "no other ranker is there",
    "recall.encoder": "all encoders are the same here",
    "recall.state_in_query": "no ranker is there",
    "recall.exemplar_key": "all exemplars are shown",
    "recall.workflow_k": "sites have one workflow here",
    "simplify.memory_pages": "pages have no more elements than are kept of them",
    "quirks.q18_gold_in_top_k": "pages have no more elements than are shown",
}
OTHER = {"recall.k": "1", "recall.exemplar_k": "2", "simplify.group_size": "3", "compose.shots": "1", "rank.top_k": "4"}
OTHER |= {"compose.max_tokens": "300", "compose.piece_tokens": "30", "plan.samples": "2", "simplify.page_elements": "2"}


def others(name: str, declared: Declared, value: Any) -> list[str]:
    """Other values of a setting than its own."""
    if name in OTHER:
        return [OTHER[name]]
    if declared.kind is bool:
        return [str(not value).lower()]
    if declared.choices:
        return [choice for choice in declared.choices if choice != value]
    return ["other"] if declared.kind is str else [str(value * 2 + 1) if declared.kind is int else "0.37"]


def taken_wrongly(parent: Recipe, samples: Callable[[Recipe], Any], untried: str = "") -> list[str]:
    """Of the settings that a run of the recipe would read: those that its training takes and that change no sample, and
    those that it refuses and that change one."""
    told, wrong = samples(parent), []
    for name, declared in settings_of(Recipe).items():
        if "." not in name or name in (*ELSEWHERE, untried):
            continue
        for value in others(name, declared, values_of(parent)[name]):
            try:
                recipe = checking.vary(parent, {name: value})
            except ValueError:
                continue
            taken = is_taken(parent, recipe, name)
            if (samples(recipe) != told) != taken:
                wrong.append(f"{name}={value} is {'taken' if taken else 'refused'}")
    return wrong


def is_taken(parent: Recipe, recipe: Recipe, name: str) -> bool:
    try:
        learning(recipe, trained_for(recipe, ("seq2seq", "causal")), {}, False).check(parent, [name])
    except ValueError:
        return False
    return True
