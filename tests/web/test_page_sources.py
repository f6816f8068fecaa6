"""How templates, scripts and styles are written: so that a change of them can be read."""

import json
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "static" / "js"
LONGEST_LINE = 140  # mostly 120, which the formatter aims at; an attribute cannot be broken


def scripts() -> dict[str, str]:
    """Path below static/js -> its text."""
    return {path.relative_to(SCRIPTS).as_posix(): path.read_text("utf-8") for path in sorted(SCRIPTS.rglob("*.js"))}


def test_every_script_lies_in_the_folder_of_its_page() -> None:
    assert len(scripts()) > 30
    assert [name for name in scripts() if name.count("/") != 1] == []


def test_one_script_asks_the_server() -> None:
    asking = [name for name, text in scripts().items() if re.search(r"(?<!\.)\bfetch\(", text)]
    assert asking == ["shared/server.js"]


def test_every_script_is_of_some_page() -> None:
    templates = "".join(path.read_text("utf-8") for path in (ROOT / "templates").rglob("*.html"))
    used = {f"./{name}" for name in re.findall(r"{% static 'js/([\w/]+\.js)' %}", templates)}
    for name, text in scripts().items():
        folder = (SCRIPTS / name).parent
        found = re.findall(r'from "(\.[\w./]+\.js)"', text)
        used |= {f"./{(folder / other).resolve().relative_to(SCRIPTS).as_posix()}" for other in found}
    assert sorted({f"./{name}" for name in scripts()} ^ used) == []


def test_no_line_of_a_template_is_too_long_to_be_read() -> None:
    templates = sorted((ROOT / "templates").rglob("*.html"))
    lines = [
        f"{path.relative_to(ROOT)}:{number}: {len(line)} characters"
        for path in templates
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]
    assert len(templates) > 100
    assert lines == []


def test_no_script_or_style_sheet_is_too_long_to_be_known() -> None:
    paths = [*SCRIPTS.rglob("*.js"), *(ROOT / "static" / "css").glob("*.css")]
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in paths}
    assert len(lengths) > 50
    assert {name: length for name, length in lengths.items() if length > 400} == {}


def untyped(text: str) -> list[str]:
    """Functions of a script that say of no type, or not of each argument, what it is."""
    found = re.finditer(
        r"(?:/\*\*((?:(?!\*/).)*)\*/\n)?^(?:export )?(?:async )?function\*? (\w+)\((\S)", text, re.M | re.S
    )
    return [
        name for doc, name, first in (one.groups() for one in found) if first != ")" and "@param" not in (doc or "")
    ]


def test_functions_say_the_types_of_what_they_are_given() -> None:
    assert {name: found for name, text in scripts().items() if (found := untyped(text))} == {}


def test_a_function_without_types_is_found() -> None:
    typed = "/** Says. @param {string} text */\nexport function say(text) {}\nfunction none() {}\n"
    assert untyped(typed + "/** Adds. */\nasync function add(one,\n  other) {}\nfunction bare({ id }) {}") == [
        "add",
        "bare",
    ]


def test_scripts_and_styles_are_where_lint_looks() -> None:
    """Other files of this kind are data of tests, and what npm and browsers bring."""
    check = json.loads((ROOT / "package.json").read_text("utf-8"))["scripts"]["check"]
    looked_at = [ROOT / name for name in check.partition("&&")[0].split()[2:]]
    apps = ("annotations", "agents", "evaluation", "webnav_site", "templates", "static")
    found = [path for app in apps for path in (ROOT / app).rglob("*") if path.suffix in {".js", ".css", ".mjs", ".ts"}]
    assert len(found) > 60
    assert [path for path in found if not any(path.is_relative_to(folder) for folder in looked_at)] == []


def linted(path: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """What lint says of scripts and styles where `path` holds all programs that there are: npm is none of them."""
    for name in ("sh", "dirname"):
        (path / name).symlink_to(shutil.which(name) or name)
    command = [ROOT / ".ci" / "lint_faces.sh"]
    return subprocess.run(command, env={"PATH": str(path), **env}, capture_output=True, text=True, check=False)


def test_lint_fails_where_npm_is_missing_and_says_what_to_install(tmp_path: Path) -> None:
    done = linted(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "Scripts and styles cannot be checked, as npm is not installed: install Node 18 or newer, which brings it, "
        "or say FACES=no to leave them out.\n"
    )


def test_lint_leaves_out_scripts_where_it_is_told_to_and_says_so(tmp_path: Path) -> None:
    done = linted(tmp_path, FACES="no")
    assert (done.returncode, done.stdout) == (0, "NOT CHECKED: scripts and styles, as FACES=no says.\n")


def test_lint_fails_where_npm_reaches_no_registry(tmp_path: Path) -> None:
    for name in ("cmp", "npm"):  # the packages that are there are not those of the lock, and npm gets no others
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n", "utf-8")
        (tmp_path / name).chmod(0o755)
    done = linted(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "as npm reaches no registry: let `npm ci` reach one, or say FACES=no" in done.stderr


# Of what pages count, mostly; a word of these behind a number has its s only where it is none or more than one.
COUNTED = (
    "answer|candidate|character|code|comment|conversation|correction|day|element|episode|failure|flag|goal|item|job|judge|"
    "label|lesson|mention|model|page|pair|proposal|question|queue|record|release|review|round|run|session|setting|step|"
    "success(?:es)?|task|token|transition|turn|verdict|version|worker"
)
OF_THEM = "more|failed|labelled|past|stored|other"
# What stands before the word is no number, or never one.
NO_NUMBER = {"{{ one.share }} steps"}  # "4 of 5", "nearly all"


def test_what_is_counted_is_one_step_and_two_steps() -> None:
    plain = re.compile(rf"\{{\{{ (?![^}}]*pluralize)[^}}]+ \}}\}}\s+(?:(?:{OF_THEM})\s+)?(?:{COUNTED})s\b")
    assert plain.findall("{{ failing.total|thousands }}\n  failed steps") != []
    found = {
        f"{path.relative_to(ROOT)}: {words}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for one in plain.findall(path.read_text("utf-8"))
        if (words := " ".join(one.split())) not in NO_NUMBER
    }
    assert sorted(found) == []
