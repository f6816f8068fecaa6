"""A thin view of WebLINX's replay dicts (A1): nothing is changed, renamed or lost.

It reads nothing by itself: where what stands in a dict is known to its one reader,
`annotations.datasets.weblinx.turns`. A view says None for what is not recorded, as the published code does.

A turn (`ReplayTurn`) is here what WebLINX calls so: one utterance or one browser action, numbered by its place in
`replay.json`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from annotations.datasets.weblinx import turns as recorded_turns

RecordedBox = Mapping[str, float]  # x, y, width, height, left, top, right, bottom in CSS pixels

# The published names of actions as they are compared, without case and underscores.
INTENTS = frozenset(
    "say click hover textinput submit change load scroll copy paste tabcreate tabremove tabswitch".split()
)
ELEMENT_INTENTS = frozenset("click hover textinput submit change scroll copy paste".split())
UNKNOWN = "<unk>"


@dataclass(frozen=True)
class ReplayTurn:
    """One entry of `replay.json`: its number and the dict as published."""

    index: int
    data: Mapping[str, Any]

    @property
    def is_chat(self) -> bool:
        return recorded_turns.is_chat(self.data)

    @property
    def timestamp(self) -> float:
        """Seconds since the recording started; may be negative."""
        return recorded_turns.seconds_of(self.data)

    @property
    def speaker(self) -> str | None:
        """ "instructor" or "navigator"; None for browser turns."""
        return recorded_turns.speaker_of(self.data)

    @property
    def utterance(self) -> str | None:
        return recorded_turns.utterance_of(self.data)

    @property
    def recorded_intent(self) -> str:
        """The intent as recorded ("textInput"); "say" for chat turns."""
        return recorded_turns.intent_of(self.data)

    @property
    def intent(self) -> str:
        """The intent as it is compared ("textinput")."""
        return self.recorded_intent.lower()

    @property
    def arguments(self) -> Mapping[str, Any]:
        return recorded_turns.arguments_of(self.data)

    @property
    def properties(self) -> Mapping[str, Any]:
        return recorded_turns.arguments_of(self.data, "properties")

    @property
    def metadata(self) -> Mapping[str, Any]:
        return recorded_turns.arguments_of(self.data, "metadata")

    @property
    def element(self) -> Mapping[str, Any] | None:
        """The recorded element: attributes, bbox, tagName, textContent, ..."""
        return recorded_turns.element_of(self.data)

    @property
    def uid(self) -> str | None:
        """The uid of the recorded element; None without element or uid."""
        return recorded_turns.uid_of(self.data) or None

    @property
    def state(self) -> Mapping[str, Any]:
        return recorded_turns.state_of(self.data)

    @property
    def page(self) -> str | None:
        """File name of the page, "page-<i>-<j>.html"; None without a page."""
        return recorded_turns.page_name(self.data) or None

    @property
    def screenshot(self) -> str | None:
        return recorded_turns.screenshot_of(self.data) or None

    @property
    def viewport_height(self) -> float | None:
        return recorded_turns.window_of(self.data)[1]

    @property
    def viewport_width(self) -> float | None:
        return recorded_turns.window_of(self.data)[0]

    @property
    def url(self) -> str | None:
        """The address that a `load` turn went to; None for other turns."""
        return recorded_turns.address_of(self.data) if self.intent == "load" else None


class Pages(Protocol):
    """The pages of a demonstration and their bounding boxes, read one by one, as they are too large to hold."""

    def page_html(self, turn: ReplayTurn) -> str | None:
        """The page of the turn; None when it has none."""

    def bboxes(self, turn: ReplayTurn) -> Mapping[str, RecordedBox] | None:
        """uid -> bounding box on the turn's page; None when there is no page or no such file."""


@dataclass(frozen=True)
class Demo:
    """A demonstration: its name, all its turns in order and access to their pages."""

    name: str
    turns: Sequence[ReplayTurn]
    pages: Pages = field(repr=False, compare=False)

    def recorded(self) -> list[Mapping[str, Any]]:
        """All turns in order, as published."""
        return [turn.data for turn in self.turns]

    @classmethod
    def from_replay(cls, name: str, replay: Mapping[str, Any], pages: Pages) -> "Demo":
        """The demonstration that the content of `replay.json` describes."""
        return cls(name, tuple(ReplayTurn(index, data) for index, data in enumerate(replay["data"])), pages)


@dataclass(frozen=True)
class PagesByName:
    """Pages and boxes held in memory under their published file names."""

    pages: Mapping[str, str]
    boxes: Mapping[str, Mapping[str, RecordedBox]]

    def page_html(self, turn: ReplayTurn) -> str | None:
        return self.pages.get(turn.page) if turn.page else None

    def bboxes(self, turn: ReplayTurn) -> Mapping[str, RecordedBox] | None:
        return self.boxes.get(recorded_turns.boxes_name(turn.page).removeprefix("bboxes/")) if turn.page else None
