"""Trainings that are left to workers from a terminal, or followed there."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from agents.models import TrainedModel
from annotations.jobs import following
from annotations.models import Dataset, Job
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dataset() -> Dataset:
    return factories.make_conversation(split="train").dataset


def train(dataset: Dataset, *options: str, err: io.StringIO | None = None) -> str:
    out = io.StringIO()
    asked = ("--kind", "grounded", "--name", "own", *options)
    call_command("train_planner", dataset.name, *asked, stdout=out, stderr=err or io.StringIO())
    return out.getvalue()


def test_a_training_is_left_to_a_worker_and_its_page_is_named(dataset) -> None:
    assert train(dataset, "--no-wait") == "queued; how it goes: /models/own/\n"
    assert TrainedModel.objects.get().current_job().state == Job.State.QUEUED
    Job.objects.get().cancel()
    assert json.loads(train(dataset, "--no-wait", "--json")) == {"model": "own", "page": "/models/own/"}
    with pytest.raises(CommandError, match="not allowed with"):
        train(dataset, "--no-wait", "--inline")


def test_who_follows_one_that_nobody_takes_is_told_of_its_page_and_how_to_leave_it(dataset, monkeypatch) -> None:
    monkeypatch.setattr(following, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(following, "PATIENCE_SECONDS", 0)
    told: list[str] = []

    class Terminal(io.StringIO):
        def write(self, line: str) -> int:
            told.append(line)
            raise KeyboardInterrupt

    with pytest.raises(CommandError, match="cancelled"):
        train(dataset, err=Terminal())
    (said,) = told
    assert said.startswith("waiting for under 1 s: no worker runs: “make run” starts one. Its page: /models/own/.")
    assert "Ctrl-C cancels it" in said
    assert "--no-wait" in said
    assert Job.objects.get().state == Job.State.CANCELLED
