"""The package of docs/extending.md: it is found by its entry points alone, and its own test passes."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from annotations import extensions
from evaluation.models import Study
from tests.app_server import database_url

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "docs" / "examples" / "webnav-longest"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder that tells Python of the package as pip would."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    info = tmp_path / "webnav_longest-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in points.items())])
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n\n".join(groups) + "\n")
    (tmp_path / "webnav_longest").symlink_to(EXAMPLE / "webnav_longest")
    return tmp_path


def test_the_example_works_as_the_page_says(installed: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", str(EXAMPLE / "tests")],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_commands_of_the_page_work_in_the_product(installed: Path) -> None:
    page = (ROOT / "docs" / "extending.md").read_text()
    commands = re.findall(r"^\.venv/bin/python (manage\.py .+)$", page, re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["import_dataset", "evaluate"]
    told = [managed(command.split(), installed) for command in commands]
    assert all(done.returncode == 0 for done in told), told
    scores = {line.split()[0]: line.split()[1] for line in told[1].stdout.splitlines() if line}
    assert scores["long_operation"] == scores["element_accuracy"] == "0.750"  # mean over a task of 2 and one of 1
    without = managed([*commands[1].split(), "--seed", "1"], None)
    assert without.returncode == 1
    assert "plan.kind must be one of first, grounded" in without.stderr
    readable = managed(["manage.py", "report", str(Study.objects.get().pk)], None)
    assert (readable.returncode, "grounded" in readable.stdout) == (0, True), readable.stderr


def managed(command: list[str], packages: Path | None) -> subprocess.CompletedProcess[str]:
    """A command of the product on the database of this test."""
    more = {"DATABASE_URL": database_url(), "PYTHONPATH": str(packages or "")}
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | more,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


ADDING = """
import importlib.metadata as metadata
names = ["observe.observation", "rank.kind", "recall.memory", "recall.exemplars", "recall.workflows", "plan.kind"]
points = [metadata.EntryPoint(f"{name}.mine", "nowhere:Mine", "webnav.stages") for name in names]
metadata.entry_points = lambda group: points if group == "webnav.stages" else []
from agents.recipes.declaring import settings_of
from agents.recipes.literature import Recipe
print([name for name in names if "mine" not in settings_of(Recipe)[name].choices])
"""


def test_every_setting_that_chooses_a_kind_takes_those_of_other_packages() -> None:
    done = subprocess.run([sys.executable, "-c", ADDING], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


SCANNING = """
import importlib.metadata as metadata
what = "evaluation.scanners.definition:Scanner", "webnav.scanners"
points = [metadata.EntryPoint(name, *what) for name in ("mine", "loop")]
metadata.entry_points = lambda group: points if group == "webnav.scanners" else []
from evaluation.scanners import ADDED, SCANNERS
print(*ADDED, SCANNERS["mine"].__name__, SCANNERS["loop"].label)
"""


def test_scanners_of_other_packages_stand_beside_ours_and_replace_none() -> None:
    done = subprocess.run([sys.executable, "-c", SCANNING], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "mine Scanner loop"


def test_two_packages_cannot_add_the_same_name(monkeypatch) -> None:
    class Point:
        def __init__(self, value: str) -> None:
            self.name, self.value = "mine", value

    monkeypatch.setattr(extensions, "entry_points", lambda group: [Point("a:A"), Point("b:B")])
    extensions.added.cache_clear()
    try:
        with pytest.raises(ValueError, match=r"two packages add 'mine' to webnav\.stages: a:A, b:B"):
            extensions.added(extensions.STAGES)
    finally:
        extensions.added.cache_clear()
