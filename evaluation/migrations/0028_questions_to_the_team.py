"""Queues of what people ask the team about steps; on the way back they go, as nothing else could hold the questions."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def forget_questions(apps, schema_editor):
    apps.get_model('evaluation', 'ReviewQueue').objects.filter(choice='asked').delete()


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0027_nearest_to_a_failure'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='reviewtask',
            name='asked_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='reviewtask',
            name='question',
            field=models.TextField(blank=True, help_text='What somebody asks the team about the step.'),
        ),
        migrations.AlterField(
            model_name='reviewqueue',
            name='choice',
            field=models.CharField(choices=[('random', 'at random'), ('failures', 'failures, at random'), ('uncertain', 'uncertain: the two best candidates are closest'), ('disagree', 'where runs of the study disagree, at random'), ('scanner', 'what a scanner found, at random'), ('foreseen', 'wrong predictions of what the recorded action does, at random'), ('nearest', 'nearest to a failure that was seen'), ('asked', 'that people asked the team about'), ('whole_random', 'whole trajectories, at random'), ('whole_failures', 'whole trajectories that failed by the metric, at random'), ('whole_judged', 'whole trajectories that a judge calls a failure, at random'), ('whole_disagree', 'whole trajectories on which a judge and the metric differ, at random'), ('whole_listed', 'whole trajectories, in the order of a list')], max_length=16),
        ),
        migrations.RunPython(migrations.RunPython.noop, forget_questions),
    ]
