"""Conversations of the sample dataset as rows, for tests of whole studies."""

from pathlib import Path

from annotations.corpus.importing import import_files
from annotations.models import Conversation, Dataset
from annotations.sample.build import build_website
from tests import factories


def import_website(folder: Path, website: str = "casaverde", conversations: int = 3) -> Dataset:
    """A dataset with the first conversations of one website of the sample; `folder` must be empty."""
    build_website(website, folder)
    dataset = factories.make_dataset()
    report = import_files("mt-mind2web", folder, dataset, limit=conversations)
    assert report.error_count == 0
    return dataset


def gold_steps(dataset: Dataset) -> int:
    return sum(turn.steps.count() for c in Conversation.objects.filter(dataset=dataset) for turn in c.turns.all())
