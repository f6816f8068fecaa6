"""Start everything: embedded servers, web, workers, beat."""

import json
import os
import socket
import sys
from argparse import ArgumentParser, ArgumentTypeError
from io import TextIOWrapper

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.checks import Tags
from django.core.management import call_command
from django.core.management.base import BaseCommand

from annotations.access.host_secret import refuse_another
from annotations.environment import port
from annotations.models import Invite
from annotations.sample.project import demo_passwords, order_sample
from webnav_site.embedded import services
from webnav_site.health import disk_banner
from webnav_site.supervision import daemon, launch, lock, processes, programs
from webnav_site.supervision.front import Front


def _port(text: str) -> int:
    try:
        return port(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


LOOPS = (
    "webnav: APP_ORIGIN begins with https, and nothing says that a proxy ends TLS: every page will lead to itself "
    "until BEHIND_PROXY=true and TRUSTED_PROXIES (its addresses) are set"
)


class Command(BaseCommand):
    """Start web, workers and beat together until Ctrl-C; the embedded servers stop with the last user of them."""

    help = __doc__
    requires_system_checks = [Tags.security]  # of settings; the others read the code, which lint does

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=_port, default=8000)
        parser.add_argument("--bind", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--sample", choices=["yes", "no"], default="yes", help="load the sample dataset once")

    def handle(self, *, port: int, bind: str, sample: str, **options) -> None:
        if isinstance(sys.stdout, TextIOWrapper):  # the way to the first account is read while we run, also in a log
            sys.stdout.reconfigure(line_buffering=True)
        if port != settings.PORT:  # origins and cookies follow the port: read the settings again with it
            os.environ["PORT"] = str(port)
            os.execv(sys.executable, [sys.executable, *sys.argv])
        refuse_another(self.stderr.write)
        if not processes.marked():  # before the lock is taken, which another start at this moment may want
            self._check_port(bind, port)
        held = self._alone()
        self._check_port(bind, port)
        if settings.HTTPS and not settings.BEHIND_PROXY:
            self.stderr.write(LOOPS)
        self._collect_static()
        if sample == "yes" and order_sample():
            self.stdout.write("  The sample datasets are built in the background; Jobs shows how far that is.")
        self._free_leases()
        sys.exit(self._run(held, bind, port))

    def _alone(self) -> int:
        """Take the lock on the data folder, and end what a killed run has left behind. Where another process holds the
        lock, exit with a message."""
        held = lock.take()
        if held is None:
            pid, origin = lock.holder() or lock.Holder(0, "")
            where = f" at {origin}" if origin else ""
            sys.exit(
                f"webnav: already running{where} (supervisor {pid or 'starting'}); stop it with Ctrl-C or make stop"
            )
        if left := processes.end(processes.marked(), daemon.LEFT_SECONDS):
            self.stdout.write(f"webnav: ended {left} processes that a killed run had left behind")
        return held

    def _check_port(self, bind: str, port: int) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((bind, port))
            except OSError as error:
                other = port + 10
                sys.exit(f"webnav: cannot listen on {bind}:{port} ({error.strerror}); try: make run PORT={other}")

    def _collect_static(self) -> None:
        """Collect static files, if a source file or a package has changed since: hashing and compressing takes
        seconds."""
        folders = [settings.BASE_DIR / "static", settings.BASE_DIR / "requirements.txt"]
        files = [path for folder in folders for path in [folder, *folder.rglob("*")] if path.is_file()]
        stamp = json.dumps(sorted((str(path), path.stat().st_mtime_ns) for path in files))
        stamp_file = services.VAR / "static.stamp"
        if not stamp_file.exists() or stamp_file.read_text() != stamp or not settings.STATIC_ROOT.exists():
            call_command("collectstatic", interactive=False, verbosity=0, clear=True)
            stamp_file.write_text(stamp)

    def _free_leases(self) -> None:
        """Free the leases of our workers: none of them runs yet, so nobody need wait for the leases to end."""
        from annotations.models import Job
        from evaluation.models import Shard

        Job.objects.reap()
        Shard.objects.reap()

    def _announce(self) -> None:
        write = self.stdout.write
        write("")
        write(self.style.SUCCESS(f"  WebNav is starting at {settings.APP_ORIGIN}   (Ctrl-C stops everything)"))
        for name, password in demo_passwords().items():
            write(f"    {name:10} password {password}")
        if not get_user_model().objects.exists():
            _, secret = Invite.objects.issue(makes_superuser=True, days=1)
            write(
                f"    No account yet. Make the first one here (one day, once): {settings.APP_ORIGIN}/invites/{secret}/"
            )
        if not settings.SNAPSHOT_ORIGIN:
            write("    SNAPSHOT_ORIGIN is not set: recorded pages are shown without scripts and live marks.")
        if full := disk_banner():
            write(self.style.WARNING(f"    {full}"))
        write("")

    def _run(self, held: int, bind: str, port: int) -> int:
        """Hand the lock over to the supervisor, which goes on without this process, and show its output."""
        embedded = services.own_servers()
        database, broker = services.ensure()
        os.environ |= {
            "DATABASE_URL": database,
            "REDIS_URL": broker,
            services.EMBEDDED: " ".join(embedded),
            "PORT": str(port),
            "BIND": bind,
            "PYTHON": sys.executable,
            daemon.ORIGIN: settings.APP_ORIGIN,
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "",  # kept bytecode saves two seconds of a start
            "TOKENIZERS_PARALLELISM": "false",
            "PYTHONWARNINGS": "ignore:You",  # "You're running the worker with superuser privileges"
        }
        for command in programs.procfile().values():
            launch.tell_of_worker(command)
        front = Front(lambda text: self.stdout.write(text, ending=""))
        lock.tell(held, lock.Holder(0, settings.APP_ORIGIN))
        daemon.start(held)
        os.close(held)
        return front.run(self._announce)
