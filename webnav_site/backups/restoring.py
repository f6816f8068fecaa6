"""Restores a backup: checks all of it first, then replaces the database in one transaction, then puts the files in
place.

Until the whole archive was read and every checksum held, nothing here is changed. What was here before is moved aside.
"""

import os
import shutil
import tarfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from agents.models import TrainedModel
from annotations.models import Job
from annotations.sample.project import mark_loaded
from annotations.storage import private_folder, store
from webnav_site.backups import archive
from webnav_site.backups.archive import ArchiveDamaged, Manifest, Version
from webnav_site.backups.contents import STORED, folders, name_in_storage
from webnav_site.backups.making import row_counts
from webnav_site.backups.sealing import opened
from webnav_site.embedded.postgres_tools import started_tool

CHUNK = 1024**2
# In the same transaction as the restored tables: a restore that fails leaves everything as it was.
EMPTY_SQL = "SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public;"


class TooNew(ValueError):
    """The archive was made by a later version of the code."""


@dataclass
class Looked:
    """An archive that was checked as a whole, its files unpacked in `folder`."""

    version: Version
    manifest: Manifest
    folder: Path


@dataclass
class _Looking:
    """What is known of an archive while it is being checked."""

    folder: Path
    version: Version | None = None
    manifest: Manifest | None = None
    found: dict[str, dict[str, Any]] = field(default_factory=dict)


def look_through(path: Path, identity: Path | None, folder: Path) -> Looked:
    """Read all of the archive, check every name and checksum, and unpack its files into `folder`. Raises
    ArchiveDamaged, TooNew and SealError."""
    looking = _Looking(folder)
    try:
        with opened(path, identity) as stream:
            for name, content in archive.read(stream):
                _look_at(name, content, looking)
    except tarfile.TarError as error:  # in the middle of a member
        raise ArchiveDamaged(f"the archive cannot be read: {error}") from error
    if looking.version is None or looking.manifest is None:
        raise ArchiveDamaged("the archive is incomplete: it ends before its manifest")
    _compare(looking.found, looking.manifest)
    return Looked(looking.version, looking.manifest, folder)


def _look_at(name: str, content: archive.ReadableArchive, looking: _Looking) -> None:
    if looking.manifest is not None:
        raise ArchiveDamaged(f"{name!r} comes after the manifest")
    if name == archive.MANIFEST:
        looking.manifest = archive.manifest_of(archive.read_json(name, content))
        return
    hashed = archive.Hashed(content)
    if name == archive.VERSION:
        looking.version = archive.version_of(archive.read_json(name, hashed))
        refuse_what_is_newer(looking.version)
    else:
        _unpack(hashed, None if name.startswith("database/") else looking.folder / name)
    looking.found[name] = hashed.facts()


def _compare(found: dict[str, dict[str, Any]], manifest: Manifest) -> None:
    wrong = [name for name in sorted(found.keys() | manifest.members) if found.get(name) != manifest.members.get(name)]
    if wrong:
        raise ArchiveDamaged(f"{len(wrong)} members differ from the manifest, the first is {wrong[0]!r}")
    if not any(name.startswith("database/") for name in found):
        raise ArchiveDamaged("the archive holds no database")


def _unpack(content: archive.ReadableArchive, target: Path | None) -> None:
    """Write a member into a new file that only its owner may read; without a target, only read it, for its checksum."""
    if target is None:
        while content.read(CHUNK):
            pass
        return
    private_folder(target.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(target, flags, 0o600), "wb") as file:
        shutil.copyfileobj(content, file, CHUNK)


def refuse_what_is_newer(version: Version) -> None:
    known = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    apps = {app for app, _ in known}
    unknown = [f"{app}.{name}" for app, name in version.migrations if app in apps and (app, name) not in known]
    if unknown:
        raise TooNew(
            f"this backup was made on {version.made[:10]} by a newer version of WebNav (it has {', '.join(unknown[:3])}"
            f"{' and more' if len(unknown) > 3 else ''}): update the code first, then restore"
        )


