from django.db import migrations, models

KINDS = [
    ("import", "import"),
    ("export", "export"),
    ("train", "training"),
    ("embed", "embedding"),
    ("induce", "workflow induction"),
    ("refine", "rationales"),
    ("propose", "proposals"),
    ("release", "release"),
    ("sample", "sample data"),
    ("goals", "live goals"),
    ("transition", "transitions"),
    ("risks", "risk forecasts"),
    ("judge", "judging"),
]


class Migration(migrations.Migration):
    dependencies = [("annotations", "0030_reasons_together")]

    operations = [
        migrations.AlterField(
            model_name="job", name="kind", field=models.CharField(choices=KINDS, max_length=10)
        )
    ]
