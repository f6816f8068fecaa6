"""How many tokens of prompts a local model answers at once. Core; torch on use.

Writing reads all weights for every token, whatever the number of rows: a batch has as many as memory holds. What rows
take are the keys and values of their tokens, and copies of them while rows are put together.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

CPU_TOKENS = 16_384  # a processor is busy with these; more of them only take memory
GPU_TOKENS = 262_144
SHARE = 0.25  # of the memory that is free beside the weights: rows are copied, and encoders need some themselves


def batch_tokens(model: "PreTrainedModel") -> int:
    """Prompt tokens of one batch, padding included: what fits a share of the device's free memory, `CPU_TOKENS` on a
    processor."""
    if model.device.type != "cuda":
        return CPU_TOKENS
    import torch

    free, _ = torch.cuda.mem_get_info(model.device)
    return fitting(free, bytes_per_token(model.config, model.dtype.itemsize))


def fitting(free: float, each: int) -> int:
    """Tokens that take so many bytes each and fit the share of so many free bytes; at least those of a processor, at
    most GPU_TOKENS."""
    return int(max(CPU_TOKENS, min(GPU_TOKENS, free * SHARE / each)))


def bytes_per_token(config: "PretrainedConfig", size: int) -> int:
    """The keys and values of a token in all layers that write, by a model's configuration and the bytes of a number."""
    layers = getattr(config, "num_decoder_layers", None) or config.num_hidden_layers
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    width = getattr(config, "d_kv", None) or getattr(config, "head_dim", None)
    width = width or config.hidden_size // config.num_attention_heads
    return 2 * int(layers) * int(heads) * int(width) * size
