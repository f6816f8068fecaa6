"""Where a training stands, in one file that is either whole or absent. Core."""

import os
from pathlib import Path
from typing import Any

FILE = "checkpoint.pt"


def save_checkpoint(folder: Path, state: dict[str, Any]) -> None:
    """Write the state beside the old file, then rename it: a killed process leaves the old or the new one whole."""
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
    """The last state on the CPU, or None. Tensors, numbers and strings only: no code is run."""
    import torch

    path = folder / FILE
    return torch.load(path, map_location="cpu", weights_only=True) if path.exists() else None


def forget_checkpoint(folder: Path) -> None:
    """Remove the state and what killed processes have left of it."""
    for path in folder.glob(f"{FILE}*"):
        path.unlink(missing_ok=True)
