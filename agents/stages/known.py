"""The kinds of the stages, loaded: ours and those that other packages add. Core.

Kinds ask here for others when they are asked, not when they are imported, as all of them are imported for an answer.
"""

from functools import cache
from importlib.metadata import EntryPoint

from agents.recipes.kinds import KINDS
from agents.recipes.literature import Recipe
from agents.stages.kind import StageKind
from annotations.extensions import STAGES, added


@cache
def kinds() -> dict[str, dict[str, type[StageKind]]]:
    """Setting -> its value -> the kind. ValueError names an entry point that cannot be used."""
    found: dict[str, dict[str, type[StageKind]]] = {
        setting: {value: EntryPoint(value, place, STAGES).load() for value, place in own.items()}
        for setting, own in KINDS.items()
    }
    for point in added(STAGES).values():
        setting, _, name = point.name.rpartition(".")
        kind = point.load()
        choosing = [chosen for chosen, own in KINDS.items() if [*own] != ["True"]]  # of a switch there are no others
        if setting not in choosing or name in found[setting] or not issubclass(kind, StageKind):
            raise ValueError(f"the entry point {point.name!r} of {STAGES} is no new kind of {', '.join(choosing)}")
        found[setting][name] = kind
    return found


def is_counted(memory: str) -> bool:
    """Whether `recall.k` says how much a memory of that name recalls."""
    kind = kinds()["recall.memory"].get(memory)
    return kind is not None and kind.counted_by == "recall.k"


def has_memory(recipe: Recipe) -> bool:
    """Whether any earlier step is recalled: none with `k` 0, where k says how many."""
    return shows(recipe, "recall.memory")


def values_by_loop(recipe: Recipe) -> bool:
    """Whether what values outcomes has its answers read otherwise in each of the published loops."""
    return getattr(kinds()["imagine.value"].get(recipe.imagine.value), "by_loop", False)


def silent_of_outcomes() -> list[str]:
    """The values of `imagine.kind` whose kinds do not say what an action is expected to lead to."""
    return [name for name, kind in kinds()["imagine.kind"].items() if not getattr(kind, "tells_outcomes", True)]


def imagines_every_sample(recipe: Recipe) -> bool:
    """Whether `imagine.samples` does not count (quirk wq22)."""
    return recipe.imagine.loop == "mind2web" and recipe.quirks.wq22_imagines_every_sample


def imagines_several(recipe: Recipe) -> bool:
    """Whether a kind of `imagine` that compares the most frequent actions has more than one to compare."""
    return recipe.imagine.samples > 1 or imagines_every_sample(recipe)


def shows(recipe: Recipe, setting: str) -> bool:
    """Whether the kind of a setting of recall gives the block of its name (memory, exemplars, workflows): none where 0
    are asked for."""
    block = setting.partition(".")[2]
    kind = kinds()[setting].get(str(getattr(recipe.recall, block)))
    return kind is not None and block in kind.gives and not kind.gives_none(recipe)


def has_past(recipe: Recipe) -> bool:
    """Whether any past page is shown, of the conversation or of exemplars."""
    return shows(recipe, "recall.exemplars") or has_memory(recipe)
