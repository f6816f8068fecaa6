"""The package of docs/extending.md: it is found by its entry points alone, and its own test passes."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from agents.models import TrajectoryStep
from annotations import extensions
from evaluation.models import Study
from tests.agents.llm_server import LlmServer, prompt_text, serve
from tests.app_server import database_url

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "docs" / "examples" / "webnav-longest"


@pytest.fixture
def new_environment(tmp_path: Path) -> Path:
    """The Python of a virtual environment of its own, with what the product needs and nothing of the example."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True, timeout=120)
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (packages / "product.pth").write_text(sysconfig.get_path("purelib"))
    return tmp_path / "venv" / "bin" / "python"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_page_is_followed_in_a_new_environment(new_environment: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "extending.md").read_text()
    commands = re.findall(r"^\.venv/bin/python (.+)$", page, re.MULTILINE)
    commands += re.findall(r"`\.venv/bin/python (-m pip uninstall [^`]+)`", page)
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("*.egg-info", "build"))

    def follow(command: str) -> subprocess.CompletedProcess[str]:
        """`-e` writes into the folder of the package: it is a copy. "y" is the answer that uninstalling asks for."""
        words = command.replace("docs/examples/webnav-longest", str(tmp_path / "example")).split()
        return managed(words, None, python=str(new_environment), said="y\n")

    install, own_tests, import_tasks, evaluate, uninstall = commands
    for command in (install, own_tests, import_tasks):
        done = follow(command)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "pytest" not in command or "4 passed" in done.stdout
    told = follow(evaluate)
    scores = {line.split()[0]: line.split()[1] for line in told.stdout.splitlines() if line}
    assert scores["long_operation"] == scores["element_accuracy"] == "0.750"  # mean over a task of 2 and one of 1
    assert follow(uninstall).returncode == 0
    without = follow(f"{evaluate} --seed 1")
    assert without.returncode == 1
    assert "plan.kind must be one of first, grounded" in without.stderr
    readable = managed(["manage.py", "report", str(Study.objects.get().pk)], None)
    assert (readable.returncode, "grounded" in readable.stdout) == (0, True), readable.stderr


