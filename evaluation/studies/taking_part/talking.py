"""A person talks with an agent: types what is to be done on a sample website, watches, and says what is next.

They have one such conversation under way at a time in a project: who asks meanwhile is led back to it.
"""

from collections.abc import Collection

from django.db import transaction
from django.db.models import Exists, OuterRef

from agents.cookbook import saved
from agents.live.showing import ShownGoal
from agents.models import Drive, Trajectory
from agents.models.trajectories import LOST
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.stages.registry import planner_of
from annotations.access import rules
from annotations.models import Project
from annotations.models.accounts.projects import Account
from evaluation.models import Study
from evaluation.scores.reviewed import store_all_scores
from evaluation.studies.running import planned_recipe, publish_on_commit
from evaluation.studies.taking_part.planners import planners_for
from evaluation.studies.taking_part.showing import Begun, own_episodes
from evaluation.studies.taking_part.talked_agent import TalkedAgent, asks, holds

NAME = "Talk of"  # how the names of such studies begin
ENVIRONMENT = "sample-sites-free"
AS_FITS = TalkedAgent()


def acts(recipe: Recipe) -> bool:
    """Whether an agent by this recipe does something on a page, and does not only rank its elements."""
    return not planner_of(recipe).ranks_only


def talks(recipe: Recipe) -> bool:
    """Whether an agent by this recipe acts on the sample's websites: programs are written for pages of MiniWoB++."""
    return acts(recipe) and not planner_of(recipe).acts_often


def under_way(user: Account, projects: Collection[int]) -> Trajectory | None:
    """The conversation of this person's in one of these projects that they have not ended; None where there is none."""
    ended = Drive.objects.last_words().filter(trajectory=OuterRef("pk"))
    return own_episodes(user, projects).filter(~Exists(ended), conversation__extra__typed=True).first()


def talk(user: Account, project: Project, recipe: str, website: str, words: str, agent: TalkedAgent = AS_FITS) -> Begun:
    """The episode in which the agent of a recipe does what this person says; `agent`: what else is chosen of it. Raises
    PermissionDenied, and ValueError with a sentence."""
    rules.require(user, "evaluate", project)
    goal = ShownGoal(ENVIRONMENT, website, 0, words, typed=True)
    goal.check()
    asked = saved.get(recipe, user)
    if not acts(asked):
        raise ValueError(f"{recipe} ranks elements and plans no action: choose an agent that does something")
    if not talks(asked):
        raise ValueError(f"{recipe} writes programs for pages of MiniWoB++: choose an agent that acts on websites")
    preset, changes = asked.preset, agent.changes(user, asked)
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)  # who begins twice at once begins one after the other
        own = under_way(user, [project.pk])
        if own is not None:
            return Begun(own, is_new=False)
        conversation = goal.kept(project)
        chosen = planned_recipe(user, recipe, preset, conversation.dataset, goal.split, changes)
        name = f"{NAME} {user} with {recipe}: {conversation.source_id}"[:200]
        study = Study.objects.create(project=project, name=name, preset=preset, created_by=user)
        run = study.plan_episode(conversation, chosen)
        study.watch(user)
        publish_on_commit(run.shards.waiting())
    return Begun(run.trajectories.get(), is_new=True)


def talk_again(user: Account, lost_id: int) -> Begun:
    """The same conversation begun anew, with the same agent and first words, as the browser of this one is lost. Raises
    PermissionDenied, and ValueError with a sentence."""
    lost = Trajectory.objects.with_place().get(pk=lost_id)
    run, goal = lost.run, lost.conversation
    chosen = literature.from_dict(run.recipe)
    offered = [model.name for model in planners_for(user, saved.get(run.recipe_name, user))]
    model = chosen.plan.model if chosen.plan.model in offered else ""
    for study in run.studies.all() if not run.is_over else ():
        study.cancel(store_all_scores, LOST)
    words = goal.turns.order_by("index").values_list("instruction", flat=True)[0]
    agent = TalkedAgent(model, asks(chosen), holds(chosen))
    return talk(user, run.dataset.project, run.recipe_name, goal.extra["task"], words, agent)
