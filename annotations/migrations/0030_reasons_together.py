from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotations", "0029_risk_forecasts")]

    operations = [
        migrations.AlterField(
            model_name=name,
            name="reason",
            field=models.TextField(blank=True, help_text="Why it is wrong; each that says so, a line."),
        )
        for name in ("correction", "turncorrection")
    ]
