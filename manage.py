#!/usr/bin/env python
"""Django's command line. Nearly every command started alone brings up the embedded servers and missing migrations."""

import os
import select
import sys

NO_SERVERS = {"check", "help", "--help", "--version", "down"}
NO_MIGRATIONS_BEFORE = NO_SERVERS | {"migrate", "makemigrations", "collectstatic", "backup"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webnav_site.settings")
    from django.core.management import execute_from_command_line

    from annotations.environment import told_in_a_line
    from webnav_site.embedded import services

    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    with told_in_a_line():
        services.make_ready(servers=command not in NO_SERVERS)
        services.read_settings()
    if command not in NO_MIGRATIONS_BEFORE:
        import django

        django.setup()
        services.migrate_if_needed()
    execute_from_command_line(sys.argv)


def is_stdout_closed() -> bool:
    """Whether nobody reads the output any more. What is still to be written then goes nowhere, so that Python does not
    complain of it as it ends."""
    watched = select.poll()
    watched.register(sys.stdout.fileno(), 0)
    if not any(event & (select.POLLERR | select.POLLHUP) for _, event in watched.poll(0)):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return True


if __name__ == "__main__":
    try:
        try:
            main()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)  # stopped by the user: nothing to explain
    except BrokenPipeError:
        if not is_stdout_closed():
            raise
        sys.exit(141)  # who read the output has closed it, as head does: nothing to explain
    except Exception as error:
        from webnav_site.embedded.services import ServiceError

        if not isinstance(error, ServiceError):
            raise
        sys.exit(f"webnav: {error}")
