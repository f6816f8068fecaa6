"""Every regular expression of the product takes time in proportion to its text, whatever the text is.

The patterns are read from the syntax trees, so that a new one is tried without being named here. Each meets texts made
from its own parts: what it repeats, repeated, with what comes before it and something that it cannot end with behind.
"""

import ast
import re
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parse  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import pytest

from tests.quick import first_is_quick

ROOT = Path(__file__).parent.parent
APPS = ("annotations", "agents", "evaluation", "webnav_site")
# How often a part is repeated: a quadratic pattern takes a second for the longest text, a linear one a thousandth of
# that; the short ones come first, so that an exponential one is known before it hangs.
SIZES = (20, 23, 400, 3_000, 12_000)
MAX_CHARS = 300_000
SECONDS = 0.4
METHODS = {"match", "search", "fullmatch", "findall", "finditer", "sub", "subn", "split"}
# What files without patterns do not hold: reading the syntax trees of all took each process a second.
MAYBE = re.compile(rb"\bre\.(?:compile|%s)\(" % "|".join(sorted(METHODS)).encode())
# Patterns that only meet our own files.
OWN_FILES = {"annotations/desk/keys/keymaps.py", "annotations/sample/weblinx.py"}
# Patterns that only meet markup which lxml wrote: every bracket in it is closed, and on its line.
OF_MARKUP = {
    (place, pattern)
    for place in ("annotations/dom/text.py", "agents/weblinx/pruning.py")
    for pattern in ("<text>(.*?)</text>", "</(.+?)>", "<(.+?)>")
}
SHORT = {"agents/words/trajectory_parse.py": 3_000}  # characters that a module's patterns meet at most


class Pattern(NamedTuple):
    """A regular expression of the product, and how it is used: all of the methods when that cannot be told."""

    place: str
    text: str | bytes
    flags: int
    methods: frozenset[str]


def _patterns() -> Iterator[Pattern]:
    """Every pattern that is written as a constant, or put together of the module's constants."""
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if "migrations" in path.parts or place in OWN_FILES:
                continue
            source = path.read_bytes()
            if not MAYBE.search(source):
                continue
            nodes = list(ast.walk(ast.parse(source)))
            used = _uses(nodes)
            names = {
                value: name
                for node in nodes
                if isinstance(node, ast.Assign)
                for value, name in _assigned(node.targets[0], node.value)
            }
            texts = {name.id: value for name, value in _constants(nodes)}
            for node in nodes:
                if (
                    isinstance(node, ast.Call)
                    and _is_re(node.func)
                    and (text := _text(node.args[0], texts)) is not None
                ):
                    methods = (
                        used.get(names.get(node, ""), METHODS) if node.func.attr == "compile" else {node.func.attr}
                    )
                    if (place, text) in OF_MARKUP:
                        continue
                    yield Pattern(f"{place}:{node.lineno}", text, _flags(node), frozenset(methods))


def _constants(nodes: list[ast.AST]) -> Iterator[tuple[ast.Name, Any]]:
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name() as name], value=ast.Constant(value=str() | bytes() as text)):
                yield name, text


