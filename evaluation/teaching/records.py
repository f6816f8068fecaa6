"""What people taught as lines to train on elsewhere: demonstrations (SFT), pairs of a better and a worse answer (DPO),
and answers that are right or wrong (process labels), in the forms that TRL reads.

The prompt is that of a multiple choice on the recorded page after the earlier steps of the conversation, in the words
of the packaged pack. All lines of a step have the same one, so that they can be joined.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from agents.prompts.packs import webnav
from agents.recipes import literature
from agents.types import Action
from agents.words.shown_page import BY_LETTER
from annotations.models import Dataset
from evaluation.teaching.collecting import SaidAction, TaughtStep, Teaching
from evaluation.teaching.composing import RECIPE, LessonPrompts, StepPrompt


@dataclass(frozen=True)
class LessonLines:
    """What people taught of a dataset, line by line."""

    dataset: Dataset

    def sft(self) -> Iterator[dict[str, Any]]:
        """Demonstrations: gold that was corrected, or confirmed where people called an agent wrong; actions that are
        right besides gold."""
        for asked in self._asked():
            one, told, gold = asked.taught, _told(asked.taught), asked.gold
            why = "corrected" if one.correction else "confirmed" if one.refused else ""
            if why and (answer := asked.answer(gold)):
                yield {"messages": asked.messages + answer, "lesson": why, "action": _action_row(gold)} | told
            for said in one.accepted:
                if answer := asked.answer(said.action):
                    line = {
                        "messages": asked.messages + answer,
                        "lesson": "accepted",
                        "action": _action_row(said.action),
                    }
                    yield line | told | _said_by(said)

    def dpo(self) -> Iterator[dict[str, Any]]:
        """Gold before each action that people called wrong, and before what was gold until it was corrected."""
        for asked in self._asked():
            told, gold = _told(asked.taught), asked.gold
            chosen = asked.answer(gold)
            worse = [(said.action, "agent wrong", _said_by(said)) for said in asked.taught.refused]
            worse += [(action, "corrected", {}) for action in asked.taught.mistaken]
            for action, why, by in worse:
                rejected = asked.answer(action)
                if chosen and rejected and chosen != rejected:
                    line = {"prompt": asked.messages, "chosen": chosen, "rejected": rejected, "lesson": why}
                    yield line | {"action": _action_row(gold), "rejected_action": _action_row(action)} | told | by

    def process(self) -> Iterator[dict[str, Any]]:
        """Every judged step of a trajectory with a label: whether what the agent did there is right."""
        for asked in self._asked():
            one, told = asked.taught, _told(asked.taught)
            labels = [(said, True) for said in (*one.accepted, *one.vindicated)]
            for said, label in [*labels, *((said, False) for said in one.refused)]:
                answer = asked.answer(said.action)
                for place in _judged(said) if answer else ():
                    line = {"prompt": asked.messages, "completion": answer, "label": label}
                    yield line | {"action": _action_row(said.action)} | told | _said_by(said) | place

    def _asked(self) -> Iterator[StepPrompt]:
        """The steps that can be shown, each with its prompt. Without those whose gold or page is wrong."""
        taught = (one for one in Teaching(self.dataset).steps() if one.teaches and not one.is_left_out)
        every = [one for one in taught if one.step.snapshot_id]
        prompts = LessonPrompts(self.dataset)
        for conversation, steps in groupby(every, lambda one: one.step.turn.conversation_id):
            yield from prompts.of(conversation, list(steps))


FORMS: dict[str, Callable[[LessonLines], Iterator[dict[str, Any]]]] = {
    "sft": LessonLines.sft,
    "dpo": LessonLines.dpo,
    "process": LessonLines.process,
}
"""What lessons can be had as."""


def _told(taught: TaughtStep) -> dict[str, Any]:
    """Which step it is, which gold it has, and by whom."""
    step, found = taught.step, taught.correction
    within = step.turn.conversation
    release = found.released_in() if found else None
    gold = {"operation": step.operation, "value": step.value, "node_ids": step.gold_ids()}
    sha256 = hashlib.sha256(json.dumps(gold, sort_keys=True).encode()).hexdigest()
    version = {"correction": found.pk if found else None, "release": release.version if release else None}
    said = taught.judged
    of_gold = {found.asked_by, found.corrected_by, found.decided_by} if found else set()
    return {
        "dataset": within.dataset.name,
        "split": within.split,
        "conversation": within.source_id,
        "turn": step.turn.index,
        "step": step.pk,
        "step_index": step.index,
        "gold": gold | {"sha256": sha256} | version,
        "by": sorted({user.get_username() for user in of_gold if user} | {name for one in said for name in one.people}),
        "judged": [place for one in said for place in _judged(one)],
        "prompt_form": BY_LETTER.name,
        "prompt_recipe": RECIPE.name,
        "prompt_recipe_sha256": literature.sha256(RECIPE),
        "prompt_pack": webnav().reference,
        "prompt_pack_sha256": webnav().sha256,
    }


def _action_row(action: Action) -> dict[str, Any]:
    return {"operation": action.operation, "value": action.value, "node_id": action.node_id}


def _said_by(said: SaidAction) -> dict[str, Any]:
    return {"by": said.people, "reasons": said.reasons, "judged": _judged(said)}


def _judged(said: SaidAction) -> list[dict[str, Any]]:
    """The decisions that were judged, each once, with the recipe that made them and the words that it was given."""
    found = {}
    for row in said.rows:
        assert row.step is not None  # of whole trajectories none is read
        run = row.trajectory.run
        words = run.recipe.get("prompts", {})
        found[row.step_id] = {
            "run": run.pk,
            "trajectory": row.trajectory_id,
            "seq": row.step.seq,
            "recipe": run.recipe_name,
            "recipe_sha256": run.recipe_sha256,
            "recipe_prompt_pack": words.get("pack", ""),
            "recipe_prompt_pack_sha256": words.get("sha256", ""),
        }
    return list(found.values())


@dataclass(frozen=True)
class LessonCounts:
    """How much people taught of a train split."""

    steps: int
    corrected: int
    accepted: int
    refused: int
    left_out: int
    reworded: int = 0


def count(found: Iterable[TaughtStep]) -> LessonCounts:
    found = list(found)
    steps = [one for one in found if one.teaches]
    taught = [one for one in steps if not one.is_left_out]
    return LessonCounts(
        len(steps),
        sum(one.correction is not None for one in taught),
        sum(len(one.accepted) for one in taught),
        sum(len(one.refused) for one in taught),
        len(steps) - len(taught),
        sum(one.reworded for one in found),
    )
