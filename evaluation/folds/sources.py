"""Who made the demonstrations that folds learn from, and which of them are one episode. Core."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

PEOPLE, ORACLES, CORRECTIONS = SOURCES = ("people", "oracles", "corrections")
OF_ORACLE, OF_CORRECTION = ("by", "oracle"), ("source", "human correction")  # how stored demonstrations say it
# What of a page differs between two recordings of one episode: numbers of elements, where they are drawn, and what the
# recorder noted of them.
NOTED = re.compile(r' (?:backend_node_id|bounding_box_rect|has_handler|is_clickable|read_as)="[^"]*"')


@dataclass(frozen=True)
class ShownEpisode:
    """What a conversation shows: its task, by whom, and the seed of its pages, where that is known."""

    name: str
    task: str
    source: str = PEOPLE
    seed: str = ""

    @property
    def names(self) -> set[tuple[str, str, str]]:
        """What is the same of no other episode: its name and its seed, within its task."""
        return {("name", self.task, self.name)} | ({("seed", self.task, self.seed)} if self.seed else set())


def shown_episode(name: str, task: str, extra: Mapping[str, object]) -> ShownEpisode:
    """A conversation as its row tells it. What says nothing of its source is by people, as what is imported is."""
    told = extra.items()
    source = ORACLES if OF_ORACLE in told else CORRECTIONS if OF_CORRECTION in told else PEOPLE
    return ShownEpisode(name, task, source, str(extra.get("seed", "")))


def shown_again(episodes: Iterable[ShownEpisode], others: Iterable[ShownEpisode]) -> set[ShownEpisode]:
    """Those that one of the others is, too."""
    taken = {name for other in others for name in other.names}
    return {one for one in episodes if one.names & taken}


def content(html: str) -> str:
    """What a page says and is made of, wherever it is drawn and whoever recorded it."""
    return NOTED.sub("", html)
