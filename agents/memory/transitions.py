"""Transitions as rows: made from recorded steps and from agents' episodes, embedded, and searched in pgvector."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import attrgetter
from random import Random
from typing import Any

import numpy as np

from agents.encoders.embedding import Encoder
from agents.models import Trajectory, TrajectoryStep, Transition, TransitionVector, WorldModelFit
from agents.observations import RecordedConversation
from agents.types import Action
from agents.world_model.calibration import Calibration
from agents.world_model.effects import RULES, Effect, effects_of
from agents.world_model.predicting import PastCase, RetrievedEffects, Situation
from agents.world_model.valuing import EmbeddedValue
from annotations.dom.accessibility import accessibility_tree
from annotations.dom.differences import difference
from annotations.dom.limits import PageError
from annotations.dom.tree import parse
from annotations.models import Dataset, Operation, Split, Step
from annotations.sandbox.deadline import page_deadline

BATCH = 500  # texts that are embedded together
DRAW = 0  # seed


@dataclass(frozen=True)
class Happened:
    """An action on a page, with the page that it led to."""

    situation: Situation
    after: str
    across_turns: bool = False  # the page after is the first one of the next turn

    @property
    def effects(self) -> list[Effect]:
        situation = self.situation
        return effects_of(difference(situation.tree, self.after), situation.lines, situation.action)

    def row(self, dataset: int, **source: Any) -> Transition:
        """The transition as a row to be stored. `source`: the recorded step, or the step of an agent's episode, that it
        comes from."""
        situation, target = self.situation, self.situation.target
        return Transition(
            dataset_id=dataset,
            conversation_id=situation.conversation,
            sha256=self.sha256,
            key_text=situation.key,
            website=situation.website,
            operation=situation.action.operation,
            role=target.role,
            name=target.name,
            value=situation.action.value,
            effects=[effect.to_dict() for effect in self.effects],
            told_by=RULES,
            across_turns=self.across_turns,
            **source,
        )

    @property
    def sha256(self) -> str:
        action = self.situation.action
        told = "\n".join((action.operation, action.node_id or "", action.value, self.situation.tree))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def seen_at(recorded: RecordedConversation, step: Step, across_turns: bool = False) -> Happened | None:
    """What the gold action of a recorded step did to its page; None where a page is lacking or cannot be read. With
    `across_turns` the last step of a turn is followed by the first page of the next, where that may be."""
    pages = Step.objects.select_related("snapshot__dictionary", "snapshot_after__dictionary").only(
        "snapshot", "snapshot_after"
    )
    positives = [target.node_id for target in step.targets.all() if not target.pruned]
    action, conversation = (
        Action(step.operation, positives[0] if positives else None, step.value),
        recorded.conversation,
    )
    before, after = pages.get(pk=step.pk).pages_around
    following = first_of_next_turn(recorded, step) if across_turns and after is None else None
    if following is not None:
        after = pages.get(pk=following.pk).pages_around[0]
    found = compared((before, after), step.turn.instruction, action, conversation.website.name, conversation.pk)
    return replace(found, across_turns=following is not None) if found else None


def done_at(step: TrajectoryStep) -> Happened | None:
    """What an agent's own step in an episode did to its page; None where a page is lacking or cannot be read."""
    conversation = step.trajectory.conversation
    action = Action(step.operation, step.node_id or None, step.value)
    instruction, site = step.followed.instruction, conversation.website.name
    found = compared(step.pages_around, instruction, action, site, conversation.pk)
    across = step.next_shown is not None and step.next_shown.turn_id != step.turn_id
    return replace(found, across_turns=across) if found else None


def found_again(rows: Iterable[Transition]) -> Iterator[tuple[Transition, Happened | None]]:
    """Each of the transitions, in order, with what its pages tell of it."""
    for pk, own in groupby(rows, key=attrgetter("conversation_id")):
        recorded = RecordedConversation(pk)
        steps = {step.pk: step for step in recorded.steps}
        for row in own:
            if row.step_id is not None:
                yield row, seen_at(recorded, steps[row.step_id], across_turns=True)
            elif row.episode_step is not None:
                yield row, done_at(row.episode_step)


