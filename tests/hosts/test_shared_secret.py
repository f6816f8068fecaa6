"""A host with another SECRET_KEY than the others is refused when it starts, and the key can be changed on purpose."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotations.access.host_secret import OtherSecret, compare
from annotations.models import SharedSecret
from tests.app_server import ROOT, AppServer, _environment, _free_port
from webnav_site.supervision.programs import procfile

OTHER = "another secret than that of the first host " * 2


def started(role: str, key: str, folder: Path) -> subprocess.Popen:
    """A process of the Procfile with this key, on the database of the tests."""
    server = AppServer(1, "http://localhost:8123", "http://127.0.0.1:8123", folder / role)
    own = {"SECRET_KEY": key, "PYTHON": sys.executable, "BIND": "127.0.0.1", "PORT": str(_free_port())}
    command = procfile()[role]
    with server.log.open("w") as log:
        return subprocess.Popen(
            ["/bin/sh", "-c", command], cwd=ROOT, env=_environment(server) | own, stdout=log, stderr=log
        )


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_web_workers_and_beat_with_another_key_do_not_start(tmp_path: Path) -> None:
    compare()  # the first host
    processes = {role: started(role, OTHER, tmp_path) for role in ("web", "worker", "beat")}
    try:
        codes = {role: process.wait(timeout=90) for role, process in processes.items()}
    finally:
        for process in processes.values():
            process.kill()
    said = {role: (tmp_path / role).read_text() for role in processes}
    assert all("the SECRET_KEY of this host is not the one" in text for text in said.values()), said
    assert not any("Traceback" in text for text in said.values()), said
    assert codes == dict.fromkeys(processes, 3)  # rather than trying for ever


@pytest.mark.django_db
def test_the_first_host_says_which_key_is_shared(settings) -> None:
    compare()
    compare()
    assert settings.SECRET_KEY not in str(SharedSecret.objects.values())
    settings.SECRET_KEY = OTHER
    with pytest.raises(OtherSecret, match="set that one here"):
        compare()
    assert Client().get("/healthz").status_code == 503


@pytest.mark.django_db
def test_the_key_is_changed_only_on_purpose(settings, capsys) -> None:
    compare()
    old, settings.SECRET_KEY = settings.SECRET_KEY, OTHER
    with pytest.raises(CommandError, match="SECRET_KEY_FALLBACKS"):
        call_command("rotate_secret_key")
    settings.SECRET_KEY_FALLBACKS = [old]
    call_command("rotate_secret_key")
    compare()
    call_command("rotate_secret_key")
    told = capsys.readouterr().out.splitlines()
    assert [line.partition(".")[0] for line in told] == [
        "This SECRET_KEY is shared from now on",
        "This SECRET_KEY is the shared one already: nothing was changed",
    ]
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = old, []
    with pytest.raises(OtherSecret):
        compare()
    call_command("rotate_secret_key", "--forget-old")
    compare()
