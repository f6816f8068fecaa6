"""What the pages of recipes show: all of them by family, and one with all that is known of it."""

from collections.abc import Callable, Sequence
from typing import Any

from agents.cookbook import deviations, saved, sentences, starters
from agents.cookbook.drawing import drawing
from agents.models import Run, SavedRecipe, TrajectoryStep
from agents.recipes import published
from agents.recipes.literature import Recipe
from agents.replay.rows import record_text
from agents.training.prepare import preparing
from annotations.access import rules
from annotations.access.rules import User

LATEST = 5  # runs that a recipe's page leads to
scored: Callable[[Any, str, Sequence[str]], Any] | None = None
"""What a recipe and its relatives have reached here, as far as a user may see it, with the `template` that shows it;
`evaluation.apps` sets it."""


def list_context(user: User) -> dict[str, Any]:
    """Every recipe by family, with what it lacks, what stands in for that, and what would make it."""
    everything, rights = saved.listed(user), _rights(user)
    preparing_now = preparing.of_user(user, may_prepare=rights["may_prepare"])
    # Before what is lacking is looked up: what is made meanwhile is then told as being made, and not as missing.
    offers = {recipe.name: preparing_now.offer(recipe) for recipe in everything}
    told = {
        recipe.name: said
        for recipe, said in zip(everything, preparing.told_of(everything, rules.projects(user)), strict=True)
    }
    families = {
        family: [(recipe, told[recipe.name][0], offers[recipe.name], told[recipe.name][1]) for recipe in found]
        for family, found in saved.families(everything).items()
    }
    ready = sum(not lacking and not offer.parts for rows in families.values() for _, lacking, offer, _ in rows)
    shown = {"families": families, "ready": ready, "total": len(everything), "offer": preparing_now.offer(*everything)}
    return shown | rights


def recipe_context(user: User, recipe: Recipe) -> dict[str, Any]:
    """One recipe: its stages in words, what differs from its parent, its quirks, what papers print for it."""
    ancestors, rights = saved.ancestors(recipe, user), _rights(user)
    parent = ancestors[0] if ancestors else None
    children = [other for other in saved.listed(user) if other.parent == recipe.name]
    ((lacking, stand_ins),) = preparing.told_of([recipe], rules.projects(user))
    quirks = sentences.quirks(recipe, parent)
    runs = rules.visible(user, Run.objects.select_related("dataset"))
    relatives = [other.name for other in (*ancestors[:1], *children)]
    latest = list(runs.filter(recipe_name=recipe.name, state=Run.State.DONE).order_by("-pk")[:LATEST])
    shown = {
        "recipe": recipe,
        "parent": parent,
        "children": children,
        "family": saved.family(recipe),
        "saved": SavedRecipe.objects.select_related("project", "created_by").filter(name=recipe.name).first(),
        "lacking": lacking,
        "stands_in": stand_ins,
        "offer": preparing.of_user(user, may_prepare=rights["may_prepare"]).offer(recipe),
        "drawing": drawing(recipe, parent, starters.by_stage(stand_ins), starters.with_starters(recipe)),
        "stages": sentences.stages(recipe, parent, ancestors[1:]),
        "quirks": quirks,
        "quirks_on": sum(quirk.on for quirk in quirks),
        "quirks_differ": any(quirk.before is not None for quirk in quirks),
        "runs": latest,
        "read": _read(user, [run.pk for run in latest]),
        "scored": scored(user, recipe.name, relatives) if scored else None,
        "deviations": deviations.of_recipe(recipe),
        "published": published.tables_of(recipe.name),
    }
    return shown | rights


def _read(user: User, runs: Sequence[int]) -> tuple[TrajectoryStep, str] | None:
    """A step of the newest of these runs at which a model was asked, and what that read; None where none was, or where
    the user may not see it."""
    asked = TrajectoryStep.objects.filter(run__in=runs, calls__gt=0).select_related("trajectory__conversation")
    shown = rules.gold_filter(user, asked, "trajectory__conversation__split", "run__dataset__project")
    step = shown.order_by("-run_id", "pk").first()
    prompt = record_text(step.trace.get("compose", {}).get("prompt")) if step else ""
    return (step, prompt) if step and prompt else None


def _rights(user: User) -> dict[str, bool]:
    may_evaluate, may_prepare = (rules.projects(user, ability).exists() for ability in ("evaluate", "train"))
    return {"may_evaluate": may_evaluate, "may_prepare": may_prepare}
