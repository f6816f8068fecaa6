"""Recipes in words: what each stage does, what each setting means, what differs from the parent. Core: text only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.prompts.packs import PACKAGED
from agents.recipes.declaring import declarations, settings_of, values_of
from agents.recipes.literature import Recipe
from agents.recipes.settings import Quirks, RankSettings
from agents.stages.registry import chosen, planner_of

STAGES = ("observe", "rank", "recall", "simplify", "compose", "plan", "imagine", "act")
ELSEWHERE = {"compose": "prompts.pack", "act": "batch_size"}  # stage -> a setting shown with it
OBSERVE = {
    "text": "Reads the page as text.",
    "image": "Sees a screenshot of the page.",
    "text+image": "Reads the page as text and sees a screenshot.",
}
MEMORY = {
    "none": "Recalls no earlier steps.",
    "multifaceted": "Recalls the {k} earlier steps nearest to the instruction and the actions so far.",
    "chronological": "Recalls all earlier steps of the conversation in their order.",
    "fixed": "Recalls the first {k} turns of the conversation.",
    "task_knn": "Recalls the {k} earlier turns with the most similar instructions.",
}
EXEMPLARS = {
    "semantic": "Shows {n} of the tasks most similar by website, domain and text",
    "environment": "Shows {n}, drawn from the same site, else from its domain",
    "fixed": "Shows {n}, the same for every task",
}
PLAN = {
    "first": "Takes the best-ranked element; there is no operation or value.",
    "grounded": "The operation follows from the element's role, the value is copied from the instruction.",
    "multichoice": "Chooses by letter among {group} elements at a time; winners meet again until one is left.",
    "generation": "Writes element, action and value in full.",
    "trajectory": "Continues a trajectory of observations with the next action.",
    "action_string": "Writes one action string in WebLINX's grammar.",
}
IMAGINE = {
    "none": "Imagines nothing: the planner's action is taken.",
    "world_model": "A world model says where each of {n} sampled actions would lead; the best-valued one is taken.",
    "majority": "Of {n} sampled actions the most frequent one is taken.",
}
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
        "observe": OBSERVE[recipe.observe.observation],
        "rank": _rank(recipe),
        "recall": _recall(recipe),
        "simplify": _simplify(recipe),
        "compose": _compose(recipe),
        "plan": _plan(recipe),
        "imagine": IMAGINE[recipe.imagine.kind].format(n=recipe.imagine.samples),
        "act": ACT,
    }
    line = [recipe, *([parent] if parent else []), *beyond]
    return [StageSentence(stage, sentences[stage], _settings(stage, line)) for stage in STAGES]


def _settings(stage: str, line: Sequence[Recipe]) -> list[Setting]:
    """The settings of a stage. `line`: the recipe, its parent, the parent of that."""
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
    """The first of a line of recipes, nearest first, to have the value that the nearest has."""
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
    """The dotted names of a stage's settings; the prompt pack counts as one of `compose`, the size of batches as one of
    `act`."""
    names = settings_of(type(recipe))
    return [name for name in names if name.startswith(f"{stage}.") or name == ELSEWHERE.get(stage)]


def flat(recipe: Recipe) -> dict[str, Any]:
    """Dotted name -> value of every setting but the preset and the quirks, in the order of the stages."""
    values = values_of(recipe)
    return {name: values[name] for stage in STAGES for name in names_of(recipe, stage)}


def said(value: Any) -> str:
    """A setting's value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value) or "–"


def _rank(recipe: Recipe) -> str:
    rank = recipe.rank
    model = rank.model or (f"a model trained from {rank.base}" if rank.base else "a model that is not chosen yet")
    how = {
        "none": "Ranks nothing.",
        "dual_encoder": f"Embeds the instruction and every element with {model} and compares them.{_evidence(rank)}",
        "cross_encoder": f"Scores every element together with the instruction by {model}.",
        "dmr": f"Embeds the last {rank.history_turns} turns and every element with {model} and compares them.",
        "score_file": f"Takes the scores of every element from the file {rank.model or '(none named)'}.",
    }.get(rank.kind) or _own(recipe, "rank.kind")
    return how if rank.kind == "none" else f"{how} Keeps the best {rank.top_k}."


def _own(recipe: Recipe, setting: str) -> str:
    """What a kind of another package says of itself."""
    kind = chosen(recipe, setting)
    return kind.sentence(recipe) if kind else ""


