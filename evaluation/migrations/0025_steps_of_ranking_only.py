"""Steps of agents that only rank: they are right where their element is. Where these runs fail is counted anew."""

from django.db import migrations


def by_element(apps, schema_editor):
    _set(apps, True)


def by_whole(apps, schema_editor):
    _set(apps, False)


def _set(apps, right):
    runs = apps.get_model("agents", "Run").objects.filter(recipe__plan__kind="first")
    ranking = list(runs.values_list("pk", flat=True))  # of another state of the apps, on the way back, than breakdowns
    steps = apps.get_model("agents", "TrajectoryStep").objects
    steps.filter(run__in=ranking, operation="", element_correct=True).update(success=right)
    apps.get_model("evaluation", "Breakdown").objects.filter(run__in=ranking).delete()


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0024_tasks_have_trajectories"), ("agents", "0024_budgets_of_trainings")]
    operations = [migrations.RunPython(by_element, by_whole)]
