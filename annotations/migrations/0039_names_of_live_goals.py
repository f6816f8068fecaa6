"""Datasets of live goals that were named by an address, or a task with dots, get names that their pages can have."""

import re

from django.db import migrations

LONGEST = 90  # leaves a number its room


def name_anew(apps, schema_editor) -> None:
    datasets = apps.get_model("annotations", "Dataset").objects
    for dataset in datasets.exclude(name__regex=r"^[-a-zA-Z0-9_]+$").order_by("pk"):
        visit = re.match(r"(open-web-)https?://([^/\s]+).*?(-[0-9]+-[0-9]+)?$", dataset.name, re.DOTALL)
        said = "".join(filter(None, visit.groups())) if visit else dataset.name
        stem = re.sub("[^a-z0-9_]+", "-", said.casefold()).strip("-")[:LONGEST] or "goals"
        name, number = stem, 1
        while datasets.filter(name=name).exists():
            number += 1
            name = f"{stem}-{number}"
        datasets.filter(pk=dataset.pk).update(name=name)


class Migration(migrations.Migration):
    dependencies = [("annotations", "0038_told_workers")]

    operations = [migrations.RunPython(name_anew, migrations.RunPython.noop)]
