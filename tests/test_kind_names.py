"""Kinds of stages are found in the registry and asked what they can: nobody else goes by their names."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.stages.registry import KINDS, NOTHING

ROOT = Path(__file__).resolve().parent.parent
NAMES = {name for by_value in KINDS.values() for name in by_value} - {*NOTHING, "True"}
CHOOSING = {tuple(setting.split(".")) for setting in KINDS}
# A planner that says itself what it goes with; kinds of imagine and what stands in for one of them.
KNOWN = {
    "agents/stages/plan/following.py",
    "agents/cookbook/checking.py",
    "agents/cookbook/starters.py",
}


def told_by_name(source: str) -> Iterator[int]:
    """Lines where the value of a setting that chooses a kind is compared with the name of one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and any(map(_chooses, _parts(node))) and any(map(_names, _parts(node))):
            yield node.lineno


def _parts(node: ast.Compare) -> list[ast.expr]:
    return [node.left, *node.comparators]


def _chooses(part: ast.expr) -> bool:
    """`recipe.plan.kind`, `plan.kind`."""
    if not isinstance(part, ast.Attribute):
        return False
    owner = part.value
    of = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return (of, part.attr) in CHOOSING


def _names(part: ast.expr) -> bool:
    return any(isinstance(one, ast.Constant) and one.value in NAMES for one in ast.walk(part))


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("if recipe.plan.kind == 'grounded': ...", [1]),
        ("x = 1\ny = plan.kind in ('first', 'grounded')", [2]),
        ("'dmr' != self.recipe.rank.kind", [1]),
        ("recipe.recall.memory == 'none'", []),
        ("recipe.plan.backend == 'local'", []),
        ("model.kind == 'grounded'", []),
    ],
)
def test_a_comparison_with_a_kinds_name_is_seen(source: str, lines: list[int]) -> None:
    assert list(told_by_name(source)) == lines


@pytest.mark.slow
def test_nobody_goes_by_the_names_of_kinds() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for wing in ("agents", "evaluation", "annotations", "webnav_site")
        for path in (ROOT / wing).rglob("*.py")
        if "migrations" not in path.parts
        for line in told_by_name(path.read_text("utf-8"))
    }
    assert {place for place in found if place.partition(":")[0] not in KNOWN} == set()
