"""What other packages add, by entry point: kinds of stages and their settings, metrics, scanners of failures,
judges, readers of datasets. Core.

Each is named in the package's `pyproject.toml` under `[project.entry-points."GROUP"]`; `docs/extending.md` shows how.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple

Registry = dict[str, Any]  # name -> what is registered

STAGES, METRICS, DATASETS = "webnav.stages", "webnav.metrics", "webnav.datasets"
SCANNERS = "webnav.scanners"
ASKING_SCANNERS = "webnav.scanners.asking"
JUDGES = "webnav.judges"
SETTINGS = "webnav.settings"  # of the kinds of stages


class ToLoad(NamedTuple):
    """What is yet to be loaded into a registry."""

    registry: Registry
    point: EntryPoint
    made_by: Callable[..., object]


_waiting: list[ToLoad] = []
_loading: list[str] = []  # the modules that are imported here at the moment


@cache
def added(group: str) -> dict[str, EntryPoint]:
    """Name -> entry point of everything that installed packages add to this group; nothing of it is imported yet.
    ValueError where two packages add the same name."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        if found.setdefault(point.name, point).value != point.value:
            raise ValueError(f"two packages add {point.name!r} to {group}: {found[point.name].value}, {point.value}")
    return found


def added_kinds(setting: str) -> tuple[str, ...]:
    """The kinds that other packages add to the choices of a setting (`plan.kind`)."""
    return tuple(name.rpartition(".")[2] for name in added(STAGES) if name.rpartition(".")[0] == setting)


def load_into(registry: Registry, group: str, made_by: Callable[..., object] = lambda found: found) -> tuple[str, ...]:
    """Load what installed packages add to a group into its registry, whose own names cannot be replaced; their names.

    A module that holds a metric and a scanner imports the second registry while the first loads it: what the second
    wants of it waits until it is imported. ImportError where somebody else imports it at the moment, as a shell may.
    """
    names = tuple(name for name in added(group) if name not in registry)
    _waiting.extend(ToLoad(registry, added(group)[name], made_by) for name in names)
    while ready := [one for one in _waiting if one.point.module not in _loading]:
        _load(ready[0], group)
    return names


def _load(one: ToLoad, group: str) -> None:
    module = one.point.module
    if getattr(getattr(sys.modules.get(module), "__spec__", None), "_initializing", False):
        registry = f"evaluation.{group.removeprefix('webnav.')}"
        raise ImportError(f"{module} is imported before {registry}, which loads it: import that first")
    _waiting.remove(one)
    _loading.append(module)
    try:
        one.registry[one.point.name] = one.made_by(one.point.load())
    finally:
        _loading.remove(module)
