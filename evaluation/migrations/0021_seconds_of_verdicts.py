from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0020_what_is_coming")]

    operations = [
        migrations.AddField(
            model_name="judgeverdict",
            name="seconds",
            field=models.FloatField(default=0.0, help_text="That it took; none where the answers were known."),
        )
    ]
