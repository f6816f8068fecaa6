"""Real environments in processes of their own; skipped, and counted as such, where there is no Chromium."""

import os
from collections.abc import Iterator

import pytest

from agents.environments.browser import find
from agents.environments.process import EnvironmentProcess
from tests.beside import BROWSER, needs


@pytest.fixture(scope="session")
def has_chromium() -> None:
    if find() is None:
        missing = needs(BROWSER, "none was found; set $CHROMIUM to the program, or put it on the PATH")
        if os.environ.get("CI"):
            pytest.fail(missing, pytrace=False)
        pytest.skip(missing)


@pytest.fixture(scope="module")
def miniwob(has_chromium) -> Iterator[EnvironmentProcess]:
    """One browser for the tests of a file."""
    process = EnvironmentProcess("miniwob")
    yield process
    process.close()


@pytest.fixture
def hash_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recipes rank with hashed words instead of MiniLM."""
    from agents.encoders.embedding import CachedEncoder, HashEncoder
    from agents.runs import building

    encoder = CachedEncoder(HashEncoder())
    monkeypatch.setattr(building, "encoder_named", lambda name: encoder)
