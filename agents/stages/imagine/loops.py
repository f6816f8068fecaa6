"""The two loops in which WMA was published (`imagine.loop`), and the quirks of each (sources.md B3.1, B3.3). Core."""

from collections.abc import Sequence

from agents.recipes.literature import Recipe
from agents.stages.kind import unless
from agents.stages.known import imagines_every_sample, values_by_loop
from agents.types import Action

WEBARENA_QUIRKS = ("quirks.wq21_stop_wins",)
MIND2WEB_QUIRKS = ("quirks.wq22_imagines_every_sample", "quirks.wq23_takes_sample_of_that_place")


def takes_sample_of_that_place(recipe: Recipe) -> bool:
    """Whether another action may be done than the best one (quirk wq23)."""
    return recipe.imagine.loop == "mind2web" and recipe.quirks.wq23_takes_sample_of_that_place


def stopping(recipe: Recipe, actions: Sequence[Action | None]) -> int | None:
    """The place of the most frequent action that is done at once, as it stops; None where none is (quirk wq21)."""
    if recipe.imagine.loop != "webarena" or not recipe.quirks.wq21_stop_wins or len(actions) < 2:
        return None
    return next((place for place, action in enumerate(actions) if action and _stops(action)), None)


def _stops(action: Action) -> bool:
    """Whether the published code takes an action for a stop: also where a text that is typed has the word "stop" in
    it."""
    return action.operation == "STOP" or "stop" in action.value


def idle(recipe: Recipe) -> dict[str, str]:
    """The settings of a loop that count for nothing, with what they need in words."""
    mind2web, quirks = recipe.imagine.loop == "mind2web", recipe.quirks
    read_otherwise = values_by_loop(recipe) and recipe.preset == "faithful"
    published = (
        quirks.wq21_stop_wins,
        quirks.wq22_imagines_every_sample,
        quirks.wq23_takes_sample_of_that_place,
        read_otherwise,
    )
    wanted = (
        f"preset=faithful, or {' or '.join((*WEBARENA_QUIRKS, *MIND2WEB_QUIRKS))}=true, as the two loops differ in "
        "these quirks alone and, in preset=faithful, in how imagine.value=progress is read: elsewhere leave it out"
    )
    few = "imagine.loop=webarena or quirks.wq22_imagines_every_sample=false"
    return (
        unless(any(published), wanted, "imagine.loop")
        | unless(not imagines_every_sample(recipe), few, "imagine.samples")
        | unless(mind2web, "imagine.loop=mind2web", *MIND2WEB_QUIRKS)
        | unless(not mind2web, "imagine.loop=webarena", *WEBARENA_QUIRKS)
    )
