"""Every published agent on one page: eight stages with settings. Core: data only.

A run stores its recipe whole; any field can be overridden by its dotted name (`rank.top_k=20`). What the settings mean
stands in `agents/recipes/settings.py`.
"""

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from agents.encoders.weights import MINILM
from agents.prompts.packs import Pack
from agents.recipes import declaring
from agents.recipes.declaring import SettingGroup, as_stored, groups, one_of, setting, settings_of, values_of
from agents.recipes.settings import (
    PRESETS,
    ActSettings,
    ComposeSettings,
    ImagineSettings,
    ObserveSettings,
    PackSettings,
    PlanSettings,
    Quirks,
    RankSettings,
    RecallSettings,
    SimplifySettings,
)
from annotations.extensions import SETTINGS, added


@dataclass(frozen=True)
class Recipe(SettingGroup):
    """One agent. `paper` names where it is described, `parent` the recipe that it varies, `origin` the packaged one
    from which its parents were derived, where that is not the parent itself. A field that is no `setting` belongs to
    the recipe and cannot be changed."""

    name: str
    description: str
    paper: str = ""
    parent: str = ""
    origin: str = ""
    preset: str = setting(
        "faithful", "sets every quirk but those it was derived by, and the metrics shown first", choices=PRESETS
    )
    data: str = "any"  # any | weblinx: it reads recorded WebLINX turns
    observe: ObserveSettings = field(default_factory=ObserveSettings)
    rank: RankSettings = field(default_factory=RankSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    simplify: SimplifySettings = field(default_factory=SimplifySettings)
    compose: ComposeSettings = field(default_factory=ComposeSettings)
    prompts: PackSettings = field(default_factory=PackSettings)
    plan: PlanSettings = field(default_factory=PlanSettings)
    imagine: ImagineSettings = field(default_factory=ImagineSettings)
    act: ActSettings = field(default_factory=ActSettings)
    quirks: Quirks = field(default_factory=Quirks)
    batch_size: int = setting(32, "steps decided together", least=1, most=1024)
    needs: tuple[str, ...] = ()  # what is not built yet and without which it cannot run

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("data", self.data, ("any", "weblinx"))


if _nowhere := sorted(added(SETTINGS).keys() - settings_of(Recipe).keys()):
    raise ValueError(f"the entry point {_nowhere[0]!r} of {SETTINGS} names no stage: it begins with one, as plan.mine")


_DEBERTA, _FLAN = "microsoft/deberta-v3-base", "google/flan-t5-base"
_CROSS = RankSettings(kind="cross_encoder", base=_DEBERTA, top_k=50)
_MULTICHOICE = PlanSettings("multichoice", base=_FLAN)
_GENERATION = PlanSettings("generation", base=_FLAN)
_TRAJECTORY = PlanSettings("trajectory", backend="endpoint", max_new_tokens=100)
_SAMPLED = dataclasses.replace(_TRAJECTORY, temperature=1.0, top_p=0.95, samples=20)
_WHOLE = SimplifySettings(memory_pages="whole")
_MINDACT, _MT, _SYNAPSE = "Mind2Web (2023)", "MT-Mind2Web (2024)", "Synapse (2024)"
_AWM, _MIMS, _WEBLINX, _WMA = "Agent Workflow Memory (2024)", "MIMS", "WebLINX (2024)", "WMA (2025)"


def _derived(parent: Recipe, name: str, description: str, **changes: Any) -> Recipe:
    """A recipe that varies another: `rank__top_k=5` replaces one setting of a stage, `rank=…` a whole one."""
    stages: dict[str, Any] = {}
    for key, value in changes.items():
        stage, _, setting = key.partition("__")
        current = stages.get(stage, getattr(parent, stage))
        stages[stage] = dataclasses.replace(current, **{setting: value}) if setting else value
    return dataclasses.replace(parent, name=name, description=description, parent=parent.name, **stages)


_GROUNDED = Recipe(
    "grounded",
    "MiniLM ranks the elements against the instruction and recalled memory; the operation follows from the element, "
    "the value is copied from the instruction. No LLM, no download; plan.model names a trained one.",
    preset="corrected",
    rank=RankSettings(
        kind="dual_encoder",
        model=MINILM,
        top_k=50,
        lexical_weight=0.85,
        role_weight=0.7,
        order_weight=0.65,
        option_weight=1.0,
        link_penalty=0.25,
        repeat_penalty=3.0,
    ),
    recall=RecallSettings(memory="multifaceted", k=3, weight=0.2),
    plan=PlanSettings(kind="grounded"),
    quirks=Quirks.of("corrected"),
)
_WITH_WORLD_MODEL = dataclasses.replace(
    _GROUNDED,
    name="grounded-world-model",
    parent="grounded",
    description="grounded, looking before it acts: past transitions of the train split say what its best actions would "
    "change, and what that is worth.",
    plan=PlanSettings(kind="grounded", samples=5, temperature=0.1),
    imagine=ImagineSettings("retrieval", samples=5, value="embedded", share_weight=1.0),
)
_MINDACT_RECIPE = Recipe(
    "mindact",
    "Cross encoder, then multi-choice knock-out over the whole conversation.",
    _MINDACT,
    rank=_CROSS,
    recall=RecallSettings(memory="chronological", k=0),
    simplify=_WHOLE,
    plan=_MULTICHOICE,
)
_SELF_MAP = Recipe(
    "self-map",
    "Multifaceted memory, simplified and with rationales; direct generation.",
    _MT,
    rank=_CROSS,
    recall=RecallSettings(memory="multifaceted", k=3, rationales="model"),
    plan=_GENERATION,
)
_BARE = Recipe(
    "bare",
    "The trajectory prompt alone: no exemplars, no workflows.",
    _MIMS,
    rank=dataclasses.replace(_CROSS, top_k=5),
    plan=_TRAJECTORY,
)
_SYNAPSE_RECIPE = _derived(
    _BARE,
    "synapse",
    "The trajectories of similar tasks as exemplars, found by the task's metadata.",
    paper=_SYNAPSE,
    recall__exemplars="semantic",
    recall__exemplar_k=3,
)
_AWM_RECIPE = _derived(
    _BARE,
    "awm",
    "Workflows induced from the site's train tasks, and one exemplar.",
    paper=_AWM,
    recall__exemplars="environment",
    recall__exemplar_k=1,
    recall__workflows="environment",
)
_DMR = Recipe(
    "dmr-minilm",
    "Dense markup ranking over the last turns; ranking only.",
    _WEBLINX,
    data="weblinx",
    rank=RankSettings(kind="dmr", model=MINILM, base="sentence-transformers/all-MiniLM-L6-v2", top_k=10, exact=True),
)
_ACTION_STRING = Recipe(
    "weblinx-flan-t5",
    "DMR candidates, hierarchical truncation, an action string; history of 5 turns.",
    _WEBLINX,
    data="weblinx",
    rank=dataclasses.replace(_DMR.rank, exact=False),
    plan=PlanSettings("action_string", base=_FLAN, max_new_tokens=256),
)

_RECIPES = (
    _GROUNDED,
    _MINDACT_RECIPE,
    _derived(
        _MINDACT_RECIPE,
        "mindact-task",
        "MindAct on single tasks: page and question alone, without turns before.",
        recall=RecallSettings(),
        simplify=SimplifySettings(),
        compose__layout="task",
    ),
    _derived(
        _MINDACT_RECIPE,
        "mindact-car",
        "MindAct on an instruction that a model rewrote to stand alone.",
        paper=_MT,
        recall=RecallSettings(memory="none", rewrite_instruction=True),
    ),
    _derived(
        _MINDACT_RECIPE,
        "mindact-fixed",
        "MindAct with the first three turns as memory.",
        paper=_MT,
        recall=RecallSettings(memory="fixed", k=3),
    ),
    _derived(
        _MINDACT_RECIPE,
        "mindact-icl",
        "MindAct's prompt with three worked examples for an LLM.",
        plan=dataclasses.replace(_MULTICHOICE, backend="endpoint", base=""),
        compose__shots=3,
    ),
    Recipe("deberta", "The best-ranked element; no planner, so no operation.", _MINDACT, rank=_CROSS),
    _BARE,
    _derived(
        _BARE,
        "exemplar-environment",
        "One random exemplar of the site, else of its domain.",
        recall__exemplars="environment",
        recall__exemplar_k=1,
    ),
    _SYNAPSE_RECIPE,
    _derived(
        _SYNAPSE_RECIPE,
        "synapse-abstraction",
        "State abstraction only: three plain examples, no trajectories.",
        recall=RecallSettings(),
        compose__trajectory=False,
        compose__shots=3,
    ),
    _derived(
        _SYNAPSE_RECIPE, "synapse-no-memory", "The same three exemplars for every task.", recall__exemplars="fixed"
    ),
    _derived(
        _MINDACT_RECIPE,
        "synapse-conversation",
        "Synapse's kNN over the turns of a conversation.",
        paper=_MT,
        recall=RecallSettings(memory="task_knn", k=3),
    ),
    Recipe(
        "synapse-miniwob",
        "State abstraction and the vote of exemplars on live MiniWoB++ pages; acts by programs.",
        _SYNAPSE,
        recall=RecallSettings(exemplars="voted", exemplar_k=3),
        simplify=SimplifySettings(abstraction="program"),
        compose=ComposeSettings(context_tokens=4097),
        plan=PlanSettings("program", backend="endpoint", max_new_tokens=500),
    ),
    _SELF_MAP,
    _derived(_SELF_MAP, "self-map-mcq", "Self-MAP without generation: multiple choice.", plan=_MULTICHOICE),
    _derived(_SELF_MAP, "self-map-full-state", "Self-MAP without memory simplification.", simplify=_WHOLE),
    _derived(_SELF_MAP, "self-map-no-rationale", "Self-MAP without memory refinement.", recall__rationales="none"),
    _derived(
        _SELF_MAP,
        "self-map-chronological",
        "Self-MAP without matching: the whole conversation.",
        recall__memory="chronological",
    ),
    _AWM_RECIPE,
    _derived(
        _AWM_RECIPE,
        "awm-online",
        "Workflows induced from what the run did before on the site.",
        recall__induction="online",
    ),
    _derived(
        _BARE,
        "mims",
        "Workflows nearest to the predicted objective, and similar trajectories.",
        recall=RecallSettings(
            exemplars="semantic",
            exemplar_k=2,
            exemplar_key="task",
            workflows="semantic",
            workflow_k=13,
            workflow_query="objective",
        ),
    ),
    _DMR,
    _derived(_DMR, "dmr-bge", "DMR with bge-small.", rank__model="", rank__base="BAAI/bge-small-en-v1.5"),
    _derived(_DMR, "dmr-gte", "DMR with gte-base.", rank__model="", rank__base="thenlper/gte-base"),
    _derived(
        _DMR,
        "mindact-weblinx",
        "MindAct's cross encoder on WebLINX documents; ranking only.",
        rank=dataclasses.replace(_CROSS, top_k=10),
    ),
    _ACTION_STRING,
    _derived(
        _ACTION_STRING,
        "weblinx-flan-t5-w10",
        "The same with a history of 10 turns and no element limit.",
        paper="arXiv 2410.23555",
        rank__history_turns=10,
        rank__element_limit=0,
        compose__history_turns=10,
    ),
    _derived(
        _BARE,
        "wma",
        "A world model imagines what the most frequent samples lead to, a value function chooses.",
        paper=_WMA,
        plan=_SAMPLED,
        imagine=ImagineSettings("world_model"),
    ),
    _derived(
        _BARE,
        "cot",
        "WMA's baseline: the most frequent of 20 samples.",
        paper=_WMA,
        plan=_SAMPLED,
        imagine=ImagineSettings("majority"),
    ),
    _WITH_WORLD_MODEL,
)

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in _RECIPES}


