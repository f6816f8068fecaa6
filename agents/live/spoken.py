"""A turn of a live conversation in the words of its user, where that is a language model: what it said, what of the
parts that are left out it told, and whether a question had asked for these."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents.environments.protocol import TurnEnd
from annotations.sample.missing import HiddenPart, asked_for, told_by


@dataclass(frozen=True)
class Utterance:
    """What a model said for the user, and what that took. `error`: why other words stand in for its own."""

    words: str
    model: str = ""
    tokens: int = 0
    cost: float = 0.0
    error: str = ""

    @property
    def kept(self) -> dict[str, Any]:
        """As it is stored with the step."""
        return {"words": self.words, "model": self.model, "tokens": self.tokens, "cost": self.cost, "error": self.error}


@dataclass
class SpokenTurn:
    """What a user that is a model says in one turn. `request`: all that it wants; `parts`: what of that it leaves out
    until it is asked."""

    request: str
    parts: Sequence[HiddenPart] = ()
    instruction: str = ""
    talk: list[tuple[str, str]] = field(default_factory=list)  # questions with their answers
    wanted: list[HiddenPart] = field(default_factory=list)  # what questions have asked for, or was said at once
    told_after: int | None = None
    leaks: int = 0
    said_unasked: bool = False
    content: bool | None = None
    stood_in: int = 0  # times that other words stood in for its own
    unstored: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0  # of what it was asked to say

    @property
    def unsaid(self) -> str:
        """What it has left out, in words."""
        return "; ".join(part.words.strip(" ,:.") for part in self.parts) or "nothing"

    def say(self, said: Utterance) -> None:
        """It has said what is to be done."""
        self.instruction = said.words
        self.wanted = told = told_by(said.words, self.parts)
        self.said_unasked = bool(told)
        self._note(0 if told else None)
        self._keep("instruction", said, told)

    def answer(self, question: str, said: Utterance, steps: int) -> None:
        """It has answered a question, after so many steps of the turn."""
        self.wanted = [*self.wanted, *asked_for(question, self.parts)]
        told = told_by(said.words, self.parts)
        unasked = [part for part in told if part not in self.wanted]
        self.leaks += bool(unasked)
        self._note(steps if told else None)
        self.talk.append((question, said.words))
        self._keep("answer", said, unasked, question=question)

    def judge(self, said: Utterance, content: bool | None) -> None:
        """It has said whether it got what it asked for."""
        self.content = content
        self._keep("content", said, (), content=content)

    def ended(self, turn: TurnEnd) -> TurnEnd:
        """How the turn ended, with what the user said in it."""
        return replace(
            turn,
            told_after=self.told_after,
            spoken=True,
            answers=len(self.talk),
            leaks=self.leaks,
            said_unasked=self.said_unasked,
            content=self.content,
            stood_in=self.stood_in,
        )

    def take(self) -> dict[str, Any]:
        """What is stored with the next step: the instruction, and what was said since the last one."""
        told, self.unstored = self.unstored, []
        return {"instruction": self.instruction, "told": told}

    def _note(self, steps: int | None) -> None:
        if self.told_after is None:
            self.told_after = steps

    def _keep(self, kind: str, said: Utterance, unasked: Sequence[HiddenPart], **more: object) -> None:
        words = [part.words.strip(" ,:.") for part in unasked]
        self.stood_in += bool(said.error) and kind != "content"
        self.unstored.append({"kind": kind, **said.kept, **more, "unasked": words})
        self.count += 1
