from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotations", "0005_proposals")]

    operations = [
        migrations.AlterField(
            model_name="job",
            name="kind",
            field=models.CharField(
                choices=[
                    ("import", "import"),
                    ("export", "export"),
                    ("train", "training"),
                    ("embed", "embedding"),
                    ("induce", "workflow induction"),
                    ("refine", "rationales"),
                    ("propose", "proposals"),
                    ("release", "release"),
                ],
                max_length=10,
            ),
        ),
    ]