def managed(
    command: list[str],
    packages: Path | None,
    endpoint: dict[str, str] | None = None,
    *,
    python: str = sys.executable,
    said: str = "",
) -> subprocess.CompletedProcess[str]:
    """A command of the product on the database of this test."""
    more = {"DATABASE_URL": database_url(), "PYTHONPATH": str(packages or "")} | (endpoint or {})
    return subprocess.run(
        [python, *command],
        cwd=ROOT,
        env=os.environ | more,
        input=said,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


BOTH = """
from evaluation.metrics.definition import Definition
from evaluation.scanners.definition import Scanner

HALF = Definition("Half", "step", lambda step: 0.5)
SCAN = Scanner("never", lambda step: False, ())
"""
POINTS = """
[webnav.metrics]
half = own_checks:HALF
[webnav.scanners]
never = own_checks:SCAN
"""


def knows_both(folder: Path, first: str) -> subprocess.CompletedProcess[str]:
    """Whether both registries have what one module of a package adds, where `first` is imported before them."""
    (folder / "own_checks.py").write_text(BOTH)
    info = folder / "own_checks-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-checks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    script = f"""
import {first}
from evaluation.metrics import METRICS
from evaluation.scanners import SCANNERS
print(METRICS["half"].label, SCANNERS["never"].label)
"""
    command = [sys.executable, "-c", script]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("first", ["evaluation.metrics", "evaluation.scanners"])
def test_a_module_may_hold_a_metric_and_a_scanner(tmp_path: Path, first: str) -> None:
    done = knows_both(tmp_path, first)
    assert done.stdout == "Half never\n", done.stderr


@pytest.mark.slow
def test_a_module_that_is_imported_before_what_loads_it_is_told(tmp_path: Path) -> None:
    told = knows_both(tmp_path, "own_checks").stderr.splitlines()[-1]
    assert told == ("ImportError: own_checks is imported before evaluation.metrics, which loads it: import that first")


DRAWING = """
from agents.stages.plan.kinds import SAMPLING, Planning
from agents.types import Action


class TwoBest(Planning):
    \"\"\"The two best elements compete.\"\"\"

    draws, repeats = True, False
    reads = frozenset({"rank.top_k", *SAMPLING})

    def run(self, states):
        for state in states:
            best = state.ranking[:2]
            state.drawn = tuple(Action("CLICK", one.node_id) for one in best)
            state.shares = (0.6, 0.4)[: len(best)]
            state.close(state.drawn[0])
"""
DRAWN = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "webnav-two-best"
version = "1.0"

[project.entry-points."webnav.stages"]
"plan.kind.two_best" = "webnav_two_best:TwoBest"

[tool.setuptools]
py-modules = ["webnav_two_best"]
"""


def pip_installed(source: Path, target: Path) -> None:
    """A package, built and installed by pip."""
    options = ["--no-index", "--no-build-isolation", "--no-deps", "--quiet", "--target", str(target)]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", *options, str(source)]
    subprocess.run(pip, check=True, capture_output=True, timeout=120)


def asked_of(server: LlmServer) -> list[str]:
    return [prompt_text(request) for request in server.requests]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_planner_of_a_package_goes_with_a_world_model(tmp_path: Path) -> None:
    """It asks no model, so the world model and what values it ask the endpoint."""
    source, target = tmp_path / "source", tmp_path / "target"
    shutil.copytree(EXAMPLE, source / "example", ignore=shutil.ignore_patterns("*.egg-info", "build"))
    (source / "own").mkdir()
    (source / "own" / "webnav_two_best.py").write_text(DRAWING)
    (source / "own" / "pyproject.toml").write_text(DRAWN)
    for package in ("example", "own"):
        pip_installed(source / package, target)

    def reply(body: dict[str, Any]) -> str:
        text = prompt_text(body)
        if "You judge single actions" in text:
            return "[Score]: 4"
        return "[Rationale] r\n[Next State] The expected effect is that it works."

    imported = managed(
        ["manage.py", "import_dataset", "csv-tasks", str(EXAMPLE / "tasks.csv"), "--name", "tasks", "--split", "dev"],
        target,
    )
    assert imported.returncode == 0, imported.stderr
    asked = ["manage.py", "evaluate", "grounded", "tasks", "--split", "dev", "--inline"]
    changes = ["--set", "plan.kind=two_best", "plan.samples=2", "plan.temperature=0.5", "imagine.kind=world_model"]
    with serve(reply) as server:
        endpoint = {"LLM_BASE_URL": server.url, "LLM_MODEL": "m"}
        told = managed([*asked, *changes], target, endpoint)
        assert told.returncode == 0, told.stderr
        prompts = asked_of(server)
    assert any("You know how websites behave" in text for text in prompts)
    assert any("You judge single actions" in text for text in prompts)
    steps = TrajectoryStep.objects.all()
    assert steps
    assert [step.error for step in steps] == [""] * len(steps)
    assert {step.trace["imagine"]["kind"] for step in steps} == {"world_model"}
    without = managed([*asked, *changes, "--seed", "1"], target, {"LLM_BASE_URL": "", "LLM_EMBEDDED": "off"})
    assert without.returncode == 1
    assert "LLM_BASE_URL" in without.stderr
    undrawn = managed([*asked, "--set", "plan.kind=longest", "imagine.kind=world_model"], target)
    assert undrawn.returncode == 1
    assert "imagine.kind=world_model does not go with plan.kind=longest; it takes" in undrawn.stderr
    assert "two_best" in undrawn.stderr


ADDING = """
import importlib.metadata as metadata
names = ["observe.observation", "rank.kind", "recall.memory", "recall.exemplars", "recall.workflows", "plan.kind",
    "imagine.kind", "act.guard", "act.ask"]
points = [metadata.EntryPoint(f"{name}.mine", "nowhere:Mine", "webnav.stages") for name in names]
metadata.entry_points = lambda group: points if group == "webnav.stages" else []
from agents.recipes.declaring import settings_of
from agents.recipes.literature import Recipe
print([name for name in names if "mine" not in settings_of(Recipe)[name].choices])
"""


def test_every_setting_that_chooses_a_kind_takes_those_of_other_packages() -> None:
    done = subprocess.run([sys.executable, "-c", ADDING], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


CAUTIOUS = """
from agents.stages.kind import unless
from agents.stages.plan.kinds import Planning


class Cautious(Planning):
    reads = frozenset({"rank.top_k", "plan.doubt"})

    @classmethod
    def idle(cls, beside):
        return super().idle(beside) | unless(beside.recipe.rank.top_k > 1, "rank.top_k of at least 2", "plan.doubt")

    @classmethod
    def overrules(cls, recipe):
        return super().overrules(recipe) | unless(False, "a planner that asks nobody", "act.guard")
"""
CHECKING = """
import sys
from agents.cookbook import checking
from agents.recipes import literature
for changes in sys.argv[1:]:
    try:
        checking.vary(literature.get("grounded"), dict(change.split("=") for change in changes.split()))
        print("taken")
    except ValueError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_kind_of_a_package_says_itself_when_its_settings_count(tmp_path: Path) -> None:
    info = tmp_path / "cautious-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cautious\nVersion: 1.0\n")
    points = "[webnav.stages]\nplan.kind.cautious = cautious:Cautious\n\n[webnav.settings]\nplan.doubt = doubt:DOUBT\n"
    (info / "entry_points.txt").write_text(points)
    (tmp_path / "cautious.py").write_text(CAUTIOUS)
    (tmp_path / "doubt.py").write_text(
        "from agents.recipes.declaring import setting\nDOUBT = setting(0.5, 'how sure it must be', least=0, most=1)\n"
    )
    told = {
        "plan.kind=cautious plan.doubt=0.1": "taken",
        "plan.kind=cautious plan.doubt=0.1 rank.top_k=1": "plan.doubt would change nothing in grounded: it needs "
        "rank.top_k of at least 2",
        "plan.doubt=0.1 rank.top_k=1": "plan.doubt would change nothing in grounded: it needs plan.kind=cautious with "
        "rank.top_k of at least 2",
        "plan.kind=cautious act.guard=policy": "act.guard=policy would change nothing in grounded: it needs a planner "
        "that asks nobody",
        "act.guard=policy": "taken",
    }
    done = subprocess.run(
        [sys.executable, "-c", CHECKING, *told],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [*told.values()]


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
