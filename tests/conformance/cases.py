"""Load conformance cases: inputs with the outputs that the published code gave."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def folder() -> Path:
    """`$CONFORMANCE_DIR`, by default the folder that lies beside the repository."""
    return Path(os.environ.get("CONFORMANCE_DIR", ROOT.parent / "shared" / "conformance"))


def load(name: str, group: str = "planners") -> list[Any]:
    """All cases of one file; raises FileNotFoundError when the folder does not have it."""
    return json.loads((folder() / group / f"{name}.json").read_text(encoding="utf-8"))


def params(name: str, group: str = "planners") -> list[Any]:
    """One pytest parameter per case (id = index); a single skipped one when the file is absent."""
    if not (folder() / group / f"{name}.json").exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{name}.json is not in {folder() / group}"))]
    return [pytest.param(case, id=str(index)) for index, case in enumerate(load(name, group))]
