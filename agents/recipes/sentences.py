"""Recipes in words: what each stage does, what each setting means, what differs from the parent. Core: text only."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from agents.recipes.literature import FIXED, STAGE_SETTINGS, Recipe, to_dict
from agents.recipes.settings import PLANNERS, Quirks, RankSettings

STAGES = ("observe", "rank", "recall", "simplify", "compose", "plan", "imagine", "act")

# Every setting by its dotted name, in the words of a form.
SETTINGS = {
    "observe.observation": "what of the page the planner is given",
    "rank.kind": "how elements are scored",
    "rank.model": "trained model, folder, Hugging Face name or score file",
    "rank.base": "published weights that training starts from",
    "rank.top_k": "elements kept",
    "rank.history_turns": "earlier turns in a WebLINX query",
    "rank.element_limit": "longest element text in a WebLINX document; 0: no limit of its own",
    "rank.element_limit_unit": "unit of that limit",
    "rank.exact": "WebLINX: every element is encoded, as published; else scores below the kept ones are estimates",
    "rank.lexical_weight": "weight of words in common with the instruction",
    "rank.role_weight": "weight of being interactive",
    "rank.order_weight": "weight of standing after the element acted on last",
    "rank.option_weight": "weight of options that the instruction names",
    "rank.link_penalty": "subtracted from links",
    "rank.repeat_penalty": "subtracted from elements used before in the turn",
    "recall.memory": "which earlier steps of the conversation are recalled",
    "recall.k": "how many: snippets (multifaceted) or turns (fixed, task_knn)",
    "recall.sort_by": "order of recalled steps",
    "recall.state_in_query": "pages are compared too",
    "recall.encoder": "embeds memory, exemplars and workflows; empty: the packaged MiniLM",
    "recall.rewrite_instruction": "a model first makes the instruction stand alone",
    "recall.rationales": "sentences why an earlier action was right",
    "recall.exemplars": "whole trajectories of the train split shown as examples",
    "recall.exemplar_k": "how many exemplars",
    "recall.workflows": "routines shown, induced from the train split or from the run itself",
    "recall.workflow_k": "how many workflows",
    "recall.workflow_query": "what similar workflows are searched by",
    "recall.induction": "when workflows are induced",
    "recall.induction_style": "how workflows of a run name elements: by their texts, or by what they are for",
    "recall.weight": "share of recalled memory in the ranking query",
    "simplify.group_size": "elements shown at a time",
    "simplify.page_elements": "elements of the current page in a trajectory prompt",
    "simplify.history_elements": "elements of earlier pages and exemplars there",
    "simplify.memory_pages": "how much of recalled pages is shown",
    "compose.shots": "worked examples before the task",
    "compose.trajectory": "earlier pages and actions of the turn are shown",
    "compose.max_tokens": "longest input of a local planner, in tokens",
    "compose.piece_tokens": "longest part of it (page, question), in tokens",
    "compose.context_tokens": "longest prompt to an endpoint, in tokens",
    "compose.history_turns": "earlier turns in a WebLINX prompt",
    "compose.candidates": "elements listed in a WebLINX prompt",
    "plan.kind": "how the action is made",
    "plan.backend": "where the model runs",
    "plan.model": "trained model, folder or name; endpoint: empty is LLM_MODEL",
    "plan.base": "published weights that training starts from",
    "plan.max_new_tokens": "longest reply, in tokens",
    "plan.temperature": "sampling temperature; 0: the most likely reply",
    "plan.constrained": "a local model can only answer in the expected form",
    "imagine.kind": "how actions are compared before one is chosen",
    "imagine.samples": "actions compared",
    "batch_size": "steps decided together",
}
# The values of settings that have a fixed set of them.
CHOICES = {
    "observe.observation": ("text", "image", "text+image"),
    "rank.kind": ("none", "dual_encoder", "cross_encoder", "dmr", "score_file"),
    "rank.element_limit_unit": ("chars", "tokens"),
    "recall.memory": ("none", "multifaceted", "chronological", "fixed", "task_knn"),
    "recall.sort_by": ("relevance", "time"),
    "recall.rationales": ("none", "stored", "model"),
    "recall.exemplars": ("none", "semantic", "environment", "fixed"),
    "recall.workflows": ("none", "environment", "semantic"),
    "recall.workflow_query": ("task", "objective"),
    "recall.induction": ("offline", "online"),
    "recall.induction_style": ("concrete", "abstract"),
    "simplify.memory_pages": ("simplified", "whole"),
    "plan.kind": PLANNERS,
    "plan.backend": ("local", "endpoint"),
    "imagine.kind": ("none", "world_model", "majority"),
}
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
    """One setting of a recipe; `before` is the parent's value as text where it differs, else None."""

    name: str
    words: str
    value: str
    before: str | None = None


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


def stages(recipe: Recipe, parent: Recipe | None = None) -> list[StageSentence]:
    """The eight stages in order."""
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
    own, other = flat(recipe), flat(parent) if parent else {}
    found = []
    for stage in STAGES:
        names = [name for name in own if name.startswith(f"{stage}.") or (stage, name) == ("act", "batch_size")]
        settings = [
            Setting(
                name,
                SETTINGS.get(name, ""),
                said(own[name]),
                said(other[name]) if parent and other[name] != own[name] else None,
            )
            for name in names
        ]
        found.append(StageSentence(stage, sentences[stage], settings))
    return found


def quirks(recipe: Recipe, parent: Recipe | None = None) -> list[Quirk]:
    """Every quirk by name; `before` is the parent's value where it differs."""
    found = []
    for entry in dataclasses.fields(Quirks):
        on, before = getattr(recipe.quirks, entry.name), getattr(parent.quirks, entry.name) if parent else None
        found.append(Quirk(entry.name, entry.metadata["what"], on, before if before != on else None))
    return found


def flat(recipe: Recipe) -> dict[str, Any]:
    """Dotted name -> value of every setting but the quirks, in the order of the stages."""
    values = to_dict(recipe)
    found = {f"{stage}.{name}": value for stage in STAGES for name, value in (values.get(stage) or {}).items()}
    plain = {name: value for name, value in values.items() if name not in FIXED and name not in STAGE_SETTINGS}
    return found | plain


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
    }[rank.kind]
    return how if rank.kind == "none" else f"{how} Keeps the best {rank.top_k}."


def _evidence(rank: RankSettings) -> str:
    """What counts beside similarity."""
    weights = (rank.lexical_weight, rank.role_weight, rank.order_weight, rank.option_weight)
    return " Words in common, reading order and named options count too." if any(weights) else ""


def _recall(recipe: Recipe) -> str:
    recall = recipe.recall
    parts = [MEMORY[recall.memory].format(k=recall.k)]
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
    if recipe.plan.kind in ("first", "grounded", "action_string"):
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
    compose, kind = recipe.compose, recipe.plan.kind
    if kind in ("first", "grounded"):
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
        return f"Page, instruction and earlier actions, in {compose.context_tokens} tokens.{shots}"
    return (
        f"Page, instruction and earlier actions, at most {compose.max_tokens} tokens, {compose.piece_tokens} a part."
        f"{shots}"
    )


def _plan(recipe: Recipe) -> str:
    plan = recipe.plan
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
