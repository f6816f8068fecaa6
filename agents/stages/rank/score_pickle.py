"""Reads a pickle of plain data and refuses every other one. Core; only `manage.py convert_scores` uses it.

A pickle is a program for a small machine. Here every instruction is read first (`pickletools.genops`, which runs
nothing) and must be one of those that make dicts, texts and numbers; only then is it loaded, by an unpickler that
finds no class at all.
"""

import pickle  # every instruction is checked before it is loaded  # nosec B403
import pickletools  # nosec B403
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

LIMIT = 4 * 1024**3  # bytes of a file; the published one of all Mind2Web splits is smaller by far
DEPTH = 4  # {"scores": {step: {candidate: number}}}, with one to spare

_ALLOWED = frozenset(
    "PROTO FRAME STOP MARK EMPTY_DICT DICT SETITEM SETITEMS "
    "UNICODE SHORT_BINUNICODE BINUNICODE BINUNICODE8 FLOAT BINFLOAT INT BININT BININT1 BININT2 LONG LONG1 LONG4 "
    "PUT BINPUT LONG_BINPUT MEMOIZE GET BINGET LONG_BINGET".split()
)


class _NoClasses(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it names {module}.{name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise pickle.UnpicklingError("it names a persistent object")


def read_pickle(path: Path, limit: int = LIMIT) -> Any:
    """The dicts, texts and numbers of a pickle. ValueError for anything else, a file over `limit` bytes, or a broken
    one; then nothing of it was made."""
    size = path.stat().st_size
    if size > limit:
        raise ValueError(f"it has {size:,} bytes, more than the {limit:,} that are read")
    try:
        instructions = _inspect(path)
        with path.open("rb") as file:
            content = _NoClasses(file).load()
    except (pickle.UnpicklingError, EOFError, IndexError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"it is broken: {error}") from error
    if _count(content, DEPTH, instructions) > instructions:
        raise ValueError("its dicts repeat each other")
    return content


def _inspect(path: Path) -> int:
    """The number of instructions, all of them harmless; runs none."""
    count = 0
    with path.open("rb") as file:
        for instruction, argument, place in pickletools.genops(file):
            count += 1
            if instruction.name not in _ALLOWED:
                what = f" {argument!r}" if argument is not None else ""
                raise ValueError(f"instruction {instruction.name}{what} at byte {place}: not plain data")
            room = argument if instruction.name.endswith("PUT") else 0
            if isinstance(room, int) and room > count:  # so much would be made
                raise ValueError(f"instruction {instruction.name} {argument} at byte {place}: not in order")
        if file.read(1):
            raise ValueError("more follows after the end of the pickle")
    return count


def _count(content: Any, depth: int, limit: int) -> int:
    """The number of values, at most about `limit`. ValueError for a key that is no text, for any other kind of value,
    and for dicts deeper than `depth`, which one that holds itself is as well."""
    if not isinstance(content, Mapping):
        if not isinstance(content, str | int | float):
            raise ValueError(f"it holds a {type(content).__name__}")
        return 1
    if depth == 0:
        raise ValueError("its dicts lie too deep within each other")
    total = 1
    for key, value in content.items():
        if not isinstance(key, str):
            raise ValueError(f"the key {key!r} is not a text")
        total += _count(value, depth - 1, limit - total)
        if total > limit:
            break
    return total
