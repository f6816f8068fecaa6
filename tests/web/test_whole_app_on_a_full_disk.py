"""The whole app on a disk of its own that becomes full: it says so, and soon after there is room all works again."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from tests.annotations.test_full_disk import mounted
from tests.contention import contention_of_all_cores
from tests.web.running_up import ROOT, free_port, kill_left, start, wait_until_healthy

pytestmark = [pytest.mark.slow, pytest.mark.whole_app]
SIZE = "1200m"  # the app wants 512 MB free, and takes about 300
RECOVERY_SECONDS = 30  # on a machine that does nothing else
FULL_SECONDS = 20  # as long as the disk stays full: longer than any look at the servers waits
# What works on an export needs the database, the broker, a worker and the disk.
EXPORT = """
from uuid import uuid4
from annotations.jobs import running
from annotations.models import Dataset
from tests import factories
dataset = Dataset.objects.first() or factories.make_conversation(turns=2, steps=2).dataset
user = factories.make_superuser(username=uuid4().hex)
print(running.start_export(user=user, dataset=dataset, format="jsonl").pk)
"""
SIGNED_IN = """
from django.conf import settings
from django.test import Client
from tests import factories
client = Client()
client.force_login(factories.make_superuser(username="somebody"))
print(f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}")
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    place = Path("/var/tmp") / f"webnav-test-{uuid4().hex[:8]}"
    for disk in mounted(place, f"size={SIZE},mode=755"):
        yield disk
        kill_left(disk)
    place.rmdir()


def django(folder: Path, port: int, code: str) -> str:
    environment = os.environ | {"WEBNAV_VAR": str(folder), "PORT": str(port)}
    environment |= {"MODEL_ROOT": str(folder / "models"), "DJANGO_SETTINGS_MODULE": "webnav_site.settings"}
    command = [sys.executable, "-c", f"import django; django.setup()\n{code}"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def health(port: int) -> int:
    try:
        with urllib.request.urlopen(f"http://localhost:{port}/healthz", timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def page(port: int, session: str) -> tuple[int, str]:
    """The home page as somebody sees it who has signed in before."""
    request = urllib.request.Request(f"http://localhost:{port}/", headers={"Cookie": session})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def fill(filler: Path) -> None:
    with suppress(OSError), filler.open("ab", buffering=0) as file:
        while True:
            file.write(bytes(1024 * 1024))


def remove_catalogue_caches(folder: Path) -> None:
    """As PostgreSQL does when it tidies its catalogues: whoever connects next writes them anew, or is refused."""
    for cache in (folder / "postgres").rglob("pg_internal.init"):
        cache.unlink()


def within(seconds: float, condition: Callable[[], object], what: str) -> float:
    begun = time.monotonic()
    while True:
        try:
            if condition():
                return time.monotonic() - begun
        except (OSError, psycopg.Error):
            pass
        assert time.monotonic() - begun < seconds, f"{what} within {seconds} s"
        time.sleep(0.2)


def job(folder: Path, pk: int) -> tuple[str, str]:
    with psycopg.connect(f"postgresql://postgres@/webnav?host={folder / 'postgres'}", connect_timeout=5) as connection:
        row = connection.execute("SELECT state, last_error FROM annotations_job WHERE id = %s", [pk]).fetchone()
        assert row is not None
        return row


def test_it_says_that_its_disk_is_full_and_recovers_by_itself_when_there_is_room(folder: Path, tmp_path: Path) -> None:
    port = free_port()
    with (tmp_path / "up.log").open("w") as output:
        up = start(folder, port, stdout=output)
    wait_until_healthy(port)
    before = int(django(folder, port, EXPORT))
    within(120, lambda: job(folder, before)[0] == "done", "an export while there is room")
    session = django(folder, port, SIGNED_IN).strip()
    supervisor = json.loads((folder / "up.lock").read_text())["pid"]

    filler = folder / "filler"
    within(30, (folder / "reserve").exists, "room is kept back")
    remove_catalogue_caches(folder)
    fill(filler)
    slower = max(1.0, contention_of_all_cores())
    within(30 * slower, lambda: health(port) == 503, "a failing health check")
    within(30 * slower, lambda: page(port, session)[0] == 200, f"the home page ({slower:.1f} times slower than idle)")
    assert "The server&#x27;s disk is full (" in page(port, session)[1]
    assert not (folder / "reserve").exists()

    fill(filler)  # the room that was kept back is taken too
    status, text = page(port, session)
    assert status in {200, 503, 507}  # without room for its log the database ends, and starts again
    assert "The server&#x27;s disk is full" in text
    time.sleep(FULL_SECONDS)
    assert health(port) == 503

    filler.unlink()
    slower = max(1.0, contention_of_all_cores())
    within(RECOVERY_SECONDS * slower, lambda: health(port) == 200, f"health ({slower:.1f} times slower than idle)")
    after = int(django(folder, port, EXPORT))
    within(RECOVERY_SECONDS * slower, lambda: job(folder, after)[0] == "done", "an export")
    assert job(folder, before)[0] == "done", "what was stored is there"
    assert json.loads((folder / "up.lock").read_text())["pid"] == supervisor, "it lives still"
    assert up.poll() is None
