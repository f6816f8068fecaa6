"""Proposals that were made elsewhere: checked as if a model of ours had made them, and kept."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotations.campaigns.propose import proposing
from annotations.datasets.fields import leaves
from annotations.edits.edit_ops import MAX_TEXT, BadEdit
from annotations.edits.mentions import canonical
from annotations.models import Assignment, NotYours, Proposal

MOST_REASONS = 10
LONGEST_REASON = 200  # characters
LONGEST_PROVENANCE = 20_000  # of it as JSON


@dataclass(frozen=True)
class GivenProposal:
    """A proposal of a model that runs elsewhere, not checked yet: parts in the form of `Proposal.content`, how sure the
    model was (0 … 1), and what it said of itself."""

    kind: str
    model_name: str
    parts: list[dict[str, Any]]
    score: float | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def keep_for(self, assignment: Assignment) -> Proposal:
        """Check and store the proposal. Raises NoProposals where this kind makes no sense now, NotYours when the work
        has ended, and BadEdit for parts that say nothing about this annotation, or what no column can hold."""
        _check_provenance(self.provenance)
        proposing.Proposing(assignment).check(self.kind)
        if assignment.state not in Assignment.UNFINISHED:
            raise NotYours("submitted", "It has been submitted.")
        if self.kind == Proposal.Kind.CUTS:
            parts = read_cuts(self.parts, [step.pk for step in assignment.item.session.bare_steps()])
        else:
            there = assignment.ordered_parts()
            parts = read_rewrites(self.parts, {part.first_step_id: part.rewrite or part.instruction for part in there})
        made = proposing.Proposing(assignment).keep(self.kind, self.model_name, parts)
        made.describe(self.score, dict(self.provenance))
        return made


def read_cuts(parts: list[dict[str, Any]], steps: Sequence[int]) -> list[dict[str, Any]]:
    """The proposed parts, checked and cleaned: each begins at a later step of the session, the first at its first.
    Raises BadEdit."""
    order = {step: place for place, step in enumerate(steps)}
    places = [order.get(_step(part), -1) for part in parts]
    if places != sorted(set(places)) or places[:1] != [0]:
        raise BadEdit("Parts begin at steps of the session, each at a later one, the first at the first.")
    return [
        {"step": part["step"], "why": _reasons(part.get("why", [])), "instruction": _text(part, "instruction")}
        for part in parts
    ]


def read_rewrites(parts: list[dict[str, Any]], there: Mapping[int, str]) -> list[dict[str, Any]]:
    """The proposed rewrites, checked and cleaned. `there`: the parts that exist, first step -> what the part says now;
    some of them may have no rewrite here. Raises BadEdit."""
    steps = [_step(part) for part in parts]
    if len(set(steps)) < len(steps) or not set(steps) <= set(there):
        raise BadEdit("Rewrites are of parts that are there, named by their first steps, each once.")
    texts = {**there} | {part["step"]: _text(part, "rewrite") for part in parts}
    return [
        {"step": part["step"], "rewrite": texts[part["step"]], "mentions": _mentions(part, texts)} for part in parts
    ]


def _mentions(part: Mapping[str, Any], texts: Mapping[int, str]) -> list[Any]:
    try:
        return canonical(part.get("mentions", []), texts, part["step"])
    except ValueError as error:
        raise BadEdit(f"The mentions at step {part['step']}: {error}.") from error


def _step(part: Mapping[str, Any]) -> int:
    step = part.get("step")
    if isinstance(step, bool) or not isinstance(step, int):
        raise BadEdit("Each part names its first step by its id.")
    return step


def _text(part: Mapping[str, Any], name: str) -> str:
    text = part.get(name, "")
    if not isinstance(text, str) or len(text) > MAX_TEXT or not _is_storable(text):
        raise BadEdit(f"The {name} of a part is a text of at most {MAX_TEXT:,} characters, each of them whole.")
    return text


def _reasons(why: Any) -> list[str]:
    if not isinstance(why, list) or len(why) > MOST_REASONS or not all(isinstance(one, str) for one in why):
        raise BadEdit(f"Why a part begins at its step is said in a list of at most {MOST_REASONS} texts.")
    return [one.replace("\x00", "").encode("utf-8", "replace").decode()[:LONGEST_REASON] for one in why]


def _check_provenance(said: Mapping[str, Any]) -> None:
    if len(json.dumps(said)) > LONGEST_PROVENANCE:
        raise BadEdit(f"The provenance has at most {LONGEST_PROVENANCE:,} characters.")
    if not all(_is_storable(leaf) for leaf in leaves(said) if isinstance(leaf, str)):
        raise BadEdit("The provenance holds a character that cannot be stored: NUL, or half of one.")


def _is_storable(text: str) -> bool:
    """Whether PostgreSQL and UTF-8 can hold the text: no NUL and no half of a surrogate pair is in it."""
    return "\0" not in text and text == text.encode("utf-8", "replace").decode()
