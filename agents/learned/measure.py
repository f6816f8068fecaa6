"""How well networks do on steps laid out as arrays: for choosing settings while training. Core.

Scores that are reported come from runs judged by the evaluation app; these count a value as right when it is the
demonstrated one.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import torch

from agents.learned.examples import OPERATIONS, WITHOUT_VALUE
from agents.learned.flat import Flat, batch
from agents.learned.network import Network, log_softmax

BATCH = 256
TAKES_VALUE = torch.tensor([operation not in WITHOUT_VALUE for operation in OPERATIONS])


@torch.inference_mode()
def outcomes(networks: Sequence[Network], flat: Flat, vectors: np.ndarray) -> dict[str, np.ndarray]:
    """Per step 0 or 1: `element`, `operation`, `value` (right where one is needed), `success`. Shape (steps,) each."""
    found: dict[str, list[np.ndarray]] = defaultdict(list)
    for start in range(0, len(flat), BATCH):
        part = batch(flat, np.arange(start, min(start + BATCH, len(flat))), vectors)
        steps, rows = len(part.operation), part.rows
        given = [network(rows) for network in networks]
        elements = torch.stack([log_softmax(s, rows.segment, steps).exp() for s, _ in given]).mean(0)
        operations = torch.stack([logits.softmax(1) for _, logits in given]).mean(0)
        best = _best(elements, rows.segment, steps)
        operation = operations[best].argmax(1) == part.operation
        value = ~TAKES_VALUE[part.operation]
        if len(part.values):
            scores = torch.stack([n.values(part.values) for n in networks])
            shares = torch.stack([log_softmax(s, part.value_step, steps).exp() for s in scores]).mean(0)
            has = torch.zeros(steps, dtype=torch.bool)
            has[part.value_step] = True
            chosen = _best(shares, part.value_step, steps)
            value = torch.where(has, part.value_gold[chosen.clamp(max=len(shares) - 1)].bool(), value)
        element = part.gold[best].bool()
        for name, ok in (
            ("element", element),
            ("operation", operation),
            ("value", value),
            ("success", element & operation & value),
        ):
            found[name].append(ok.numpy().astype(float))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def _best(scores: torch.Tensor, segment: torch.Tensor, steps: int) -> torch.Tensor:
    """Row with the highest score of each step, the first of equals; len(scores) for a step without rows."""
    highest = torch.full((steps,), -torch.inf).scatter_reduce(0, segment, scores, "amax")
    places = torch.where(scores == highest[segment], torch.arange(len(scores)), len(scores))
    return torch.full((steps,), len(scores)).scatter_reduce(0, segment, places, "amin")


def measure(networks: Sequence[Network], flat: Flat, vectors: np.ndarray) -> dict[str, float]:
    """Means of the outcomes over steps, and `success_by_group`: the mean over groups of each group's step success."""
    found = outcomes(networks, flat, vectors)
    result = {name: round(float(values.mean()), 4) for name, values in found.items()}
    return result | {"success_by_group": round(float(np.mean(list(by_group(flat, found["success"]).values()))), 4)}


def by_group(flat: Flat, values: np.ndarray) -> dict[str, float]:
    groups = np.array(flat.groups)
    return {group: float(values[groups == group].mean()) for group in sorted(set(flat.groups))}
