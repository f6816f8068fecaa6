"""Watching an agent decide one conversation: a study that everybody who works in a project may start with one key.

It costs seconds, asks no language model, and reads the train split, whose gold is hidden from nobody. It is decided one
step at a time, before everything else that waits for a worker. A project has one of them under way at a time: who asks
meanwhile watches that one.
"""

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet

from agents.models import Run, Trajectory
from annotations.access import rules
from annotations.models import Dataset, Project, Split
from annotations.models.accounts.projects import Account
from evaluation.models import Study
from evaluation.studies.running import create_study

NAME = "One conversation, to watch"
RECIPE = "grounded"


def watchable_datasets(user: Account) -> QuerySet[Dataset]:
    """The datasets of projects that the user works in which have train conversations, the first imported first."""
    works_in = rules.projects(user, "annotate") | rules.projects(user, "review")
    return Dataset.objects.filter(project__in=works_in).with_conversations(Split.TRAIN).order_by("pk")


def watch(user: Account) -> Trajectory:
    """The trajectory to watch: of the study that is under way, else of a new one. PermissionDenied for who works in no
    project with data; ValueError when the agent cannot run here."""
    dataset = watchable_datasets(user).select_related("project").first()
    if dataset is None:
        raise PermissionDenied("There is nothing to watch: it takes a dataset of a project that you work in.")
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=dataset.project_id)  # one at a time
        under_way = Run.objects.filter(
            studies__in=dataset.project.studies.filter(name=NAME), state__in=[Run.State.QUEUED, Run.State.RUNNING]
        )
        run = under_way.first() or _start(user, dataset).runs.get()
    found = run.trajectories.to_watch()
    assert found is not None  # every run has conversations
    return found


def _start(user: Account, dataset: Dataset) -> Study:
    """Start the study. It is created without a user, so that the rule of who may evaluate is not asked: watching is
    open to more people."""
    study = create_study(
        user=None,
        dataset=dataset,
        recipes=[RECIPE],
        splits=[Split.TRAIN],
        limit=1,
        overrides={"batch_size": "1"},
        name=NAME,
    )
    study.watch(user)
    return study
