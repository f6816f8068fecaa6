"""Replace the database by a dump."""

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from webnav_site.postgres_tools import run_tool


class Command(BaseCommand):
    """Replace everything in the database by a dump that `backup` wrote. Asks for the database's name first."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--confirm", default="", help="the database's name, instead of typing it")

    def handle(self, *, file: Path, confirm: str, **options) -> None:
        if not file.is_file():
            raise CommandError(f"there is no dump {str(file)!r}; make one with: make backup")
        name = connection.settings_dict["NAME"]
        typed = confirm or input(f"This replaces everything in the database {name}. Type its name to go on: ")
        if typed != name:
            raise CommandError("not confirmed; nothing was changed")
        connection.close()
        run_tool(
            "pg_restore", "--clean", "--if-exists", "--no-owner", "--single-transaction", f"--dbname={name}", str(file)
        )
        self.stdout.write(f"{name} restored from {file}")
