"""Steps of a run, found by their words."""

import pytest
from django.db import connection
from django.urls import reverse

from agents.models import Trajectory
from agents.models.steps import TrajectoryStepQuerySet
from agents.runs import finding
from annotations.models import Role
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


def say(trajectory: Trajectory, seq: int, **trace: dict) -> None:
    step = trajectory.steps.get(seq=seq)
    step.trace |= trace
    step.save()


@pytest.fixture
def trajectory() -> Trajectory:
    found = factories.make_trajectory()
    say(
        found,
        0,
        compose={"prompt": [{"role": "user", "content": "Which 100% Woollen <b>hat</b>?"}]},
        plan={"reply": "B."},
    )
    say(found, 2, plan={"reply": "Take the WOOLLEN one"}, compose={"prompt": "hats"})
    found.steps.filter(seq=3).update(error="no answer within 60 s")
    return found


def found(trajectory: Trajectory, text: str, role: str = Role.READER) -> str:
    client = client_of(factories.make_user(role, trajectory.run.dataset.project))
    return client.get(reverse("run", args=[trajectory.run_id]), {"find": text}).content.decode()


def at(trajectory: Trajectory, seq: int) -> str:
    return reverse("trajectory-step", args=[trajectory.pk, seq])


@pytest.mark.slow
def test_steps_are_found_by_replies_prompts_errors_and_what_was_done(trajectory) -> None:
    page = found(trajectory, " woollen ")
    assert "<mark>Woollen</mark>" in page
    assert "<mark>WOOLLEN</mark>" in page
    assert [seq for seq in range(4) if f'"{at(trajectory, seq)}"' in page] == [0, 2]
    assert [seq for seq in range(4) if f'"{at(trajectory, seq)}"' in found(trajectory, "within 60 s")] == [3]
    assert [seq for seq in range(4) if f'"{at(trajectory, seq)}"' in found(trajectory, "search -> click")] == [
        0,
        1,
        2,
        3,
    ]


@pytest.mark.slow
def test_what_is_not_said_is_not_found_and_signs_stand_for_themselves(trajectory) -> None:
    assert "Not said" in found(trajectory, "w%llen")
    assert "<mark>100%</mark>" in found(trajectory, "100%")
    page = found(trajectory, "<b>hat")
    assert "<mark>&lt;b&gt;hat</mark>" in page
    assert "<b>hat" not in page
    assert "Not said" not in found(trajectory, " \0 "), "nothing was looked for"


def test_a_part_that_was_looked_through_says_so(trajectory, monkeypatch) -> None:
    assert "looked through" not in found(trajectory, "woollen")
    monkeypatch.setattr(finding, "LOOKED_THROUGH", 2)
    page = found(trajectory, "woollen")
    assert "looked through" in page
    assert [seq for seq in range(4) if f'"{at(trajectory, seq)}"' in page] == [0]


@pytest.mark.slow
def test_nothing_is_found_where_gold_is_hidden() -> None:
    """Prompts of later steps hold earlier gold actions."""
    hidden = factories.make_trajectory(conversation=factories.make_conversation(split="test_task"))
    say(hidden, 1, plan={"reply": "Take the woollen one"})
    assert "<mark>" not in found(hidden, "woollen")
    assert 'name="find"' not in found(hidden, "woollen")
    assert "<mark>woollen</mark>" in found(hidden, "woollen", Role.ADMIN)


@pytest.mark.slow
def test_looking_is_given_up_in_time_with_a_sentence_and_the_page_is_there(trajectory, monkeypatch) -> None:
    real = TrajectoryStepQuerySet.saying

    def slow(rows: TrajectoryStepQuerySet, text: str) -> TrajectoryStepQuerySet:
        return real(rows, text).extra(where=["(SELECT count(*) FROM pg_sleep(20)) = 1"])

    monkeypatch.setattr(TrajectoryStepQuerySet, "saying", slow)
    monkeypatch.setattr(finding, "SECONDS", 0.2, raising=False)
    page = found(trajectory, "woollen")
    assert "Not looked through in time" in page
    assert "Not said" not in page
    monkeypatch.undo()
    assert "<mark>Woollen</mark>" in found(trajectory, "woollen")
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",), "what comes after it takes the time that it needs"
