"""Which tasks the weights of a recipe have seen in their training. Shell."""

from typing import Any

from agents.cookbook.checking import read_by
from agents.models import TrainedModel
from agents.recipes import literature
from agents.recipes.declaring import value_of
from agents.training.samples.rows import SplitRows
from annotations.models import Conversation, Split

NAMED_BY = ("rank.model", "plan.model", "imagine.model", "imagine.value_model")


def trained_tasks(stored: dict[str, Any], project: int) -> frozenset[str] | None:
    """The websites, which are the tasks where an environment has tasks, of the conversations that the weights of a
    recipe were trained on, as their datasets are now. None where that is not known: no weights of this project, or of
    data that are gone."""
    recipe = literature.readable(stored)
    if recipe is None:
        return None
    names = [value_of(recipe, setting) for setting in NAMED_BY if setting in read_by(recipe)]
    models = TrainedModel.objects.filter(project=project, name__in=[name for name in names if name])
    found: set[str] = set()
    for model in (known := models.select_related("job", "dataset")):
        if model.dataset is None:
            return None
        limit = model.job.params.get("limit") if model.job else None
        read = SplitRows(model.dataset, Split.TRAIN, limit).conversation_ids
        found.update(Conversation.objects.filter(pk__in=read).values_list("website__name", flat=True).distinct())
    return frozenset(found) if known else None
