"""Stop what `manage.py up` has started, from another terminal or after its own was lost."""

import os
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
            self._tell_end()  # the terminal of a killed supervisor may be about to start the next one
            sys.exit("webnav: not running")
        while (holder := lock.holder()) is not None:
            front.pass_on(holder, hurry=now)
            time.sleep(front.LOOK_SECONDS)
        self._tell_end()
        self.stdout.write("webnav: stopped")

    def _tell_end(self) -> None:
        """Also for a supervisor that was too young to tell it: its terminal must not start the next one."""
        held = lock.take()
        if held is not None:
            lock.tell_end(held)
            os.close(held)
