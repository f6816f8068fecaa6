"""The steps that a training goes without because their pages cannot be shown, counted over all of its slices. Core."""

import json
from pathlib import Path

SHOWN = 5  # reasons that a report names


class LeftOut:
    """The steps that are left out, each with the reason, kept in a file of lines; without a path only in this
    process."""

    def __init__(
        self, path: Path | None = None, said: str = "steps were left out because their pages cannot be shown"
    ) -> None:
        """`said`: after their number, what happens to them."""
        self._path, self._said = path, said
        self._why: dict[str, str] = {}
        if path is not None and path.exists():
            self._why = dict(json.loads(line) for line in path.read_text("utf-8").splitlines())

    def __len__(self) -> int:
        return len(self._why)

    def __contains__(self, step: str) -> bool:
        return step in self._why

    def add(self, step: str, error: Exception) -> None:
        """Note a step, once."""
        if step in self._why:
            return
        self._why[step] = str(error)
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([step, str(error)]) + "\n")

    def warnings(self) -> list[str]:
        """Sentences for the report of the job: how many steps were left out, and why the first of them."""
        if not self._why:
            return []
        named = [f"{step}: {why}" for step, why in list(self._why.items())[:SHOWN]]
        return [f"{len(self)} {self._said}", *named]
