"""Addresses of pages that are files told readers where these lie on the host; now they tell their names, as
`told_address` does. What was there before is not known any more."""

from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from django.db import migrations


def name_files(apps, schema_editor):
    for model in ("TrajectoryStep", "HeldStep"):
        rows = apps.get_model("agents", model).objects.filter(url__startswith="file:")
        for url in set(rows.order_by().values_list("url", flat=True).distinct()):
            path = PurePosixPath(unquote(urlsplit(url).path))
            told = f"{path.stem} of MiniWoB++" if "miniwob" in path.parts else f"local page {path.stem}"
            rows.filter(url=url).update(url=told)


class Migration(migrations.Migration):

    dependencies = [
        ("agents", "0026_screenshots_of_live_steps"),
    ]

    operations = [
        migrations.RunPython(name_files, migrations.RunPython.noop),
    ]
