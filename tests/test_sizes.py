"""How long things are: what is longer than a reader holds in mind is named here, and gets no longer.

A function has 40 lines at most, a class 150, a file 400, a call seven arguments by position. A number goes down when
something is taken apart; before one is added, look whether it can be.
"""

import ast
import os
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.test_imports import APPS, ROOT, modules, templates

FUNCTION, CLASS, FILE, ARGUMENTS = 40, 150, 400, 7
ROW = 6  # lines that a loop in a page may have where it repeats rows of a table
ROOM = 20  # files in a folder, those of rooms in it not counted
LONGER = {
    # Steps of one piece of work, in their order.
    "agents.runs.runner.run_conversations": 46,
    "agents.training.jobs.start_training": 56,
    "agents.training.jobs.run_training": 43,
    "annotations.corpus.exporting.export_dataset": 49,
    "annotations.corpus.importing.import_files": 46,
    "annotations.jobs.running._run_export": 45,
    "annotations.releases.releasing.make_release": 49,
    "annotations.work.verify.verdicts.give": 41,
    "evaluation.scores.scoring.RunScores.outcomes_by_step": 44,
    "evaluation.studies.page.study_context": 45,
    "evaluation.studies.running.create_study": 45,
    "evaluation.studies.running.work": 48,
    "webnav_site.monitor.logs.logging_settings": 55,  # one dictionary
    # Rows with their columns and all that they can do; what works through a file, an episode or a training.
    "agents.live.running.LiveRun": 212,
    "agents.models.driving.Drive": 174,
    "agents.models.steps.TrajectoryStep": 190,
    "agents.training.fit.loop._Loop": 170,
    "agents.training.work.Work": 189,
    "annotations.models.work.assignments.Assignment": 276,
    "annotations.models.jobs.jobs.Job": 242,
    "annotations.models.jobs.worker_leases.Leased": 210,
    # What published code calls with as many.
    "agents.memory.retrieve.DatasetMemory.__init__()": 8,
    "agents.words.shown_page.format_input()": 8,
    "agents.training.samples.tokens.PageSamples.__init__()": 8,
}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def sizes(module: str, source: str) -> Iterator[tuple[str, int, int]]:
    """(name, size, how large it may be) of a file, its functions, their arguments (`name()`) and its classes."""
    yield module, source.count("\n"), FILE
    for name, node in _definitions(ast.parse(source), module):
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if isinstance(node, ast.ClassDef):
            yield name, lines, CLASS
        else:
            yield name, lines, FUNCTION
            yield f"{name}()", len(node.args.posonlyargs + node.args.args), ARGUMENTS


