"""Dataset formats in and out: one module per format, loaded when it is first asked for.

May import `dom` and `sandbox`.
"""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

from annotations.datasets.files import data_files
from annotations.datasets.records import ConversationRecord, Readable
from annotations.extensions import DATASETS, added

# Format name -> module with `read(path)`, the `SUFFIXES` of its files, and `NUMBERED` where their order is by number;
# `files(path)` where what is read one after the other are folders.
READERS = {
    "mind2web": "annotations.datasets.mind2web",
    "mt-mind2web": "annotations.datasets.mt_mind2web",
    "miniwob-demos": "annotations.datasets.miniwob_demos",
    "weblinx": "annotations.datasets.weblinx.folders",
    "jsonl": "annotations.datasets.jsonl",
} | {name: point.value for name, point in added(DATASETS).items()}
# Format name -> module with `write(records, out)`, or `write_folder(records, out)` where a conversation is a folder.
WRITERS = {
    "mt-mind2web": "annotations.datasets.mt_mind2web",
    "mind2web": "annotations.datasets.mind2web",
    "weblinx": "annotations.datasets.weblinx.folders",
    "jsonl": "annotations.datasets.jsonl",
}


def reader(name: str) -> Callable[[Path], Iterator[Readable]]:
    """The function that reads a file or folder of this format; raises ValueError for an unknown name."""
    read: Callable[[Path], Iterator[Readable]] = import_module(_chosen(READERS, name, "read")).read
    return read


def writer(name: str) -> Callable[[Iterable[ConversationRecord], BinaryIO], int]:
    """The function that writes conversations in this format and counts them.

    Raises ValueError for an unknown name and for a format that is a folder per conversation (`folder_writer`).
    """
    module = import_module(_chosen(WRITERS, name, "write"))
    if not hasattr(module, "write"):
        raise ValueError(f"{name} has a folder per conversation and cannot be written as one file")
    write: Callable[[Iterable[ConversationRecord], BinaryIO], int] = module.write
    return write


def folder_writer(name: str) -> Callable[..., int] | None:
    """The function that writes conversations as folders, for the formats that are some; ValueError as for `writer`."""
    return getattr(import_module(_chosen(WRITERS, name, "write")), "write_folder", None)


def files_of(name: str, path: Path) -> list[Path]:
    """The files that `reader(name)` would read at `path`, in its order; raises as `reader` and `data_files` do.

    They are folders where a format keeps a conversation in one.
    """
    module = import_module(_chosen(READERS, name, "read"))
    if hasattr(module, "files"):
        found: list[Path] = module.files(path)
        return found
    return data_files(path, module.SUFFIXES, getattr(module, "NUMBERED", False))


def _chosen(formats: dict[str, str], name: str, verb: str) -> str:
    if name not in formats:
        raise ValueError(f"cannot {verb} the format {name!r}; choose one of {', '.join(sorted(formats))}")
    return formats[name]
