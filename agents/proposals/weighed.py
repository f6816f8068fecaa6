"""Cuts and rewrites that the embedded model helps to choose. One of its size cannot write them, but it can weigh what
is right by construction: cuts with every clause once and in order (`annotations/work/decompose/dividing.py`), and
rewrites that can be understood (`annotations/work/rewrite/rewrites.py`).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np
from numpy.typing import NDArray

from agents.llm.weighing import LikelihoodModel
from agents.proposals.replies import ProposedParts
from annotations.campaigns.propose.proposing import NoProposals, Proposing
from annotations.models import Assignment, Job, Proposal
from annotations.work.decompose.cuts import SeenStep
from annotations.work.rewrite.rewrites import propose_rewrites

# They change with what the model is asked and how its answer counts.
NAMES = {Proposal.Kind.CUTS: "weighed clauses 1", Proposal.Kind.REWRITE: "weighed wordings 1"}
OPENING = "On the website I"
NOTHING_SAID = "Go on"
CONTINUE = "Go on with this list of requests"
TURNS_BEFORE = 4  # that a wording may refer to, as far as the model is concerned
SOFTNESS = 2.0  # of the shares: the model is surer of single words than it is right
BLOCK = 40  # steps that are weighed together
LONGEST_LABEL = 80  # characters of an element's text
MOST = 2_000  # steps times clauses of a task; with more it takes minutes

_ROLE = re.compile(r"^\[[^\]]*\]\s*")


class WeighedProposal:
    """What a job proposes for an annotation, weighed by the embedded model."""

    def __init__(self, job: Job, assignment: Assignment, model: LikelihoodModel) -> None:
        self.job, self.assignment, self.model = job, assignment, model

    def parts(self) -> ProposedParts:
        """The proposed parts. Raises NoProposals; ValueError for what is too long to weigh."""
        if self.job.params["kind"] == Proposal.Kind.CUTS:
            return Proposing(self.assignment).cuts(meaning=ClauseWeigher(self.model, self._told))
        texts = [(part.first_step_id, part.instruction) for part in self.assignment.ordered_parts()]
        self.job.go_on_of(len(texts), "turns", "Weighs the wordings of turns", 0)
        found = propose_rewrites(texts, partial(likeliest, self.model))
        if not found:
            raise NoProposals("It finds no other wording likelier than the one that is there.")
        return [asdict(rewrite) for rewrite in found]

    def _told(self, done: int, clauses: int) -> None:
        self.job.go_on_of(clauses, "clauses", f"Weighs clause {done + 1} of {clauses} against the steps", done)


def likeliest(model: LikelihoodModel, earlier: Sequence[str], wordings: Sequence[str]) -> int:
    """The place of the wording that the model holds for the likeliest thing to say after the earlier turns."""
    before = "\n".join(earlier[-TURNS_BEFORE:])
    return int(np.argmax([model.log_likelihoods(CONTINUE, before, [wording]) for wording in wordings]))


class ClauseWeigher:
    """Says how sure the embedded model is that steps are done for clauses. `told` gets before each clause how many of
    how many have been weighed. ValueError for a task that is too long for it."""

    def __init__(self, model: LikelihoodModel, told: Callable[[int, int], None]) -> None:
        self.model, self.told = model, told

    def __call__(self, clauses: Sequence[str], steps: Sequence[SeenStep]) -> NDArray[np.float64]:
        if len(clauses) * len(steps) > MOST:
            size = f"{len(clauses)} clauses and {len(steps)} steps"
            raise ValueError(f"a task with {size} is too long for the embedded model")
        lines = [in_words(step) for step in steps]
        bare, likely = self._weighed(NOTHING_SAID, lines), np.zeros((len(clauses), len(steps)))
        for row, clause in enumerate(clauses):
            self.told(row, len(clauses))
            likely[row] = self._weighed(clause, lines)
        return shares(likely - bare)

    def _weighed(self, said: str, lines: Sequence[str]) -> NDArray[np.float64]:
        blocks = [lines[start : start + BLOCK] for start in range(0, len(lines), BLOCK)]
        return np.array([one for block in blocks for one in self.model.log_likelihoods(said, OPENING, block)])


def shares(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of each clause (a row) in each step (a column), by how much likelier (log) the clause makes it; those
    of a step add up to 1."""
    powers = np.exp((gains - gains.max(axis=0)) / SOFTNESS)
    found: NDArray[np.float64] = powers / powers.sum(axis=0)
    return found


def in_words(step: SeenStep) -> str:
    """What is done in a step, as somebody who did it would say."""
    label = _ROLE.sub("", step.text.rpartition(" -> ")[0] or step.text)[:LONGEST_LABEL].strip()
    if step.operation in ("TYPE", "PASTE"):
        return f'type "{step.value[:LONGEST_LABEL]}" into "{label}"'
    if step.operation in ("SELECT", "CHANGE"):
        return f'choose "{step.value[:LONGEST_LABEL]}" for "{label}"'
    return f'{step.operation.lower()} "{label}"'
