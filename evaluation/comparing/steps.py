"""What several runs did at the same places of a conversation, aligned."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agents.models import Run, Trajectory, TrajectoryStep
from agents.stages.registry import ranks_only
from annotations.models import Conversation, Step, Turn
from annotations.text.actions import in_words
from evaluation.metrics.apart import caution
from evaluation.metrics.bootstrap import intervals

LETTERS = "ABCD"
MOST_RUNS = len(LETTERS)
SLICED_BY = {"website": "Website", "operation": "Operation of gold"}
MOST_SLICES = 20  # of each kind


@dataclass(frozen=True)
class ComparedCell:
    """What one run did at a place; `step` is None where it has not decided it."""

    letter: str
    step: TrajectoryStep | None

    @property
    def action(self) -> str:
        if self.step is None:
            return "not decided"
        said = getattr(self.step, "representation", "") or ""
        return in_words(said) if said else str(self.step) or "no action"

    @property
    def verdict(self) -> str:
        """How the step is marked: ok, bad, done (no gold to compare with) or pending (not decided)."""
        if self.step is None:
            return "pending"
        if self.step.step_id is None:
            return "done"
        return "ok" if self.step.success else "bad"

    def done(self) -> tuple[str, str, str] | None:
        return (self.step.operation, self.step.node_id, self.step.value) if self.step else None


@dataclass(frozen=True)
class ComparedPlace:
    """One place of the conversation: a recorded step, or of live episodes the n-th step of each."""

    seq: int
    turn: Turn
    gold: Step | None
    cells: tuple[ComparedCell, ...]
    begins_turn: bool

    @property
    def differs(self) -> bool:
        """Whether the runs that have decided this place did different things."""
        return len({cell.done() for cell in self.cells if cell.step}) > 1

    @property
    def splits(self) -> bool:
        """Whether some of the runs are right and some are wrong."""
        return len({cell.verdict for cell in self.cells} & {"ok", "bad"}) > 1


def places(trajectories: Sequence[Trajectory | None]) -> list[ComparedPlace]:
    """The places of a conversation in order, with what each run did there. Two queries a run, without traces."""
    found: dict[int, dict[int, TrajectoryStep]] = defaultdict(dict)
    for column, trajectory in enumerate(trajectories):
        for step in trajectory.steps.to_compare() if trajectory is not None else ():
            found[step.seq][column] = step
    recorded = _recorded(trajectories)
    rows, last = [], None
    for seq in range(max(len(recorded), max(found, default=-1) + 1)):
        there = found.get(seq, {})
        gold = recorded[seq] if seq < len(recorded) else None
        turn = gold.turn if gold else next((step.followed for step in there.values()), None)
        if turn is None:
            continue
        cells = tuple(ComparedCell(LETTERS[column], there.get(column)) for column in range(len(trajectories)))
        rows.append(ComparedPlace(seq, turn, gold, cells, turn.pk != last))
        last = turn.pk
    return rows


def _recorded(trajectories: Sequence[Trajectory | None]) -> list[Step]:
    first = next((one for one in trajectories if one is not None), None)
    return list(first.recorded_steps().select_related("turn").prefetch_related("targets")) if first else []


@dataclass(frozen=True)
class ConversationDifference:
    """A conversation that all runs decided: how many steps each decided rightly, at how many places they differ, and at
    how many some are right and some wrong."""

    conversation: int
    steps: int
    right: tuple[int, ...]
    differing: int
    splitting: int


@dataclass(frozen=True)
class PairedDifference:
    """Step success of one run less that of the first, over the steps that both decided, of right elements alone where
    one of the runs compared only ranks; the interval draws conversations."""

    letter: str
    value: float
    low: float
    high: float
    only_first: int  # steps that only the first is right at
    only_this: int
    steps: int
    conversations: int

    @property
    def caution(self) -> str:
        return caution(self.conversations)


@dataclass(frozen=True)
class DifferenceSlice:
    """The paired difference on the steps of one website, or whose gold has one operation, and how many of them the
    first run and this one are right at."""

    kind: str  # one of SLICED_BY
    name: str
    paired: PairedDifference
    right_first: int
    right_this: int


SharedPlace = tuple[int, int]  # a conversation, and the place of a step in it


class RunDifferences:
    """The differences of several runs, over the steps with recorded gold that every one of them has decided."""

    def __init__(self, runs: Sequence[Run]) -> None:
        """Read the steps of all runs in one query: for 40,000 stored steps it takes about half a second."""
        self.runs = runs
        self.of_elements = any(ranks_only(run.recipe) for run in runs)  # nothing else is told of every one of them
        right = "element_correct" if self.of_elements else "success"
        column = {run.pk: place for place, run in enumerate(runs)}
        fields = ("run_id", "trajectory__conversation_id", "seq", right, "operation", "node_id", "value")
        rows = TrajectoryStep.objects.with_gold().filter(run__in=runs).values_list(*fields, "step__operation")
        decided: dict[SharedPlace, dict[int, tuple[bool, tuple[str, str, str]]]] = defaultdict(dict)
        self._operation: dict[SharedPlace, str] = {}  # of gold
        for run, conversation, seq, success, *action, operation in rows.iterator():
            decided[conversation, seq][column[run]] = (success, (action[0], action[1], action[2]))
            self._operation[conversation, seq] = operation
        self._shared = {place: found for place, found in decided.items() if len(found) == len(runs)}

    def conversations(self) -> list[ConversationDifference]:
        """The conversations, first those with most steps at which some runs are right and some wrong, then those that
        differ most."""
        of: dict[int, list[dict[int, tuple[bool, tuple[str, str, str]]]]] = defaultdict(list)
        for (conversation, _), found in self._shared.items():
            of[conversation].append(found)
        rows = [self._difference(conversation, steps) for conversation, steps in of.items()]
        return sorted(rows, key=lambda row: (-row.splitting, -row.differing, row.conversation))

    def _difference(self, conversation: int, steps: list[dict[int, tuple[bool, tuple[str, str, str]]]]):
        right = tuple(sum(step[column][0] for step in steps) for column in range(len(self.runs)))
        differing = sum(len({action for _, action in step.values()}) > 1 for step in steps)
        splitting = sum(len({success for success, _ in step.values()}) > 1 for step in steps)
        return ConversationDifference(conversation, len(steps), right, differing, splitting)

    def paired(self) -> list[PairedDifference]:
        """The difference of every run but the first to the first; [] where they share no steps."""
        if not self._shared:
            return []
        return [self._paired(column, list(self._shared)) for column in range(1, len(self.runs))]

    def _paired(self, column: int, places: Iterable[SharedPlace]) -> PairedDifference:
        gained: dict[int, list[int]] = defaultdict(list)
        for place in sorted(places):
            found = self._shared[place]
            gained[place[0]].append(int(found[column][0]) - int(found[0][0]))
        sums = np.array([[sum(steps)] for steps in gained.values()], dtype=float)
        counts = np.array([[len(steps)] for steps in gained.values()], dtype=float)
        low, high = intervals(sums, counts, self.runs[0].seed, least=-1.0)
        every = [step for steps in gained.values() for step in steps]
        return PairedDifference(
            LETTERS[column],
            sum(every) / len(every),
            float(low[0]),
            float(high[0]),
            sum(step < 0 for step in every),
            sum(step > 0 for step in every),
            len(every),
            len(gained),
        )

    def slices(self) -> list[DifferenceSlice]:
        """Where each run gains and loses steps against the first: by website, then by operation of gold, at most
        MOST_SLICES of each, first those with most steps gained or lost."""
        website = dict(
            Conversation.objects.filter(pk__in={conversation for conversation, _ in self._shared}).values_list(
                "pk", "website__name"
            )
        )
        names = {
            "website": {place: website[place[0]] for place in self._shared if place[0] in website},
            "operation": {place: self._operation[place] for place in self._shared},
        }
        return [found for kind, name_of in names.items() for found in self._sliced(kind, name_of)]

    def _sliced(self, kind: str, name_of: Mapping[SharedPlace, str]) -> list[DifferenceSlice]:
        groups: dict[str, list[SharedPlace]] = defaultdict(list)
        for place, name in name_of.items():
            groups[name].append(place)
        changed = {name: sum(self._splits(place) for place in places) for name, places in groups.items()}
        first = sorted(groups, key=lambda name: (-changed[name], -len(groups[name]), name))[:MOST_SLICES]
        return [
            DifferenceSlice(
                kind,
                name,
                self._paired(column, groups[name]),
                *(sum(self._shared[place][one][0] for place in groups[name]) for one in (0, column)),
            )
            for name in first
            for column in range(1, len(self.runs))
        ]

    def _splits(self, place: SharedPlace) -> bool:
        return len({success for success, _ in self._shared[place].values()}) > 1
