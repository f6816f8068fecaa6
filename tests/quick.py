"""One case for many: `make test` runs the first of them, the others are marked slow, and CI runs all."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_is_quick(names: str | tuple[str, ...], values: Iterable[Any], **options: Any) -> pytest.MarkDecorator:
    """`pytest.mark.parametrize`, with all cases but the first marked slow."""
    alone = isinstance(names, str) and "," not in names
    first, *others = values
    return pytest.mark.parametrize(names, [first, *(slow(value, alone) for value in others)], **options)


def slow(value: Any, alone: bool) -> Any:
    """A case of `parametrize`, marked so; it is one argument `alone`, or a sequence of several."""
    if hasattr(value, "marks"):  # made by pytest.param
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.slow], id=value.id)
    return pytest.param(*((value,) if alone else value), marks=pytest.mark.slow)
