"""Studies that come with the sample: recipes that run without any model of somebody else's, compared by real workers.

They are queued like those that people start, so their numbers, intervals and replays are what this machine found. One
compares an agent of each family with the small models that stand in; it waits until those are made."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction

from agents.models import SavedRecipe
from agents.recipes import literature, saved, starters
from annotations.models import Dataset, Project
from annotations.models.projects import Account
from evaluation.models import Study
from evaluation.models.studies import BudgetLimits
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
    limit: int | None = None
    seconds: int | None = None  # of model calls at most


STUDIES = (
    SampleStudy("The same errands, one task at a time", "sample-tasks", ("grounded",), TESTS[1:]),
    SampleStudy("Ranking turns as WebLINX does", "sample-weblinx", ("dmr-minilm",), ("test_iid",)),
    SampleStudy(
        "What grounded is made of", "sample", ("grounded", *VARIANTS), TESTS
    ),  # last, as the first page shows the newest
)


AGENTS = SampleStudy(
    "One agent of each family, with the small models that stand in",
    "sample",
    ("grounded", "deberta", "mindact", "self-map", "synapse", "awm"),
    ("test_subdomain",),
    limit=3,
    seconds=30 * 60,
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
            study = _queue(one, dataset, manager)
            say(f"{study}: {study.runs.count()} runs queued")
    if not project.studies.filter(name=AGENTS.name).exists():
        _waiting().touch()


def make_waiting() -> Study | None:
    """Queue the study of the agents once their models are here; None while it waits, or where there is none."""
    if not _waiting().exists() or any(starters.missing(literature.get(name)) for name in AGENTS.recipes):
        return None
    _waiting().unlink(missing_ok=True)
    dataset = Dataset.objects.filter(project__slug="sample", name=AGENTS.dataset).first()
    manager = get_user_model().objects.filter(username="admin").first()
    if dataset is None or manager is None:  # people have deleted them since
        return None
    return _queue(AGENTS, dataset, manager)


def _waiting() -> Path:
    """The file that says that the study of the agents is still to be queued."""
    return Path(settings.VAR_DIR) / "sample-agents-waiting"


def _queue(one: SampleStudy, dataset: Dataset, manager: Account) -> Study:
    return create_study(
        user=manager,
        dataset=dataset,
        recipes=list(one.recipes),
        splits=list(one.splits),
        limit=one.limit,
        name=one.name,
        preset=Study.Preset.CORRECTED,
        budget=BudgetLimits(seconds=one.seconds),
    )


def _save_variants(project: Project, manager: Account) -> None:
    parent = literature.get("grounded")
    for name, (description, changes) in VARIANTS.items():
        saved.derive(parent, name, description, changes)  # says what is wrong with them
        fields = {"description": description, "parent": parent.name, "changes": changes, "created_by": manager}
        SavedRecipe.objects.get_or_create(name=name, defaults={"project": project, **fields})
