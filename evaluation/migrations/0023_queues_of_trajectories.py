import django.db.models.deletion
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def fill(apps, schema_editor):
    """A task is of the trajectory of its step."""
    steps = apps.get_model("agents", "TrajectoryStep").objects.filter(pk=OuterRef("step"))
    apps.get_model("evaluation", "ReviewTask").objects.update(trajectory=Subquery(steps.values("trajectory")))


def remove(apps, schema_editor):
    """Queues of whole trajectories have no place in what was before."""
    apps.get_model("evaluation", "ReviewQueue").objects.filter(choice__startswith="whole_").delete()
    schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with checks that wait cannot be altered


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0024_budgets_of_trainings"),
        ("evaluation", "0022_region_of_a_review"),
    ]

    operations = [
        migrations.AlterField(
            model_name="reviewqueue",
            name="choice",
            field=models.CharField(
                choices=[
                    ("random", "at random"),
                    ("failures", "failures, at random"),
                    ("uncertain", "uncertain: the two best candidates are closest"),
                    ("disagree", "where runs of the study disagree, at random"),
                    ("scanner", "what a scanner found, at random"),
                    ("foreseen", "wrong predictions of what the recorded action does, at random"),
                    ("whole_random", "whole trajectories, at random"),
                    ("whole_failures", "whole trajectories that failed by the metric, at random"),
                    ("whole_judged", "whole trajectories that a judge calls a failure, at random"),
                    ("whole_disagree", "whole trajectories on which a judge and the metric differ, at random"),
                    ("whole_listed", "whole trajectories, in the order of a list"),
                ],
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="reviewqueue",
            name="population",
            field=models.PositiveIntegerField(help_text="Steps, or trajectories, that were chosen from."),
        ),
        migrations.AlterField(
            model_name="reviewqueue",
            name="said_right",
            field=models.PositiveIntegerField(help_text="Of these, how many are right by recorded gold or reward."),
        ),
        migrations.AlterField(
            model_name="reviewqueue",
            name="overlap",
            field=models.PositiveSmallIntegerField(default=1, help_text="People that judge each."),
        ),
        migrations.AlterField(
            model_name="reviewtask",
            name="step",
            field=models.ForeignKey(
                blank=True,
                help_text="Empty: the whole.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="review_tasks",
                to="agents.trajectorystep",
            ),
        ),
        migrations.AddField(
            model_name="reviewtask",
            name="trajectory",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="review_tasks",
                to="agents.trajectory",
            ),
        ),
        migrations.RunPython(fill, remove),
    ]
