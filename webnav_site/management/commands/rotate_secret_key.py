"""Change the SECRET_KEY that all hosts share."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from annotations.access.host_secret import OtherSecret, rotate


class Command(BaseCommand):
    """Make this host's SECRET_KEY the one that all hosts of this database share. The old one should be among
    SECRET_KEY_FALLBACKS; hosts that start with another key are refused from now on."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--forget-old", action="store_true", help="the old key is lost: everybody signs in anew")

    def handle(self, *, forget_old: bool, **options) -> None:
        try:
            changed = rotate(forget_old)
        except OtherSecret as error:
            raise CommandError(str(error)) from error
        if changed:
            self.stdout.write("This SECRET_KEY is shared from now on. Restart the other hosts with it.")
        else:
            self.stdout.write("This SECRET_KEY is the shared one already: nothing was changed.")