def restore(path: Path, identity: Path | None, looked: Looked) -> Path | None:
    """Put the checked archive in place of what is here; returns the folder of what was moved aside, None where nothing
    was."""
    connection.close()
    _restore_database(path, identity)
    if (counted := row_counts()) != looked.manifest.rows:
        differs = [table for table in counted if counted[table] != looked.manifest.rows.get(table)]
        raise ArchiveDamaged(f"the restored database has other numbers of rows than the backup: {', '.join(differs)}")
    connection.close()
    call_command("migrate", interactive=False, verbosity=0)
    aside = _place_files(looked.folder)
    _find_models()
    mark_loaded()  # what was there is back: the sample is not loaded beside it
    # Results of exports are not in a backup: the same export can be made again.
    Job.objects.filter(kind=Job.Kind.EXPORT).exclude(file="").lose_files()
    return aside


def _restore_database(path: Path, identity: Path | None) -> None:
    """Pipe the dump through pg_restore into psql, in one transaction; it is spoiled on purpose when pg_restore fails
    half-way."""
    arguments = ("-X", "-q", "-v", "ON_ERROR_STOP=1", "--single-transaction", "-c", EMPTY_SQL, "-f", "-")
    with (
        started_tool("psql", *arguments, writes=True, quiet=True) as psql,
        started_tool("pg_restore", "--no-owner", "--no-privileges", "--file=-", reads=True, writes=True) as script,
    ):
        assert script.stdout is not None
        assert psql.stdin is not None
        feeder = threading.Thread(target=_feed, args=(path, identity, script.stdin), daemon=True)
        feeder.start()
        try:
            shutil.copyfileobj(script.stdout, psql.stdin, CHUNK)
            if script.wait() != 0:
                psql.stdin.write(b"\nSELECT 1 / 0;\n")
        except BrokenPipeError:
            script.kill()  # psql has stopped at an error, and says which
        feeder.join()


def _feed(path: Path, identity: Path | None, target) -> None:
    try:
        with target, opened(path, identity) as stream:
            for name, content in archive.read(stream):
                if name.startswith("database/"):
                    shutil.copyfileobj(content, target, CHUNK)
    except BrokenPipeError:
        pass  # pg_restore has stopped; its exit status says so


def _place_files(unpacked: Path) -> Path | None:
    """Put the unpacked files where they belong; what lay in a folder of this machine is moved aside."""
    for named in STORED.values():
        for path in sorted(file for file in (unpacked / named).rglob("*") if file.is_file()):
            store.keep(name_in_storage(path.relative_to(unpacked).as_posix()), path)
    aside = Path(settings.VAR_DIR) / f"before-restore-{timezone.now():%Y%m%d-%H%M%S}"
    for name, target in folders().items():
        _replace(unpacked / name, target, aside / name)
    return aside if aside.exists() else None


def _find_models() -> None:
    """Copy models of an object store into this machine's folder, where hosts share none. A training whose checkpoint is
    gone begins anew."""
    for model in TrainedModel.objects.exclude(files={}, checkpoint={}):
        if model.files and not store.shared and not model.folder.exists():
            for name in model.files["files"]:
                target = model.folder / name
                private_folder(target.parent)
                with target.open("wb") as file:
                    file.writelines(store.read(f"models/{model.files['sha256']}/{name}"))
        if not all(map(store.exists, model.checkpoint.values())):
            model.keep_checkpoint({})


def _replace(source: Path, target: Path, aside: Path) -> None:
    """Replace a folder by another, moving its content aside. Of secrets only those are replaced that the backup has:
    the one of the running Redis stays."""
    private_folder(target)
    for path in sorted(target.iterdir()):
        if target.name != "secrets" or (source / path.name).exists():
            private_folder(aside)
            shutil.move(path, aside / path.name)
    for path in sorted(source.iterdir()) if source.exists() else []:
        shutil.move(path, target / path.name)
