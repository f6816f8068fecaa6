"""Load the weights that a training starts from: a folder or a Hugging Face name, safetensors only. Core."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agents.encoders import adapters, weights
from agents.training.fit.loop import TrainingError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

T = TypeVar("T")
HEADED = "AutoModelForSequenceClassification"  # gets a head of its own, which no weights that it begins with have

AUTO_CLASSES = {
    "cross_encoder": HEADED,
    "dual_encoder": "AutoModel",
    "seq2seq": "AutoModelForSeq2SeqLM",
    "causal": "AutoModelForCausalLM",
}


def load_tokenizer(base: str) -> "PreTrainedTokenizerBase":
    """The tokenizer of `base`. TrainingError in one line where it cannot be had."""
    from transformers import AutoTokenizer

    return _explained(base, lambda source: AutoTokenizer.from_pretrained(source, trust_remote_code=False))


def load_model(kind: str, base: str, **options: Any) -> "PreTrainedModel":
    """The model of `base` in full precision, ready to be trained. TrainingError in one line where it cannot be had."""
    import torch
    import transformers
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    auto = getattr(transformers, AUTO_CLASSES[kind])
    options = {"dtype": torch.float32, **options}
    with _unreported() if AUTO_CLASSES[kind] == HEADED else nullcontext():
        return _explained(base, lambda source: adapters.load(auto, source, **options))


@contextmanager
def _unreported() -> Iterator[None]:
    """Without the table by which transformers reports the weights that a model lacks or leaves out: it reads like a
    failure."""
    reporter = logging.getLogger("transformers.modeling_utils")
    before = reporter.level
    reporter.setLevel(logging.ERROR)
    try:
        yield
    finally:
        reporter.setLevel(before)


def load_layers(kind: str, base: str) -> "PreTrainedModel":
    """The model of `base` with its layers and without their weights, which takes a moment. TrainingError in one line
    where it cannot be had."""
    import torch
    import transformers

    auto = getattr(transformers, AUTO_CLASSES[kind])

    def made(source: str | Path) -> "PreTrainedModel":
        config = transformers.AutoConfig.from_pretrained(source, trust_remote_code=False)
        with torch.device("meta"):
            model: PreTrainedModel = auto.from_config(config)
        return model

    return _explained(base, made)


def _explained(base: str, load: Callable[[str | Path], T]) -> T:
    try:
        return load(weights.source(base))
    except (OSError, ValueError, ImportError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise TrainingError(
            f"the weights {base!r} could not be loaded: give --base a folder with a transformers model (config.json, "
            f"tokenizer, *.safetensors), or a Hugging Face name where there is a network ({reason})"
        ) from error
