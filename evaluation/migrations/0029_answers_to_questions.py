"""When questions to the team were asked, and whether who asked has read the answers; of earlier ones it is when their
queue was made."""

from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def date_questions(apps, schema_editor):
    queues = apps.get_model('evaluation', 'ReviewQueue').objects.filter(pk=OuterRef('queue'))
    asked = apps.get_model('evaluation', 'ReviewTask').objects.exclude(question='')
    asked.update(asked_at=Subquery(queues.values('created_at')))


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0028_questions_to_the_team'),
    ]

    operations = [
        migrations.AddField(
            model_name='reviewtask',
            name='asked_at',
            field=models.DateTimeField(blank=True, help_text='When the question was asked.', null=True),
        ),
        migrations.AddField(
            model_name='reviewtask',
            name='seen_at',
            field=models.DateTimeField(blank=True, help_text='When who asked last read the answers.', null=True),
        ),
        migrations.RunPython(date_questions, migrations.RunPython.noop),
    ]
