"""LoRA: small matrices trained beside weights that stay as they are, in a folder of their own. Core; loads peft on use.

A folder with an adapter names the weights that it goes with; where it is used, both are merged into one model.
"""

import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.encoders import weights

if TYPE_CHECKING:
    from peft import PeftModel
    from transformers import PreTrainedModel

FILE = "adapter_config.json"
ALL_LINEAR = "all-linear"  # every linear layer but the one that gives the logits
HEAD = "lm_head"
TIED = f"lora_targets names {HEAD}, which shares its weights with the embeddings of this model"
DEEPEST = 8  # adapters on adapters


def base_of(source: Path | str) -> str:
    """The weights that the adapter in a folder goes with; "" where there is none."""
    path = Path(source) / FILE
    if not weights.is_file(path):
        return ""
    return str(json.loads(path.read_text("utf-8"))["base_model_name_or_path"])


def load(auto: Any, source: Path | str, **options: Any) -> "PreTrainedModel":
    """The model of `source` by a class of transformers; an adapter is merged into its base. ValueError names what
    cannot be had."""
    adapters = []
    while base := base_of(source):
        adapters.append(source)
        if len(adapters) > DEEPEST:
            raise ValueError(f"the adapter in {adapters[0]} goes with itself")
        try:
            source = weights.source(base)
        except ValueError as error:
            raise ValueError(f"the adapter in {adapters[-1]} goes with other weights: {error}") from error
    model = auto.from_pretrained(source, trust_remote_code=False, use_safetensors=True, **options)
    for adapter in reversed(adapters):
        model = _merged(model, adapter)
    found: PreTrainedModel = model
    return found


def _merged(model: Any, adapter: Path | str) -> Any:
    from peft import PeftModel

    return PeftModel.from_pretrained(model, adapter, use_safetensors=True).merge_and_unload()


def beside(
    model: "PreTrainedModel",
    base: str,
    *,
    rank: int,
    alpha: int,
    dropout: float,
    targets: str,
    seed: int = 0,
    in_four_bits: bool = False,
    checkpointing: bool = False,
) -> "PeftModel":
    """The model with new matrices beside its layers, which alone are trained. ValueError names layers that it has
    not."""
    import peft
    import torch
    from peft import LoraConfig, TaskType, get_peft_model

    names = targets if targets == ALL_LINEAR else _checked(model, targets)
    if in_four_bits:
        prepare: Any = peft.prepare_model_for_kbit_training
        model = prepare(model, use_gradient_checkpointing=checkpointing)
    elif checkpointing:
        model.enable_input_require_grads()
    task = TaskType.SEQ_2_SEQ_LM if model.config.is_encoder_decoder else TaskType.CAUSAL_LM
    config = LoraConfig(task_type=task, r=rank, lora_alpha=alpha, lora_dropout=dropout, target_modules=names)
    with torch.random.fork_rng():
        torch.manual_seed(seed)  # for the new matrices
        wrapped = get_peft_model(model, config)
    wrapped.peft_config["default"].base_model_name_or_path = base
    found: PeftModel = wrapped
    return found


def said_of_tied(base: str, targets: str) -> str:
    """Why these layers of a base cannot be adapted, as far as its folder says so before anything is loaded; "" where
    nothing is known against it."""
    folder = weights.find(base)
    path = folder / "config.json" if folder else None
    if path is None or not weights.is_file(path) or HEAD not in _names(targets):
        return ""
    return TIED if json.loads(path.read_text("utf-8")).get("tie_word_embeddings") else ""


def _names(targets: str) -> list[str]:
    return [name.strip() for name in targets.split(",") if name.strip()]


def check_targets(model: "PreTrainedModel", targets: str) -> None:
    """ValueError names layers that a model has not, or that cannot be adapted. It may be one without weights."""
    if targets != ALL_LINEAR:
        _checked(model, targets)


def _checked(model: "PreTrainedModel", targets: str) -> list[str]:
    import torch

    names = _names(targets)
    layers = {name.rpartition(".")[2] for name, part in model.named_modules() if isinstance(part, torch.nn.Linear)}
    if missing := [name for name in names if name not in layers]:
        raise ValueError(f"lora_targets names {', '.join(missing)}; the model has {', '.join(sorted(layers))}")
    if HEAD in names and model.config.tie_word_embeddings:
        raise ValueError(TIED)
    if not names:
        raise ValueError(f"lora_targets is empty: name layers, or {ALL_LINEAR}")
    return names


def four_bits() -> dict[str, Any]:
    """Options that load weights in 4 bits (QLoRA). ValueError where this machine cannot."""
    import torch
    from transformers import BitsAndBytesConfig

    if not torch.cuda.is_available() or importlib.util.find_spec("bitsandbytes") is None:
        raise ValueError(
            "adapter=qlora keeps the weights in 4 bits, which needs a CUDA device and the package bitsandbytes; "
            "adapter=lora trains the same matrices beside weights in full precision"
        )
    kept = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
    return {"quantization_config": kept, "device_map": {"": 0}}
