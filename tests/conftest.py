"""What all tests share. Importing this file starts no service and loads no Django: `make test-core` has neither."""

import gc
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

import pytest

from tests.beside import counted_as
from tests.leaving_rows import MADE, LeavingRows, note_what_is_left
from tests.quick_suite import QuickSuite

if TYPE_CHECKING:
    from xdist.remote import Producer

    from annotations.models import Dataset
    from tests.one_app import OneApp

T = TypeVar("T")
# Unit tests of the cores: they need no database, no Django and no model library, and all of them end in 5 seconds.
CORE = (
    "agents/test_llm_prompts.py",
    "agents/test_planner_knockout.py",
    "agents/test_planner_page.py",
    "agents/test_planner_parse.py",
    "agents/test_planner_snippets.py",
    "agents/test_weblinx_actions.py",
    "agents/test_weblinx_parse.py",
    "annotations/test_dom_*.py",
    "annotations/test_files.py",
    "annotations/test_json_stream.py",
    "annotations/test_miniwob_demos.py",
    "annotations/test_miniwob_dom.py",
    "annotations/test_miniwob_events.py",
    "annotations/test_render*.py",
    "annotations/test_splits.py",
    "evaluation/test_metrics_*.py",
)
RERUNS = {"timed": 5, "browser": 2, None: 0}  # marker -> how often such a test is tried again


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--core", action="store_true", help="only the unit tests of the cores; use it with -p no:django")


def pytest_configure(config: pytest.Config) -> None:
    """Processes that run beside each other compute with one thread each: threads that wait for others spin, and take
    the processor from them. No property has a deadline of its own (a busy machine would break it). CI tries
    properties on more examples than `make test`; with --core they are few, and the same every time."""
    from hypothesis import settings

    os.environ.setdefault("LLM_EMBEDDED", "off")  # no test waits for that model unawares; its own tests allow it
    models = tempfile.TemporaryDirectory(
        prefix="webnav-models-"
    )  # what was trained in this checkout is no part of tests
    os.environ["MODEL_ROOT"] = models.name
    config.add_cleanup(models.cleanup)
    if "PYTEST_XDIST_WORKER" in os.environ:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    examples = 40 if "not slow" in config.getoption("markexpr") else 100
    settings.register_profile("all", deadline=None, max_examples=examples)
    settings.register_profile("core", settings.get_profile("all"), max_examples=8, database=None, derandomize=True)
    settings.load_profile("core" if config.getoption("--core") else "all")
    config.pluginmanager.register(LeavingRows())
    config.pluginmanager.register(QuickSuite())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "OneApp | None":
    from tests.one_app import OneApp

    return OneApp(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """The template of the test databases is made while the processes collect; before, all waited for it."""
    from pytest_django.plugin import blocking_manager_key

    from tests.template_database import use_template

    def make() -> None:
        with config.stash[blocking_manager_key].unblock():
            use_template()

    Thread(target=make).start()


def pytest_sessionstart() -> None:
    """What is imported and collected from here on stays until the end: nothing of it is worth looking through."""
    gc.disable()


def pytest_collection_finish() -> None:
    """The collector took an eighth of the processor's time: it leaves out what was loaded before the first test, and
    comes after 50,000 new objects instead of 700."""
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --core, tests on large pages and files are left to `make test`. What a busy machine can spoil is tried again
    (slow code is slow every time); the closing line counts such reruns."""
    if config.pluginmanager.hasplugin("rerunfailures"):
        for item in items:
            if again := max(tries for name, tries in RERUNS.items() if name is None or item.get_closest_marker(name)):
                item.add_marker(pytest.mark.flaky(reruns=again, reruns_delay=1))
    if not config.getoption("--core"):
        items[:] = spread(items, ("browser",) if "not slow" in config.getoption("markexpr") else ("browser", "slow"))
        return
    large = [item for item in items if item.get_closest_marker("full_size")]
    config.hook.pytest_deselected(items=large)
    items[:] = [item for item in items if item not in set(large)]


def spread(items: list[pytest.Item], long: tuple[str, ...]) -> list[pytest.Item]:
    """First the files that start the whole app, which one process does alone (`tests/one_app.py`). Then files with a
    test of such a marker over the first four fifths of the others, evenly: while one process waits for
    its browser the others compute, and none ends with a long file when nothing else is left to do."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    ranks = {
        path: 0 if marked(tests, ("whole_app",)) else 1 if marked(tests, long) else 2 for path, tests in files.items()
    }
    first, ahead, others_of = ([files[path] for path, rank in ranks.items() if rank == wanted] for wanted in range(3))
    others, between = iter(others_of), len(others_of) * 4 // 5 // max(len(ahead), 1)
    order = [tests for one in ahead for tests in (one, *islice(others, between))]
    return [test for tests in (*first, *order, *others) for test in tests]


