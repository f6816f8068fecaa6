"""What a judge is given of a trajectory, and what it says."""

from dataclasses import dataclass, field
from typing import Any

from agents.llm.usage import Usage
from evaluation.asking.definition import AskedModel, Demand

HISTORY = 20_000  # characters of the actions, the last ones


@dataclass(frozen=True)
class SeenAction:
    """An action of the agent as a judge reads it: in words, with the words of the page that it was done on."""

    words: str
    page: str = field(default="", repr=False)
    outcome: str = ""


@dataclass(frozen=True)
class Evidence:
    """The stored facts of a trajectory. What rules go by is None where it is not known."""

    tasks: tuple[str, ...]  # what the user asked for, turn by turn
    actions: tuple[SeenAction, ...]
    website: str = ""
    reward: float | None = None  # of an episode, by the state of its site
    all_right: bool | None = None  # every recorded step is decided as in gold
    findings: tuple[str, ...] | None = None  # of the scanners of failures

    @property
    def task(self) -> str:
        """The tasks as one text; several are numbered."""
        if len(self.tasks) == 1:
            return self.tasks[0]
        return "\n".join(f"{place}. {task}" for place, task in enumerate(self.tasks, 1))

    @property
    def history(self) -> str:
        """The actions in order, one a line, with what came of them."""
        lines = [
            f"{place}. {action.words or 'no action'}{f' ({action.outcome})' if action.outcome else ''}"
            for place, action in enumerate(self.actions, 1)
        ]
        return "\n".join(lines) or "none"

    @property
    def last_actions(self) -> str:
        """The last HISTORY characters of the history, by whole lines where there are several."""
        if len(self.history) <= HISTORY:
            return self.history
        end = self.history[-HISTORY:]
        return f"(The actions before are left out.)\n{end.partition(chr(10))[2] or end}"


@dataclass(frozen=True)
class Opinion:
    """What a judge says. `success` None: it cannot tell; `error`: it gave no usable answer and is to be asked again."""

    success: bool | None
    said: str = ""
    answers: dict[str, Any] = field(default_factory=dict)  # to the questions on the way
    usage: Usage = field(default_factory=Usage)
    error: str = ""


class TrajectoryJudge:
    """A way to say whether the task of a trajectory was done; a class derives from it for each."""

    label = ""
    texts: tuple[str, ...] = ()  # of a prompt pack, by which it asks a language model; none: it asks nobody
    reads_pages = True  # whether its evidence holds what pages say, which takes long to read

    def demand(self, pages: int) -> Demand:
        """What it asks of a trajectory of so many pages; nothing, for a judge that asks nobody."""
        return Demand()

    def judge(self, seen: Evidence, panel: AskedModel | None) -> Opinion:
        """Its opinion of a trajectory; `panel` is there for a judge with `texts`. May raise LlmError."""
        raise NotImplementedError