def first_of_next_turn(recorded: RecordedConversation, step: Step) -> Step | None:
    """The step whose page is taken for the page after the last step of a turn, on the assumption that nothing happens
    between turns. None where the turn goes on, where there is no next turn, or where the conversation contradicts it: a
    page that was recorded after some step is not the next step's."""
    pairs = list(pairwise(recorded.steps))
    own = [(one, other) for one, other in pairs if one.keeps_page_after and one.turn_id == other.turn_id]
    if any(one.snapshot_after_id != other.snapshot_id for one, other in own):
        return None
    return next((other for one, other in pairs if one.pk == step.pk and one.turn_id != other.turn_id), None)


def compared(
    pages: tuple[str | None, str | None], instruction: str, action: Action, website: str, conversation: int
) -> Happened | None:
    """What an action did between two pages; None where one is lacking or cannot be read."""
    before, after = pages
    if before is None or after is None:
        return None
    try:
        with page_deadline():
            root, tree = parse(before), accessibility_tree(parse(after))
            return Happened(Situation.of(instruction, root, action, website, conversation), tree)
    except PageError:
        return None


class PastTransitions:
    """The transitions of a dataset and their vectors by one encoder: the `TransitionStore` of the core."""

    def __init__(self, dataset: Dataset, encoder: Encoder, own_website: bool = True) -> None:
        """With `own_website` False, transitions of the website that is asked about are not used, as if it had never
        been seen."""
        self.dataset, self.encoder, self.own_website = dataset, encoder, own_website

    # Made

    def add(self, conversation_ids: Iterable[int]) -> int:
        """Add the transitions that are missing of these conversations; how many were new. Only those of the train
        split. Safe to run twice and side by side."""
        before = self.dataset.transitions.count()
        for pk in conversation_ids:
            recorded = RecordedConversation(pk)
            if recorded.conversation.split != Split.TRAIN:  # the database refuses it too
                raise AssertionError(f"transitions come from the train split, {recorded.conversation} is of another")
            have = set(Transition.objects.filter(conversation=pk).values_list("step_id", flat=True))
            missing = [step for step in recorded.steps if step.pk not in have]
            seen = [(step, seen_at(recorded, step, across_turns=True)) for step in missing]
            rows = [found.row(self.dataset.pk, step=step) for step, found in seen if found is not None]
            Transition.objects.bulk_create(rows, ignore_conflicts=True)
        return self.dataset.transitions.count() - before

    def add_episodes(self) -> int:
        """Add what agents did in finished episodes of the train split; how many were new. Episodes of other splits are
        left out: remembering them would help agents where they are measured."""
        before = self.dataset.transitions.count()
        over = Trajectory.objects.filter(run__dataset=self.dataset, state=Trajectory.State.DONE)
        for trajectory in over.filter(conversation__split=Split.TRAIN).select_related("conversation__website"):
            steps = trajectory.steps.filter(step=None, error="", transitions=None, operation__in=Operation.values)
            steps = steps.select_related("snapshot__dictionary", "turn", "trajectory__conversation__website")
            seen = [(step, done_at(step)) for step in steps.order_by("seq")]
            rows = [found.row(self.dataset.pk, episode_step=step) for step, found in seen if found is not None]
            Transition.objects.bulk_create(rows, ignore_conflicts=True)
        return self.dataset.transitions.count() - before

    def tell_anew(self) -> int:
        """Tell anew, from their pages, the transitions that were told by earlier rules; how many. What a model has put
        into words stays. What was fitted on them is forgotten."""
        old = self.dataset.transitions.told_before(RULES).select_related("step", "episode_step").in_order()
        for row, found in found_again(old):
            row.tell_as(found.row(self.dataset.pk) if found else row, RULES)
        if count := len(old):
            self.dataset.world_model_fits.all().delete()
        return count

    def embed(self, on_batch: Callable[[int, int], None] = lambda done, total: None) -> int:
        """Embed the transitions that this encoder has not embedded yet; how many there were."""
        rows = list(self.dataset.transitions.without_vector(self.encoder.name).order_by("pk"))
        total = self.dataset.transitions.count()
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            vectors = self.encoder.encode([row.key_text for row in batch])
            TransitionVector.objects.put(self.encoder.name, list(zip(batch, vectors, strict=True)))
            on_batch(total - len(rows) + start + len(batch), total)
        return len(rows)

    def recorded(
        self, split: str, limit: int | None = None, across_turns: bool = False
    ) -> Iterator[tuple[Step, Happened]]:
        """The recorded steps of a split and what happened at each, to measure by; nothing is stored. With a limit,
        conversations are drawn by chance, the same each time: in the order of the dataset all of them might be of one
        website. `across_turns`: as in `seen_at`."""
        ids = list(self.dataset.conversations.filter(split=split).in_order().values_list("pk", flat=True))
        if limit is not None:
            Random(DRAW).shuffle(ids)
        count = 0
        for pk in ids:
            recorded = RecordedConversation(pk)
            for step in recorded.steps:
                if limit is not None and count >= limit:
                    return
                if (seen := seen_at(recorded, step, across_turns)) is not None:
                    count += 1
                    yield step, seen

    # Asked

    def similar(self, situations: Sequence[Situation], k: int) -> list[list[PastCase]]:
        """For each situation the k nearest transitions of other conversations with the same operation and role; where
        there are none, with the same operation."""
        vectors = self.encoder.encode([situation.key for situation in situations])
        return [self._of(situation, vector, k) for situation, vector in zip(situations, vectors, strict=True)]

    def _of(self, situation: Situation, vector: np.ndarray, k: int) -> list[PastCase]:
        rows = TransitionVector.objects.filter(
            encoder=self.encoder.name,
            transition__dataset=self.dataset,
            transition__operation=situation.action.operation,
        )
        rows = rows.exclude(transition__conversation=situation.conversation)
        if not self.own_website:
            rows = rows.exclude(transition__website=situation.website)
        rows = rows.select_related("transition").defer("embedding")
        found = rows.filter(transition__role=situation.target.role).nearest(vector, k) or rows.nearest(vector, k)
        return [_case(one) for one in found]

    def prepare(self) -> None:
        """Make what is missing: the transitions of the train split, their vectors, the fit, anew where transitions came
        since. ValueError where there are none."""
        train = self.dataset.conversations.filter(split=Split.TRAIN)
        self.tell_anew()
        self.add(train.filter(transitions__isnull=True).in_order().values_list("pk", flat=True))
        self.add_episodes()
        self.embed()
        if not self.dataset.transitions.exists():
            raise ValueError(f"{self.dataset.name} has no pages before and after actions to look up")
        if not self.is_fitted:
            from agents.memory.fitting import fit_world_model

            fit_world_model(self)

    @property
    def is_fitted(self) -> bool:
        """Whether there is a fit, and no transition has come or gone since."""
        fit = self.fit
        return fit is not None and fit.transitions == self.dataset.transitions.count()

    @property
    def fit(self) -> WorldModelFit | None:
        """What was last fitted on these transitions; None where nothing was."""
        return WorldModelFit.objects.filter(dataset=self.dataset, encoder=self.encoder.name).first()

    def world_model(self) -> RetrievedEffects:
        """The world model that predicts by these transitions; its confidence is the fitted one, where there is a
        fit."""
        fit = self.fit
        if fit is None:
            return RetrievedEffects(self)
        known, elsewhere = (
            Calibration(tuple(curve["raw"]), tuple(curve["share"]))
            for curve in (fit.calibration["known"], fit.calibration["elsewhere"])
        )
        return RetrievedEffects(self, known, elsewhere)

    def value(self) -> EmbeddedValue:
        """The value function with the weights that were fitted on these transitions, else with its own."""
        fit = self.fit
        return EmbeddedValue(tuple(fit.value["weights"]), fit.value["bias"]) if fit and fit.value else EmbeddedValue()


def _case(vector: TransitionVector) -> PastCase:
    row = vector.transition
    effects = tuple(Effect.from_dict(stored) for stored in row.effects)
    return PastCase(row.pk, row.operation, row.role, row.name, row.website, effects, 1 - vector.distance)
