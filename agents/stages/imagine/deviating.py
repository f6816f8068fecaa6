"""Where what is asked of a world model and a value function differs from WMA's published code (sources.md B2.3, B3).
Core."""

from agents.recipes.literature import Recipe

ADDRESS = {
    "imagine-address": "World model and value function are not told the address of the page, the first field of the "
    "published prompts; recorded steps hold none, and records to train on have one for steps of episodes alone."
}
CUT = {
    "imagine-cut": "World model and value function see a page up to imagine.page_tokens; the published agent declares "
    "such a limit and never applies it."
}
EXAMPLES = {
    "imagine-examples": "A world model that is asked sees no worked examples; the published one, where it is not "
    "trained, sees two."
}
DESCRIBED = {
    "imagine-described": "The descriptions that a world model learns from are asked for without worked examples; the "
    "published ones were asked for with two."
}
TREE = {
    "imagine-tree": "World model and value function see a page as an accessibility tree; on Mind2Web the published "
    "agent shows them the whole cleaned HTML."
}
ERRORS = {
    "imagine-errors": "An answer about an outcome that fails counts as one that cannot be read; the published agent "
    "does its first sample after any error."
}
PLANNED = {
    "imagine-planned": "The planner sees the page's ranked elements with parts of its HTML; on WebArena the published "
    "one sees the accessibility tree and two worked examples."
}


def told(recipe: Recipe, trained: bool, foresees: bool) -> dict[str, str]:
    """The deviations of a kind that asks models. `trained`: the world model was trained here; `foresees`: there is
    one."""
    world = (DESCRIBED if trained else EXAMPLES) if foresees else {}
    return ADDRESS | CUT | world | (TREE | ERRORS if recipe.imagine.loop == "mind2web" else PLANNED)
