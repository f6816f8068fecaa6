"""Dump the database."""

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone

from webnav_site.postgres_tools import run_tool


class Command(BaseCommand):
    """Write the whole database to var/backups/ (custom format of pg_dump) and print the file's path."""

    help = __doc__

    def handle(self, **options) -> None:
        folder = settings.VAR_DIR / "backups"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / f"webnav-{timezone.now():%Y%m%d-%H%M%S}.dump"
        run_tool("pg_dump", "--format=custom", f"--file={path}")
        self.stdout.write(str(path))
