"""Confidences were fitted on how far cases agree; now they are on the share of cases that say the same. They are fitted
anew when a run, or `measure_world_model`, next needs them."""

from typing import Any

from django.db import migrations


def forget(apps: Any, schema_editor: Any) -> None:
    apps.get_model("agents", "WorldModelFit").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("agents", "0021_computed_vectors")]

    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]
