import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0023_queues_of_trajectories")]

    operations = [
        migrations.AlterField(
            model_name="reviewtask",
            name="trajectory",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="review_tasks", to="agents.trajectory"
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewtask",
            constraint=models.UniqueConstraint(
                condition=models.Q(("step", None)), fields=("queue", "trajectory"), name="whole_asked_once_per_queue"
            ),
        ),
    ]