def get(name: str) -> Recipe:
    """The recipe of that name; ValueError lists the choices."""
    if name not in RECIPES:
        raise ValueError(f"there is no recipe {name!r}; choose one of {', '.join(RECIPES)}")
    return RECIPES[name]


def asked_model(recipe: Recipe) -> str:
    """The model that a recipe asks, of an endpoint, of a connection or embedded; "" where it names none, or where its
    models are local."""
    return recipe.plan.model if recipe.plan.backend == "endpoint" else ""


def to_dict(recipe: Recipe) -> dict[str, Any]:
    """The recipe as plain data, from which `from_dict` makes it again. A setting that came later, or from another
    package, is left out while it has its default, so that the hashes of older recipes stay as they were."""
    found = dataclasses.asdict(recipe)
    if not recipe.origin:  # it came later, too
        del found["origin"]
    known = settings_of(type(recipe))
    for name, value in values_of(recipe).items():
        declared = known[name]
        if declared.added and value == declared.default:
            stage, _, setting_name = name.partition(".")
            del found[stage][setting_name]
    return found


def from_dict(stored: dict[str, Any]) -> Recipe:
    """The inverse of `to_dict`, for stored runs; settings that came later take their defaults, later bounds nothing."""
    values = {"description": ""} | stored | {"needs": tuple(stored.get("needs", ()))}
    values |= {name: as_stored(group, stored[name]) for name, group in groups(Recipe).items() if name in stored}
    return as_stored(Recipe, values)


