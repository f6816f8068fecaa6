"""A file that leaves rows behind fails with its name and its tables, and the next one finds none of them."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User

from annotations.access.host_secret import refuse_another
from annotations.models import SharedSecret
from tests.leaving_rows import LEFT, note_what_is_left

ROOT = Path(__file__).resolve().parent.parent
CONFTEST = """
import pytest
from tests.leaving_rows import LEFT, LeavingRows

def pytest_configure(config):
    config.pluginmanager.register(LeavingRows())

@pytest.fixture(scope="module", autouse=True)
def leaves_rows(request):
    yield
    if "leaves" in request.node.name:
        request.config.stash[LEFT][request.node.nodeid] = ["auth_user", "auth_group"]
"""
CASES = """
import pytest

tries = []

def test_the_first():
    pass

@pytest.mark.flaky(reruns=1)
def test_the_last():
    tries.append(1)
    assert len(tries) > 1
"""


@pytest.mark.django_db(transaction=True)
def test_rows_are_noted_and_taken_away(request: pytest.FixtureRequest) -> None:
    left = request.config.stash.setdefault(LEFT, {})
    note_what_is_left(request)
    assert left == {}
    User.objects.create(username="ada")
    note_what_is_left(request)
    assert '"auth_user"' in left.pop(request.node.nodeid)
    assert not User.objects.exists()
    assert Permission.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_what_every_process_writes_at_its_start_is_taken_away_and_not_told(request: pytest.FixtureRequest) -> None:
    refuse_another()
    note_what_is_left(request)
    assert request.config.stash.setdefault(LEFT, {}) == {}
    assert not SharedSecret.objects.exists()


def closing(folder: Path, chosen: str) -> tuple[int, str]:
    (folder / "conftest.py").write_text(CONFTEST)
    for name in ("test_leaves.py", "test_tidy.py"):
        (folder / name).write_text(CASES)
    command = [sys.executable, "-m", "pytest", "-p", "no:django", "-p", "no:cacheprovider", "-m", chosen, "-n", "1"]
    told = [*command, "-c", "/dev/null", "--rootdir", str(folder), str(folder)]
    done = subprocess.run(told, cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.mark.slow
def test_a_file_that_left_some_fails_even_when_its_last_test_was_tried_again(tmp_path: Path) -> None:
    code, told = closing(tmp_path, "not slow")
    assert "4 passed, 1 error, 2 rerun" in told.splitlines()[-1], told
    assert "test_leaves.py leaves rows behind in auth_user, auth_group" in told
    assert "test_tidy.py leaves" not in told
    assert code == 1


@pytest.mark.slow
def test_beside_slow_tests_which_kill_what_writes_it_is_a_warning(tmp_path: Path) -> None:
    code, told = closing(tmp_path, "not gpu and not live")
    assert "4 passed, 1 warning, 2 rerun" in told.splitlines()[-1], told
    assert "test_leaves.py leaves rows behind in auth_user, auth_group" in told
    assert code == 0
