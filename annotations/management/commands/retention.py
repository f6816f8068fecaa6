"""Forget what is kept longer than the settings say."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.template.defaultfilters import filesizeformat

from annotations.retention.forgetting import estimates, forget
from annotations.retention.kinds import KINDS


class Command(BaseCommand):
    """Forget exports, replies, traces, sessions and the like that are older than their RETENTION_…_DAYS settings allow;
    with --dry-run only say how many rows and bytes that would free."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="change nothing; say what would be freed")
        parser.add_argument("--days", type=int, help="with --dry-run: as if every setting were this number of days")
        parser.add_argument("--json", action="store_true", help="one line of JSON, the last on stdout")

    def handle(self, *, dry_run: bool, days: int | None, json: bool, **options: Any) -> None:
        if days is not None and not dry_run:
            self.stderr.write("--days only goes with --dry-run: what is forgotten follows the settings alone")
            raise SystemExit(2)
        found = self._estimates(days) if dry_run else self._forget()
        if json:
            self._say_json(found)
        else:
            self._say_lines(found, days)

    def _estimates(self, days: int | None) -> dict[str, dict[str, int]]:
        return {kind.name: {"rows": would.rows, "bytes": would.bytes} for kind, would in estimates(days)}

    def _forget(self) -> dict[str, dict[str, int]]:
        forgotten = forget(seconds=24 * 3600)
        return {kind.name: {"rows": forgotten.get(kind.name, 0)} for kind in KINDS}

    def _say_json(self, found: dict[str, dict[str, int]]) -> None:
        self.stdout.write(json.dumps(found))

    def _say_lines(self, found: dict[str, dict[str, int]], days: int | None) -> None:
        for kind in KINDS:
            counts = found[kind.name]
            as_if = kind.days if days is None else days
            kept = f"{as_if} days" if as_if else "for ever"
            size = f" {filesizeformat(counts['bytes']):>12}" if "bytes" in counts else ""
            self.stdout.write(f"{kind.name:18} {kept:>10} {counts['rows']:>10,}{size}  {kind.what}")
