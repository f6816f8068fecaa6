"""A recipe as a drawing: its eight stages in the order in which they run, and what flows from one to the next. Core."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agents.cookbook.checking import read_by
from agents.cookbook.sentences import stages
from agents.recipes.literature import Recipe
from agents.stages.kind import StageKind
from agents.stages.registry import ranking_of, recipe_kinds
from agents.types import STAGES

NOTHING: Mapping[str, Sequence[str]] = {}


@dataclass(frozen=True)
class DrawnBox:
    """One stage of the drawing. `title`: what does it, "" where the recipe leaves the stage out; `before`: what does it
    in the parent, where that differs; `changed`: how many settings differ from the parent's; `hands_on`: what it gives
    to the next stage; `here`: what is used in the place of what the paper used."""

    stage: str
    title: str
    before: str
    changed: int
    hands_on: str
    here: tuple[str, ...] = ()


def drawing(
    recipe: Recipe,
    parent: Recipe | None = None,
    here: Mapping[str, Sequence[str]] = NOTHING,
    runs_as: Recipe | None = None,
) -> list[DrawnBox]:
    """The boxes from left to right; a ranking that takes what is recalled stands after `recall`. `here`: by stage, what
    is used in the place of what the paper used; `runs_as`: the recipe with that, whose quantities flow."""
    changed = {
        stage.name: sum(setting.before is not None for setting in stage.settings) for stage in stages(recipe, parent)
    }
    own, other = _by_stage(recipe), _by_stage(parent or recipe)
    boxes = [_box(stage, own, other, changed[stage], runs_as or recipe) for stage in _order(recipe)]
    return [replace(box, here=tuple(here.get(box.stage, ()))) for box in boxes]


def _box(
    stage: str,
    own: dict[str, list[type[StageKind]]],
    other: dict[str, list[type[StageKind]]],
    changed: int,
    runs_as: Recipe,
) -> DrawnBox:
    title, before = _title(own[stage]), _title(other[stage])
    flows = [said for kind in _by_stage(runs_as)[stage] if (said := kind.hands_on(runs_as))]
    if stage == "rank" and "rank.top_k" not in read_by(runs_as):
        flows = ["ranked elements"] if flows else []
    return DrawnBox(stage, title, (before or "nothing") if before != title else "", changed, ", ".join(flows))


def _title(chosen: list[type[StageKind]]) -> str:
    return ", ".join(title for kind in chosen if (title := kind.title()))


def _order(recipe: Recipe) -> list[str]:
    ranking = ranking_of(recipe)
    first, *rest = STAGES
    if ranking is None or not ranking.takes:
        return [first, *rest]
    return [first, "recall", "rank", *(stage for stage in rest if stage not in ("recall", "rank"))]


def _by_stage(recipe: Recipe) -> dict[str, list[type[StageKind]]]:
    """Stage -> the kinds that the recipe chooses for it."""
    chosen = recipe_kinds(recipe)
    return {stage: [kind for kind in chosen if kind.stage == stage] for stage in STAGES}
