import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0024_budgets_of_trainings"),
        ("evaluation", "0026_answers_of_scanners"),
    ]

    operations = [
        migrations.AddField(
            model_name="reviewqueue",
            name="failure",
            field=models.ForeignKey(
                blank=True,
                help_text="That its steps are like, where that is chosen.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="agents.trajectorystep",
            ),
        ),
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
                    ("nearest", "nearest to a failure that was seen"),
                    ("whole_random", "whole trajectories, at random"),
                    ("whole_failures", "whole trajectories that failed by the metric, at random"),
                    ("whole_judged", "whole trajectories that a judge calls a failure, at random"),
                    ("whole_disagree", "whole trajectories on which a judge and the metric differ, at random"),
                    ("whole_listed", "whole trajectories, in the order of a list"),
                ],
                max_length=16,
            ),
        ),
    ]
