from django.db import migrations, models


class Migration(migrations.Migration):
    """Steps keep their recorder's marks apart. Those stored before are null: `unmark_steps` searches them."""

    dependencies = [("annotations", "0006_release_jobs")]

    operations = [
        migrations.AddField("step", "marks", models.JSONField(blank=True, null=True)),
        migrations.AlterField(
            "step",
            "marks",
            models.JSONField(
                blank=True,
                default=dict,
                help_text="What the recorder had written onto the target; exports put it back. Null: not searched yet.",
                null=True,
            ),
        ),
        migrations.AddIndex(
            "step", models.Index(condition=models.Q(marks__isnull=True), fields=["id"], name="step_not_unmarked")
        ),
    ]
