"""Texts end to end in one row instead of padded to the longest: each token attends to its own text alone. Core.

In a padded batch of some dozens of texts every sixth token is padding, which costs as much as text. A packed row has
next to none; only attention is kept apart, by one call per length. GPUs prefer one padded call for all.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

ATTENTION = "packed"
PACKED_MODELS = frozenset({"bert"})  # MiniLM, BGE, GTE, E5; others may count positions otherwise
FILLED = 128  # rows are filled up to a multiple, as bfloat16 multiplications are prepared anew for every other size


def attend_within_texts(model: Any) -> bool:
    """Prepare the model (transformers) for `hidden_states`. False, with the model as it was, where it can't be."""
    if model.device.type != "cpu" or model.config.model_type not in PACKED_MODELS:
        return False
    from transformers import AttentionInterface

    AttentionInterface.register(ATTENTION, _attention)
    model.set_attn_implementation(ATTENTION)
    return True


def hidden_states(
    model: Any, texts: Sequence[Sequence[int]], types: Sequence[Sequence[int]] | None = None
) -> "tuple[torch.Tensor, ...]":
    """Last hidden state of each text, (its tokens, dimensions), from one call; bit for bit the same in any company.
    `texts`: token ids, those of equal length side by side; `types`: of the tokens, where a text has two parts."""
    import torch

    lengths = [len(text) for text in texts]
    filling = -sum(lengths) % FILLED
    ids = torch.tensor([token for text in (*texts, [0] * filling) for token in text])
    runs = [(length, len(list(run))) for length, run in groupby((*lengths, filling)) if length]
    positions = torch.cat([torch.arange(length).repeat(count) for length, count in runs])
    kinds = None if types is None else torch.tensor([kind for text in (*types, [0] * filling) for kind in text])[None]
    output = model(input_ids=ids[None], token_type_ids=kinds, position_ids=positions[None], packed=runs)
    apart: tuple[torch.Tensor, ...] = output.last_hidden_state[0][: sum(lengths)].split(lengths)
    return apart


def _attention(
    module: Any, query: Any, key: Any, value: Any, mask: None, packed: list[tuple[int, int]], scaling: float, **_: Any
) -> tuple[Any, None]:
    """Attention as transformers asks for it: (1, heads, tokens, dimensions) each -> (1, tokens, heads, dimensions).
    `packed`: (length, number of texts with it), in order."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    size = [length * texts for length, texts in packed]
    parts = []
    for (length, texts), *run in zip(packed, *(t[0].split(size, dim=1) for t in (query, key, value)), strict=True):
        q, k, v = (t.unflatten(1, (texts, length)).transpose(0, 1) for t in run)  # (texts, heads, length, dimensions)
        parts.append(scaled_dot_product_attention(q, k, v, scale=scaling).transpose(1, 2).flatten(0, 1))
    return torch.cat(parts)[None], None
