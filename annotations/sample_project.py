"""The sample project: its dataset, built from the sources in this repository, and the demo accounts."""

import json
import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction

from annotations.importing import import_files
from annotations.models import Dataset, Membership, Project, Role
from annotations.sample.build import build

NAME = "sample"
DEMO_ACCOUNTS = "demo_accounts.json"
ACCOUNTS = (  # name, role, sees test gold
    ("admin", Role.ADMIN, True),
    ("annotator", Role.ANNOTATOR, False),
    ("reviewer", Role.REVIEWER, True),
)
DESCRIPTION = "Conversations over six invented websites, written for this project. Free to use (Apache-2.0)."


def load_sample(say: Callable[[str], None] = lambda _: None) -> bool:
    """Build and import the sample once, and make the demo accounts; False when it was there, or was deleted since."""
    marker = Path(settings.VAR_DIR) / "sample-loaded"
    if marker.exists():
        return False
    project, _ = Project.objects.get_or_create(slug="sample", defaults={"name": "Sample"})
    dataset, _ = Dataset.objects.get_or_create(
        name=NAME,
        defaults={
            "project": project, "source_format": "mt-mind2web", "description": DESCRIPTION, "licence": "Apache-2.0"
        },
    )  # fmt: skip
    say("building the sample dataset …")
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        report = import_files("mt-mind2web", Path(folder), dataset)
    if report.error_count:  # built from our own sources, so this is a fault of ours and must not pass unseen
        raise RuntimeError(f"{report.error_count} records of the sample could not be imported: {report.errors[0]}")
    say(f"sample: {report.conversations + report.unchanged} conversations imported in {report.seconds:.1f} s")
    make_demo_accounts(project)
    marker.touch()
    return True


@transaction.atomic
def make_demo_accounts(project: Project) -> None:
    """One account per role with a random password, kept in var/secrets for `make run` to print."""
    passwords = {}
    for name, role, sees_test_gold in ACCOUNTS:
        user, created = get_user_model().objects.get_or_create(username=name)
        if created:
            passwords[name] = secrets.token_urlsafe(9)
            user.set_password(passwords[name])
            user.is_staff = user.is_superuser = role == Role.ADMIN
            user.save()
        Membership.objects.get_or_create(
            project=project, user=user, defaults={"role": role, "sees_test_gold": sees_test_gold}
        )
    path = Path(settings.VAR_DIR) / "secrets" / DEMO_ACCOUNTS
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(passwords, file)
