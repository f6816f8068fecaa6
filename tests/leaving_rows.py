"""A file of tests leaves an empty database behind: one that does not fails, and its rows spoil no other file.

In a run with the slow tests it is a warning: they kill workers and servers, whose last
transaction may end after them.
"""

import warnings
from collections.abc import Iterator

import pytest

MADE = pytest.StashKey[bool]()  # whether this process has its test database by now
WRITTEN_AT_START = '"annotations_sharedsecret"'  # by each web process and worker that starts: no test chose to store it
LEFT = pytest.StashKey[dict[str, list[str]]]()  # file -> tables with rows of it, until that is told


class LeavingRows:
    """Tells when the last test of a file is over for good, so that trying it again hides nothing."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        done = yield
        left = item.config.stash.setdefault(LEFT, {})
        while left:
            file, tables = left.popitem()
            tell(item, f"{file} leaves rows behind in {', '.join(tables)}")
        return done


def tell(item: pytest.Item, why: str) -> None:
    if "not slow" in item.config.getoption("markexpr"):
        told = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "teardown")
        item.ihook.pytest_runtest_logreport(report=told)
        return
    warned = warnings.WarningMessage(pytest.PytestWarning(why), pytest.PytestWarning, str(item.path), 0)
    item.ihook.pytest_warning_recorded.call_historic(
        kwargs={"warning_message": warned, "when": "runtest", "nodeid": item.nodeid, "location": None}
    )


def note_what_is_left(request: pytest.FixtureRequest) -> None:
    """After a file, whose own fixtures are gone by now; the next one finds an empty database."""
    if not request.config.stash.get(MADE, False):
        return
    from pytest_django.plugin import blocking_manager_key

    from tests.emptying import empty_tables_with_rows, filled_tables, vacuum_what_is_dead

    with request.config.stash[blocking_manager_key].unblock():
        if found := filled_tables():
            if chosen := [table for table in found if table != WRITTEN_AT_START]:
                request.config.stash.setdefault(LEFT, {})[request.node.nodeid] = chosen
            empty_tables_with_rows()
        vacuum_what_is_dead()
