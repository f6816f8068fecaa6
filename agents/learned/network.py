"""The network: scores for elements, operations and values from columns and frozen vectors. Core.

Rows of several steps lie one after the other; `segment` gives the step of each row, so no step is padded.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from agents.learned.examples import OPERATIONS


@dataclass(frozen=True)
class Shape:
    """Sizes of a network."""

    columns: int  # of a candidate, with those of `similarity`
    value_columns: int
    dimensions: int  # of the encoder
    hidden: int = 128
    small: int = 16  # width of one text's part
    shared: int = 24  # width of the part that compares texts
    dropout: float = 0.2
    forget: float = 0.4  # share of training steps that do not see what the instruction says, only how elements relate


@dataclass
class CandidateRows:
    """Candidates of several steps. Shapes: r rows, s steps."""

    columns: Tensor  # (r, columns)
    name: Tensor  # (r, dimensions)
    markup: Tensor
    instruction: Tensor  # (s, dimensions)
    segment: Tensor  # (r,) step of each row


class Network(nn.Module):
    """Two layers for each candidate, a summary of all candidates of its step, and two more."""

    mean: Tensor
    spread: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.register_buffer("mean", torch.zeros(shape.columns))
        self.register_buffer("spread", torch.ones(shape.columns))
        self.small = nn.ModuleDict({n: nn.Linear(shape.dimensions, shape.small) for n in ("name", "markup")})
        self.task = nn.Linear(shape.dimensions, shape.small)
        self.asked = nn.Linear(shape.dimensions, 2 * shape.shared, bias=False)
        self.offered = nn.ModuleDict(
            {n: nn.Linear(shape.dimensions, shape.shared, bias=False) for n in ("name", "markup")}
        )
        width = shape.columns + 3 * shape.small + 2 * shape.shared
        self.first = nn.Sequential(
            nn.Linear(width, shape.hidden),
            nn.ReLU(),
            nn.Dropout(shape.dropout),
            nn.Linear(shape.hidden, shape.hidden),
            nn.ReLU(),
            nn.Dropout(shape.dropout),
        )
        self.second = nn.Sequential(nn.Linear(3 * shape.hidden, shape.hidden), nn.ReLU(), nn.Dropout(shape.dropout))
        self.score = nn.Linear(shape.hidden, 1)
        self.operation = nn.Linear(shape.hidden, len(OPERATIONS))
        self.value = nn.Sequential(
            nn.LayerNorm(shape.value_columns),
            nn.Linear(shape.value_columns, shape.hidden),
            nn.ReLU(),
            nn.Dropout(shape.dropout),
            nn.Linear(shape.hidden, 1),
        )

    def forward(self, rows: CandidateRows) -> tuple[Tensor, Tensor]:
        """Scores, shape (r,), and operation logits, shape (r, operations)."""
        columns = ((rows.columns - self.mean) / self.spread).clamp(-5, 5)
        asked, known = rows.instruction, self.task(rows.instruction)
        if self.training and self.shape.forget:
            keep = torch.rand(len(asked), 1) >= self.shape.forget
            known, asked = known * keep, asked * keep
        one, two = self.asked(asked)[rows.segment].chunk(2, dim=1)
        parts = [
            columns,
            self.small["name"](rows.name),
            self.small["markup"](rows.markup),
            known[rows.segment],
            one * self.offered["name"](rows.name),
            two * self.offered["markup"](rows.markup),
        ]
        hidden = self.first(torch.cat(parts, dim=1))
        mean, highest = _summary(hidden, rows.segment, len(asked))
        hidden = self.second(torch.cat([hidden, mean[rows.segment], highest[rows.segment]], dim=1))
        return self.score(hidden).squeeze(1), self.operation(hidden)

    def values(self, columns: Tensor) -> Tensor:
        """Scores of values, shape (v,), from their columns, shape (v, value_columns)."""
        scores: Tensor = self.value(columns)
        return scores.squeeze(1)


def _summary(hidden: Tensor, segment: Tensor, steps: int) -> tuple[Tensor, Tensor]:
    """Mean and maximum over the rows of each step, shapes (steps, hidden)."""
    counts = torch.zeros(steps).index_add_(0, segment, torch.ones(len(segment)))
    mean = torch.zeros(steps, hidden.shape[1]).index_add_(0, segment, hidden) / counts.unsqueeze(1)
    index = segment.unsqueeze(1).expand_as(hidden)
    highest = torch.zeros(steps, hidden.shape[1]).scatter_reduce(0, index, hidden, "amax", include_self=False)
    return mean, highest


def log_softmax(scores: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Logarithm of the softmax within each segment, shape of `scores`."""
    highest = torch.full((segments,), -torch.inf).scatter_reduce(0, segment, scores.detach(), "amax")
    shifted = scores - highest[segment]
    total = torch.zeros(segments).index_add(0, segment, shifted.exp())
    return shifted - total.log()[segment]


def gold_loss(scores: Tensor, segment: Tensor, gold: Tensor, segments: int) -> Tensor:
    """Minus the logarithm of the probability that all gold rows of a segment have together, shape (segments,)."""
    share = log_softmax(scores, segment, segments).exp() * gold
    return -torch.zeros(segments).index_add(0, segment, share).clamp(min=1e-9).log()
