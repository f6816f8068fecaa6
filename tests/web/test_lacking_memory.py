"""What a recipe would search and a dataset lacks is said before anything is queued: by command, form and API."""

import pytest
from django.core.management import CommandError, call_command

from agents.encoders.weights import MINILM
from annotations.models import Dataset
from evaluation.models import Study
from tests import factories
from tests.signed_in import client_of

SETTINGS = {"rank.kind": "dual_encoder", "rank.model": MINILM, "recall.workflows": "semantic"}
SAID = "has no workflows: manage.py induce_workflows"

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LLM_MODEL", "test-model")
    return factories.make_conversation().dataset


def lines() -> list[str]:
    return [f"{name}={value}" for name, value in SETTINGS.items()]


def test_the_command_says_it(dataset: Dataset) -> None:
    with pytest.raises(CommandError, match=SAID):
        call_command("evaluate", "mindact-icl", dataset.name, "--set", *lines(), "--inline")
    assert not Study.objects.exists()


def test_the_form_says_it(dataset: Dataset) -> None:
    client = client_of(factories.make_user("admin", dataset.project))
    values = {"recipes": ["mindact-icl"], "dataset": dataset.name, "seed": "0", "overrides": "\n".join(lines())}
    response = client.post("/studies/new/", values)
    assert SAID in " ".join(response.context["form"].errors["recipes"])
    assert not Study.objects.exists()


def test_the_api_says_it(dataset: Dataset) -> None:
    client = client_of(factories.make_user("admin", dataset.project))
    asked = {"dataset": dataset.name, "recipes": ["mindact-icl"], "overrides": SETTINGS}
    response = client.post("/api/studies/", asked, content_type="application/json", headers={"Idempotency-Key": "a"})
    assert response.status_code == 400
    assert SAID in response.content.decode()
    assert not Study.objects.exists()


def test_with_workflows_it_is_queued(dataset: Dataset) -> None:
    """Written here; induction is a job of its own."""
    website = dataset.conversations.get().website
    dataset.workflows.create(website=website, name="Search", description="Find something", body="[link] -> CLICK")
    client = client_of(factories.make_user("admin", dataset.project))
    asked = {"dataset": dataset.name, "recipes": ["mindact-icl"], "overrides": SETTINGS}
    response = client.post("/api/studies/", asked, content_type="application/json", headers={"Idempotency-Key": "a"})
    assert response.status_code == 202, response.content