def readable(stored: dict[str, Any]) -> Recipe | None:
    """`from_dict`; None where it cannot be read any more, as an older version stored it, or as a package is gone that
    brought a kind or a setting."""
    try:
        return from_dict(stored)
    except (KeyError, TypeError, ValueError):
        return None


def sha256(recipe: Recipe) -> str:
    """Identity of the settings; the same recipe gives the same hash on every machine."""
    return hashlib.sha256(json.dumps(to_dict(recipe), sort_keys=True).encode()).hexdigest()


def with_pack(recipe: Recipe, pack: Pack) -> Recipe:
    """The recipe with the hash of the texts that its models will be given, which makes them part of its identity."""
    return dataclasses.replace(recipe, prompts=PackSettings(pack.reference, pack.sha256))


def with_preset(recipe: Recipe, preset: str) -> Recipe:
    """The recipe with every quirk and its first metric set as the preset says."""
    return dataclasses.replace(recipe, preset=preset, quirks=Quirks.of(preset))


def in_preset(recipe: Recipe, preset: str) -> Recipe:
    """`with_preset`, but with the quirks by which the recipe was derived as they are: those that differ from its own
    preset's."""
    usual, given = Quirks.of(recipe.preset), with_preset(recipe, preset)
    own = {name: value for name, value in vars(recipe.quirks).items() if value != getattr(usual, name)}
    return dataclasses.replace(given, quirks=dataclasses.replace(given.quirks, **own))


def override(recipe: Recipe, settings: dict[str, str], *, are_stored: bool = False) -> Recipe:
    """A recipe with fields replaced by dotted name, values given as text. A preset comes first, wherever it stands, as
    it sets every quirk. `are_stored`: bounds that came later are not asked. ValueError names what is wrong."""
    if "preset" in settings:
        recipe = in_preset(recipe, settings["preset"])
    replacing = declaring.replaced_by_stored if are_stored else declaring.replaced
    for name, text in settings.items():
        recipe = recipe if name == "preset" else replacing(recipe, name, text)
    return recipe
