"""Stop what `manage.py up` has started, from another terminal or after its own was lost."""

import sys
import time
from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from webnav_site.supervision import front, lock


class Command(BaseCommand):
    """Stop web, workers and beat; work under way is put back for the next start."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--now", action="store_true", help="do not wait for work under way to reach its next batch")

    def handle(self, *, now: bool, **options) -> None:
        if lock.holder() is None:
            sys.exit("webnav: not running")
        while (holder := lock.holder()) is not None:
            front.pass_on(holder, hurry=now)
            time.sleep(front.LOOK_SECONDS)
        self.stdout.write("webnav: stopped")
