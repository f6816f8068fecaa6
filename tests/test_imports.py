"""Who may import whom: the two tables of the import rule, read from the syntax trees, and a start without torch."""

import ast
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest


@pytest.fixture(scope="module", autouse=True)
def _nothing_to_collect() -> None:
    """Python 3.11 ends `ast.parse` with a SystemError when an object that is collected meanwhile raises."""
    gc.collect()


ROOT = Path(__file__).resolve().parent.parent
APPS = ("annotations", "agents", "evaluation", "webnav_site")
MAY_IMPORT = {
    "annotations": {"annotations"},
    "agents": {"agents", "annotations"},
    "evaluation": {"evaluation", "agents", "annotations"},
    "webnav_site": set(APPS),
}
# Modules that work without a database: ranking, planning, DOM code, dataset formats, metrics.
CORE = (
    "annotations.records", "annotations.datasets", "annotations.datasets.*", "annotations.dom", "annotations.dom.*",
    "annotations.pages", "annotations.pages.*", "annotations.tree_rows",
    "annotations.observe.spans",
    "annotations.sample", "annotations.sample.*", "annotations.releases.leakage", "annotations.releases.privacy",
    "annotations.work.agreement", "annotations.work.reading",
    "annotations.work.cuts", "annotations.work.mentions", "annotations.work.merging", "annotations.work.operations",
    "annotations.work.public_addresses",
    "annotations.work.organising", "annotations.work.page_tree", "annotations.work.rephrasing",
    "annotations.work.wording",
    "agents.types", "agents.recipes", "agents.recipe_words", "agents.published",
    "agents.settings", "agents.memory_limits", "agents.weights", "agents.embedding", "agents.packing", "agents.policy",
    "agents.grounded", "agents.trace", "agents.memory.recall",
    "agents.memory.text", "agents.memory.select", "agents.memory.workflow_text",
    "agents.ranker", "agents.ranker.*", "agents.planner", "agents.planner.*",
    "agents.world_model", "agents.world_model.*", "agents.environments", "agents.environments.*", "agents.llm",
    "agents.llm.*", "agents.prompts", "agents.prompts.*", "agents.weblinx", "agents.weblinx.*",
    "agents.training", "agents.training.settings", "agents.training.loop", "agents.training.checkpoint",
    "agents.training.weights", "agents.training.examples", "agents.training.pairs", "agents.training.samples",
    "agents.training.left_out", "agents.training.ranking", "agents.training.language", "agents.training.card",
    "evaluation.judging", "evaluation.metrics", "evaluation.metrics.*",
)  # fmt: skip
SHELL_PACKAGES = {
    "django", "celery", "channels", "rest_framework", "knox", "drf_spectacular", "django_filters", "pgvector",
    "psycopg", "redis", "asgiref",
}  # fmt: skip
# Modules that the web process loads, by their last word: job_views, account_api, page_admin and the like too.
WEB = {"models", "views", "api", "admin", "urls", "forms", "serializers", "consumers", "routing", "filters", "apps"}
MODEL_PACKAGES = {"torch", "transformers", "playwright"}
# Core modules that are nothing without torch, and those that load them.
NETWORKS = tuple(
    f"agents.planner.learned.{name}" for name in ("network", "flat", "fit", "measure", "model", "train", "policy")
)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    """Every module of the apps, migrations left out."""
    files = [path for app in APPS for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts]
    return {module_name(path): path for path in sorted(files)}


