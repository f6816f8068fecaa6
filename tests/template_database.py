"""A migrated, empty database that every process of the tests copies: migrations run once, and again when they change.

Copying it takes a third of a second, and migrating took each process seven. PostgreSQL does not vacuum it by itself:
where it did so while a test held the only rows of a table, it noted that the table is empty, and later queries of that
test compared each row with each (over ten minutes where a second is enough). `tests/emptying.py` does it between files.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import psycopg
from django.core.management import call_command
from django.db import connection
from psycopg import sql

from tests.app_server import ROOT, database_url

PREFIX = "webnav_template_"
LOCK = 7244  # one process makes it, the others wait


def use_template() -> None:
    """Let Django make the test database of this process as a copy."""
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        try:
            name = PREFIX + _fingerprint()
            cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX])
            found = {row[0] for row in cursor.fetchall()}
            if name not in found:
                _make(cursor, name)
                for old in found:
                    cursor.execute(f'DROP DATABASE IF EXISTS "{old}"')
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
    connection.settings_dict["TEST"]["TEMPLATE"] = name


def _fingerprint() -> str:
    """Of what the tables depend on: our migrations, and the packages that bring theirs."""
    files = sorted(ROOT.glob("*/migrations/*.py"))
    content = [file.relative_to(ROOT).as_posix().encode() + file.read_bytes() for file in files]
    others = (Path(__file__), ROOT / "requirements.txt", ROOT / "webnav_site/settings.py")
    content += [other.read_bytes() for other in others]
    return hashlib.sha256(b"\0".join(content)).hexdigest()[:16]


def keep_from_vacuuming(cursor) -> None:
    """Every table that is there, also those that a test has made anew by migrating."""
    cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    for (table,) in cursor.fetchall():
        cursor.execute(sql.SQL("ALTER TABLE {} SET (autovacuum_enabled = false)").format(sql.Identifier(table)))


def migrate_back_and_forth(app: str, migration: str) -> None:
    """Undo what has come since a migration of an app, and do it again."""
    try:
        call_command("migrate", app, migration, verbosity=0)
    finally:
        call_command("migrate", app, verbosity=0)
        with connection.cursor() as cursor:
            keep_from_vacuuming(cursor)


def _make(cursor, name: str) -> None:
    """Under another name until it is complete: a run that was killed meanwhile leaves no half-made template."""
    unfinished = f"unfinished_{name}"
    cursor.execute(f'DROP DATABASE IF EXISTS "{unfinished}"')
    cursor.execute(f'CREATE DATABASE "{unfinished}"')
    environment = os.environ | {"DATABASE_URL": database_url(unfinished), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity", "0"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the migrations failed:\n{done.stdout}\n{done.stderr}")
    with psycopg.connect(database_url(unfinished)) as inside:
        keep_from_vacuuming(inside.cursor())
    cursor.execute(f'ALTER DATABASE "{unfinished}" RENAME TO "{name}"')
