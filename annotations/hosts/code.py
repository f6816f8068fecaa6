"""Which version of the code runs here."""

import subprocess

from django.conf import settings


def code_revision() -> str:
    """The commit of this checkout; "" where it is none."""
    try:
        command = ["git", "rev-parse", "HEAD"]
        done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""  # not a checkout
    return done.stdout.strip()
