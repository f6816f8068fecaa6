"""Scores that ask for an operation, of agents that only rank: they were 0 by construction and are not kept any more."""

from django.db import migrations


def remove(apps, schema_editor):
    wants = ["operation_f1", "step_success", "turn_success", "conversation_success"]
    scores = apps.get_model("evaluation", "Score").objects
    scores.filter(run__recipe__plan__kind="first", metric__in=wants).delete()


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0013_watched_shards")]
    operations = [migrations.RunPython(remove, migrations.RunPython.noop)]
