"""What a kind of a stage can do, it says itself: nobody asks for one by its name."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from agents.recipes.kinds import KINDS

ROOT = Path(__file__).resolve().parents[2]
FIELDS = {setting.partition(".")[2] for setting in KINDS}
NAMES = {name for by_name in KINDS.values() for name in by_name} - {"none", "True"}
# Names of kinds that are words for other things too: asked for beside a setting that chooses a kind.
WORDS = {"close", "environment", "first", "fixed", "image", "own", "policy", "program", "text", "trajectory"}
WORDS |= {"world_model"}
ROOMS = ("agents", "evaluation")
FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py") if path.parent.name != "migrations")


def asked_by_name(source: str, elsewhere: Mapping[str, ast.expr] | None = None) -> list[str]:
    """Where what is at hand is compared with the name of a kind, written out or by a constant of the module or one that
    it imports (`elsewhere`: by module and name, as `agents.x.NAME`), or taken from a set by it. With a name that is
    also another word, where the other side is a setting that chooses a kind (`….kind`, `recall.memory`,
    `.get("kind")`), or a set."""
    tree = ast.parse(source)
    constants = _constants(tree)
    for node in ast.walk(tree):
        for alias in node.names if isinstance(node, ast.ImportFrom) and elsewhere else ():
            if (value := elsewhere.get(f"{node.module}.{alias.name}")) is not None:
                constants[alias.asname or alias.name] = value
    found = [f"{ast.unparse(call.func)}({given.arg}={given.value.value!r})" for call, given in _given(tree)]
    for node in ast.walk(tree):
        sides = _sides(node)
        named = {text for side in sides for text in _texts(side, constants)} & NAMES
        if not any(_chooses(side) for side in sides):
            named -= WORDS
        found += [f"{ast.unparse(sides[0])}: {name}" for name in sorted(named)]
    return found


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    return {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and _is_literal(node.value)
    }


def _sides(node: ast.AST) -> list[ast.AST]:
    """What is compared with what; nothing of what is no comparison."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Match):
        return [node.subject, *(case.pattern for case in node.cases)]
    is_set = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.BitAnd)
    return [node.left, node.right] if is_set else []  # type: ignore[attr-defined]


def _given(tree: ast.Module) -> Iterator[tuple[ast.Call, ast.keyword]]:
    """The name of a kind, given to a call by a key that chooses one: rows are looked up by it, or a trace says it. What
    declares recipes names the kinds of each."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    for call in calls:
        for given in [] if ast.unparse(call.func).endswith(("Settings", "_derived")) else call.keywords:
            path, _, field = (given.arg or "").rpartition("__")
            if field in FIELDS and _text(given.value) in (NAMES if path else NAMES - WORDS):
                yield call, given


def _is_literal(value: ast.expr) -> bool:
    """Whether it is written out: a text, or a collection of texts."""
    return isinstance(value, ast.Constant | ast.Tuple | ast.List | ast.Set) or (
        isinstance(value, ast.Call) and ast.unparse(value.func) == "frozenset"
    )


def _chooses(side: ast.AST) -> bool:
    """Whether it is a set of names of kinds, or a setting that chooses one, of a recipe or of one as it is stored."""
    if isinstance(side, ast.Call) and isinstance(side.func, ast.Attribute) and side.func.attr == "get":
        return bool(side.args) and _is_field(side.args[0])
    if isinstance(side, ast.Subscript):
        return _is_field(side.slice)
    if isinstance(side, ast.Set):
        return set(map(_text, side.elts)) <= NAMES
    return isinstance(side, ast.Attribute) and side.attr in FIELDS


def _text(side: ast.AST) -> object:
    return side.value if isinstance(side, ast.Constant) else None


def _is_field(key: ast.AST) -> bool:
    return _text(key) in FIELDS


def _texts(side: ast.AST, constants: dict[str, ast.expr]) -> Iterator[str]:
    """The texts that stand in an expression, also by the name of a constant."""
    if isinstance(side, ast.Name) and side.id in constants:
        side = constants[side.id]
    if isinstance(side, ast.Call | ast.Subscript) and not _is_literal(side):
        return  # a text in it is an argument or a key
    for node in ast.walk(side):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.slow
def test_no_kind_is_asked_for_by_its_name() -> None:
    assert len(FILES) > 200
    sources = {path.relative_to(ROOT): path.read_text("utf-8") for path in FILES}
    elsewhere = {
        f"{'.'.join(path.with_suffix('').parts)}.{name}": value
        for path, source in sources.items()
        for name, value in _constants(ast.parse(source)).items()
    }
    found = {str(path): asked_by_name(source, elsewhere) for path, source in sources.items()}
    assert {path: hits for path, hits in found.items() if hits} == {}


@pytest.mark.parametrize(
    "source",
    [
        "recipe.imagine.kind == 'world_model'",
        "settings.kind in ('trained', 'retrieval')",
        "OWN = ('trained', 'retrieval')\nif settings.kind not in OWN: pass",
        "OWN = frozenset({'trained', 'retrieval'})\nif settings.kind not in OWN: pass",
        "ONE = 'dual_encoder'\nx = '' if recipe.rank.kind != ONE else 'no'",
        "planners(runs) == {'action_string'}",
        "kinds = planners(runs) - {'first'}",
        "self.recipe.get('plan', {}).get('kind') == 'first'",
        "stored['plan']['kind'] == 'first'",
        "match recipe.plan.kind:\n    case 'grounded': pass",
        "def shown(paradigm):\n    return 'A.' if paradigm == 'multichoice' else 'None'",
        "def shown(paradigm):\n    if paradigm == 'generation': pass",
        "NAME = 'multichoice'\ndef shown(paradigm):\n    return paradigm == NAME",
        "def shown(paradigm):\n    name = 'multichoice'\n    return name != paradigm",
        "'action_string' in names_of(runs)",
        "rows.exclude(trace__imagine__kind='value_only')",
        "state.note('plan', kind='action_string', reply=text)",
    ],
)
def test_such_a_question_is_found_however_it_is_written(source: str) -> None:
    assert asked_by_name(source)


@pytest.mark.parametrize(
    "source",
    [
        "recipe.imagine.kind != 'none' and before.imagine.kind != recipe.imagine.kind",
        "element.tag == 'text'",
        "abstraction == 'program'",
        "fields = allowed - {'tasks', 'environment'}",
        "KINDS = {'plan.kind': {'multichoice': MultipleChoice}}",
    ],
)
def test_other_questions_may_be_asked(source: str) -> None:
    assert asked_by_name(source) == []


def test_a_constant_of_another_module_is_followed() -> None:
    elsewhere = {"agents.a.RANKERS": ast.parse("('cross_encoder', 'dual_encoder')", mode="eval").body}
    source = "from agents.a import RANKERS as THESE\nif kind in THESE: pass"
    assert asked_by_name(source, elsewhere)
    assert asked_by_name(source) == []
