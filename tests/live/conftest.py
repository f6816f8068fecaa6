"""Real environments in processes of their own; skipped, and counted as such, where there is no Chromium."""

import os
from collections.abc import Iterator
from typing import ClassVar

import psutil
import pytest

from agents.environments.browser import find
from agents.environments.process import EnvironmentProcess
from tests.beside import BROWSER, needs

# Whoever starts a browser, as a test may let it take one that an earlier test has left.
STARTERS = ("agents.live.running", "agents.live.jobs", "evaluation.management.acting")


@pytest.fixture(scope="session")
def has_chromium() -> None:
    if find() is None:
        missing = needs(BROWSER, "none was found; set $CHROMIUM to the program, or put it on the PATH")
        if os.environ.get("CI"):
            pytest.fail(missing, pytrace=False)
        pytest.skip(missing)


class KeptBrowser(EnvironmentProcess):
    """Closing it leaves it to the next test: starting one takes two seconds of a processor."""

    idle: ClassVar[list["KeptBrowser"]] = []

    @classmethod
    def take(cls, name: str) -> "KeptBrowser":
        """One that is idle and whose Chromium lives, or else a new one."""
        assert name == "miniwob"
        while cls.idle:
            kept = cls.idle.pop()
            if any("chrom" in child.name() for child in psutil.Process(kept.pid).children(recursive=True)):
                return kept
            kept.kill()
        return cls(name)

    def close(self) -> None:
        self.idle.append(self)


@pytest.fixture(scope="session")
def browsers_to_close() -> Iterator[None]:
    yield
    for kept in KeptBrowser.idle:
        kept.kill()
    KeptBrowser.idle.clear()


@pytest.fixture(scope="module")
def miniwob(has_chromium, browsers_to_close) -> Iterator[EnvironmentProcess]:
    """One browser for the tests of a file."""
    process = KeptBrowser.take("miniwob")
    yield process
    process.close()


@pytest.fixture
def kept_browsers(has_chromium, browsers_to_close, monkeypatch: pytest.MonkeyPatch) -> None:
    """Live runs and jobs of this test take browsers that earlier tests have left."""
    for module in STARTERS:
        monkeypatch.setattr(f"{module}.EnvironmentProcess", KeptBrowser.take)


@pytest.fixture
def hash_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recipes rank with hashed words instead of MiniLM."""
    from agents.encoders.embedding import CachedEncoder, HashEncoder
    from agents.memory import encoding

    encoder = CachedEncoder(HashEncoder())
    monkeypatch.setattr(encoding, "encoder_named", lambda name: encoder)
