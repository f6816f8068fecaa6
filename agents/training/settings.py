"""What can be set about a training, with the published constants as defaults. Core: frozen data."""

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from agents.encoders.weights import MINILM
from agents.recipes.settings import at_least, one_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

PARADIGMS = ("multichoice", "generation", "action_string")
MEMORIES = ("none", "multifaceted", "chronological", "fixed", "task_knn")


@dataclass(frozen=True)
class LoopSettings:
    """What every kind of training has. One optimizer step sees batch_size × accumulate × devices examples,
    wherever it is made."""

    gpu_precision: ClassVar[str] = "no"  # what mixed_precision=auto means on a GPU; on a CPU it means "no"

    epochs: int = 5
    batch_size: int = 8  # examples that a device sees at once
    accumulate: int = 1  # such batches per optimizer step
    devices: int = 1  # that share an optimizer step; where there are fewer, each takes more batches
    learning_rate: float = 5e-5
    weight_decay: float = 0.0  # of matrices; biases and norms have none
    warmup_steps: int = 0
    warmup_epochs: float = 0.0  # added to warmup_steps
    max_grad_norm: float = 1.0
    mixed_precision: str = "auto"  # auto | no | fp16 | bf16
    tf32: bool = False
    gradient_checkpointing: bool = False
    max_length: int = 512  # tokens
    seed: int = 0
    checkpoint_seconds: float = 120.0
    report_points: int = 200  # of the curve
    dev_examples: int = 100  # of the dev split, looked at after each epoch; 0: none

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "accumulate", "devices", "max_length", "report_points"):
            at_least(name, getattr(self, name), 1)
        for name in ("weight_decay", "warmup_steps", "warmup_epochs", "checkpoint_seconds", "dev_examples", "seed"):
            at_least(name, getattr(self, name), 0)
        if self.learning_rate <= 0 or self.max_grad_norm <= 0:
            raise ValueError("learning_rate and max_grad_norm must be above 0")
        one_of("mixed_precision", self.mixed_precision, ("auto", "no", "fp16", "bf16"))

    def precision(self, on_gpu: bool) -> str:
        """The `mixed_precision` of accelerate on this device. ValueError for what a CPU cannot do."""
        if self.mixed_precision == "auto":
            return self.gpu_precision if on_gpu else "no"
        if self.mixed_precision == "fp16" and not on_gpu:
            raise ValueError("mixed_precision=fp16 needs a GPU; use bf16 or no")
        return self.mixed_precision


@dataclass(frozen=True)
class CrossEncoderSettings(LoopSettings):
    """MindAct's ranker (planners.md section 3)."""

    gpu_precision: ClassVar[str] = "fp16"

    batch_size: int = 32
    learning_rate: float = 3e-5
    weight_decay: float = 0.01
    warmup_epochs: float = 0.5
    neg_ratio: int = 5  # negatives per positive
    q3_swapped_pairs: bool = True  # trained on (candidate, query), though asked (query, candidate) later

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("neg_ratio", self.neg_ratio, 1)


@dataclass(frozen=True)
class DualEncoderSettings(LoopSettings):
    """Dense markup ranking (dmr_wma.md A5.1). In full precision: the published flag for bf16 is inverted (Q6)."""

    epochs: int = 10
    batch_size: int = 64
    learning_rate: float = 3e-5
    warmup_steps: int = 500
    gradient_checkpointing: bool = True
    seed: int = 123
    max_negatives: int = 9  # per step
    q5_reseed_per_demo: bool = True  # negatives are drawn with the same random numbers in every conversation
    history_turns: int = 5  # of a WebLINX query
    element_limit: int = 200  # characters of an element's text in a WebLINX document; 0: all

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("max_negatives", self.max_negatives, 1)
        at_least("history_turns", self.history_turns, 0)
        at_least("element_limit", self.element_limit, 0)


@dataclass(frozen=True)
class PlannerSettings(LoopSettings):
    """Flan-T5 as MindAct, Self-MAP and WebLINX train it (planners.md 4.3, dmr_wma.md A6.5)."""

    gpu_precision: ClassVar[str] = "bf16"

    tf32: bool = True
    max_length: int = 2048
    paradigm: Literal["multichoice", "generation", "action_string"] = "multichoice"
    repeats: int = 10  # samples of each step in an epoch, drawn anew (not of action strings)
    num_candidates: int = 5
    none_ratio: float = 0.2  # share of samples without the gold element
    top_k: int = -1  # above 0: 4 of 5 samples take their negatives from the ranker's first so many
    memory: str = "chronological"  # none | multifaceted | chronological | fixed | task_knn
    memory_k: int = 3
    simplification: bool = False  # memory pages with a few candidates instead of all
    refinement: bool = False  # memory answers with rationales
    history_turns: int = 5  # of an action-string prompt
    ranker: str = MINILM  # dual encoder that chooses the candidates of an action-string prompt
    max_new_tokens: int = 50  # of answers on the dev split

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("paradigm", self.paradigm, PARADIGMS)
        one_of("memory", self.memory, MEMORIES)
        for name in ("repeats", "num_candidates", "memory_k", "max_new_tokens"):
            at_least(name, getattr(self, name), 1)
        if not 0.0 <= self.none_ratio <= 1.0:
            raise ValueError(f"none_ratio must lie in 0..1, got {self.none_ratio}")


@dataclass(frozen=True)
class CausalSettings(PlannerSettings):
    """Left-to-right models on the same inputs; WebLINX takes its loss on the whole text (dmr_wma.md A6.5)."""

    epochs: int = 3
    loss_on: str = "answer"  # answer | text

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("loss_on", self.loss_on, ("answer", "text"))


SETTINGS: dict[str, type[LoopSettings]] = {
    "cross_encoder": CrossEncoderSettings,
    "dual_encoder": DualEncoderSettings,
    "seq2seq": PlannerSettings,
    "causal": CausalSettings,
}
"""Kind of model -> its settings."""


def make_settings(kind: str, changes: dict[str, Any]) -> LoopSettings:
    """The settings of a kind with some changed, values as text or as they are. ValueError names what is wrong."""
    return changed(SETTINGS[kind](), changes)


def changed(settings: T, changes: dict[str, Any]) -> T:
    """A frozen dataclass with some fields changed, values as text or as they are. ValueError as above."""
    known = {field.name for field in dataclasses.fields(settings)}
    for name in changes:
        if name not in known:
            raise ValueError(f"there is no setting {name!r}; one may set: {', '.join(sorted(known))}")
    values = {name: _value(name, getattr(settings, name), value) for name, value in changes.items()}
    return dataclasses.replace(settings, **values)


def _value(name: str, current: Any, given: Any) -> Any:
    """`given` as the type of `current`."""
    text = str(given)
    try:
        if isinstance(current, bool):
            return {"true": True, "false": False}[text.lower()]
        value = type(current)(text)
    except (ValueError, KeyError) as error:
        raise ValueError(f"{name} must be {type(current).__name__}, got {text!r}") from error
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {text!r}")
    return value
