"""Load conformance cases: inputs with the outputs that the published code gave."""

import json
import lzma
import os
from pathlib import Path
from typing import Any

import pytest

from tests.beside import needs_shared

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).with_name("data")  # what may lie in the repository: its README says which cases those are


def folder() -> Path:
    """`$CONFORMANCE_DIR`, by default the folder that lies beside the repository. One that is named and is not there is
    an error: the copies that are kept here would pass in its place."""
    named = os.environ.get("CONFORMANCE_DIR")
    if named and not Path(named).is_dir():
        raise pytest.UsageError(f"CONFORMANCE_DIR names {named}, which is no folder")
    return Path(named) if named else ROOT.parent / "shared" / "conformance"


def recorded(name: str, group: str) -> Path:
    """The file of that folder, whether it is there or not."""
    return folder() / group / f"{name}.json"


def load(name: str, group: str = "planners", *keys: str) -> Any:
    """All cases of one file, of the list under `keys` where it holds several; of the repository's own copy where the
    folder has none. FileNotFoundError or KeyError when neither has them."""
    path = recorded(name, group)
    if path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
    else:
        found = json.loads(lzma.decompress((KEPT / group / f"{name}.json.xz").read_bytes()))
    for key in keys:
        found = found[key]
    return found


def params(name: str, group: str = "planners", *keys: str) -> list[Any]:
    """One pytest parameter per case (id = index); a single skipped one when there are none."""
    try:
        cases = load(name, group, *keys)
    except (FileNotFoundError, KeyError):
        what = " ".join((f"{name}.json", *keys))
        return [pytest.param(None, marks=needs_shared(f"{what} is not in {folder() / group}, and is not kept here"))]
    return [pytest.param(case, id=str(index)) for index, case in enumerate(cases)]


def first_quick(name: str, quick: int = 8) -> list[Any]:
    """The same, of which all but the first are slow."""
    return [
        pytest.param(*case.values, id=case.id, marks=[*case.marks, *([pytest.mark.slow] if place >= quick else [])])
        for place, case in enumerate(params(name))
    ]
