"""The exemplar sets of a project, as stages find them: those that somebody has imported, else the few that come with
WebNav.

`miniwob_exemplars.json` holds the latter: pages of MiniWoB++ (MIT licence) by their seeds, each with a program of ours
that solves it, so that programs can be tried before the authors' sets are imported.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from agents.encoders.embedding import Encoder
from agents.models import ExemplarSet
from agents.words.exemplar_sets import PublishedExemplars
from annotations.models import Project

PACKAGED = Path(__file__).with_name("miniwob_exemplars.json")


@cache
def packaged() -> tuple[dict[str, Any], ...]:
    """The sets that come with WebNav: name, demonstrations (`demo`, each with the seed of its page), keys."""
    return tuple(json.loads(PACKAGED.read_text("utf-8")))


class ProjectExemplarSets:
    """The stage's `ExemplarSets` over the rows of a project, read once: a project has some dozens of sets with some
    hundreds of keys."""

    def __init__(self, project: Project, encoder: Encoder) -> None:
        self.project, self.encoder = project, encoder
        self._sets: dict[str, PublishedExemplars] = {}
        self._names: list[str] = []  # of each key the set that it belongs to
        self._vectors = np.zeros((0, 1), dtype=np.float32)

    def prepare(self, embedded: bool) -> None:
        """Read the sets, and embed their keys where they are searched by vectors."""
        rows = [(row.name, row.body, row.keys) for row in ExemplarSet.objects.filter(project=self.project)]
        rows = rows or [(one["name"], one, one["keys"]) for one in packaged()]
        self._sets = {name: PublishedExemplars.from_dict(name, body) for name, body, _ in rows}
        if embedded:
            self._names = [name for name, _, keys in rows for _ in keys]
            self._vectors = self.encoder.encode([key for _, _, keys in rows for key in keys])

    def nearest(self, query: np.ndarray, k: int) -> list[str]:
        """The sets of the k nearest keys. Distances are L2 as published; for unit vectors cosines would give the same
        order."""
        distances = np.linalg.norm(self._vectors - query, axis=1)
        return [self._names[place] for place in np.argsort(distances, kind="stable")[:k]]

    def find(self, name: str) -> PublishedExemplars | None:
        return self._sets.get(name)