@cache
def imports(module: str) -> tuple[tuple[str, int], ...]:
    """(imported module, line) of a module, those inside functions and under TYPE_CHECKING included."""
    path = modules()[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return tuple(_imports(ast.parse(path.read_text("utf-8")), package))


def _imports(tree: ast.AST, package: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            name = ".".join(part for part in (base, node.module or "") if part)
            for alias in node.names:  # `from agents import events` names a module, `from agents.events import x` not
                inner = f"{name}.{alias.name}"
                yield (inner if inner in modules() else name), node.lineno


def is_core(module: str) -> bool:
    return any(fnmatch(module, pattern) for pattern in CORE)


def is_web(module: str) -> bool:
    words = {part.rpartition("_")[2] for part in module.split(".")[1:]}
    return bool(words & WEB)


def where(module: str, line: int) -> str:
    return f"{modules()[module].relative_to(ROOT)}:{line}"


def test_the_apps_are_found() -> None:
    assert {name.partition(".")[0] for name in modules()} == set(APPS)
    assert ("agents.recipes", "agents.policy") in {
        (imported, module) for module in modules() for imported, _ in imports(module)
    }
    assert any(is_core(name) for name in modules())
    assert sum(is_web(name) for name in modules()) > 20


@pytest.mark.parametrize("app", APPS)
def test_apps_import_in_one_direction_only(app) -> None:
    """`annotations <- agents <- evaluation`; webnav_site wires them and nobody imports it."""
    wrong = [
        f"{where(module, line)} imports {imported}"
        for module in modules()
        if module.split(".")[0] == app
        for imported, line in imports(module)
        if imported.split(".")[0] in set(APPS) - MAY_IMPORT[app]
    ]
    assert wrong == []


def test_annotations_never_import_torch() -> None:
    wrong = [
        f"{where(module, line)} imports {imported}"
        for module in modules()
        if module.split(".")[0] == "annotations"
        for imported, line in imports(module)
        if imported.split(".")[0] in {"torch", "transformers"}
    ]
    assert wrong == []


def test_core_modules_never_import_django_or_its_shell() -> None:
    wrong = [
        f"{where(module, line)} imports {imported}"
        for module in modules()
        if is_core(module)
        for imported, line in imports(module)
        if imported.split(".")[0] in SHELL_PACKAGES
    ]
    assert wrong == []


def test_core_modules_import_only_core_modules_of_the_project() -> None:
    """So that they meet no model and no Django on a detour either."""
    packages = {name for name, path in modules().items() if path.name == "__init__.py" and not path.read_text().strip()}
    wrong = [
        f"{where(module, line)} imports {imported}"
        for module in modules()
        if is_core(module)
        for imported, line in imports(module)
        if imported.split(".")[0] in APPS and imported not in packages and not is_core(imported)
    ]
    assert wrong == []


def test_modules_of_the_web_process_name_no_model_library() -> None:
    wrong = [
        f"{where(module, line)} imports {imported}"
        for module in modules()
        if is_web(module)
        for imported, line in imports(module)
        if imported.split(".")[0] in MODEL_PACKAGES
    ]
    assert wrong == []


CORE_ALONE = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(",".join(sorted({name.partition(".")[0] for name in sys.modules} & {"django", "celery", "channels", "torch"})))
"""
WEB_ALONE = """
import django
django.setup()
from django.urls import get_resolver
import importlib, sys
importlib.import_module("webnav_site.asgi")
importlib.import_module("webnav_site.snapshot_urls")
get_resolver().url_patterns
from django.contrib import admin
admin.site.urls
from webnav_site.celery import app
app.loader.import_default_modules()
print(",".join(sorted({name.partition(".")[0] for name in sys.modules} & {"torch", "transformers", "playwright"})))
"""


def run_alone(script: str, *arguments: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


def test_core_modules_load_without_django_and_without_torch() -> None:
    names = [name for name in modules() if is_core(name) and name not in NETWORKS]
    assert len(names) > 40
    assert run_alone(CORE_ALONE, *names) == ""


def test_the_web_process_and_the_task_modules_start_without_model_libraries() -> None:
    """URLs, ASGI, admin and Celery's tasks are loaded; torch comes in inside a task only."""
    from django.conf import settings

    databases = {"DATABASE_URL": "postgresql:///unused", "REDIS_URL": settings.REDIS_URL}  # nothing is started
    assert run_alone(WEB_ALONE, DJANGO_SETTINGS_MODULE="tests.settings", **databases) == ""
