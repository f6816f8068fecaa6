#!/usr/bin/env python
"""Django's command line. Any command started alone brings up the embedded servers and missing migrations."""

import os
import sys

NO_MIGRATIONS_BEFORE = {"migrate", "makemigrations", "collectstatic", "check", "help", "--help", "--version", "backup"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webnav_site.settings")
    from django.core.management import execute_from_command_line

    if len(sys.argv) > 1 and sys.argv[1] not in NO_MIGRATIONS_BEFORE:
        import django

        from webnav_site import services

        django.setup()
        services.migrate_if_needed()
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)  # stopped by the user: nothing to explain
