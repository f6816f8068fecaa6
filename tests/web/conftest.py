"""Fixtures for tests that need a real browser and a real server.

`chromium` is one browser for the whole run, `page` a fresh context in it. `app_server` is the real application on the
test database. Rows that the server must see have to be committed, so `app_server` brings `transactional_db`.

Playwright's synchronous API leaves an event loop marked as running in the test's thread. Django would then refuse
the ORM there, although nothing runs while a test does; DJANGO_ALLOW_ASYNC_UNSAFE lifts that in browser tests, in this
process only. What starts a loop itself (`asyncio.run`, `async_to_sync`: publishing events, for one) goes through
`in_thread`. The mark is set for browser tests only, so that other tests never meet it.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings as django_settings
from django.core.cache import cache
from django.db import connection, connections
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from agents.environments.browser import find as find_chromium
from agents.models import Drive
from annotations.access.tries.counters import name_in_redis
from evaluation.models import Study
from evaluation.studies.running import run_inline
from tests.app_server import AppServer, running
from tests.beside import BROWSER, needs

# What Playwright turns off, and the pages of the address bar's suggestions, whose process costs every new window a
# second of a processor. Of several such flags Chromium reads the last alone, hence Playwright's own are repeated.
UNUSED_FEATURES = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
)
# Without the background-networking flags Chromium tries to reach hosts that a closed network refuses.
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(UNUSED_FEATURES)}",
]


def _chromium_path() -> str:
    path = find_chromium()
    if path and Path(path).exists():
        return path
    missing = needs(BROWSER, f"{path or 'none'} was found; set $CHROMIUM to the program, or put it on the PATH")
    if os.environ.get("CI"):
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One headless Chromium for the whole run."""
    path = _chromium_path()
    playwright = sync_playwright().start()
    loop = asyncio.get_running_loop()
    try:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        asyncio._set_running_loop(None)
        yield browser
        asyncio._set_running_loop(loop)
        browser.close()
    finally:
        asyncio._set_running_loop(loop)
        playwright.stop()
        asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def _counting_redis() -> Iterator[redis.Redis]:
    """One connection for the whole run: a new one for each test took longer than its question."""
    with redis.Redis.from_url(django_settings.REDIS_URL) as server:
        yield server


@pytest.fixture(autouse=True)
def _no_earlier_requests(_counting_redis: redis.Redis) -> None:
    """The throttles count in the cache and in Redis, which outlive a test and its database."""
    cache.alone.clear()
    ours = (f"{cache.key_prefix}:".encode(), name_in_redis("").encode())
    if kept := [name for name in _counting_redis.scan_iter(count=1000) if name.startswith(ours)]:
        _counting_redis.delete(*kept)


@pytest.fixture(autouse=True)
def _event_loop_only_in_browser_tests(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    if "chromium" not in request.fixturenames:
        yield
        return
    browser = request.getfixturevalue("chromium")
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    asyncio._set_running_loop(browser._loop)
    yield
    connections.close_all()  # under a running loop Django keeps connections apart: the database could not be dropped
    asyncio._set_running_loop(None)


@pytest.fixture
def browser_context(chromium: Browser) -> Iterator[BrowserContext]:
    """A fresh profile, as wide as the narrowest screen that the pages are made for."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(10_000)
    yield context
    context.close()


@pytest.fixture
def page(browser_context: BrowserContext) -> Iterator[Page]:
    """An empty tab; the test fails when a script in it ended with an uncaught error."""
    page = browser_context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    assert errors == [], f"uncaught errors in the page: {errors}"


@pytest.fixture
def sign_in_as(app_server: AppServer) -> Callable[[BrowserContext, object], None]:
    """`sign_in_as(context, user)` makes the tabs of a browser context that user's."""
    from django.test import Client

    def sign_in_as(context: BrowserContext, user: object) -> None:
        client = Client()
        client.force_login(user)
        name = django_settings.SESSION_COOKIE_NAME
        cookie = {"name": name, "value": client.cookies[name].value, "url": app_server.app_origin, "httpOnly": True}
        context.add_cookies([cookie])

    return sign_in_as


@pytest.fixture
def sign_in(sign_in_as, browser_context: BrowserContext) -> Callable[[object], None]:
    """`sign_in(user)` makes the browser context's tabs that user's."""
    return lambda user: sign_in_as(browser_context, user)


@pytest.fixture
def app_server(
    transactional_db: None, _server_process: AppServer, settings: pytest.FixtureRequest
) -> Iterator[AppServer]:
    """The running server. Addresses made in the test's own process point to it as well."""
    settings.APP_ORIGIN = _server_process.app_origin
    settings.SNAPSHOT_ORIGIN = _server_process.snapshot_origin
    yield _server_process
    _wait_until_the_server_rests()


def _wait_until_the_server_rests(seconds: float = 10) -> None:
    """The tables are emptied next, which a query of the server would make a deadlock: pages just closed still ask."""
    from django.db import connection

    busy = """SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'"""
    deadline = time.monotonic() + seconds
    quiet = 0
    while quiet < 3 and time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(busy)
            quiet = quiet + 1 if cursor.fetchone()[0] == 0 else 0
        time.sleep(0.01)


@pytest.fixture(scope="session")
def _server_process(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """Started once, on the test database, stopped before that is dropped."""
    with running(tmp_path_factory.mktemp("server") / "log") as server:
        yield server


@pytest.fixture
def in_both_worlds(
    db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any
) -> Callable[[Callable[..., Any]], list[Any]]:
    """`in_both_worlds(look)` gives what `look(world)` returns in either; the clock stands still."""
    from tests.web import gold_worlds

    settings.MEDIA_ROOT, settings.VAR_DIR = tmp_path / "media", tmp_path / "var"
    gold_worlds.stop_the_clock(monkeypatch)
    return lambda look: gold_worlds.in_both(look, tmp_path, monkeypatch)


@pytest.fixture
def worker() -> Iterator[Callable[[], threading.Thread]]:
    """`worker()`: one takes the study that was begun last, in a thread."""
    threads: list[threading.Thread] = []

    def work() -> None:
        try:
            run_inline(Study.objects.latest("pk"))
        finally:
            connection.close()

    def begin() -> threading.Thread:
        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return threads[-1]

    yield begin
    Drive.objects.update(until=timezone.now())  # whatever a test that fails has left under way
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
