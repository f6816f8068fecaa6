"""The content of the page of two versions: stretch by stretch, with what differs marked in both."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotations.desk.write.document import shown_steps
from annotations.models import Curation, CurationChoice, Stage, Step
from annotations.models.work.curations import MAX_WORDS
from annotations.text import diff
from annotations.text.diff import MarkedPiece, Span
from annotations.text.versions import TEXTS, PlacedPart, Stretch
from annotations.work.verify.page import listed, step_range


@dataclass(frozen=True)
class SidePart:
    """A part of one version, with what only this version says marked."""

    step: int
    range: str
    instruction: list[MarkedPiece]
    rewrite: list[MarkedPiece]
    mentions: str


@dataclass(frozen=True)
class ShownSide:
    """What one version says in a stretch, or what the curator wrote instead."""

    take: str
    name: str  # of who wrote it
    parts: list[SidePart]


@dataclass(frozen=True)
class ShownStretch:
    """A stretch as it is shown. `take`: what was decided, "" before that; `own`: what other words begin with."""

    step: int
    number: int  # of the first step
    range: str
    steps: list[Step]
    differs_in: str
    sides: list[ShownSide]
    take: str
    own: list[dict[str, Any]]


class StretchesOfPage:
    """Makes the stretches of a curation, which comes with both versions, into what its page shows."""

    def __init__(self, curation: Curation) -> None:
        self.curation = curation
        self.steps = {step.pk: step for step in shown_steps(curation.first.item.session)}
        self.places = {pk: place for place, pk in enumerate(self.steps)}
        self.choices = curation.standing()

    def context(self) -> dict[str, Any]:
        """The template's context."""
        shown = [self._stretch(one) for one in self.curation.stretches]
        differing = [one for one in shown if one.differs_in]
        session = self.curation.first.item.session
        return {
            "curation": self.curation,
            "session": session,
            "campaign": session.campaign,
            "stretches": shown,
            "differing": differing,
            "left": sum(not one.take for one in differing),
            "why_not": self.curation.why_not(),
            "max_words": MAX_WORDS,
            "has_rewrites": self.curation.first.item.stage == Stage.REWRITE,
        }

    def _stretch(self, one: Stretch) -> ShownStretch:
        choice = self.choices.get(one.step) if one.differs_in else None
        marked = {name: diff.changed(_joined(one.first, name), _joined(one.second, name)) for name in TEXTS}
        people = self.curation.first.user, self.curation.second.user
        sides = [
            ShownSide(take, user.get_username(), self._parts(one, parts, {name: marked[name][side] for name in TEXTS}))
            for side, (take, user, parts) in enumerate(zip("ab", people, (one.first, one.second), strict=True))
        ]
        own = one.second if choice is not None and choice.take == CurationChoice.Take.SECOND else one.first
        if choice is not None and choice.take == CurationChoice.Take.OWN:
            own = [(part["step"], part | {"mentions": []}) for part in choice.parts]
            sides.append(ShownSide(choice.take, self.curation.user.get_username(), self._parts(one, own, {})))
        return ShownStretch(
            step=one.step,
            number=self.places[one.step] + 1,
            range=self._range(one.steps),
            steps=[self.steps[step] for step in one.steps],
            differs_in=one.differs_in,
            sides=sides,
            take=choice.take if choice is not None else "",
            own=[
                {"step": step, "range": self._range(within), **says}
                for (step, says), within in zip(own, _steps_of(own, one.steps), strict=True)
            ],
        )

    def _parts(self, one: Stretch, parts: list[PlacedPart], marks: dict[str, list[Span]]) -> list[SidePart]:
        pieces = {name: _pieces([says[name] for _, says in parts], marks.get(name, [])) for name in TEXTS}
        return [
            SidePart(
                step,
                self._range(within),
                pieces["instruction"][number],
                pieces["rewrite"][number],
                listed(says["mentions"]),
            )
            for number, ((step, says), within) in enumerate(zip(parts, _steps_of(parts, one.steps), strict=True))
        ]

    def _range(self, steps: Sequence[int]) -> str:
        return step_range(self.places[steps[0]], self.places[steps[-1]])


def _joined(parts: list[PlacedPart], name: str) -> str:
    return "\n".join(says[name] for _, says in parts)


def _pieces(texts: list[str], spans: list[Span]) -> list[list[MarkedPiece]]:
    """The texts in pieces; the spans count places of all of them, joined by line ends."""
    found, start = [], 0
    for text in texts:
        end = start + len(text)
        inside = [Span(max(one.start, start) - start, min(one.end, end) - start, one.mark) for one in spans]
        found.append(diff.runs(text, [one for one in inside if one.start < one.end]))
        start = end + 1
    return found


def _steps_of(parts: list[PlacedPart], steps: Sequence[int]) -> list[Sequence[int]]:
    """The steps of each part: from its first one to the next part's."""
    starts = [steps.index(step) for step, _ in parts]
    return [steps[start:end] for start, end in zip(starts, [*starts[1:], len(steps)], strict=True)]
