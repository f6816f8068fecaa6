"""What can be set about a training, with the published constants as defaults. Core: frozen data."""

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from agents.cookbook.learnt_from import Learning
from agents.encoders.adapters import ALL_LINEAR
from agents.encoders.weights import MINILM
from agents.learned.settings import Settings as GroundedSettings
from agents.recipes.declaring import SettingGroup, declarations, parsed, same, setting
from agents.recipes.literature import Recipe
from agents.recipes.settings import (
    ComposeSettings,
    ImagineSettings,
    PlanSettings,
    RankSettings,
    RecallSettings,
    SimplifySettings,
)
from agents.stages.known import is_counted, kinds, shows
from agents.stages.registry import planner_named, trained_on_prompts, training_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


PLANNERS = tuple(trained_on_prompts())
OF_TRANSITIONS = ("world_model", "world_model_page", "value")  # what stage imagine asks


@dataclass(frozen=True)
class LoopSettings(SettingGroup):
    """The settings of every kind of training. An optimizer step has batch_size × accumulate × devices examples."""

    gpu_precision: ClassVar[str] = "no"  # what mixed_precision=auto means on a GPU; on a CPU it means "no"

    epochs: int = setting(5, "how often every example is seen", least=1)
    batch_size: int = setting(8, "examples that a device sees at once", least=1)
    accumulate: int = setting(1, "such batches per optimizer step", least=1)
    devices: int = setting(
        1, "devices that share an optimizer step; where there are fewer, each takes more batches", least=1
    )
    learning_rate: float = setting(5e-5, "the highest one, after the warm-up", above=0)
    weight_decay: float = setting(0.0, "of matrices; biases and norms have none", least=0)
    warmup_steps: int = setting(0, "optimizer steps until the learning rate is reached", least=0)
    warmup_epochs: float = setting(0.0, "added to warmup_steps", least=0)
    max_grad_norm: float = setting(1.0, "gradients are scaled down to it", above=0)
    mixed_precision: Literal["auto", "no", "fp16", "bf16"] = setting(
        "auto", "precision of the arithmetic; auto: what the kind of model takes on a GPU, none on a CPU"
    )
    tf32: bool = setting(False, "matrices are multiplied in TF32 where a GPU can")
    gradient_checkpointing: bool = setting(False, "less memory for more time: activations are computed twice")
    max_length: int = setting(512, "longest input, in tokens", least=1)
    seed: int = setting(0, "of everything random", least=0)
    checkpoint_seconds: float = setting(120.0, "time between two checkpoints", least=0)
    report_points: int = setting(200, "points of the curve", least=1)
    dev_examples: int = setting(100, "examples of the dev split looked at after each epoch; 0: none", least=0)

    def precision(self, on_gpu: bool) -> str:
        """The `mixed_precision` of accelerate on this device. ValueError for what a CPU cannot do."""
        if self.mixed_precision == "auto":
            return self.gpu_precision if on_gpu else "no"
        if self.mixed_precision == "fp16" and not on_gpu:
            raise ValueError("mixed_precision=fp16 needs a GPU; use bf16 or no")
        return self.mixed_precision


@dataclass(frozen=True)
class CrossEncoderSettings(LoopSettings):
    """The settings of MindAct's ranker (sources.md M3)."""

    gpu_precision: ClassVar[str] = "fp16"

    batch_size: int = same(LoopSettings, "batch_size", 32)
    learning_rate: float = same(LoopSettings, "learning_rate", 3e-5)
    weight_decay: float = same(LoopSettings, "weight_decay", 0.01)
    warmup_epochs: float = same(LoopSettings, "warmup_epochs", 0.5)
    neg_ratio: int = setting(5, "negatives per positive", least=1)
    layers: int = setting(0, "the first layers of the base, which alone are kept; 0: all", least=0)
    q3_swapped_pairs: bool = setting(
        True, "trained on (candidate, query), as published, though asked (query, candidate) later"
    )


@dataclass(frozen=True)
class DualEncoderSettings(LoopSettings):
    """The settings of dense markup ranking (sources.md A5.1). It trains in full precision: the published flag for bf16
    is inverted (Q6)."""

    epochs: int = same(LoopSettings, "epochs", 10)
    batch_size: int = same(LoopSettings, "batch_size", 64)
    learning_rate: float = same(LoopSettings, "learning_rate", 3e-5)
    warmup_steps: int = same(LoopSettings, "warmup_steps", 500)
    gradient_checkpointing: bool = same(LoopSettings, "gradient_checkpointing", True)
    seed: int = same(LoopSettings, "seed", 123)
    max_negatives: int = setting(9, "negatives per step", least=1)
    q5_reseed_per_demo: bool = setting(
        True, "negatives are drawn with the same random numbers in every conversation, as published"
    )
    history_turns: int = same(RankSettings, "history_turns")
    element_limit: int = same(RankSettings, "element_limit")


