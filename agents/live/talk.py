"""What is said in an episode under way: its goal, what the user asks for turn by turn, and who says it."""

from dataclasses import dataclass, field

from agents.environments.task_sets import FREE
from agents.live.spoken import SpokenTurn
from agents.models import Trajectory
from annotations.models import Turn


@dataclass
class EpisodeTalk:
    """The turns of an episode, and what was said in them."""

    trajectory: Trajectory
    turns: list[Turn]  # of the conversation, in order
    at: int = field(default=0, kw_only=True)  # which turn it is in
    answers: list[str] = field(default_factory=list, kw_only=True)  # of the user to questions in this turn
    # What a user that is a language model says in this turn, and its instructions before.
    spoken: SpokenTurn | None = field(default=None, kw_only=True)
    earlier_spoken: list[str] = field(default_factory=list, kw_only=True)

    @property
    def turn(self) -> Turn:
        return self.turns[self.at]

    @property
    def instruction(self) -> str:
        """What the user has said to be done in this turn."""
        return self.spoken.instruction if self.spoken else self.turn.instruction

    @property
    def earlier(self) -> tuple[str, ...]:
        """What the user has said in the turns before."""
        written = [turn.instruction for turn in self.turns[: self.at]]
        return (*self.earlier_spoken, *written[len(self.earlier_spoken) :])

    @property
    def goal(self) -> tuple[str, int]:
        """The task and the seed of the episode."""
        place = self.trajectory.conversation.extra
        return place["task"], place["seed"]

    @property
    def is_typed(self) -> bool:
        """Whether a person types what the user says, turn by turn."""
        return bool(self.trajectory.conversation.extra.get("typed"))

    def call(self, words: str) -> None:
        """What is done in this turn, where nobody has said it before."""
        self.turn.instruction = words
        self.turn.save(update_fields=["instruction"])

    @property
    def is_free(self) -> bool:
        """Whether people say when it is reached."""
        return self.trajectory.run.dataset.live["environment"] in FREE
