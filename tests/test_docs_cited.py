"""What is cited is in this repository: pages of docs and labels of sources, by docstrings, comments, scripts, templates
and the docs themselves; and files, folders and modules, by the docs."""

import re
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path

from tests.test_imports import APPS, modules

ROOT = Path(__file__).resolve().parent.parent
PAGE = re.compile(r"(?<![\w*>/.}])((?:\w+/)*\w+\.md)\b")
LABEL = re.compile(r"\b(?:M[1-9]|[AB][1-9])(?:\.[1-9])?\b")
AFTER = re.compile(rf"sources\.md\s+((?:{LABEL.pattern}(?:,| to| and)?\s*)+)")
FOLDERS = (".ci/", "agents/", "annotations/", "docs/", "evaluation/", "static/", "templates/", "tests/", "webnav_site/")
ELSEWHERE = {"README.md", "DATASHEET.md"}  # of a folder that is talked about, of a release


def sources() -> dict[str, str]:
    """Path -> text of what people wrote here, tests included; not their data."""
    named = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    kinds = {".py", ".js", ".html", ".css", ".sh", ".md"}
    paths = [name for name in named if Path(name).suffix in kinds and "/data/" not in name and name != here()]
    return {name: (ROOT / name).read_text("utf-8") for name in paths if (ROOT / name).exists()}


def here() -> str:
    return Path(__file__).relative_to(ROOT).as_posix()


def pages_cited(text: str) -> set[str]:
    """Markdown files that a text names, but for addresses, patterns and names that it puts together."""
    return set(PAGE.findall(text)) - ELSEWHERE


def labels_cited(text: str) -> set[str]:
    """Labels that a text gives after the name of the page."""
    return {label for found in AFTER.findall(text) for label in LABEL.findall(found)}


def is_there(page: str, citing: str) -> bool:
    return any((folder / page).exists() for folder in (ROOT, ROOT / "docs", (ROOT / citing).parent))


def docs() -> dict[str, str]:
    return {name: text for name, text in sources().items() if name == "README.md" or name.startswith("docs/")}


def links(text: str) -> list[str]:
    """Where a page of docs leads to in this repository."""
    found = re.findall(r"\]\(([^)#\s]+)", text)
    return [one for one in found if "://" not in one]


def paths_cited(text: str) -> Iterator[str]:
    """Files and folders of ours in backticks, by their path or the end of it; NAME and the like stand for one."""
    for name in re.findall(r"`([\w.{},/-]+)`", text):
        if not name.startswith(FOLDERS) and Path(name).suffix not in {".py", ".html", ".js", ".css", ".sh", ".toml"}:
            continue
        before, brace, rest = name.partition("{")
        each, _, after = rest.partition("}")
        for one in each.split(",") if brace else [""]:
            if (path := f"{before}{one}{after}".rstrip("/")) == path.lower():
                yield path


def not_there(text: str, paths: Collection[str]) -> list[str]:
    ends = {"/".join(parts[at:]) for parts in (path.split("/") for path in paths) for at in range(len(parts))}
    return [name for name in paths_cited(text) if name not in ends]


def modules_not_there(text: str, known: Collection[str]) -> list[str]:
    """Modules that a text names by dots, and that are not there; what follows one may be a name in it."""
    found = re.findall(rf"(?<![\w./-])((?:{'|'.join(APPS)})\.\w+(?:\.\w+)*)", text)
    named = (re.sub(r"\.(?:py|html|toml)$", "", name) for name in found)
    return [name for name in named if name not in known and name.rpartition(".")[0] not in {*known} - {*APPS}]


def test_what_the_docs_name_is_there() -> None:
    """A page that they lead to, a file, a folder, a module."""
    files = [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    paths = [*files, *(path.name for path in ROOT.iterdir()), *(folder.rstrip("/") for folder in FOLDERS)]
    read = docs()
    assert len(read) > 15
    assert {(name, one) for name, text in read.items() for one in not_there(text, paths)} == set()
    assert {(name, one) for name, text in read.items() for one in modules_not_there(text, modules())} == set()
    folders = {name: (ROOT / name).parent for name in read}
    assert {
        (name, to) for name, text in read.items() for to in links(text) if not (folders[name] / to).exists()
    } == set()


def test_what_the_docs_name_and_is_not_there_is_found() -> None:
    text = "`docs/old.md`, `a/b/`, `static/{css,lost}/`, `rules.py`, `static/NAME.js`, `/held/`, `var/up.lock`"
    assert not_there(text, ["docs/new.md", "static/css", "a/rules.py"]) == ["docs/old.md", "static/lost"]
    assert not_there("`b/rules.py`", ["a/rules.py", "b"]) == ["b/rules.py"]
    known = {"webnav_site", "webnav_site.locks", "webnav_site.edge.door"}
    assert modules_not_there("`webnav_site.edge.door:Door`, -m webnav_site.locks, webnav_site.lost x", known) == [
        "webnav_site.lost"
    ]
    assert links("[a](old.md#part) [b](https://x.example/y)") == ["old.md"]


def test_pages_that_are_cited_are_in_the_repository() -> None:
    cited = {name: found for name, text in sources().items() if (found := pages_cited(text))}
    assert len(cited) > 50
    assert {(name, page) for name, found in cited.items() for page in found if not is_there(page, name)} == set()


def test_labels_that_are_cited_stand_on_the_page_of_sources() -> None:
    told = set(LABEL.findall((ROOT / "docs" / "sources.md").read_text("utf-8")))
    cited = {label for text in sources().values() for label in labels_cited(text)}
    assert len(cited) > 30
    assert cited - told == set()


def test_a_citation_of_what_is_not_there_is_found() -> None:
    text = '"""As published (plans.md, and sources.md M5.2, M5.6; in docs/lost.md).""" "x/{name}.md" "report/*.md"'
    assert pages_cited(text) == {"plans.md", "sources.md", "docs/lost.md"}
    assert not is_there("plans.md", "agents/types.py")
    assert labels_cited(text + "sources.md\n    A9.1 and M7.2") == {"M5.2", "M5.6", "A9.1", "M7.2"}
