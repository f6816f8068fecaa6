"""A person shows how it is done: an episode without an agent, which they act in from its first page to its end.

What reaches its goal is kept as a demonstration, like what is shown in the runs of agents. Whoever may review may show.
A person has one of them under way at a time in a project: who asks meanwhile is led back to it.
"""

import dataclasses
from collections.abc import Collection
from typing import NamedTuple

from django.db import transaction

from agents.live.showing import ShownGoal
from agents.models import Drive, Run, Trajectory
from agents.models.trajectories import TrajectoryQuerySet
from agents.recipes.literature import RECIPES
from annotations.access import rules
from annotations.models import Project
from annotations.models.accounts.projects import Account
from evaluation.models import Study
from evaluation.studies.running import publish_on_commit

NAME = "Shown by"  # how the names of such studies begin
RECIPE = dataclasses.replace(
    RECIPES["grounded"], name="person", description="A person shows what is to be done; no agent is asked."
)


class Begun(NamedTuple):
    """An episode that a person asked for; `is_new` False: their own that is not over yet."""

    trajectory: Trajectory
    is_new: bool


def own_episodes(user: Account, projects: Collection[int]) -> TrajectoryQuerySet:
    """The trajectories of this person's studies in these projects that are not over and not being cancelled."""
    own = Study.objects.filter(project__in=projects, created_by=user, cancel_requested=False)
    rows = Trajectory.objects.filter(run__studies__in=own, run__state__in=Run.OPEN)
    return rows.filter(state__in=[Trajectory.State.WAITING, Trajectory.State.RUNNING]).order_by("-pk")


def show(user: Account, project: Project, goal: ShownGoal) -> Begun:
    """The episode in which this person acts, as soon as a worker has opened its page. Raises PermissionDenied, and
    ValueError with a sentence."""
    rules.require(user, "review", project)
    goal.check()
    rules.require_gold(user, project, goal.split)
    with transaction.atomic():
        shown = Drive.objects.open().filter(person=user, shows=True)
        Project.objects.select_for_update().get(pk=project.pk)  # who begins twice at once begins one after the other
        own = own_episodes(user, [project.pk]).filter(run__recipe_name=RECIPE.name, drives__in=shown).first()
        if own is not None:
            return Begun(own, is_new=False)
        conversation = goal.kept(project)
        name = f"{NAME} {user}: {conversation.source_id}"[:200]
        study = Study.objects.create(project=project, name=name, preset=RECIPE.preset, created_by=user)
        run = study.plan_episode(conversation, RECIPE)
        found = run.trajectories.get()
        Drive.objects.take(found, user, Drive.State.DRIVEN, shows=True)
        study.watch(user)
        publish_on_commit(run.shards.waiting())
    return Begun(found, is_new=True)
