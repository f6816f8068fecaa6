"""The exemplar sets of a project, as stages find them."""

import numpy as np

from agents.encoders.embedding import Encoder
from agents.memory.searched import NO_SETS
from agents.models import ExemplarSet
from agents.words.exemplar_sets import PublishedExemplars
from annotations.models import Project


class ProjectExemplarSets:
    """`ExemplarSets` over rows, read once: a project has some dozens of sets, and some hundreds of keys."""

    def __init__(self, project: Project, encoder: Encoder) -> None:
        self.project, self.encoder = project, encoder
        self._sets: dict[str, PublishedExemplars] = {}
        self._names: list[str] = []  # of each key the set that it belongs to
        self._vectors = np.zeros((0, 1), dtype=np.float32)

    def prepare(self, embedded: bool) -> None:
        """ValueError says how to get some."""
        rows = list(ExemplarSet.objects.filter(project=self.project))
        if not rows:
            raise ValueError(NO_SETS.format(self.project.slug))
        self._sets = {row.name: PublishedExemplars.from_dict(row.name, row.body) for row in rows}
        if embedded:
            self._names = [row.name for row in rows for _ in row.keys]
            self._vectors = self.encoder.encode([key for row in rows for key in row.keys])

    def nearest(self, query: np.ndarray, k: int) -> list[str]:
        """By distance as published: of unit vectors the order is that of L2."""
        distances = np.linalg.norm(self._vectors - query, axis=1)
        return [self._names[place] for place in np.argsort(distances, kind="stable")[:k]]

    def find(self, name: str) -> PublishedExemplars | None:
        return self._sets.get(name)
