"""Transitions in the forms that WMA publishes: annotated samples, and records that a model is trained on. Core
(sources.md B2.1, B2.3)."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.types import Action

NO_ACTION = "None"
TRAIN_SHARE = 0.8  # first ones, unshuffled; the rest validates
# Field of ours -> of the published files: WebArena's and Mind2Web's.
WEBARENA = {
    "objective": "objective",
    "observation": "observation",
    "action": "current_action",
    "previous": "previous_actions",
    "next_observation": "next_state_acctree",
    "url": "url",
}
MIND2WEB = {
    "objective": "confirmed_task",
    "observation": "cleaned_accessibility_tree",
    "action": "action",
    "previous": "previous_actions",
    "next_observation": "cleaned_next_accessibility_tree",
}
DESCRIBED = {"refined": "refined_tao", "rationale": "rationale", "next_state": "next_state_description_with_tao"}


@dataclass(frozen=True)
class TransitionRecord:
    """A transition in words. `more` has the further fields of the file that it was read from, `form` the names that
    this file gives to fields."""

    objective: str
    observation: str
    action: str
    previous: Sequence[str]
    next_observation: str
    url: str = ""
    refined: str = ""
    rationale: str = ""
    next_state: str = ""
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)
    form: Mapping[str, str] = field(default_factory=lambda: WEBARENA, hash=False)

    def published(self) -> dict[str, Any]:
        """The record as the published files have it."""
        found = {name: getattr(self, own) for own, name in self.form.items()} | dict(self.more)
        found["previous_actions"] = list(self.previous)
        described = {name: getattr(self, own) for own, name in DESCRIBED.items() if getattr(self, own)}
        return found | described

    def training(self, instruction: str, published: bool = True) -> dict[str, str]:
        """The record that a world model is trained on. The published form writes earlier actions as a Python list, ours
        a line each, as in prompts (quirk Q20)."""
        before = repr(list(self.previous)) if published else "\n".join(self.previous) or NO_ACTION
        lines = [
            f"URL: {self.url}",
            f"OBJECTIVE: {self.objective}",
            f"PREVIOUS ACTION: {before}",
            f"CURRENT OBSERVATION: {self.observation}",
            f"CURRENT ACTION: {self.action}",
        ]
        return {
            "instruction": instruction,
            "input": "\n ".join(lines),
            "output": answer(self.rationale, self.next_state),
        }


def answer(rationale: str, next_state: str) -> str:
    """The answer that a world model learns to write."""
    return f"[Rationale] {rationale}\n[Next State] {next_state}"


def read_published(path: Path) -> list[TransitionRecord]:
    """The records of a published file of either kind. ValueError names the first that is none."""
    return [_record(place, stored) for place, stored in enumerate(json.loads(path.read_text("utf-8")))]


def _record(place: int, stored: Any) -> TransitionRecord:
    form = next(
        (one for one in (WEBARENA, MIND2WEB) if isinstance(stored, dict) and set(one.values()) <= set(stored)), None
    )
    if form is None:
        raise ValueError(f"record {place} has neither WebArena's nor Mind2Web's fields")
    own = {name: stored[key] for name, key in form.items()}
    described = {name: stored[key] for name, key in DESCRIBED.items() if key in stored}
    more = {key: value for key, value in stored.items() if key not in {*form.values(), *DESCRIBED.values()}}
    return TransitionRecord(**own, **described, more=more, form=form)


def training_lines(records: Iterable[TransitionRecord], instruction: str, published: bool = True) -> Iterator[str]:
    """Training records, one JSON object a line."""
    for record in records:
        yield json.dumps(record.training(instruction, published), ensure_ascii=False) + "\n"


def divided(records: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """The records to train on and those to validate with, divided as published: the first ones are for training."""
    end = int(len(records) * TRAIN_SHARE)
    return records[:end], records[end:]


def first_lines(tree: str, most: int) -> str:
    """The first whole lines of a page that have at most so many characters."""
    return tree if len(tree) <= most else tree[:most].rpartition("\n")[0]


def described(action: Action, page: str) -> str:
    """The action with the line of its element, in one form for training and for use (the published code writes it
    differently in these, quirk Q20)."""
    done = " ".join(part for part in (action.operation, action.value and f"[{action.value}]") if part)
    if action.node_id is None:
        return done
    start = f"[{action.node_id}] "
    line = next((line.strip() for line in page.split("\n") if line.strip().startswith(start)), "")
    return f"{done} on [{action.node_id}]" + (f" where [{action.node_id}] is {line[len(start) :]}" if line else "")
