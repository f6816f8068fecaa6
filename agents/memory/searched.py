"""What of a dataset's train split a recipe searches and is not there yet; said before anything runs."""

from agents.recipes.literature import Recipe
from agents.stages import registry
from annotations.models import Dataset, Split


def lacking_of(dataset: Dataset, recipe: Recipe) -> list[str]:
    """Each thing with how to get it; empty when the recipe can run on the dataset."""
    searched, found = registry.searched(recipe), []
    if "workflows" in searched and (said := no_workflows(dataset)):
        found.append(said)
    if "exemplars" in searched and not dataset.conversations.filter(split=Split.TRAIN).exists():
        found.append(no_exemplars(dataset))
    return found


def no_workflows(dataset: Dataset) -> str:
    """Why there are none to search; "" where there are some."""
    if dataset.workflows.standing().exists():
        return ""
    return (
        f"{dataset.name} has no workflows: manage.py induce_workflows {dataset.name}, or Prepare on the recipe's page"
    )


def no_exemplars(dataset: Dataset) -> str:
    return f"{dataset.name} has no train split to take exemplars from: import it, or choose a recipe without exemplars"
