"""Dataset formats in and out: one module per format, loaded when it is first asked for."""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from annotations.datasets.files import data_files
from annotations.records import ConversationRecord, Readable

# Format name -> module with `read(path)`, the `SUFFIXES` of its files, and `NUMBERED` where their order is by number.
READERS = {
    "mind2web": "annotations.datasets.mind2web",
    "mt-mind2web": "annotations.datasets.mt_mind2web",
    "miniwob-demos": "annotations.datasets.miniwob_demos",
    "jsonl": "annotations.datasets.jsonl",
}
# Format name -> module with `write(records, out)`.
WRITERS = {
    "mt-mind2web": "annotations.datasets.mt_mind2web",
    "mind2web": "annotations.datasets.mind2web",
    "jsonl": "annotations.datasets.jsonl",
}


def reader(name: str) -> Callable[[Path], Iterator[Readable]]:
    """The function that reads a file or folder of this format; raises ValueError for an unknown name."""
    return import_module(_chosen(READERS, name, "read")).read


def writer(name: str) -> Callable[[Iterable[ConversationRecord], BinaryIO], int]:
    """The function that writes conversations in this format and counts them; raises ValueError for an unknown name."""
    return import_module(_chosen(WRITERS, name, "write")).write


def files_of(name: str, path: Path) -> list[Path]:
    """The files that `reader(name)` would read at `path`, in its order; raises as `reader` and `data_files` do."""
    module = import_module(_chosen(READERS, name, "read"))
    return data_files(path, module.SUFFIXES, getattr(module, "NUMBERED", False))


def _chosen(formats: dict[str, str], name: str, verb: str) -> str:
    if name not in formats:
        raise ValueError(f"cannot {verb} the format {name!r}; choose one of {', '.join(sorted(formats))}")
    return formats[name]
