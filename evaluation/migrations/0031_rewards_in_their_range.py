"""Intervals of mean rewards that went below the smallest reward of their environment, where few episodes had all the
same reward: their lower bound is computed by that smallest one, 0, as it is for new runs."""

from django.db import migrations

TAIL = 0.025  # of `metrics.bootstrap`, by which the bounds of values that are all alike are exact


def _unlike(count):
    return 1 - TAIL ** (1 / count) if count > 1 else 1.0


def bring_into_range(apps, schema_editor):
    rows = apps.get_model("evaluation", "Score").objects.filter(metric="episode_reward", low__lt=0, value__gte=0)
    for row in rows.exclude(run__dataset__live__environment__in=["miniwob", "cube"]):
        row.low = row.value * (1 - _unlike(row.n))
        row.save(update_fields=["low"])
    of_sites = apps.get_model("evaluation", "Breakdown").objects.filter(content__has_key="by_site")
    of_sites.delete()  # they are computed anew where they are looked at


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0030_people_named_in_reviews")]
    operations = [migrations.RunPython(bring_into_range, migrations.RunPython.noop)]
