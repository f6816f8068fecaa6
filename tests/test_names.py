"""Names: no two types share one, stop words are listed once, and docstrings name files that are there."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

import pytest

from annotations.text.amounts import amount
from annotations.text.stop_words import NO_TOPIC
from tests.parsed_sources import parsed
from tests.test_imports import CORE, ROOT, is_core, modules

EVERYWHERE = {"Command"}  # Django asks for this name in every management command
CAPITALISED = re.compile(r"_?[A-Z]+[a-z]\w*")  # a type by its name; CONSTANTS are none


@pytest.fixture(scope="module", autouse=True)
def _forget_trees() -> Iterator[None]:
    """They take 170 MB."""
    yield
    parsed.cache_clear()


def type_names(source: str) -> list[str]:
    """The types that a module offers: classes, and names like `Row = dict[str, int]` that stand for one."""
    return [name for node in parsed(source).body for name in _types_named_by(node)]


def _types_named_by(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    each = [one for target in targets for one in getattr(target, "elts", [target])]  # `A, B = …` names both
    names = [target.id for target in each if isinstance(target, ast.Name)]
    return [name for name in names if CAPITALISED.fullmatch(name)]


def hidden_types(node: ast.AST, is_local: bool = False) -> Iterator[str]:
    """Those that stand in a function or a branch of a module. What lies in a class, `names_used_inside` reads."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            if not isinstance(node, ast.Module):
                yield child.name
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from hidden_types(child, is_local=True)
        else:
            if isinstance(child, ast.stmt) and not isinstance(node, ast.Module) and not is_local:
                yield from _types_named_by(child)
            yield from hidden_types(child, is_local)


def shared_names(sources: dict[str, str]) -> dict[str, list[str]]:
    """Name of a type -> the modules that have it, for names that more than one module has. An underscore in front makes
    no other name of it."""
    homes = defaultdict(list)
    for module, source in sources.items():
        # A name that two branches give is one name.
        found = (*type_names(source), *hidden_types(ast.parse(source)))
        for name in dict.fromkeys(name.lstrip("_") for name in found):
            homes[name].append(module)
    return {name: places for name, places in homes.items() if len(places) > 1 and name not in EVERYWHERE}


def test_no_name_of_a_type_is_there_twice() -> None:
    assert shared_names({module: path.read_text("utf-8") for module, path in modules().items()}) == {}


# Of a script: its classes, and the types that its comments name, but for those that they take from another script.
SCRIPT_CLASS = re.compile(r"^\s*(?:export )?class (\w+)", re.M)
DECLARED = re.compile(r"^(?:interface|type) (\w+)", re.M)
LONGEST_UNNAMED = 110  # characters of a type that a comment says where it is used, and of one member of a named one


def types_said(source: str) -> Iterator[tuple[str, str, str]]:
    """(tag, type, the word after it) of what the comments of a script say of types, braces within one included."""
    for comment in re.findall(r"/\*\*.*?\*/", source, re.S):
        for tag in re.finditer(r"@(typedef|type|param|returns?) *\{", comment):
            end, depth = tag.end(), 1
            while depth and end < len(comment):
                depth += {"{": 1, "}": -1}.get(comment[end], 0)
                end += 1
            yield tag[1], comment[tag.end() : end - 1], (re.findall(r"\w+", comment[end:]) or [""])[0]


def script_types(source: str) -> set[str]:
    named = {name for tag, said, name in types_said(source) if tag == "typedef" and not said.startswith("import(")}
    return {*SCRIPT_CLASS.findall(source), *DECLARED.findall(source), *named}


def unnamed_types(source: str) -> list[str]:
    """Types that are too long to be read where they are used, and lines of named ones that say more than one thing."""
    each = [(tag, [line.strip(" *") for line in said.split("\n")]) for tag, said, _ in types_said(source)]
    texts = [text for tag, lines in each for text in (lines if tag == "typedef" else [" ".join(lines)])]
    return [text for text in texts if len(text) > LONGEST_UNNAMED]


def scripts() -> dict[str, str]:
    folders = ("static/js", "annotations", "agents")
    paths = [*(path for folder in folders for path in (ROOT / folder).rglob("*.js")), *ROOT.glob(".ci/*.d.ts")]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


def test_no_name_of_a_type_is_there_twice_in_scripts() -> None:
    homes = defaultdict(list)
    for path, text in scripts().items():
        for name in script_types(text):
            homes[name].append(path)
    assert len(homes) > 50
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_a_long_type_of_a_script_has_a_name() -> None:
    assert {path: found for path, text in scripts().items() if (found := unnamed_types(text))} == {}


