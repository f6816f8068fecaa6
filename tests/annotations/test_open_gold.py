"""Test gold that members of a project can read in another conversation: found for who releases; the sample has none."""

import time
from pathlib import Path

import pytest
from django.urls import reverse

from annotations.corpus.importing import import_files
from annotations.models import Conversation, Dataset, Step
from annotations.releases.open_gold import OpenGold, _GoldRow, _opened
from annotations.sample.build import build
from annotations.sample.mind2web import build as build_tasks
from annotations.sample.weblinx import build as build_weblinx
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


def hidden_dataset() -> Dataset:
    """A test conversation of two turns of two steps."""
    dataset = factories.make_dataset(name="hidden")
    factories.make_conversation(dataset=dataset, split="test_task", source_id="errand")
    return dataset


def same_errand(dataset: Dataset, split: str = "train") -> Conversation:
    """The errand of `hidden_dataset` in another dataset, whose pages are the same."""
    return factories.make_conversation(dataset=dataset, split=split, source_id="errand")


def other_of(dataset: Dataset, name: str = "open") -> Dataset:
    return factories.make_dataset(name=name, project=dataset.project)


def test_a_test_turn_that_another_dataset_plays_is_found_from_either() -> None:
    hidden = hidden_dataset()
    readable = same_errand(other_of(hidden)).dataset
    found = [OpenGold("hidden", "open", 2, ("errand", 1, "errand"))]
    assert OpenGold.of(hidden) == OpenGold.of(readable) == found
    assert OpenGold.of(other_of(hidden, "third")) == []


def test_a_turn_is_open_where_all_of_it_is_played_and_nothing_hides_it() -> None:
    hidden = hidden_dataset()
    same_errand(other_of(hidden), split="test_website")
    same_errand(factories.make_dataset(name="elsewhere"))  # of another project
    assert OpenGold.of(hidden) == []
    readable = same_errand(other_of(hidden, "part"))
    step = Step.objects.filter(turn__conversation=readable, turn__index=0).first()
    step.value = "blue shoes"
    step.save()
    assert [found.turns for found in OpenGold.of(hidden)] == [1]
    Step.objects.filter(turn__conversation=readable, turn__index=1, index=0).delete()
    assert OpenGold.of(hidden) == []


def test_who_releases_is_told_and_nobody_else() -> None:
    hidden = hidden_dataset()
    same_errand(other_of(hidden))
    admin, reader = (client_of(factories.make_user(role, hidden.project)) for role in ("admin", "reader"))
    page = admin.get(reverse("release-new", args=["hidden"])).content.decode()
    assert "Test gold that lies open" in page
    assert "turn 1 of errand, in errand" in page
    assert reader.get(reverse("release-new", args=["hidden"])).status_code == 403
    assert "lies open" not in reader.get(reverse("dataset", args=["hidden"])).content.decode()


@pytest.mark.slow
def test_no_dataset_of_the_sample_shows_the_test_gold_of_another(tmp_path: Path) -> None:
    conversations, tasks, weblinx = (tmp_path / name for name in ("mt-mind2web", "mind2web", "weblinx"))
    build(conversations)
    build_tasks(tasks)
    build_weblinx(conversations, weblinx)
    project = factories.make_dataset().project
    made = {}
    for folder in (conversations, tasks, weblinx):
        made[folder.name] = factories.make_dataset(name=folder.name, project=project)
        assert import_files(folder.name, folder, made[folder.name]).error_count == 0
    assert [OpenGold.of(dataset) for dataset in made.values()] == [[], [], []]
    Conversation.objects.filter(dataset=made["mind2web"], split="test_task").update(split="train")
    (found,) = OpenGold.of(made["mt-mind2web"])
    assert (found.opened_by, found.turns > 10) == ("mind2web", True)


def test_turns_that_all_begin_alike_take_no_longer_for_each_that_does() -> None:
    """Those of a dataset often do: on a site's first page, with its search field. Each pair of them was looked at."""
    begun = time.process_time()
    same = (1, "CLICK", "", "4")
    hidden = (_GoldRow(*same, "hidden", f"errand-{number}", 0, number) for number in range(5000))
    readable = (_GoldRow(*same, "open", f"other-{number:04}", 0, number) for number in range(5000))
    (found,) = _opened(hidden, readable)
    assert (found.turns, found.example) == (5000, ("errand-0", 1, "other-0000"))
    assert time.process_time() - begun < 1