def _evidence(rank: RankSettings) -> str:
    """What counts beside similarity."""
    weights = (rank.lexical_weight, rank.role_weight, rank.order_weight, rank.option_weight)
    return " Words in common, reading order and named options count too." if any(weights) else ""


def _recall(recipe: Recipe) -> str:
    recall = recipe.recall
    memory = MEMORY.get(recall.memory)
    parts = [memory.format(k=recall.k) if memory else _own(recipe, "recall.memory")]
    if recall.rewrite_instruction:
        parts.insert(0, "A model rewrites the instruction so that it stands alone.")
    if recall.rationales != "none":
        parts.append("Each comes with a sentence why its action was right.")
    if recall.exemplars != "none":
        count = f"{recall.exemplar_k} exemplar{'s' if recall.exemplar_k != 1 else ''}"
        parts.append(EXEMPLARS[recall.exemplars].format(n=count) + ", all from the train split.")
    if recall.workflows == "environment":
        when = "from the site's train tasks" if recall.induction == "offline" else "from what the run did before"
        style = ", in abstract words" if recall.induction_style == "abstract" else ""
        parts.append(f"Shows workflows induced {when}{style}.")
    elif recall.workflows == "semantic":
        query = "the predicted objective" if recall.workflow_query == "objective" else "the task"
        parts.append(f"Shows the {recall.workflow_k} workflows nearest to {query}.")
    return " ".join(parts)


def _simplify(recipe: Recipe) -> str:
    simplify = recipe.simplify
    if not [kind for kind in planner_of(recipe).before() if kind.stage == "simplify"]:
        return "The ranked elements are used as they are."
    if recipe.plan.kind == "trajectory":
        return (
            f"Shows {simplify.page_elements} elements of the current page and {simplify.history_elements} of earlier "
            "ones, each with its surroundings."
        )
    memory = "whole" if simplify.memory_pages == "whole" else "with the used element and four others only"
    shown = "" if recipe.recall.memory == "none" else f" Recalled pages are shown {memory}."
    return f"Shows the page around {simplify.group_size} elements at a time.{shown}"


def _compose(recipe: Recipe) -> str:
    pack = recipe.prompts.pack
    return _layout(recipe) + (f" In the words of the prompt pack {pack}." if pack != PACKAGED else "")


def _layout(recipe: Recipe) -> str:
    compose, kind = recipe.compose, recipe.plan.kind
    if not [one for one in planner_of(recipe).before() if one.stage == "compose"]:
        return "No prompt is written."
    shots = f" {compose.shots} worked examples come first." if compose.shots else ""
    if kind == "action_string":
        return (
            f"Instruction, last {compose.history_turns} turns and {compose.candidates} elements, cut part by part to "
            f"{compose.max_tokens} tokens."
        )
    if kind == "trajectory":
        history = "earlier pages and actions of the turn" if compose.trajectory else "the last actions as text"
        return f"Instruction, {history} and the current page, in {compose.context_tokens} tokens.{shots}"
    if recipe.plan.backend == "endpoint":
        return f"Page, instruction and earlier actions, uncut.{shots}"
    return (
        f"Page, instruction and earlier actions, at most {compose.max_tokens} tokens, {compose.piece_tokens} a part."
        f"{shots}"
    )


def _plan(recipe: Recipe) -> str:
    drawn = _drawn(recipe) if planner_of(recipe).asks and recipe.plan.temperature else ""
    return f"{_planned(recipe)}{drawn}"


def _drawn(recipe: Recipe) -> str:
    plan = recipe.plan
    replies = "reply" if plan.samples == 1 else f"{plan.samples} replies of each prompt"
    of = f", of the likeliest tokens with {plan.top_p:.0%} together" if plan.top_p < 1 else ""
    return f" Draws {'a ' if plan.samples == 1 else ''}{replies} at temperature {plan.temperature:g}{of}."


def _planned(recipe: Recipe) -> str:
    plan = recipe.plan
    if plan.kind not in PLAN:
        return _own(recipe, "plan.kind")
    sentence = PLAN[plan.kind].format(group=recipe.simplify.group_size)
    if plan.kind == "first":
        return sentence
    if plan.kind == "grounded":
        return f"{sentence} {plan.model} learned both." if plan.model else sentence
    if plan.backend == "endpoint":
        return f"{sentence} Asked of {plan.model or 'the configured LLM'} over an endpoint."
    model = plan.model or (
        f"weights to be trained from {plan.base}" if plan.base else "weights that are not chosen yet"
    )
    return f"{sentence} Runs {model} here."
