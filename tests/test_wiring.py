"""What `ready()` of the apps sets in lower wings is what the table of `docs/architecture.md` tells."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from tests.test_imports import APPS, ROOT, modules

Wiring = dict[tuple[str, str], set[str]]  # (file, name in it) -> the files, or rooms, whose it is given


def home_of(module: str) -> str:
    """As the table names it: a file, or a room."""
    if module in modules():
        path = modules()[module].relative_to(ROOT)
        return f"{path.parent}/" if path.name == "__init__.py" else str(path)
    raise KeyError(module)


# Methods by which what another module holds is filled, wherever they are called.
FILLING = {"append", "extend", "insert", "update", "setdefault", "add", "register", "connect"}


def wired_in(source: str) -> Wiring:
    """What the function `ready` of a module sets, extends or updates: by assignments to names of other modules, and by
    calls of their methods."""
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    ready = next(function for function in functions if function.name == "ready")
    names: dict[str, tuple[str, str]] = {}  # as it is called here -> module, and the name in it
    for node in ast.walk(ready):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found = (inner, "") if inner in modules() else (str(node.module), alias.name)
                names[alias.asname or alias.name] = found
    wired: Wiring = defaultdict(set)
    for target, given in handed_over(ready):
        words = re.findall(r"\w+", ast.unparse(target))
        module, name = names[words[0]]
        givers = {names[word.id][0] for word in ast.walk(given) if isinstance(word, ast.Name) and word.id in names}
        wired[home_of(module), name or words[1]] |= {home_of(giver) for giver in givers}
    return dict(wired)


def handed_over(ready: ast.FunctionDef) -> Iterator[tuple[ast.expr, ast.expr]]:
    """(what is set or filled, what it is given), in branches, loops and lists too, and of each of several names."""
    for node in ast.walk(ready):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                yield from zip(target.elts, node.value.elts, strict=True) if several else [(target, node.value)]
        elif isinstance(node, ast.AugAssign | ast.AnnAssign) and node.value is not None:
            yield node.target, node.value
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            assert isinstance(node.value.func, ast.Attribute), "what is set by a function is not seen here"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILLING:
            yield node.func.value, node.args[0]


def told_in(text: str) -> Wiring:
    """The rows of the table."""
    section = text.partition("\n## What is set as the apps start")[2].partition("\n## ")[0]
    told: Wiring = {}
    for is_set, givers in re.findall(r"^\| (`[^|]+) \| ([^|]+) \|", section, re.M):
        file, *names = re.findall(r"`([^`]+)`", is_set)
        told |= {(file, name): set(re.findall(r"`([^`]+)`", givers)) for name in names}
    return told


def all_wired() -> Wiring:
    found: Wiring = defaultdict(set)
    for app in APPS:
        for key, givers in wired_in((ROOT / app / "apps.py").read_text("utf-8")).items():
            found[key] |= givers
    return dict(found)


def test_what_the_apps_set_is_told() -> None:
    found, told = all_wired(), told_in((ROOT / "docs" / "architecture.md").read_text("utf-8"))
    assert len(found) >= 15
    assert found["annotations/monitor/spans.py", "WATCHERS"] == {
        "webnav_site/monitor/llm_counts.py",
        "webnav_site/monitor/tracing.py",
    }
    # Two names in one row are given by the files of that row together.
    together = {key: set().union(*(found[other] for other in told if told[other] == told[key])) for key in told}
    assert found.keys() == told.keys()
    assert told == together


def test_what_is_set_and_not_told_is_found() -> None:
    source = """
def ready(self):
    from agents.encoders import weights
    from agents.training.trained.stored import StoredWeights
    from annotations.jobs.running import RUNNERS
    from agents.live import jobs
    weights.elsewhere = StoredWeights()
    RUNNERS.update(jobs.RUNNERS)
"""
    wired = wired_in(source)
    assert wired == {
        ("agents/encoders/weights.py", "elsewhere"): {"agents/training/trained/stored.py"},
        ("annotations/jobs/running.py", "RUNNERS"): {"agents/live/jobs.py"},
    }
    table = "\n## What is set as the apps start\n| `a.py` `x`, `y` | `b.py`, `c/` | why |\n"
    branches = """
def ready(self):
    from agents.encoders import weights
    from agents.training.trained.stored import StoredWeights
    from annotations.jobs import running
    if True:
        weights.elsewhere: object = StoredWeights()
    for _ in range(1):
        running.RUNNERS |= StoredWeights.RUNNERS
"""
    assert wired_in(branches) == wired | {
        ("annotations/jobs/running.py", "RUNNERS"): {"agents/training/trained/stored.py"}
    }
    hidden = """
def told(self):
    pass


def ready(self):
    from agents.encoders import embedding, weights
    from agents.training.trained.stored import StoredWeights
    from annotations.jobs.running import RUNNERS
    weights.elsewhere, embedding.at_endpoint = StoredWeights(), StoredWeights
    if RUNNERS.update(StoredWeights.RUNNERS):
        weights.elsewhere = weights.second = StoredWeights()
    [RUNNERS.update(one) for one in ()]
"""
    of_weights = {"agents/training/trained/stored.py"}
    assert wired_in(hidden) == {
        ("agents/encoders/weights.py", "elsewhere"): of_weights,
        ("agents/encoders/weights.py", "second"): of_weights,
        ("agents/encoders/embedding.py", "at_endpoint"): of_weights,
        ("annotations/jobs/running.py", "RUNNERS"): of_weights,
    }
    assert told_in(table) == {("a.py", "x"): {"b.py", "c/"}, ("a.py", "y"): {"b.py", "c/"}}
