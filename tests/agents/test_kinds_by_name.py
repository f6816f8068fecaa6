"""What a kind of a stage can do, it says itself: nobody outside the registry asks for one by its name."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.stages.registry import KINDS

ROOT = Path(__file__).resolve().parents[2]
FIELDS = {setting.partition(".")[2] for setting in KINDS}
NAMES = {name for by_name in KINDS.values() for name in by_name} - {"none"}
FILES = sorted(path for room in ("agents", "evaluation") for path in (ROOT / room).rglob("*.py"))


def asked_by_name(source: str) -> list[str]:
    """Comparisons of a setting that chooses a kind (`….kind`, `recall.memory`), or of a set, with the name of one."""
    tree = ast.parse(source)
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Match):
            sides = [node.subject, *(case.pattern for case in node.cases)]  # type: ignore[list-item]
        else:
            continue
        if any(_chooses(side) for side in sides):
            named = {text for side in sides for text in _texts(side, constants)}
            found += [f"{ast.unparse(sides[0])}: {name}" for name in sorted(named & NAMES)]
    return found


def _chooses(side: ast.AST) -> bool:
    return isinstance(side, ast.Set) or (isinstance(side, ast.Attribute) and side.attr in FIELDS)


def _texts(side: ast.AST, constants: dict[str, ast.expr]) -> Iterator[str]:
    """The texts that stand in an expression, also by the name of a constant of its module."""
    if isinstance(side, ast.Name) and side.id in constants:
        side = constants[side.id]
    for node in ast.walk(side):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.slow
def test_no_kind_is_asked_for_by_its_name() -> None:
    assert len(FILES) > 200
    found = {str(path.relative_to(ROOT)): asked_by_name(path.read_text("utf-8")) for path in FILES}
    assert {path: hits for path, hits in found.items() if hits} == {}


@pytest.mark.parametrize(
    "source",
    [
        "recipe.imagine.kind == 'world_model'",
        "settings.kind in ('trained', 'retrieval')",
        "OWN = ('trained', 'retrieval')\nif settings.kind not in OWN: pass",
        "ONE = 'dual_encoder'\nx = '' if recipe.rank.kind != ONE else 'no'",
        "planners(runs) == {'action_string'}",
        "match recipe.plan.kind:\n    case 'grounded': pass",
    ],
)
def test_such_a_question_is_found_however_it_is_written(source: str) -> None:
    assert asked_by_name(source)


def test_whether_any_kind_is_chosen_may_be_asked() -> None:
    assert asked_by_name("recipe.imagine.kind != 'none' and before.imagine.kind != recipe.imagine.kind") == []
