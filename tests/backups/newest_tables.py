"""Rows of what came last: live episodes and what holds them, reviews, the world model, connections."""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model

from agents.guard.judging import SeenControl
from agents.models import Connection, Drive, GuardRule, HeldStep, Run, SavedRecipe, Transition, UserLedger
from annotations.models import Step
from evaluation.models import ReviewQueue, ReviewTask, RiskForecast, RiskLabel
from evaluation.reviews.choosing import QueueDemand, make_queue
from tests import factories

TABLES: tuple[type[Model], ...] = (
    *(HeldStep, Drive, GuardRule, Connection, SavedRecipe, Transition, ReviewQueue, ReviewTask, RiskLabel),
    *(RiskForecast, UserLedger),
)


def fill_newest_tables(olga: User) -> None:
    trajectory = factories.make_trajectory()
    run = trajectory.run
    Run.objects.filter(pk=run.pk).update(state=Run.State.DONE)
    project = run.dataset.project
    held = factories.make_held_step(trajectory)
    held.decide(olga, "approved", "It is what was asked.")
    factories.make_drive(trajectory, person=olga)
    UserLedger.objects.create(run=run, spent_tokens=7)
    GuardRule.objects.create(project=project, of="operation", pattern="*", kind="pay", created_by=olga)
    Connection.objects.create(name="drill", base_url="http://127.0.0.1:9/v1", model="m", key="sk-of-the-drill")
    SavedRecipe.objects.create(project=project, name="wide", parent="grounded", changes={"rank.top_k": "77"})
    make_queue(olga, factories.make_study(project, [run]), QueueDemand("random", 2, overlap=1))
    conversation = trajectory.conversation
    recorded = Step.objects.filter(turn__conversation=conversation).first()
    assert recorded is not None
    RiskLabel.objects.give(recorded, olga, "pay")
    RiskForecast.objects.keep(recorded, SeenControl(recorded.operation, "Pay now", "button"), None, None)
    seen = {"dataset": run.dataset, "conversation": conversation, "step": recorded, "split": conversation.split}
    Transition.objects.create(**seen, sha256="x", operation="CLICK")


def seen_of_newest_tables() -> dict[str, Any]:
    """What tells that they came back: a key that the restored secret opens, and a decision with who made it."""
    return {
        "key": Connection.objects.get().key,
        "outcome": HeldStep.objects.get().outcome,
        "tables": [model._meta.db_table for model in TABLES],
    }
