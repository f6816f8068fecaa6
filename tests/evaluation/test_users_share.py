"""What a user that is a language model adds to the forecast of a study of live conversations."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.llm.embedded import SMOLLM2
from agents.models import Connection, Run, TrajectoryStep, UserLedger
from agents.recipes import literature
from annotations.models import Dataset
from evaluation.studies.expecting import Expected, expected
from tests import factories
from tests.signed_in import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Connection:
    made = {"base_url": "https://llm.example/v1", "model": "large", "price_prompt": 1, "price_completion": 2}
    return Connection.objects.create(name="ada", **made)


def goals(project, user: str = "", **more: str) -> Dataset:
    live = {"environment": "sample-sites", "steps": 20, "seconds": 300}
    live |= {"user": {"connection": user, "words": "own"} | more} if user else {}
    dataset = factories.make_dataset(project, live=live)
    for _ in range(4):
        factories.make_conversation(dataset=dataset, turns=1, steps=0, split="train", extra={"task": "t", "seed": 0})
    return dataset


def played(dataset: Dataset, seconds: float, cost: float | None, recipe: str = "grounded") -> Run:
    """A run of two episodes that took so long each, and whose user took so much money in all."""
    run = factories.make_run(
        dataset, recipe_name=recipe, state="done", recipe=literature.to_dict(literature.get(recipe))
    )
    began = timezone.now() - timedelta(hours=1)
    for place, conversation in enumerate(dataset.conversations.order_by("pk")[:2]):
        row = factories.make_trajectory(run, conversation, stored=0, state="done")
        when = (began, began + timedelta(seconds=2 * seconds)) if place else (began,)
        for seq, at in enumerate(when):
            turn = conversation.turns.get()
            TrajectoryStep.objects.create(run=run, trajectory=row, turn=turn, seq=seq, happened_at=at)
    if cost is not None:
        UserLedger.objects.create(run=run, spent_tokens=100, spent_cost=cost)
    return run


def of(dataset: Dataset, *recipes: str) -> Expected:
    return expected(None, dataset, [literature.get(name) for name in recipes])


def test_its_calls_are_in_the_money_as_they_were_in_earlier_runs(ada) -> None:
    project = factories.make_project()
    played(goals(project, "ada"), 10, cost=0.6)
    found = of(goals(project, "ada"), "grounded")
    assert found.user is not None
    assert (found.steps, found.cost, found.user.cost) == (4, pytest.approx(1.2), pytest.approx(1.2))
    said = " ".join(found.sentences())
    assert "Model calls for about 1.2, at the prices of today. Of it about 1.2 is for the user, ada," in said
    assert "without waiting" not in said
    thrice = found.times(3)
    assert (thrice.cost, thrice.user and thrice.user.cost) == (pytest.approx(3.6), pytest.approx(3.6))


@pytest.mark.parametrize(("user", "words"), [("bo", "own"), ("ada", "written"), ("", "")])
def test_what_it_costs_is_said_not_to_be_in_it_where_nobody_knows(ada, user: str, words: str) -> None:
    """Another user, or one that says less, tells nothing of it."""
    project = factories.make_project()
    played(goals(project, user, words=words), 10, cost=0.6 if user else None)
    found = of(goals(project, "ada"), "grounded")
    assert (found.cost, found.user and found.user.cost) == (0.0, None)
    said = " ".join(found.sentences())
    assert "What calls of the user, ada, cost is not in it: it has ended no conversation here yet." in said
    assert "No call that costs money" not in said
    Connection.objects.update(price_prompt=None, price_completion=None)
    assert "cost is not in it: it has no prices." in " ".join(of(goals(project, "ada"), "grounded").sentences())


def test_the_time_is_that_of_runs_with_the_same_user_where_there_are_any(ada) -> None:
    project = factories.make_project()
    played(goals(project), 10, None)
    found = of(goals(project, "ada"), "grounded")
    assert found.seconds == pytest.approx(40)
    assert "The time of grounded is without waiting for the user, ada." in found.sentences()
    played(goals(project, "ada"), 25, 0.6)
    played(goals(project), 10, None)
    found = of(goals(project, "ada"), "grounded")
    assert found.seconds == pytest.approx(100)
    assert not any("without waiting" in one for one in found.sentences())
    assert of(goals(project), "grounded").seconds == pytest.approx(40), "nobody waits for the scripted user"
    assert of(goals(project), "grounded").user is None


def test_who_costs_nothing_adds_nothing(ada) -> None:
    project = factories.make_project()
    Connection.objects.update(price_prompt=0, price_completion=0)
    for user in ("ada", SMOLLM2):
        found = of(goals(project, user), "grounded")
        assert (found.cost, found.user and found.user.cost) == (0.0, 0.0)
        assert "No call that costs money." in found.sentences()


def test_programs_are_told_of_it(ada) -> None:
    project = factories.make_project()
    played(goals(project, "ada"), 10, cost=0.6)
    admin = client_of(factories.make_user("admin", project))
    asked = {"dataset": goals(project, "ada").name, "recipes": ["grounded", "mindact"], "seeds": [0, 1]}
    told = admin.post("/api/studies/forecast/", asked, content_type="application/json").json()
    assert told["user"] == {
        "connection": "ada",
        "cost": pytest.approx(4.8),
        "because": "",
        "unheard": ["mindact"],
    }
    assert told["cost"] >= 4.8
