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
    ("explain", "explanations of failures"),
]


class Migration(migrations.Migration):
    dependencies = [("annotations", "0033_curations")]

    operations = [
        migrations.AlterField(
            model_name="job", name="kind", field=models.CharField(choices=KINDS, max_length=10)
        )
    ]