def _text(node: ast.expr, texts: dict[str, Any]) -> Any:
    """A pattern's text: a constant, the name of one, or several put together; None where that cannot be told."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return texts.get(node.id)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left, texts), _text(node.right, texts)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.FormattedValue) and node.conversion == -1 and node.format_spec is None:
        return _text(node.value, texts)
    if isinstance(node, ast.JoinedStr):
        parts = [_text(part, texts) for part in node.values]
        return None if None in parts else "".join(parts)
    return None


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(target, ast.Name):
        yield value, target.id
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for inner, given in zip(target.elts, value.elts, strict=True):
            yield from _assigned(inner, given)


def _uses(nodes: list[ast.AST]) -> dict[str, set[str]]:
    """Name -> the methods that are called of it; not those names that are handed on as they are."""
    called: dict[str, set[str]] = {}
    holders = set()
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            called.setdefault(node.value.id, set()).add(node.attr)
            holders.add(node.value)
    loose = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in holders
    }
    return {name: methods & METHODS for name, methods in called.items() if name not in loose and methods & METHODS}


def _is_re(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr in METHODS | {"compile"}
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
    )


def _flags(call: ast.Call) -> int:
    names = [
        node.attr
        for argument in [*call.args, *(k.value for k in call.keywords)]
        for node in ast.walk(argument)
        if isinstance(node, ast.Attribute) and node.attr.isupper()
    ]
    return sum({int(getattr(re, name)) for name in names if hasattr(re, name)})


def _sample(items: Any, repeats: int = 1) -> str:
    """A text that the parsed pattern is likely to match; every repetition as short as it may be, but not empty."""
    return "".join(_sample_one(*item, repeats) for item in items)


def _sample_one(kind: Any, value: Any, repeats: int) -> str:
    if kind is sre.LITERAL:
        return chr(value)
    if kind is sre.NOT_LITERAL:
        return "b" if value == ord("a") else "a"
    if kind is sre.ANY:
        return "a"
    if kind is sre.IN:
        return _of_set(value)
    if kind is sre.BRANCH:
        return _sample(value[1][0], repeats)
    if kind is sre.SUBPATTERN:
        return _sample(value[-1], repeats)
    if kind is sre.ATOMIC_GROUP:
        return _sample(value, repeats)
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return _sample(value[2], repeats) * max(value[0], 1)
    if kind is sre.ASSERT and value[0] > 0:
        return ""
    return ""


def _of_set(items: Any) -> str:
    """A character of a set: a common one where the set is a negated one."""
    if items[0][0] is sre.NEGATE:
        pattern = [("a", "a"), (" ", " "), ("0", "0")]
        return next((char for char, _ in pattern if not any(_has(item, char) for item in items[1:])), "~")
    return next((char for char in "a0 A-.," if any(_has(item, char) for item in items)), _first(items[0]))


def _has(item: Any, char: str) -> bool:
    kind, value = item
    if kind is sre.LITERAL:
        return chr(value) == char
    if kind is sre.RANGE:
        return value[0] <= ord(char) <= value[1]
    if kind is sre.CATEGORY:
        word, digit, space = char.isalnum() or char == "_", char.isdigit(), char.isspace()
        named = {"WORD": word, "DIGIT": digit, "SPACE": space}
        name = str(value).removeprefix("CATEGORY_")
        return not named[name[4:]] if name.startswith("NOT_") else named.get(name, False)
    return False


def _first(item: Any) -> str:
    kind, value = item
    return chr(value) if kind is sre.LITERAL else chr(value[0]) if kind is sre.RANGE else "a"


def _parts(items: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """(what comes before, what is repeated) for everything that the pattern repeats without a small limit."""
    for kind, value in items:
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            if value[1] > 1000:
                yield before, _sample(value[2])
            yield from _parts(value[2], before)
        elif kind is sre.SUBPATTERN:
            yield from _parts(value[-1], before)
        elif kind is sre.ATOMIC_GROUP:
            yield from _parts(value, before)
        elif kind is sre.BRANCH:
            for branch in value[1]:
                yield from _parts(branch, before)
        elif kind in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _parts(value[1], before)
        before += _sample_one(kind, value, 1)


def _hostile(pattern: str | bytes, flags: int, times: int) -> set[str]:
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    parsed = sre_parse.parse(text, flags)
    bodies = {"a", " ", "0", "<", "\n", _sample(parsed)}
    for before, repeated in _parts(parsed):
        bodies |= {repeated, before, before + repeated, repeated + " ", " " + repeated, repeated + "-", before + "-"}
    made = {body * min(times, MAX_CHARS // len(body)) for body in bodies if body}
    parts = [(before, repeated) for before, repeated in _parts(parsed) if before and repeated]
    made |= {before + repeated * min(times, MAX_CHARS // len(repeated)) for before, repeated in parts}
    return {text + end for text in made for end in ("", "\0")}


def seconds(pattern: Pattern, text: str) -> float:
    """What the slowest of the methods takes that the product calls."""
    compiled = re.compile(pattern.text, pattern.flags)
    given: Any = text.encode("utf-8", "replace") if isinstance(pattern.text, bytes) else text
    tried = {"finditer" if name in ("sub", "subn", "split", "findall") else name for name in pattern.methods}
    begun = time.thread_time()
    for name in tried:
        found = getattr(compiled, name)(given)
        if name == "finditer":
            deque(found, maxlen=0)
    return time.thread_time() - begun


def slow_text(pattern: Pattern) -> str:
    """How a text begins that the pattern takes too long for; "" when there is none."""
    for times in SIZES:
        for text in _hostile(pattern.text, pattern.flags, times):
            text = text[: SHORT.get(pattern.place.partition(":")[0])]
            took = seconds(pattern, text)
            if took > SECONDS:  # once more each: beside other work a processor is at times half as fast
                took = min(took, *(seconds(pattern, text) for _ in range(2)))
            if took > SECONDS:
                return f"{took:.2f} s for {len(text):,} characters {text[:30]!r} … {text[-5:]!r}"
    return ""


PATTERNS = list(_patterns())


@pytest.mark.parametrize("pattern", PATTERNS, ids=[pattern.place for pattern in PATTERNS])
def test_a_pattern_takes_time_in_proportion_to_the_text(pattern) -> None:
    assert slow_text(pattern) == ""


def test_patterns_put_together_of_constants_are_read() -> None:
    nodes = list(
        ast.walk(ast.parse('END = "b"\nre.compile(r"a*" + END)\nre.compile(f"{END}c")\nre.compile(END + other)'))
    )
    texts = {name.id: value for name, value in _constants(nodes)}
    calls = [node for node in nodes if isinstance(node, ast.Call) and _is_re(node.func)]
    assert [_text(call.args[0], texts) for call in calls] == ["a*b", "bc", None]


@pytest.mark.slow
@first_is_quick("text", [r"\s*<\?xml\s[^>]*\?>", r"\[\d\]\s*(.*?)\s*(?:;\s*)?(?=\[\d\]|$)", r"(\w+\s?)+!"])
def test_the_trial_knows_a_pattern_that_is_not_linear(text) -> None:
    assert slow_text(Pattern("", text, re.DOTALL, frozenset({"finditer"})))
