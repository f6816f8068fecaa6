"""Studies that come with the sample: recipes that run without any model of somebody else's, compared by real workers.

They are queued like those that people start, so their numbers, intervals and replays are what this machine found."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.db import transaction

from agents.models import SavedRecipe
from agents.recipes import literature, saved
from annotations.models import Dataset, Project
from annotations.models.projects import Account
from evaluation.models import Study
from evaluation.studies.running import create_study

PART = "sample-studies"
TESTS = ("test_task", "test_website", "test_subdomain")
EVIDENCE = ("lexical_weight", "role_weight", "order_weight", "option_weight", "link_penalty", "repeat_penalty")
# What `grounded` loses without each of its parts: name -> what it says of itself, and the settings that differ.
VARIANTS = {
    "grounded-no-memory": ("grounded, which recalls nothing of earlier turns.", {"recall.weight": "0"}),
    "grounded-no-order": (
        "grounded, which does not know that a form is filled in from top to bottom.",
        {"rank.order_weight": "0"},
    ),
    "grounded-encoder": (
        "grounded, which ranks by the encoder alone: no words in common, no roles, no order.",
        {f"rank.{name}": "0" for name in EVIDENCE},
    ),
}


@dataclass(frozen=True)
class SampleStudy:
    """A comparison on one of the sample's datasets."""

    name: str
    dataset: str
    recipes: tuple[str, ...]
    splits: tuple[str, ...]


STUDIES = (
    SampleStudy("The same errands, one task at a time", "sample-tasks", ("grounded",), TESTS[1:]),
    SampleStudy("Ranking turns as WebLINX does", "sample-weblinx", ("dmr-minilm",), ("test_iid",)),
    SampleStudy(
        "What grounded is made of", "sample", ("grounded", *VARIANTS), TESTS
    ),  # last, as the first page shows the newest
)


def make_studies(project: Project, say: Callable[[str], None]) -> None:
    """Queue the studies that are not there yet, of the datasets that are."""
    manager = get_user_model().objects.get(username="admin")
    with transaction.atomic():
        _save_variants(project, manager)
        for one in STUDIES:
            dataset = Dataset.objects.filter(project=project, name=one.dataset).first()
            if dataset is None or project.studies.filter(name=one.name).exists():
                continue
            study = create_study(
                user=manager,
                dataset=dataset,
                recipes=list(one.recipes),
                splits=list(one.splits),
                name=one.name,
                preset=Study.Preset.CORRECTED,
            )
            say(f"{study}: {study.runs.count()} runs queued")


def _save_variants(project: Project, manager: Account) -> None:
    parent = literature.get("grounded")
    for name, (description, changes) in VARIANTS.items():
        saved.derive(parent, name, description, changes)  # says what is wrong with them
        fields = {"description": description, "parent": parent.name, "changes": changes, "created_by": manager}
        SavedRecipe.objects.get_or_create(name=name, defaults={"project": project, **fields})
