"""Trained planners for the agents that people talk with: which there are, which is best, and one trained at a press.

An agent whose planner is untrained can do little. The sample's own train split teaches the planner of `grounded` in a
minute or two, so that is what is offered where none is here.
"""

from django.db import transaction
from django.db.models import Exists, OuterRef

from agents.cookbook import checking
from agents.encoders import weights
from agents.models import TrainedModel
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.stages.registry import MODELS, planner_of, trained_for
from agents.training.jobs import start_training
from agents.training.mismatches import unlike_training
from annotations.access import rules
from annotations.access.rules import User
from annotations.models import Conversation, Dataset, Job, Project, Split
from annotations.models.accounts.projects import Account
from annotations.sample.build import SITES

LOOKED_AT = 30  # models, the newest
PREPARED_FOR = "grounded"  # the recipe whose planner is trained at a press
PREPARED_WITH = {"epoch_steps": 1000}  # of a few hundred steps it draws each many times all the same


def naming(recipe: Recipe, model: str) -> dict[str, str]:
    """The settings by which a trained planner decides in the recipe."""
    here = {"plan.backend": "local"} if planner_of(recipe).asks and recipe.plan.backend != "local" else {}
    return {"plan.model": model} | here


def planners_for(user: User, recipe: Recipe) -> list[TrainedModel]:
    """The trained planners of the user's projects that the recipe can be given as it is, and whose weights are here;
    the best guess first: what was trained on the sample's websites, which is where people talk, then the newest."""
    kind = trained_for(recipe, MODELS["plan"])
    of_sites = Conversation.objects.filter(dataset=OuterRef("dataset"), website__name__in=SITES, split=Split.TRAIN)
    rows = TrainedModel.objects.filter(project__in=rules.projects(user), kind=kind, ready=True)
    newest = rows.annotate(knows_sites=Exists(of_sites)).order_by("-knows_sites", "-pk")[:LOOKED_AT]
    return [model for model in newest if _fits(recipe, model)]


def _fits(recipe: Recipe, model: TrainedModel) -> bool:
    try:
        weights.check(model.name)
        given = checking.vary(recipe, naming(recipe, model.name))
    except ValueError:
        return False
    return not unlike_training(literature.to_dict(given), model.project_id)


def takes_trained(recipe: Recipe) -> bool:
    """Whether a planner can be trained for the recipe at all."""
    return bool(trained_for(recipe, MODELS["plan"]))


def teaching(project: Project) -> Dataset | None:
    """The dataset of a project that a planner for the sample's websites can be trained on; None where none is."""
    of_sites = Conversation.objects.filter(dataset=OuterRef("pk"), website__name__in=SITES, split=Split.TRAIN)
    rows = project.datasets.with_conversations(Split.TRAIN).exclude(source_format="weblinx")
    return rows.filter(Exists(of_sites)).order_by("pk").first()


def preparing(user: User) -> Job | None:
    """The job that trains a planner for talks now, of the user's projects; None where none does."""
    jobs = Job.objects.unfinished().filter(project__in=rules.projects(user), kind=Job.Kind.TRAIN)
    return jobs.filter(trained_models__kind=TrainedModel.Kind.GROUNDED).order_by("-pk").first()


@transaction.atomic
def prepare(user: Account, project: Project) -> Job:
    """Have a planner trained for the recipe PREPARED_FOR, or the job that does so already. Raises PermissionDenied,
    ValidationError, and ValueError with a sentence."""
    rules.require(user, "train", project)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if (job := preparing(user)) is not None:
        return job
    dataset = teaching(project)
    if dataset is None:
        raise ValueError(f"{project.name} has no recorded conversations on the sample's websites to learn from.")
    model = start_training(
        user=user,
        dataset=dataset,
        kind=TrainedModel.Kind.GROUNDED,
        name=_free_name(f"{dataset.name}-planner"),
        recipe=literature.get(PREPARED_FOR),
        changes=PREPARED_WITH,
    )
    return model.current_job()


def _free_name(wanted: str) -> str:
    """A name that no model has; one whose training never began gives up its own."""
    taken = set(TrainedModel.objects.filter(name__startswith=wanted).values_list("name", flat=True))
    taken -= set(TrainedModel.objects.filter(name=wanted).unbegun().values_list("name", flat=True))
    return next(name for n in range(1, len(taken) + 2) if (name := f"{wanted}-{n}" if n > 1 else wanted) not in taken)
