import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0024_budgets_of_trainings'),
    ]

    operations = [
        migrations.CreateModel(
            name='UserLedger',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('budget_tokens', models.PositiveBigIntegerField(blank=True, null=True)),
                ('budget_cost', models.FloatField(blank=True, null=True)),
                ('budget_seconds', models.PositiveIntegerField(blank=True, null=True)),
                ('spent_tokens', models.BigIntegerField(default=0)),
                ('spent_cost', models.FloatField(default=0.0)),
                ('spent_seconds', models.FloatField(default=0.0)),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='user_ledger', to='agents.run')),
            ],
            options={
                'abstract': False,
            },
        ),
    ]
