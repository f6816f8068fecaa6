"""Put a backup in place of what is here."""

import shutil
import tempfile
from argparse import ArgumentParser
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from redis import RedisError

from annotations.access.host_secret import fingerprint
from annotations.models import Dataset
from webnav_site.backups.archive import ArchiveDamaged
from webnav_site.backups.restoring import Looked, TooNew, look_through, restore
from webnav_site.backups.sealing import SealError
from webnav_site.embedded.postgres_tools import ToolFailed
from webnav_site.workers import reporting


class Command(BaseCommand):
    """Replace database, uploads, trained models and secrets by those of a backup. Stop the app first. Asks for the
    database's name where something would be replaced. Restore only archives of your own: a dump can hold any SQL."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--confirm", default="", help="the database's name, instead of typing it")
        parser.add_argument("--identity", type=Path, help="file with the age key of an encrypted archive")

    def handle(self, *, file: Path, confirm: str, identity: Path | None, **options) -> None:
        if file == Path():
            raise CommandError("which backup? make restore FILE=var/backups/….tar; make backup makes one")
        if not file.is_file():
            raise CommandError(f"there is no backup {str(file)!r}; make one with: make backup")
        unpacked = Path(tempfile.mkdtemp(prefix=".restoring-", dir=settings.VAR_DIR))
        try:
            looked = look_through(file, identity, unpacked)
            replaces = self._ask(confirm)
            aside = restore(file, identity, looked)
        except (ArchiveDamaged, TooNew, SealError, ToolFailed) as error:
            raise CommandError(str(error)) from error
        finally:
            shutil.rmtree(unpacked, ignore_errors=True)
        self._say(file, looked, aside, replaces)

    def _ask(self, confirm: str) -> bool:
        """Whether something is here that would be replaced. If so, its database's name must be typed first;
        CommandError otherwise."""
        name = connection.settings_dict["NAME"]
        if not get_user_model().objects.exists() and not Dataset.objects.exists():
            return False
        self._refuse_while_it_runs()
        try:
            typed = confirm or input(f"This replaces everything in the database {name}. Type its name to go on: ")
        except EOFError as error:
            raise CommandError(f"nobody can be asked here: --confirm {name} replaces everything in it") from error
        if typed != name:
            raise CommandError("not confirmed; nothing was changed")
        return True

    def _refuse_while_it_runs(self) -> None:
        try:
            running = reporting.alive()
        except RedisError:
            return  # nothing runs without it
        if running:
            raise CommandError(f"{running[0]['name']} is at work: stop the app, wait a minute, and restore then")

    def _say(self, file: Path, looked: Looked, aside: Path | None, replaces: bool) -> None:
        rows, made = sum(looked.manifest.rows.values()), looked.version.made
        self.stdout.write(f"restored from {file}, made {made}: {rows:,} rows and what belongs to them")
        if aside:
            what = "files that were here before" if replaces else "keys that this empty service had made for itself"
            self.stdout.write(f"{what} are in {aside}")
        stored = settings.VAR_DIR / "secrets" / "django"
        if looked.version.secret_key_sha256 != fingerprint(stored.read_text().strip() if stored.exists() else ""):
            self.stdout.write(
                "SECRET_KEY is not in the archive: set the one from then; where it is lost, run rotate_secret_key "
                "--forget-old, and everybody signs in anew"
            )
