"""Who made the demonstrations that folds learn from, and which of them are one episode. Core."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

PEOPLE, ORACLES, CORRECTIONS = SOURCES = ("people", "oracles", "corrections")
OF_ORACLE, OF_CORRECTION = ("by", "oracle"), ("source", "human correction")  # how stored demonstrations say it
# What of a page differs between two recordings of one episode: numbers of elements, where they are drawn, and what the
# recorder noted of them.
NOTED = re.compile(r' (?:backend_node_id|bounding_box_rect|has_handler|is_clickable|read_as)="[^"]*"')


@dataclass(frozen=True)
class Demonstration:
    """A conversation by its name, with its task, who made it and the seed of its pages, where that is known."""

    name: str
    task: str
    source: str = PEOPLE
    seed: str = ""

    @property
    def episodes(self) -> set[tuple[str, str, str]]:
        """What names its episode: its own name and its seed, of its task."""
        return {("name", self.task, self.name)} | ({("seed", self.task, self.seed)} if self.seed else set())


def demonstration(name: str, task: str, extra: Mapping[str, Any]) -> Demonstration:
    """A conversation as its row tells it. What says nothing of its source is by people, as what is imported is."""
    told = extra.items()
    source = ORACLES if OF_ORACLE in told else CORRECTIONS if OF_CORRECTION in told else PEOPLE
    return Demonstration(name, task, source, str(extra.get("seed", "")))


def of_same_episode(demonstrations: Iterable[Demonstration], others: Iterable[Demonstration]) -> set[Demonstration]:
    """Those that show an episode that one of the others shows, too."""
    taken = {episode for other in others for episode in other.episodes}
    return {one for one in demonstrations if one.episodes & taken}


def content(html: str) -> str:
    """What a page says and is made of, wherever it is drawn and whoever recorded it."""
    return NOTED.sub("", html)
