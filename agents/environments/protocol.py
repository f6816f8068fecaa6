"""What every environment takes and gives. Core: frozen, and plain enough for JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol
from urllib.parse import unquote, urlsplit

from agents.types import Action


class EnvironmentLost(RuntimeError):
    """The browser or its process is gone, or does not answer in time: the episode begins anew elsewhere."""


class NoSuchTask(ValueError):
    """An environment has no task of that name."""


def told_address(url: str) -> str:
    """The address of a page as people read it: of a file on this host its name, as its path is nobody's business."""
    if not url.startswith("file:"):
        return url
    path = PurePosixPath(unquote(urlsplit(url).path))
    return f"{path.stem} of MiniWoB++" if "miniwob" in path.parts else f"local page {path.stem}"


@dataclass(frozen=True)
class PageView:
    """A live page at rest, in the form that imported pages have."""

    html: str  # well-formed XML with backend_node_id attributes; an element keeps its id while it is in the page
    url: str  # as people may read it (`told_address`)
    elements: int
    names: dict[str, str]  # element that is worth ranking -> "[role]  name", as action representations show it
    markup: str = ""  # the page's own HTML, for agents that read that

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", told_address(self.url))


@dataclass(frozen=True)
class EpisodeStart:
    """What the agent is given as an episode begins: the user's first instruction and the page."""

    instruction: str
    view: PageView
    site: tuple[str, str, str] | None = None  # website, domain and subdomain, where the task does not say enough
    later: tuple[str, ...] = ()  # what the user will say once the turn before is over
    split: str = ""  # the split of the recorded conversation that it repeats; "": it repeats none


@dataclass(frozen=True)
class TurnEnd:
    """How a turn of a conversation ended. Whether its goal is reached is told by the state of the website, not by the
    page."""

    reached: bool
    steps: int
    recorded_steps: int  # of the path that was recorded for it
    problems: int  # that the website has told: a form that lacks something, a failure of its own
    side_effects: tuple[str, ...]  # what has changed though nobody asked for it
    asked: int = 0  # how many questions the agent asked
    needed: bool = False  # the user has left something out on purpose
    told_after: int | None = None  # steps before the user first told what was left out; None: never
    # Of a user that is a language model; by the worker, as environments ask none.
    spoken: bool = False
    answers: int = 0  # to questions
    leaks: int = 0  # of these: they told what was left out though no question had asked for it
    said_unasked: bool = False  # their instruction told it already
    content: bool | None = None  # what they say of the turn; None: nothing that can be read
    stood_in: int = 0  # times that the scripted user's words stood in for theirs, as a reply was of no use


@dataclass(frozen=True)
class ActionEffect:
    """What came of an action: in words, as a reward, and the page after it."""

    words: str
    reward: float
    done: bool  # the environment has ended the episode
    view: PageView
    said: str = ""  # what the user answers to a question
    turn: TurnEnd | None = None  # the turn is over, and the user says the next instruction


@dataclass(frozen=True)
class PageField:
    """A field of the window that something can be written into or chosen in."""

    node_id: str
    kind: str  # "text", "select", "textarea" …
    value: str
    options: list[str] | None  # of a list
    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True)
class WindowView:
    """What a person who acts in a page is shown of it: the window as it looks, and its fields."""

    picture: bytes  # a JPEG
    width: int
    height: int
    fields: tuple[PageField, ...]


@dataclass(frozen=True)
class WindowPicture:
    """The window at rest, small, for those who look at the episode afterwards."""

    data: bytes
    media_type: str
    width: int  # of the window, in pixels of the page; the picture may be smaller
    height: int
    boxes: dict[str, list[float]]  # element in the window -> left, top, width and height


class Environment(Protocol):
    """A website with tasks. Everything that comes of a seed is the same each time."""

    def tasks(self) -> Sequence[str]:
        """The names of its tasks, in order."""
        ...

    def reset(self, task: str, seed: int) -> EpisodeStart:
        """Begin an episode; raises NoSuchTask."""
        ...

    def observe(self) -> PageView:
        """The page as it is now."""
        ...

    def step(self, action: Action) -> ActionEffect:
        """Do what an agent decided. What cannot be done (an element that is gone) is said in words, not raised."""
        ...

    def window(self) -> WindowView:
        """The window as a person sees it."""
        ...

    def picture(self) -> WindowPicture | None:
        """The window as it is now, small; None where it cannot be drawn, which ends nothing."""
        ...

    def at(self, x: float, y: float) -> str | None:
        """The element at a point of the window: the innermost that is worth ranking, else the innermost."""
        ...

    def close(self) -> None:
        """End the browser."""
        ...
