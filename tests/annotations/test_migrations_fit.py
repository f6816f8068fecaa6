"""Migrations and models say the same."""

import pytest
from django.core.management import call_command


@pytest.mark.slow
@pytest.mark.django_db
def test_migrations_hold_all_that_models_say(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        call_command("makemigrations", check=True, dry_run=True)
    except SystemExit:
        pytest.fail(f"make the migration: {capsys.readouterr().out}")
