"""Write everything that cannot be made again into one archive."""

from argparse import ArgumentParser
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, ProgrammingError
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from webnav_site.backups.making import backup
from webnav_site.backups.sealing import SealError
from webnav_site.embedded.postgres_tools import ToolFailed


class Command(BaseCommand):
    """Write database, uploads, trained models and secrets into one archive below var/backups/ and print its path. The
    app may run meanwhile. The archive holds secrets: its owner alone can read it; --to encrypts it."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--out", type=Path, help="where to write it, instead of var/backups/")
        recipient = "age recipient (age1…) to encrypt it for; or BACKUP_RECIPIENT"
        parser.add_argument("--to", default=settings.BACKUP_RECIPIENT, help=recipient)

    def _holds_accounts(self) -> bool:
        """CommandError where the database cannot be asked, or is none of ours."""
        try:
            return get_user_model().objects.exists()
        except (OperationalError, ProgrammingError) as error:
            raise CommandError(f"nothing was written: {str(error).strip().splitlines()[0]}") from error

    def handle(self, *, out: Path | None, to: str, **options) -> None:
        name = f"webnav-{timezone.now():%Y%m%d-%H%M%S}.tar{'.age' if to else ''}"
        path = out or settings.VAR_DIR / "backups" / name
        if path.exists():
            raise CommandError(f"{path} exists already; nothing was written")
        if not self._holds_accounts():
            raise CommandError(
                "this database holds no accounts, so nothing was written: does this command have the variables that "
                "the app is started with, above all DATABASE_URL?"
            )
        try:
            written = backup(path, to).manifest
        except (SealError, ToolFailed, OSError) as error:
            raise CommandError(f"no backup was made: {error}") from error
        files = sum(1 for member in written.members if not member.startswith("database/")) - 2
        rows, size = sum(written.rows.values()), filesizeformat(path.stat().st_size)
        self.stderr.write(f"{rows:,} rows, {files:,} files, {size}")
        self.stdout.write(str(path))
