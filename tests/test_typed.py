"""What the type checker is kept from seeing: how many types say `Any`, or are not said at all, which is the same, and
how many lines it passes over. Neither number grows."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache

from tests.test_imports import APPS, modules

# By app: types that are `Any`, as a whole or as one of several, or are left out, of arguments and results, and those of
# variables; what is in a dictionary of JSON is not counted. Lower a number when one gets its type; none is raised.
ANYTHING = {"annotations": 242, "agents": 201, "evaluation": 50, "webnav_site": 100}
# By app: lines that the type checker passes over.
PASSED_OVER = {"annotations": 5, "agents": 10, "evaluation": 4, "webnav_site": 1}
PEOPLE = {"user", "person", "reviewer", "author", "annotator", "by", "who", "asker"}


def types_of(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """(name, type) of arguments, of results, by the function's name, and of variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            yield node.arg, node.annotation
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            yield node.name, node.returns
        elif isinstance(node, ast.AnnAssign):
            yield ast.unparse(node.target), node.annotation


def left_out(tree: ast.AST) -> Iterator[str]:
    """Names of arguments without a type, and of functions without that of their result: the checker takes them for
    `Any`. Those of an instance, a class and what makes one have theirs by what they are."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first, *others = [*node.args.posonlyargs, *node.args.args] or [ast.arg("self")]
            bare = [first] if first.arg not in ("self", "cls") else []
            bare += [*others, *node.args.kwonlyargs, *filter(None, (node.args.vararg, node.args.kwarg))]
            yield from (argument.arg for argument in bare if argument.annotation is None)
            if node.returns is None and node.name != "__init__":
                yield node.name


def is_anything(annotation: ast.expr) -> bool:
    """Whether a type is `Any`, or is so in one of its cases; in quotes, too."""
    written = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    return isinstance(written, str) and bool({"Any", "typing.Any"} & set(re.split(r"\s*\|\s*", written)))


def of_anything(source: str) -> list[str]:
    """Names of what may be anything, by its type."""
    tree = ast.parse(source)
    return [name for name, annotation in types_of(tree) if is_anything(annotation)] + list(left_out(tree))


def passed_over(source: str) -> int:
    """Lines that the type checker is told to pass over; a file that it is told to pass over is all of its lines."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    if any(re.match(r"#\s*mypy:", token.string) for token in comments):
        return source.count("\n")
    return sum(bool(re.search(r"#\s*type:\s*ignore", token.string)) for token in comments)


@cache
def by_app() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {app: [] for app in APPS}
    for name, path in modules().items():
        found[name.partition(".")[0]].append(path.read_text("utf-8"))
    return found


def test_no_more_types_say_anything() -> None:
    found = {app: sum(len(of_anything(text)) for text in texts) for app, texts in by_app().items()}
    assert {app: count for app, count in found.items() if count > ANYTHING[app]} == {}


def test_no_more_lines_are_passed_over() -> None:
    found = {app: sum(map(passed_over, texts)) for app, texts in by_app().items()}
    assert {app: count for app, count in found.items() if count > PASSED_OVER[app]} == {}


def test_people_have_their_type() -> None:
    """An account, or somebody who is not signed in (`annotations.models.accounts.projects.User`)."""
    assert PEOPLE & {name for texts in by_app().values() for text in texts for name in of_anything(text)} == set()


def test_a_type_that_says_anything_is_found() -> None:
    source = """
def give(user: Any, rows: "Any | None", said: dict[str, Any], *args: Run, **kwargs: Any) -> Any: ...


class Row:
    person: typing.Any
    made: list[Any] = []
"""
    assert sorted(of_anything(source)) == ["give", "kwargs", "person", "rows", "user"]


def test_a_type_that_is_left_out_is_found() -> None:
    source = """
def give(user, rows: list[int], *args, by=None, **kwargs) -> None: ...


async def wait(): ...


class Row:
    def __init__(self, made: int): ...

    def told(self, who) -> None:
        later = lambda person: person

    @classmethod
    def of(cls, /, row: int = 0) -> None: ...

    @staticmethod
    def by(author) -> None: ...
"""
    assert sorted(of_anything(source)) == ["args", "author", "by", "kwargs", "user", "wait", "who"]


def test_a_line_that_is_passed_over_is_found() -> None:
    kept = "# type" + ": ignore"
    assert passed_over(f"a = 1  {kept}[misc]  # why\nb = 2  #type:ignore\nc = '{kept}'\n") == 2
    assert passed_over("# mypy: ignore-errors\n\na = 1\n") == 3
