from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0021_seconds_of_verdicts")]

    operations = [
        migrations.AddField(
            model_name="review",
            name="region",
            field=models.JSONField(
                blank=True, help_text="Of the step's page (`PageRegion`). Empty: none named.", null=True
            ),
        ),
        migrations.AddConstraint(
            model_name="review",
            constraint=models.CheckConstraint(
                condition=models.Q(("region__isnull", True), ("step__isnull", False), _connector="OR"),
                name="review_region_of_a_step",
            ),
        ),
    ]
