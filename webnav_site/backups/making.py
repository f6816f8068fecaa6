"""Makes a backup while the app runs: the database as of one moment, and every file that was there at that moment."""

import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from annotations.access.host_secret import fingerprint
from annotations.hosts.code import code_revision
from webnav_site.backups.archive import ArchiveWriter, Version
from webnav_site.backups.contents import HeldFiles, StoredFile, name_in_storage
from webnav_site.backups.sealing import sealed
from webnav_site.embedded.postgres_tools import started_tool


def backup(path: Path, recipient: str = "") -> ArchiveWriter:
    """Write the archive to `path`, which must not exist yet; the returned writer knows what is in it. After an error no
    file is left."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    stage_folder = Path(tempfile.mkdtemp(prefix=".stage-", dir=path.parent))
    try:
        with sealed(path, recipient) as stream:
            return _write(stream, HeldFiles(stage_folder))
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(stage_folder, ignore_errors=True)


def _write(stream: BinaryIO, stage: HeldFiles) -> ArchiveWriter:
    stage.take()
    with _moment() as snapshot, ArchiveWriter(stream, _version()) as writer:
        stage.take()
        rows = row_counts()
        with started_tool("pg_dump", "--format=custom", "--no-owner", f"--snapshot={snapshot}", reads=True) as dump:
            assert dump.stdout is not None
            writer.add_dump(dump.stdout)
    with writer:
        for name, path in sorted(stage.held.items()):
            _add_file(writer, stage, name, path)
        writer.close(rows)
    return writer


def _add_file(writer: ArchiveWriter, stage: HeldFiles, name: str, path: Path | None) -> None:
    """Add a file from the path that holds it, or, with None, from the object store; one that is gone there is noted as
    lost."""
    if path is not None:
        with path.open("rb") as file:
            writer.add(name, file, os.fstat(file.fileno()).st_size)
        return
    try:
        stored = StoredFile(name_in_storage(name))
    except FileNotFoundError:
        stage.lost.append(name)
    else:
        writer.add(name, io.BufferedReader(stored), stored.size)


@contextmanager
def _moment() -> Iterator[str]:
    """Export a snapshot of the database, which pg_dump can read too as long as the block lasts."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        yield cursor.fetchone()[0]


def _version() -> Version:
    applied = sorted(map(list, MigrationRecorder(connection).applied_migrations()))
    major, minor = divmod(connection.cursor().connection.info.server_version, 10000)
    return Version(
        timezone.now().isoformat(timespec="seconds"),
        code_revision(),
        f"{major}.{minor}",
        applied,
        fingerprint(settings.SECRET_KEY),
    )


def row_counts() -> dict[str, int]:
    """The number of rows of each table, as this transaction sees them."""
    counts = {}
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names(cursor)):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")  # nosec B608
            counts[table] = cursor.fetchone()[0]
    return counts
