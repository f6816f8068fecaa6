"""Folds that are decided, kept in a file, so that a cross-validation that was cut goes on there. Core."""

import json
from dataclasses import asdict
from pathlib import Path

from evaluation.folds.results import DecidedFold, HeldOutStep


class KeptFolds:
    """Decided folds by a digest of what they learned and decided; a line of JSON each."""

    def __init__(self, file: Path | None = None) -> None:
        """`file`: where they are read and added; without one nothing is kept. ValueError where it holds something else.
        A last line that is torn, as who wrote it was killed, is written over."""
        self.file, self._found = file, dict[str, DecidedFold]()
        whole, _, _ = (file.read_bytes() if file and file.exists() else b"").rpartition(b"\n")
        self._end = len(whole) + 1 if whole else 0
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                told = json.loads(line)
                self._found[told["digest"]] = _decided(**told["fold"])
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"line {number} of {file} is no kept fold: {error}") from error

    def get(self, digest: str) -> DecidedFold | None:
        return self._found.get(digest)

    def add(self, digest: str, fold: DecidedFold) -> None:
        self._found[digest] = fold
        if self.file:
            self.file.touch()
            with self.file.open("r+b") as stream:
                stream.truncate(self._end)
                stream.seek(self._end)
                stream.write(json.dumps({"digest": digest, "fold": asdict(fold)}).encode() + b"\n")
                self._end = stream.tell()


def _decided(demonstrations: int, learned: int, steps: list[dict[str, object]]) -> DecidedFold:
    return DecidedFold(
        demonstrations,
        learned,
        tuple(HeldOutStep(str(s["task"]), bool(s["seen"]), str(s["came"]), bool(s["known"])) for s in steps),
    )
