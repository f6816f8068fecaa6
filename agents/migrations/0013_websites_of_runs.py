from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0012_connections")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="websites",
            field=models.JSONField(
                blank=True, default=list, help_text="Conversations on these only. Empty: on all."
            ),
        ),
    ]
