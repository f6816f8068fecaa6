"""Tests that need more than a clone: skipped with the reason, and counted in pytest's closing line."""

import pytest

SHARED, BROWSER, NGINX, HARNESS = "../shared", "a Chromium", "nginx", "another harness"


def needs(what: str, reason: str) -> str:
    """The reason of a skip that the closing line counts under `what`."""
    return f"needs {what}: {reason}"


def needs_shared(reason: str) -> pytest.MarkDecorator:
    """Skips what only the folder beside the repository has."""
    return pytest.mark.skip(reason=needs(SHARED, reason))


def counted_as(report: pytest.TestReport) -> str | None:
    """What the skipped test of a report needs; None for every other report."""
    if not report.skipped or not isinstance(report.longrepr, tuple):
        return None
    return next((what for what in (SHARED, BROWSER, NGINX, HARNESS) if needs(what, "") in report.longrepr[2]), None)