def test_types_of_a_script_are_read() -> None:
    script = """
    export class Saver {
    /** @typedef {{id: string, at: {step: number}}} Edit what was typed */
    /** @typedef {import("./a.js").Mention} Mention */
    /** @typedef {"ok" | "bad"} StepState */
    /**
     * @typedef {{
     *   id: string,
     * }} Told
     */
    """
    assert script_types(script) == {"Saver", "Edit", "StepState", "Told"}
    long = ", ".join(f"word_{place}: string" for place in range(8))
    assert unnamed_types(f"/** Told of. @param {{{{{long}}}}} options */\n/** @type {{string}} */") == [f"{{{long}}}"]
    assert unnamed_types(f"/** @typedef {{{{{long}}}}} Options */") == [f"{{{long}}}"]
    assert unnamed_types("/**\n * @typedef {{\n" + long.replace(", ", ",\n *  ") + ",\n * }} Options\n */") == []


DJANGOS = {"Meta"}  # what Django reads of a class, no type


def classes_within(node: ast.AST, outer: ast.ClassDef | None = None) -> Iterator[tuple[str, bool]]:
    """(name, whether it lists the values of a column) of the classes below a node that lie inside another."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef) and outer and child.name not in DJANGOS:
            columns = {one.id for part in outer.body for one in ast.walk(part) if isinstance(one, ast.Name)}
            is_column = any(ast.unparse(base).endswith("Choices") for base in child.bases)
            yield child.name, is_column and child.name.lower() in columns
        yield from classes_within(child, child if isinstance(child, ast.ClassDef) else outer)


def names_used_inside(sources: dict[str, str]) -> list[tuple[str, str]]:
    """(module, name) of classes inside another whose name a module has too, or a class inside yet another. Several
    rows may list the values of a column of the same name, as `State` for `state`: docs/words.md says so."""
    within = [(module, *found) for module, source in sources.items() for found in classes_within(parsed(source))]
    # A class of a module makes its name a shared one; lists of values of a column count as one class together.
    known = Counter(
        {name: 2 for source in sources.values() for name in {*classes_of(source), *hidden_types(ast.parse(source))}}
    )
    known.update(dict.fromkeys({name for _, name, is_column in within if is_column}, 1))
    known.update(name for _, name, is_column in within if not is_column)
    return [(module, name) for module, name, _ in within if known[name] > 1]


def classes_of(source: str) -> set[str]:
    """The classes of a module; `State = Item.State` is no other."""
    return {node.name for node in parsed(source).body if isinstance(node, ast.ClassDef)}


def test_no_class_inside_another_has_the_name_of_a_third() -> None:
    sources = {module: path.read_text("utf-8") for module, path in modules().items()}
    assert names_used_inside(sources) == []


def test_a_shared_name_inside_a_class_is_found() -> None:
    run = "class Run:\n    class State(TextChoices): ...\n    state = Field(State)"
    item = "class Item:\n    class State(IntegerChoices): ...\n    state = Field()\n    class Meta: ..."
    assert names_used_inside({"a": run, "b": item, "c": "State = Run.State"}) == []
    assert names_used_inside({"a": run, "b": "class State: ..."}) == [("a", "State")]
    assert names_used_inside({"a": run, "b": "class Other:\n    class State: ..."}) == [("a", "State"), ("b", "State")]
    assert names_used_inside({"a": run, "b": run.replace("state =", "how =")}) == [("a", "State"), ("b", "State")]
    assert names_used_inside({"a": "def f():\n    class A:\n        class B: ...", "b": "class B: ..."}) == [("a", "B")]


def test_a_shared_name_is_found() -> None:
    nested = "class Run:\n    class State: pass"
    assert shared_names({"a": "class Row: pass", "b": "class Row: pass", "c": nested, "d": nested}) == {
        "Row": ["a", "b"],
        "Run": ["c", "d"],
    }
    assert shared_names({"a": "class Row: pass", "b": "Row, Other = Run.Row, Run.Other"}) == {"Row": ["a", "b"]}
    aliases = {"a": "class Row: pass", "b": "Row = dict[str, int]", "c": "Row: TypeAlias = 'list[Row]'"}
    assert shared_names(aliases | {"d": "ROW = 1\nT = TypeVar('T')", "e": "ROW = 2\nT = TypeVar('T')"}) == {
        "Row": ["a", "b", "c"]
    }


def test_a_name_that_differs_by_an_underscore_is_found() -> None:
    assert shared_names({"a": "class Row: pass", "b": "class _Row: pass"}) == {"Row": ["a", "b"]}
    assert shared_names({"a": "class Row: pass", "b": "def f():\n    class __Row: pass"}) == {"Row": ["a", "b"]}


def test_a_shared_name_in_a_function_or_a_branch_is_found() -> None:
    inside = "def made():\n    class Row: pass\n    Local = 1"
    branch = "if True:\n    class Row: pass\nelse:\n    Row = dict\ntry:\n    Other = list\nexcept Error: pass"
    assert shared_names({"a": "class Row: pass", "b": inside}) == {"Row": ["a", "b"]}
    assert shared_names({"a": "class Other: pass", "b": branch, "c": "Local = set"}) == {"Other": ["a", "b"]}
    assert names_used_inside({"a": "class A:\n    class Row: ...", "b": inside}) == [("a", "Row")]


def word_lists(source: str) -> list[str]:
    """Texts of a module that list stop words: many words, half of them such that every purpose passes over."""
    strings = (node.value for node in ast.walk(parsed(source)) if isinstance(node, ast.Constant))
    found = (set(text.split()) for text in strings if isinstance(text, str))
    return [" ".join(words) for words in found if len(words & NO_TOPIC) > 15 and len(words & NO_TOPIC) * 2 > len(words)]


def test_stop_words_are_listed_in_one_module() -> None:
    sources = {module: path.read_text("utf-8") for module, path in modules().items()}
    assert [module for module, source in sources.items() if " your" in source and word_lists(source)] == [
        "annotations.text.stop_words"
    ]


PLURAL = re.compile(r"""(["'])s?\1 if [^{}]{1,40}? (?:==|!=|>) 1 else (["'])s?\2""")  # as in f"{n} step{...}"


def test_one_function_says_how_many_of_what() -> None:
    found = {module for module, path in modules().items() if PLURAL.search(path.read_text("utf-8"))}
    assert found == set()
    assert [amount(1, "step"), amount(1200, "step"), amount(0, "step")] == ["1 step", "1,200 steps", "0 steps"]
    assert [amount(1, "person", "people"), amount(2, "person", "people")] == ["1 person", "2 people"]


def test_a_plural_of_its_own_is_found() -> None:
    assert PLURAL.search("f\"{n} task{'' if n == 1 else 's'}\"")
    assert PLURAL.search("f\"{n} line{'s' if n > 1 else ''}\"")
    assert not PLURAL.search('f"{n} {noun if n == 1 else many}"')


def docstrings(source: str) -> Iterator[str]:
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def files_not_there(source: str, files: Collection[str]) -> list[str]:
    """Python files that a docstring names by `name.py` or a path, and that are not (or no longer) in the product."""
    named = (name for text in docstrings(source) for name in re.findall(r"[\w/]+\.py\b", text))
    return [name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)]


def test_docstrings_name_files_that_are_there() -> None:
    files = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py") if ".venv" not in path.parts]
    sources = {module: path.read_text("utf-8") for module, path in modules().items()}
    stale = {module: files_not_there(source, files) for module, source in sources.items() if ".py" in source}
    assert {module: names for module, names in stale.items() if names} == {}


def test_a_file_that_was_moved_is_found() -> None:
    source = '"""See `rules.py`, `edge/door.py` and old/door.py."""'
    assert files_not_there(source, ["access/rules.py", "web/edge/door.py"]) == ["old/door.py"]


# Settings of recipes and their sections, a file: words that look like a module and a name in it.
NO_NAMES = {"prompts.pack", "settings.top_k", "settings.exact", "weights.lock"}


def offered(source: str) -> set[str]:
    """Names that a module has: of its own and imported."""
    found = set()
    for node in parsed(source).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        found |= {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
    return found


def names_not_there(sources: dict[str, str], packages: Collection[str]) -> list[tuple[str, str]]:
    """(module, name) of names in docstrings like `wing.module.name` or `module.name`, without `.py`, that no module
    has. What begins with another word than a module's is none."""
    has = {module: offered(source) for module, source in sources.items()}
    for module in sources:
        has.setdefault(module.rpartition(".")[0], set()).add(module.rpartition(".")[2])
    last: dict[str, set[str]] = defaultdict(set)
    for module in has.keys() - packages:
        last[module.rpartition(".")[2]] |= has[module]
    apps = {module.partition(".")[0] for module in sources}
    found = []
    for module, source in sources.items():
        for name in (
            name for text in docstrings(source) for name in re.findall(r"`([a-z_]\w*(?:\.\w+)+)(?:\(\))?`", text)
        ):
            first, second = name.split(".")[:2]
            if first in apps:
                home = max((one for one in has if f"{name}.".startswith(f"{one}.")), key=len, default="")
                left = name.removeprefix(home).strip(".").partition(".")[0]
                wrong = not home or (left and left not in has[home])
            else:
                wrong = first in last and second not in {"py", "js", "html", "txt", "css", "json"} | last[first]
            if wrong and name not in NO_NAMES:
                found.append((module, name))
    return found


def test_docstrings_name_what_modules_have() -> None:
    packages = {name for name, path in modules().items() if path.name == "__init__.py"}
    assert names_not_there({name: path.read_text("utf-8") for name, path in modules().items()}, packages) == []


def test_a_name_that_is_not_there_is_found() -> None:
    told = '"""See `a.rules.may`, `a.rules.gone`, `rules.may`, `rules.old`, `a.policy.Sight` and `plan.kind`."""'
    assert names_not_there({"a": told, "a.rules": "def may(): ..."}, {"a"}) == [
        ("a", name) for name in ("a.rules.gone", "rules.old", "a.policy.Sight")
    ]


def test_the_architecture_is_short() -> None:
    assert len((ROOT / "docs" / "architecture.md").read_text("utf-8").splitlines()) <= 150


def wings_in(readme: str) -> dict[str, list[str]]:
    """App -> the wings that the list of the README names, a line each, as they are written."""
    found: dict[str, list[str]] = {}
    app = ""
    for start, wing in re.findall(r"^(\w+/)? +([a-z_]+\*?) +[^ ].*$", readme, re.M):
        app = start.rstrip("/") or app
        found.setdefault(app, []).append(wing)
    return found


def test_the_readme_has_a_line_a_wing_that_says_which_are_core() -> None:
    wiring = {"management", "migrations", "templatetags"}
    there: dict[str, list[str]] = {"annotations": [], "agents": [], "evaluation": []}
    for name, path in sorted(modules().items()):
        app, _, wing = name.partition(".")
        if path.name == "__init__.py" and app in there and wing and "." not in wing and wing not in wiring:
            there[app].append(wing + "*" * (f"{name}.*" in CORE))
    listed = (ROOT / "README.md").read_text("utf-8").partition("## Where each concept lives")[2].split("```")[1]
    assert wings_in(listed) == there


def test_the_settings_are_short() -> None:
    files = (ROOT / "webnav_site").glob("settings*.py")
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in files}
    assert lengths.keys() >= {"settings.py", "settings_jobs.py"}
    assert {name: length for name, length in lengths.items() if length > 220} == {}


def test_the_readme_is_short() -> None:
    """What, the flow, five commands, and where each concept lives."""
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120


def test_wings_are_read_from_the_list() -> None:
    listed = "one/   first*  text, of two\n       second text\ntwo/          settings, and more\n"
    assert wings_in(listed) == {"one": ["first*", "second"]}


def test_the_words_of_the_glossary_are_in_the_code() -> None:
    """Classes that docs/words.md names are there, and what it says that they have."""
    words = (ROOT / "docs" / "words.md").read_text("utf-8")
    classes = {
        node.name: ast.unparse(node)
        for path in modules().values()
        for node in ast.walk(parsed(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    named = re.findall(r"`([A-Z]\w+)(?:\.(\w+))?`", words)
    assert len(named) > 15
    assert [name for name, _ in named if name not in classes] == []
    assert [part for name, part in named if part and not re.search(rf"\b{part}\b", classes[name])] == []


def screens_told() -> set[str]:
    """Modules and rooms that docs/words.md says are screens, for all their names with “page”."""
    row = next(
        line for line in (ROOT / "docs" / "words.md").read_text("utf-8").splitlines() if line.startswith("| page |")
    )
    named = re.findall(r"`([\w/]+)(?:\.py|/)`", row)
    return {name.replace("/", ".") for name in named if "/" in name}


def test_what_is_called_a_page_is_a_screen_where_the_words_say_so() -> None:
    """A screen asks who looks at it; what is about recorded pages does not, but for where these are served."""
    told, screens = screens_told(), set()
    assert told <= set(modules())
    called = {name for name in modules() if re.search(r"(?:^|[._])pages?(?:$|[._])", name)}
    for name in called:
        if name.endswith(".page") or any(f"{name}.".startswith(f"{screen}.") for screen in told):
            screens.add(name)
    asking = {
        name for name in called if re.search(r"HttpRequest|annotations\.access", modules()[name].read_text("utf-8"))
    }
    assert {name for name in asking - screens if not name.startswith("annotations.pages.")} == set()
    assert {name for name in screens if is_core(name)} == set()
