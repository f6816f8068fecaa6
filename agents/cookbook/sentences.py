"""Recipes in words: what each stage does, what each setting means, what differs from the parent. Core: text only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.cookbook.checking import SHOWN, read_by
from agents.prompts.packs import PACKAGED
from agents.recipes.declaring import declarations, settings_of, values_of
from agents.recipes.literature import Recipe
from agents.recipes.settings import Quirks
from agents.stages.known import has_memory
from agents.stages.registry import before_planner, chosen, planner_of, ranking_of, working
from agents.types import STAGES

ELSEWHERE = {"compose": "prompts.pack", "act": "batch_size"}  # stage -> a setting shown with it
NOTHING_IMAGINED = "Imagines nothing: the planner's action is taken."
ACT = "The action is stored and judged; the next step starts from the recorded page, whatever was chosen."


@dataclass(frozen=True)
class Setting:
    """One setting of a recipe; `allowed` names its choices or bounds, `before` is the parent's value as text where it
    differs, else None, and `set_by` the recipe that gave it this value: None where it is the default."""

    name: str
    words: str
    allowed: str
    value: str
    before: str | None = None
    set_by: Recipe | None = None


@dataclass(frozen=True)
class StageSentence:
    """A stage in a sentence, with its settings."""

    name: str
    sentence: str
    settings: list[Setting]

    @property
    def changed(self) -> bool:
        return any(setting.before is not None for setting in self.settings)


@dataclass(frozen=True)
class Quirk:
    """A quirk of the published code: its flag, what it does, and whether it is on here and in the parent."""

    name: str
    what: str
    on: bool
    before: bool | None


def stages(recipe: Recipe, parent: Recipe | None = None, beyond: Sequence[Recipe] = ()) -> list[StageSentence]:
    """The eight stages in order. `beyond`: the parents of its parent, nearest first."""
    sentences = {
        "observe": _own(recipe, "observe.observation"),
        "rank": _rank(recipe),
        "recall": _recall(recipe),
        "simplify": _before(recipe, "simplify") or "The ranked elements are used as they are.",
        "compose": _compose(recipe),
        "plan": planner_of(recipe).sentence(recipe),
        "imagine": _own(recipe, "imagine.kind") or NOTHING_IMAGINED,
        "act": " ".join(said for said in (ACT, _own(recipe, "act.ask"), _own(recipe, "act.guard")) if said),
    }
    line = [recipe, *([parent] if parent else []), *beyond]
    return [StageSentence(stage, sentences[stage], _settings(stage, line)) for stage in STAGES]


def _settings(stage: str, line: Sequence[Recipe]) -> list[Setting]:
    """The settings of a stage. `line`: the recipe, its parent, the parent's parent and so on."""
    known, over_time = settings_of(type(line[0])), [flat(recipe) for recipe in line]
    own, parents = over_time[0], over_time[1:]
    found = []
    for name in names_of(line[0], stage):
        before = parents[0][name] if parents else own[name]
        found.append(
            Setting(
                name,
                known[name].words,
                known[name].allowed,
                said(own[name]),
                said(before) if before != own[name] else None,
                _set_by(line, [values[name] for values in over_time], known[name].default),
            )
        )
    return found


def _set_by(line: Sequence[Recipe], values: Sequence[Any], default: Any) -> Recipe | None:
    """The recipe that set the value which the first of the line has: the farthest one that has it too, without a gap.
    None for the default."""
    if values[0] == default:
        return None
    same = [value == values[0] for value in values]
    return line[(same.index(False) if False in same else len(same)) - 1]


def quirks(recipe: Recipe, parent: Recipe | None = None) -> list[Quirk]:
    """Every quirk by name; `before` is the parent's value where it differs."""
    found = []
    for name, declared in declarations(Quirks).items():
        on, before = getattr(recipe.quirks, name), getattr(parent.quirks, name) if parent else None
        found.append(Quirk(name, declared.words, on, before if before != on else None))
    return found


def names_of(recipe: Recipe, stage: str) -> list[str]:
    """The dotted names of a stage's settings of which there is a choice; the prompt pack counts as one of `compose`,
    the size of batches as one of `act`."""
    known = settings_of(type(recipe))
    own = [name for name in known if name.startswith(f"{stage}.") or name == ELSEWHERE.get(stage)]
    return [name for name in own if len(known[name].choices) != 1]


def flat(recipe: Recipe) -> dict[str, Any]:
    """Dotted name -> value of every setting but the preset and the quirks, in the order of the stages."""
    values = values_of(recipe)
    return {name: values[name] for stage in STAGES for name in names_of(recipe, stage)}


def label(name: str, changed: Mapping[str, tuple[Any, Any]]) -> str:
    """A recipe by its name with what is changed in it, as `differences.changed` gives it."""
    changes = ", ".join(f"{setting}={value}" for setting, (_, value) in changed.items())
    return f"{name} ({changes})" if changes else name


def said(value: Any) -> str:
    """A setting's value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value) or "–"


def _rank(recipe: Recipe) -> str:
    ranking = ranking_of(recipe)
    how = ranking.sentence(recipe) if ranking else ""
    keeps = f" Keeps the best {recipe.rank.top_k}." if "rank.top_k" in read_by(recipe) else ""
    return f"{how}{keeps}" if how else "Ranks nothing."


def _own(recipe: Recipe, setting: str) -> str:
    """The sentence of the kind that a setting chooses; "" for none."""
    kind = working(recipe, setting)
    if kind is None and chosen(recipe, setting):
        return f"Shows no {SHOWN[setting]}."  # as many as 0
    return kind.sentence(recipe) if kind else ""


def _recall(recipe: Recipe) -> str:
    recall, said = recipe.recall, [_own(recipe, name) for name in ("recall.rewrite_instruction", "recall.memory")]
    reasons = recall.rationales != "none" and "recall.rationales" in read_by(recipe)
    if reasons and has_memory(recipe):
        said.append("Each comes with a sentence why its action was right.")
    said.append(_own(recipe, "recall.exemplars"))
    if reasons and not has_memory(recipe):
        said.append("Their steps come with sentences why the actions were right.")
    return " ".join(filter(None, [*said, _own(recipe, "recall.workflows")]))


def _before(recipe: Recipe, stage: str) -> str:
    """The sentences of the kinds of a stage that go with the planner."""
    return " ".join(kind.sentence(recipe) for kind in before_planner(recipe) if kind.stage == stage)


def _compose(recipe: Recipe) -> str:
    pack, said = recipe.prompts.pack, _before(recipe, "compose") or "No prompt is written."
    return said + (f" In the words of the prompt pack {pack}." if pack != PACKAGED else "")
