"""What a recipe searches in a dataset's train split and does not find, told before anything runs."""

from collections.abc import Collection

from annotations.models import Dataset, Split, Step

NO_WORKFLOWS = "has no workflows: "


def lacking_of(dataset: Dataset, searched: Collection[str]) -> list[str]:
    """The things among `searched` (named as in `agents.stages.registry`) that a dataset lacks, each as a sentence with
    how to get it."""
    name, found = dataset.name, []
    if "workflows" in searched and not dataset.workflows.standing().exists():
        found.append(f"{name} {NO_WORKFLOWS}manage.py induce_workflows {name}, or Prepare on the recipe's page")
    if "exemplars" in searched and not dataset.conversations.filter(split=Split.TRAIN).exists():
        found.append(
            f"{name} has no train split to take exemplars from: import it, or choose a recipe without exemplars"
        )
    pictures = Step.objects.filter(turn__conversation__dataset=dataset, screenshot__isnull=False)
    if "screenshots" in searched and not dataset.is_live and not pictures.exists():
        found.append(f"{name} has no screenshots: choose observe.observation=text, or import data that hold some")
    return found
