"""The checkpoint of a training, a file that is either whole or absent. Core."""

import os
from pathlib import Path
from typing import Any

FILE = "checkpoint.pt"


def save_checkpoint(folder: Path, state: dict[str, Any]) -> None:
    """Write the state to a new file and rename it over the old one, so that a killed process leaves one of them
    whole."""
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{FILE}.{os.getpid()}.part"
    try:
        with part.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(folder / FILE)
    finally:
        part.unlink(missing_ok=True)


def load_checkpoint(folder: Path) -> dict[str, Any] | None:
    """The last state on the CPU, or None. Only tensors, numbers and strings are read: no code is run."""
    import torch

    path = folder / FILE
    return torch.load(path, map_location="cpu", weights_only=True) if path.exists() else None


def forget_checkpoint(folder: Path) -> None:
    """Remove the state and what killed processes have left of it."""
    for path in folder.glob(f"{FILE}*"):
        path.unlink(missing_ok=True)
