import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0025_users_that_are_models'),
        ('annotations', '0036_age_of_screenshots'),
    ]

    operations = [
        migrations.CreateModel(
            name='StepPicture',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('width', models.PositiveIntegerField(help_text='Of the window, in pixels of the page; the picture may be smaller.')),
                ('height', models.PositiveIntegerField()),
                ('boxes', models.JSONField(default=dict, help_text='Marked element -> left, top, width and height in the window.')),
                ('created_at', models.DateTimeField(auto_now_add=True, db_index=True)),
                ('screenshot', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotations.screenshot')),
                ('step', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='pictured', to='agents.trajectorystep')),
            ],
        ),
    ]
