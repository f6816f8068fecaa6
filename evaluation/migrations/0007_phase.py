from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0006_breakdown")]

    operations = [
        migrations.AddField(
            "shard", "phase", models.CharField(blank=True, help_text="What its worker is at.", max_length=100)
        ),
    ]
