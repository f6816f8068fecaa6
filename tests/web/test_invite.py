"""One-time links from the command line."""

from pathlib import Path

import pytest
from django.core.management import call_command

from webnav_site.embedded import services
from webnav_site.supervision import lock

pytestmark = pytest.mark.django_db


def printed(capsys: pytest.CaptureFixture) -> str:
    call_command("invite")
    return capsys.readouterr().out.partition("/invites/")[0]


def test_a_link_leads_to_where_the_app_runs(tmp_path: Path, monkeypatch, capsys, settings) -> None:
    """`make run PORT=8110` in one terminal, `manage.py invite` in another."""
    monkeypatch.setattr(services, "VAR", tmp_path)
    monkeypatch.delenv("APP_ORIGIN", raising=False)
    assert printed(capsys) == settings.APP_ORIGIN  # nothing runs
    held = lock.take()
    lock.tell(held, lock.Holder(1, "http://localhost:8110"))
    assert printed(capsys) == "http://localhost:8110"
    monkeypatch.setenv("APP_ORIGIN", settings.APP_ORIGIN)
    assert printed(capsys) == settings.APP_ORIGIN