def _definitions(node: ast.AST, name: str) -> Iterator[tuple[str, Definition]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield f"{name}.{child.name}", child
            yield from _definitions(child, f"{name}.{child.name}")


def too_long(sources: dict[str, str]) -> dict[str, int]:
    found = (row for module, source in sources.items() for row in sizes(module, source))
    return {name: size for name, size, most in found if size > most}


def test_nothing_is_longer_than_can_be_read_at_once() -> None:
    found = too_long({name: path.read_text("utf-8") for name, path in modules().items()})
    assert {name: size for name, size in found.items() if size > LONGER.get(name, 0)} == {}


def test_what_is_named_as_longer_is() -> None:
    """So that the list tells what there is to take apart, and nothing that is gone."""
    found = too_long({name: path.read_text("utf-8") for name, path in modules().items()})
    assert set(LONGER) - found.keys() == set()


def too_full(files: Iterable[str]) -> dict[str, int]:
    """Folders that hold more files than a room, and how many."""
    found = Counter(file.rpartition("/")[0] for file in files if not file.endswith("/__init__.py"))
    return {room: count for room, count in found.items() if count > ROOM}


def test_no_room_is_too_full() -> None:
    files = (path.relative_to(ROOT).as_posix() for path in modules().values())
    assert too_full(files) == {}, "what belongs together in it becomes a room of its own, as metrics/weblinx/ did"


def test_a_room_that_is_too_full_is_found() -> None:
    files = [f"a/b/f{place}.py" for place in range(ROOM)]
    assert too_full([*files, "a/b/__init__.py", "a/b/c/f.py"]) == {}
    assert too_full([*files, "a/b/one_more.py"]) == {"a/b": ROOM + 1}


LOOP = re.compile(r"{%-?\s*(for|empty|endfor)\b.*?%}", re.S)
WHOLE_TABLE = re.compile(r"<table\b.*?</table>", re.S)


def loops(text: str) -> Iterator[tuple[int, str]]:
    """(line, what it repeats) of each loop of a template; what it shows instead when there is nothing is no part."""
    opened: list[list[re.Match[str]]] = []
    for tag in LOOP.finditer(text):
        if tag[1] == "for":
            opened.append([])
        opened[-1].append(tag)
        if tag[1] == "endfor":
            first, after, *_ = opened.pop()
            yield text.count("\n", 0, first.start()) + 1, text[first.end() : after.start()]


def long_rows(text: str) -> list[tuple[int, int]]:
    """(line, lines) of loops that repeat rows of a table at length; tables that they repeat as a whole are no rows."""
    found = ((line, body) for line, body in loops(text) if "<tr" in WHOLE_TABLE.sub("", body))
    sized = sorted((line, body.strip().count("\n") + 1) for line, body in found)
    return [(line, size) for line, size in sized if size > ROW]


def test_long_rows_are_partials() -> None:
    texts = {name: text for name, text in templates().items() if not name.endswith("_row.html")}
    assert len(texts) > 200
    assert sum("<tr" in body for text in texts.values() for _, body in loops(text)) > 40
    long = [(name, row) for name, text in texts.items() for row in long_rows(text)]
    assert [f"templates/{name}:{line} repeats a row of {size} lines" for name, (line, size) in long] == []


def test_a_long_row_is_found() -> None:
    cells = "    <td>{% for one in row %}\n    {{ one }}{% endfor %}</td>\n"

    def page(count: int) -> str:
        rows = f"  {{% for row in rows %}}\n  <tr>\n{cells * count}  </tr>\n"
        none = f"  {{% empty %}}\n  <tr>\n{cells * 9}  </tr>\n  {{% endfor %}}\n"
        return f"<table>\n{rows}{none}</table>\n"

    assert long_rows(page(2)) == []
    assert long_rows(page(3)) == [(2, 8)]
    assert long_rows(f"{{% for rows in tables %}}\n{page(2)}{{% endfor %}}") == []
    assert long_rows(f"{{% for rows in tables %}}\n{page(3)}{{% endfor %}}") == [(3, 8)]


BANNER = re.compile(r"^\s*(?:#|//|/\*)\s*(?:[^\n]*[-=*~#]{3,}\s*(?:\*/)?\s*$|[-=*~]{3,})", re.M)


def test_no_banner_marks_two_modules_in_one_file() -> None:
    faces = [path for kind in ("js", "css") for path in (ROOT / "static").rglob(f"*.{kind}")]
    files = [*modules().values(), *(ROOT / "tests").rglob("*.py"), *faces]
    assert [path.relative_to(ROOT).as_posix() for path in files if BANNER.search(path.read_text("utf-8"))] == []


def test_a_banner_is_found() -> None:
    for line in (
        "# Running ---",
        "# Running -----  ",
        "// Keys ======",
        "# --- what is below it",
        "/* Keys *** */",
        "#---",
    ):
        assert BANNER.search(f"a = 1\n\n{line}\nb = 2\n"), line
    assert not BANNER.search("# from -1 to 1 -- or none\nTEXT = '----------'\n/** a type */\n/* a rule */\n")


def test_what_is_too_long_is_found() -> None:
    long = "def long(a, b, c, d, e, f, g, h):\n" + "    pass\n" * 40
    source = f"class Short:\n    def method(self):\n        pass\n\n\n{long}"
    assert too_long({"m": source}) == {"m.long": 41, "m.long()": 8}
    assert too_long({"m": "\n" * 401}) == {"m": 401}


def test_lint_finds_waivers_however_they_are_spelled() -> None:
    """By the pattern of `make lint`, and by ruff's rule against a bare one."""
    lint = (ROOT / "Makefile").read_text("utf-8").partition("lint:")[2]
    found = re.search(r'git grep -niE "(.+)" --', lint)
    assert found, "lint looks for waivers, whatever their case"
    waiver = re.compile(found[1], re.IGNORECASE)
    comment = "#" + " "  # not written as one, as lint reads this file, too
    spelled = [
        "noqa : C901",
        "ruff: ignore[C901]",
        "ruff : noqa",
        "noqa: C901",
        "NOQA: c901",
        "noqa: N802, C901",
        "ruff: noqa: C901",
        "ruff: noqa",
        "flake8: noqa",
    ]
    assert [
        one for one in [*spelled, "fmt: skip", "fmt:off", "YAPF: disable"] if not waiver.search(comment + one)
    ] == []
    assert not waiver.search(comment + "noqa: N802")
    assert '"@ts-(ignore|expect-error|nocheck)" -- "*.js" "*.ts"' in lint
    checked = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    assert {"C901", "PGH004", "RUF"} <= set(checked["select"])
    assert not {"C901", "PGH004", "RUF100"} & set(checked["ignore"])


def searches_of_lint() -> list[str]:
    """The lines of `make lint` that look for what nobody may write, as the shell gets them."""
    lint = (ROOT / "Makefile").read_text("utf-8").partition("\nlint-layout:")[2].partition("\n\n")[0]
    return [line.strip().replace("$$", "$") for line in lint.splitlines() if "git grep" in line]


def test_a_search_of_lint_fails_where_it_finds_something_or_cannot_look(tmp_path: Path) -> None:
    def passes(search: str) -> bool:
        outside = os.environ | {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
        return subprocess.run(["sh", "-c", search], cwd=tmp_path, env=outside, capture_output=True).returncode == 0

    searches = searches_of_lint()
    assert len(searches) == 3
    assert [one for one in searches if passes(one)] == [], "there is no repository to look in"
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert [one for one in searches if not passes(one)] == []
    waivers = {
        "waived.py": "a  = 1  #" + " fmt: skip\n",
        "waived.js": "// @ts-" + "ignore\n",
        "waived.css": "/* prettier-" + "ignore */\n",
        "waived.ts": "// prettier-" + "ignore\n",
        "waived.html": "<!-- djangofmt:" + "ignore -->\n",
    }
    for name, text in waivers.items():
        (tmp_path / name).write_text(text)
        subprocess.run(["git", "add", name], cwd=tmp_path, check=True)
        assert [one for one in searches if not passes(one)] != [], name
        subprocess.run(["git", "rm", "-qf", name], cwd=tmp_path, check=True)


def test_tables_of_the_admin_lie_with_their_rooms() -> None:
    """Those of an app lead to them, where Django looks for them, and do nothing else."""
    rooms = {name for name in modules() if name.rpartition(".")[2] == "admin"}
    tops = {f"{app}.admin" for app in APPS[:3]}
    assert tops < rooms
    for top in sorted(tops):
        _, *lines = ast.parse(modules()[top].read_text("utf-8")).body
        led_to = {alias.name for line in lines if isinstance(line, ast.Import) for alias in line.names}
        assert len(led_to) == len(lines)
        assert led_to == {name for name in rooms - tops if name.startswith(top.partition(".")[0])}
