"""Turns that a person carried out in a live run become demonstrations, for training, exemplars and memory, like
recorded ones.

Only the person's steps have a target. The agent's steps stand between them without one, so that the path is whole and
no mistake of the agent's is learned.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.environments.protocol import PageView
from agents.live.demonstrating import step_record
from agents.models import Trajectory
from agents.types import Action
from annotations.corpus.store import ConversationStore
from annotations.datasets.miniwob_demos import DOMAIN
from annotations.datasets.records import ConversationRecord, StepRecord, TurnRecord
from annotations.models import Dataset, Split, Turn

FORMAT = "jsonl"
CORRECTED, DEMONSTRATED = "human correction", "human demonstration"  # of an agent's way; from the first step on
LEFT_OUT = frozenset({"STOP", "SAY"})  # they are said to the user, not done to the page


@dataclass(frozen=True)
class ShownAction:
    """One action of an episode, with the page that it was done on."""

    turn: Turn
    view: PageView
    action: Action
    person: str = ""  # who did it; "": the agent


@dataclass(frozen=True)
class TaughtTurn:
    """A turn whose goal was reached, with the actions that led there; `after` is the page at its end."""

    actions: tuple[ShownAction, ...]
    after: PageView

    @property
    def is_taught(self) -> bool:
        return any(one.person and one.action.operation not in LEFT_OUT for one in self.actions)


def keep_shown(turns: Sequence[TaughtTurn], trajectory: Trajectory) -> Dataset | None:
    """Store those of an episode's turns in which a person acted, as a conversation; its dataset, None where there are
    no such turns."""
    taught = [turn for turn in turns if turn.is_taught]
    if not taught:
        return None
    goals, (name, _) = trajectory.run.dataset, trajectory.shown_in
    fields = {"source_format": FORMAT, "description": f"What people showed in live runs on {goals.name}."}
    kept, _ = Dataset.objects.get_or_create(name=name, project=goals.project, defaults=fields)
    record, store = _record(taught, trajectory), ConversationStore(kept)
    store.store([(record, store.sha256(record))])
    return kept


def _record(turns: Sequence[TaughtTurn], trajectory: Trajectory) -> ConversationRecord:
    goal, website = trajectory.conversation, trajectory.conversation.website
    _, name = trajectory.shown_in
    place = (website.name, website.domain, website.subdomain)
    is_miniwob = trajectory.run.dataset.live["environment"] == DOMAIN
    # What people show is to be learned, where no recorded conversation or hidden goal keeps it in its own split.
    split = Split.TRAIN if is_miniwob and not goal.split.startswith("test") else goal.split
    people = sorted({one.person for turn in turns for one in turn.actions if one.person})
    is_whole = all(one.person for turn in turns for one in turn.actions)
    source = DEMONSTRATED if is_whole else CORRECTED
    extra = {**goal.extra, "by": "person", "source": source, "trajectory": trajectory.pk, "people": people}
    told = tuple(_turn(turn, f"{name}-{place}") for place, turn in enumerate(turns))
    return ConversationRecord(name, *place, told, split=split, extra=extra)


def _turn(turn: TaughtTurn, name: str) -> TurnRecord:
    shown = [one for one in turn.actions if one.action.operation not in LEFT_OUT]
    steps = [_step(one, f"{name}_{place}") for place, one in enumerate(shown)]
    if steps:
        steps[-1] = replace(steps[-1], html_after=turn.after.html)
    return TurnRecord(source_id=name, instruction=turn.actions[0].turn.instruction, steps=tuple(steps))


def _step(one: ShownAction, name: str) -> StepRecord:
    step = replace(step_record(one.view, one.action, name), extra={"by": one.person or "agent"})
    return step if one.person else replace(step, positives=(), negatives=())