def marked(tests: list[pytest.Item], names: tuple[str, ...]) -> bool:
    return any(test.get_closest_marker(name) for test in tests for name in names)


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """What could only run with more beside the clone has its own number in the closing line."""
    what = counted_as(report)
    return (f"need {what}", "s", "SKIPPED") if what else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why: one line per reason."""
    skipped = [
        report for key, reports in terminalreporter.stats.items() if key.startswith("need ") for report in reports
    ]
    for reason, count in Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped).items():
        terminalreporter.write_line(f"skipped {count}: {reason}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With --core, what `CORE` does not name is not even imported, and neither are the fixtures of its folder."""
    if not config.getoption("--core"):
        return None
    path = collection_path.relative_to(Path(__file__).parent).as_posix()
    wanted = {pattern.partition("/")[0] for pattern in CORE} | {"."} if collection_path.is_dir() else CORE
    return None if any(fnmatch(path, pattern) for pattern in wanted) else True


@pytest.fixture
def in_thread() -> Callable[[Callable[[], T]], T]:
    """`in_thread(function)` runs it in a fresh thread, with its own database connection, and gives its result."""
    from django.db import connection

    def run(function: Callable[[], T]) -> T:
        def then_close() -> T:
            try:
                return function()
            finally:
                connection.close()

        with ThreadPoolExecutor(1) as pool:
            return pool.submit(then_close).result()

    return run


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings, django_db_blocker) -> None:
    """The test database is a copy of one that is migrated already."""
    from tests.template_database import use_template

    with django_db_blocker.unblock():
        use_template()


@pytest.fixture(scope="session")
def django_db_setup(request: pytest.FixtureRequest, django_db_setup, django_db_blocker) -> Iterator[None]:
    """Tests that commit leave an empty database behind quickly."""
    from tests.emptying import use_after_tests

    with django_db_blocker.unblock():
        use_after_tests()
    request.config.stash[MADE] = True
    yield
    request.config.stash[MADE] = False


@pytest.fixture(scope="module", autouse=True)
def _empty_afterwards(request: pytest.FixtureRequest) -> Iterator[None]:
    """Set up before all else of a file, and so the last to end."""
    yield
    note_what_is_left(request)


@pytest.fixture(scope="module")
def rows_of_the_file(django_db_setup, django_db_blocker) -> Iterator[None]:
    """Rows that fixtures of a file store are there, as they were, for each of its tests, and gone after the last one.
    Only for files whose tests do not commit."""
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def imported_casaverde(rows_of_the_file: None, tmp_path_factory: pytest.TempPathFactory) -> int:
    """The key of a dataset with the conversations of one website of the sample; making it takes a second."""
    from tests.evaluation.sample_rows import import_website

    return import_website(tmp_path_factory.mktemp("casaverde") / "site").pk


@pytest.fixture
def casaverde(db: None, imported_casaverde: int) -> "Dataset":
    """That dataset, as it was imported."""
    from annotations.models import Dataset

    return Dataset.objects.get(pk=imported_casaverde)
