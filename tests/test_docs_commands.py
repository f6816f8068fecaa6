"""What README and docs tell people to type exists: targets of make, commands of manage.py and their options."""

import argparse
import re
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = re.compile(r"```[a-z]*\n(.*?)```|^((?: {4}|\t)\S.*)$|`([^`\n]+)`", re.DOTALL | re.MULTILINE)
MAKE = re.compile(r"(?:^|[;&]\s*)\s*make ([a-z-]+)")
COMMAND = re.compile(r"manage\.py ([a-z_]+)([^\n|]*)")


def typed(page: Path) -> list[str]:
    """Lines that stand as code."""
    found = ("".join(groups) for groups in CODE.findall(page.read_text("utf-8")))
    return [line.partition(" #")[0] for text in found for line in text.splitlines()]


def wrong(lines: list[str]) -> list[str]:
    return [said for line in lines for said in (*_no_targets(line), *_no_commands(line))]


def _no_targets(line: str) -> list[str]:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    return [f"make {name}" for name in MAKE.findall(line) if name not in targets]


def _no_commands(line: str) -> list[str]:
    found = []
    for name, rest in COMMAND.findall(line):
        if name not in get_commands():
            found.append(f"manage.py {name}")
            continue
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest):
            if option not in options(name):
                found.append(f"manage.py {name} {option}")
    return found


@cache
def options(name: str) -> frozenset[str]:
    app = get_commands()[name]
    command = app if not isinstance(app, str) else load_command_class(app, name)
    return _of(command.create_parser("manage.py", name))


def _of(parser: argparse.ArgumentParser) -> frozenset[str]:
    found: set[str] = set()
    for action in parser._actions:
        found |= set(action.option_strings)
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                found |= _of(sub)
    return frozenset(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    assert wrong(typed(page)) == []


def test_what_does_not_exist_is_found() -> None:
    lines = ["make fly", "cd x; make run PORT=1", "python manage.py soar 3", "manage.py retention --dry-run --loud"]
    assert wrong(lines) == ["make fly", "manage.py soar", "manage.py retention --loud"]


def test_the_pages_name_many() -> None:
    lines = [line for page in PAGES for line in typed(page)]
    assert len({name for line in lines for name, _ in COMMAND.findall(line)}) > 15
    assert {"run", "test", "stop", "backup", "restore"} <= {name for line in lines for name in MAKE.findall(line)}