@dataclass(frozen=True)
class PlannerSettings(LoopSettings):
    """The settings of Flan-T5 as MindAct, Self-MAP and WebLINX train it (sources.md M4.3, A6.5)."""

    gpu_precision: ClassVar[str] = "bf16"

    tf32: bool = same(LoopSettings, "tf32", True)
    max_length: int = same(ComposeSettings, "max_tokens", 2048)
    paradigm: str = setting(
        "multichoice",
        "what answers look like: of a kind of plan, or of what imagines",
        choices=(*PLANNERS, *OF_TRANSITIONS),
        repeats="plan.kind",
    )
    repeats: int = setting(
        10, "samples of each step in an epoch, drawn anew (not of action strings and trajectories)", least=1
    )
    num_candidates: int = same(SimplifySettings, "group_size")
    none_ratio: float = setting(0.2, "share of samples without the gold element", least=0, most=1)
    top_k: int = setting(-1, "above 0: 4 of 5 samples take their negatives from the ranker's first so many")
    layout: str = same(ComposeSettings, "layout")
    memory: str = same(RecallSettings, "memory", "chronological")
    memory_k: int = same(RecallSettings, "k", least=1)
    simplification: bool = setting(
        False, "memory pages with a few candidates instead of all", repeats="simplify.memory_pages"
    )
    refinement: bool = setting(False, "memory answers with rationales", repeats="recall.rationales")
    history_turns: int = same(ComposeSettings, "history_turns")
    ranker: str = setting(
        MINILM, "dual encoder that chooses the candidates of an action-string prompt", repeats="rank.model"
    )
    page_tokens: int = same(ImagineSettings, "page_tokens", 900)
    max_new_tokens: int = same(PlanSettings, "max_new_tokens")
    adapter: Literal["none", "lora", "qlora"] = setting(
        "none",
        "what is trained: all weights, or small matrices beside them (lora); qlora: beside weights in 4 bits, which "
        "needs a CUDA device and bitsandbytes",
    )
    lora_rank: int = setting(16, "rank of those matrices", least=1)
    lora_alpha: int = setting(16, "what they add is scaled by it over the rank", least=1)
    lora_dropout: float = setting(0.05, "share of their inputs that a step leaves out", least=0, most=1)
    lora_targets: str = setting(ALL_LINEAR, "names of layers, with commas between; all-linear: every one but the last")

    def __post_init__(self) -> None:
        super().__post_init__()
        own = declarations(PlannerSettings)
        changed = [name for name in own if name.startswith("lora_") and getattr(self, name) != own[name].default]
        if changed and self.adapter == "none":
            raise ValueError(f"{changed[0]} would change nothing: it needs adapter=lora or qlora")


