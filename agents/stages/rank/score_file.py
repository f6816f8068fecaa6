"""Candidate scores in a file: what the published score pickle holds (sources.md M1.3), as JSON or safetensors. Core.

    {"scores": {"{annotation_id}_{action_uid}": {backend_node_id: float}}, "ranks": {the same: {the same: int}}}

Rank 0 is the best. JSON keeps everything as it is; safetensors holds the same in arrays, for millions of candidates:
scores are then float64, so nothing is lost either.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agents.stages.rank.inputs import RankingInput, in_order
from agents.types import Observation, RankedCandidate

SUFFIX = ".safetensors"  # of the second form; every other name is JSON


class MissingScore(ValueError):
    """The file does not know the step or one of its candidates."""


@dataclass
class ScoreFile:
    """Scores and ranks by step and candidate; both have the same keys in the same order."""

    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    ranks: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def from_content(cls, content: Any) -> "ScoreFile":
        """Check what was read. ValueError names the first thing that is not as published."""
        if not isinstance(content, Mapping) or not set(content) <= {"scores", "ranks"} or "scores" not in content:
            raise ValueError('a score file is an object with "scores" and "ranks"')
        scores = {step: _checked(step, row, (int, float)) for step, row in _steps(content, "scores")}
        ranks = {step: _checked(step, row, (int,)) for step, row in _steps(content, "ranks")}
        ranks = {step: ranks.get(step) or ranked(row) for step, row in scores.items()} | ranks
        if ranks.keys() != scores.keys() or any(ranks[step].keys() != scores[step].keys() for step in scores):
            raise ValueError('"scores" and "ranks" name different steps or candidates')
        return cls({step: {c: float(s) for c, s in row.items()} for step, row in scores.items()}, ranks)

    @classmethod
    def read(cls, path: Path) -> "ScoreFile":
        """Read a file of scores; ValueError where its content is of another form. A pickle is never read here (see
        `manage.py convert_scores`)."""
        if path.suffix == SUFFIX:
            return _read_arrays(path)
        try:
            content = json.loads(path.read_text("utf-8"))
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{path.name} is not JSON ({error}); a pickle is converted by manage.py convert_scores"
            ) from error
        return cls.from_content(content)

    def write(self, path: Path) -> None:
        """Write the scores as safetensors where the name ends so, else as JSON."""
        if path.suffix == SUFFIX:
            _write_arrays(self, path)
        else:
            path.write_text(json.dumps({"scores": self.scores, "ranks": self.ranks}), "utf-8")

    def add(self, key: str, scores: Mapping[str, float]) -> None:
        """Add a step's scores. Of equal scores the earlier candidate ranks first (published: positives come first)."""
        self.scores[key] = {node_id: float(score) for node_id, score in scores.items()}
        self.ranks[key] = ranked(self.scores[key])

    def merge(self, other: "ScoreFile") -> None:
        """Take over the steps of another file, as the published merge of the splits does: the later file wins."""
        self.scores.update(other.scores)
        self.ranks.update(other.ranks)

    def lookup(self, key: str, node_ids: Iterable[str]) -> dict[str, tuple[float, int]]:
        """(score, rank) of each candidate. MissingScore says which step or candidate the file lacks."""
        if key not in self.scores:
            raise MissingScore(f"no scores for step {key!r}; the file has {len(self.scores):,} steps")
        scores, ranks = self.scores[key], self.ranks[key]
        wanted = list(node_ids)
        if missing := [node_id for node_id in wanted if node_id not in scores]:
            more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
            raise MissingScore(f"step {key!r} has no score for candidate {missing[0]!r}{more}")
        return {node_id: (scores[node_id], ranks[node_id]) for node_id in wanted}


class ScoreFileRanker:
    """Ranks by a file of scores; a step's candidates stand in the file's order. Raises OSError or ValueError where
    there is no such file."""

    def __init__(self, path: Path | str) -> None:
        self.file = ScoreFile.read(Path(path))

    def rank(self, observations: Sequence[Observation]) -> list[tuple[RankedCandidate, ...]]:
        """The file's candidates of each step, only those the observation names where it names some.

        MissingScore for a step or candidate that the file does not have.
        """
        return [self._rank(observation) for observation in observations]

    def _rank(self, observation: Observation) -> tuple[RankedCandidate, ...]:
        key = observation.score_key
        known = self.file.lookup(key, observation.candidate_ids or self.file.scores.get(key, ()))
        node_ids = tuple(sorted(known, key=lambda node_id: known[node_id][1]))  # the file's ranks decide its ties
        step = RankingInput("", node_ids, node_ids, node_ids, ("",) * len(node_ids))
        return in_order(step, [known[node_id][0] for node_id in node_ids])


def ranked(scores: Mapping[str, float]) -> dict[str, int]:
    """Candidate -> rank from 0, best score first; ties keep the mapping's order (Q4)."""
    return {candidate: rank for rank, candidate in enumerate(sorted(scores, key=lambda c: -scores[c]))}


def _steps(content: Mapping[str, Any], name: str) -> Iterable[tuple[str, Any]]:
    table = content.get(name, {})
    if not isinstance(table, Mapping):
        raise ValueError(f"{name!r} is not an object of steps")
    return table.items()


def _checked(step: Any, row: Any, kinds: tuple[type, ...]) -> dict[str, Any]:
    if not isinstance(step, str) or not isinstance(row, Mapping):
        raise ValueError(f"step {step!r} is not a text with an object of candidates")
    for candidate, value in row.items():
        if not isinstance(candidate, str) or not isinstance(value, kinds) or isinstance(value, bool) or value != value:
            raise ValueError(f"step {step!r}: {candidate!r} has {value!r}, expected {kinds[-1].__name__}")
    return dict(row)


def _write_arrays(file: ScoreFile, path: Path) -> None:
    from safetensors.numpy import save_file

    rows = list(file.scores.values())
    names = {"steps": list(file.scores), "candidates": [list(row) for row in rows]}
    arrays: dict[str, np.ndarray] = {
        "counts": np.array([len(row) for row in rows], dtype=np.int64),
        "scores": np.array([score for row in rows for score in row.values()], dtype=np.float64),
        "ranks": np.array([rank for row in file.ranks.values() for rank in row.values()], dtype=np.int64),
        "names": np.frombuffer(json.dumps(names).encode(), dtype=np.uint8),
    }
    save_file(arrays, path)


def _read_arrays(path: Path) -> ScoreFile:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        arrays = load_file(path)
        names = json.loads(arrays["names"].tobytes())
        ends = np.cumsum(arrays["counts"])[:-1]
        scores, ranks = (np.split(arrays[name], ends) for name in ("scores", "ranks"))
        content = (
            {
                kind: {
                    step: dict(zip(ids, values.tolist(), strict=True))
                    for step, ids, values in zip(names["steps"], names["candidates"], table, strict=True)
                }
                for kind, table in (("scores", scores), ("ranks", ranks))
            }
            if names["steps"]
            else {"scores": {}, "ranks": {}}
        )
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ValueError(f"{path.name} is no score file: {error}") from error
    return ScoreFile.from_content(content)