@dataclass(frozen=True)
class CausalSettings(PlannerSettings):
    """The settings of left-to-right models on the same inputs. WebLINX takes its loss on the whole text (sources.md
    A6.5)."""

    epochs: int = same(LoopSettings, "epochs", 3)
    loss_on: Literal["answer", "text"] = setting("answer", "the tokens that the loss counts")
    loss: Literal["likelihood", "dpo"] = setting(
        "likelihood",
        "what is learnt: recorded answers, or (dpo) the right answer rather than one that people called wrong",
    )
    beta: float = setting(0.1, "how closely dpo stays at the model that it starts from", above=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss == "dpo" and self.loss_on != "answer":
            raise ValueError("loss_on would change nothing: it needs loss=likelihood")
        if self.loss == "dpo" and self.paradigm not in ON_PAGES:
            raise ValueError(f"loss=dpo needs paradigm={' or '.join(sorted(ON_PAGES))}")
        if self.loss != "dpo" and self.beta != declarations(CausalSettings)["beta"].default:
            raise ValueError("beta would change nothing: it needs loss=dpo")


SETTINGS: dict[str, type[LoopSettings]] = {
    "cross_encoder": CrossEncoderSettings,
    "dual_encoder": DualEncoderSettings,
    "seq2seq": PlannerSettings,
    "causal": CausalSettings,
}
"""Kind of model -> its settings, of those that learn in the common loop."""
OF_KIND: dict[str, type[LoopSettings] | type[GroundedSettings]] = {**SETTINGS, "grounded": GroundedSettings}
"""The same for every kind."""


OF_PAST_PAGES = ("simplification", "refinement")
ON_PAGES = frozenset(name for name in PLANNERS if (kind := planner_named(name)) and kind.form)
OF_TURNS = frozenset(name for name in PLANNERS if (kind := planner_named(name)) and kind.of_turns)
READ_BY: dict[str, frozenset[str]] = {
    **dict.fromkeys(("repeats", "num_candidates", "none_ratio", "top_k", "layout"), ON_PAGES),
    **dict.fromkeys(("memory", "memory_k", "simplification", "refinement"), ON_PAGES),
    **dict.fromkeys(("history_turns", "ranker"), OF_TURNS),
    "page_tokens": frozenset(OF_TRANSITIONS),
}
"""A setting of planners -> the paradigms whose samples are made by it; every paradigm reads the others."""


def unread(settings: PlannerSettings, recipe: Recipe | None = None) -> str:
    """Why a changed setting would change nothing, as a sentence; "" where every one counts. `recipe`: of the
    training."""
    own = declarations(type(settings))
    for name, paradigms in READ_BY.items():
        if settings.paradigm not in paradigms and getattr(settings, name) != own[name].default:
            needs = " or ".join(sorted(paradigms))
            return f"{name} would change nothing in a training on {settings.paradigm}: it needs paradigm={needs}"
    for name, needs in _without_past(settings, recipe).items():
        if getattr(settings, name) != own[name].default:
            return f"{name} would change nothing in a training with memory={settings.memory}: it needs {needs}"
    return ""


def _without_past(settings: PlannerSettings, recipe: Recipe | None) -> dict[str, str]:
    """The settings of earlier pages that are read by nothing, as none is shown or all are, with what they need."""
    *others, last = filter(is_counted, kinds()["recall.memory"])
    found = {} if is_counted(settings.memory) else {"memory_k": f"memory={', '.join(others)} or {last}"}
    shown = settings.memory != "none" or (recipe is not None and shows(recipe, "recall.exemplars"))
    return found | ({} if shown else dict.fromkeys(OF_PAST_PAGES, "memory other than none"))


def read_settings(settings: LoopSettings, recipe: Recipe | None = None) -> dict[str, Any]:
    """The settings by name, without those that this training, of this recipe, does not read."""
    found = dataclasses.asdict(settings)
    if not isinstance(settings, PlannerSettings):
        return found
    left_out = {name for name, paradigms in READ_BY.items() if settings.paradigm not in paradigms}
    left_out |= _without_past(settings, recipe).keys()
    left_out |= {name for name in found if name.startswith("lora_")} if settings.adapter == "none" else set()
    if isinstance(settings, CausalSettings):
        left_out |= {"loss_on", "repeats", "none_ratio", "top_k"} if settings.loss == "dpo" else {"beta"}
    return {name: value for name, value in found.items() if name not in left_out}


def learning(recipe: Recipe, kind: str, changes: dict[str, Any], of_turns: bool) -> Learning:
    """What a training of a kind of model for a recipe reads of it. `changes`: of the training, given beside the recipe;
    `of_turns`: whether its data are recorded WebLINX turns."""
    told = training_of(recipe, kind)[1]
    settings = told | changes
    read = read_settings(make_settings(kind, settings), recipe) if kind in SETTINGS else {}
    followed = frozenset((told.keys() & read.keys()) - changes.keys())
    return Learning(recipe, kind, str(settings.get("paradigm", "")), followed, of_turns)


def make_settings(kind: str, changes: dict[str, Any]) -> LoopSettings:
    """The settings of a kind of training with some changed; values as text, or of their own type. ValueError names what
    is wrong."""
    return changed(SETTINGS[kind](), changes)


def changed(settings: T, changes: dict[str, Any]) -> T:
    """A frozen dataclass with some fields changed; values as text, or of their own type. ValueError names what is
    wrong."""
    known = {field.name for field in dataclasses.fields(settings)}
    for name in changes:
        if name not in known:
            raise ValueError(f"there is no setting {name!r}; one may set: {', '.join(sorted(known))}")
    values = {name: parsed(name, type(getattr(settings, name)), str(value)) for name, value in changes.items()}
    return dataclasses.replace(settings, **values)
