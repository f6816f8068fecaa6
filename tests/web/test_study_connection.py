"""A study names who answers its recipes: a connection for those that ask a model, one for those that embed."""

import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from django.test import Client

from agents.llm import trying
from agents.llm.embedded import SMOLLM2
from agents.models import Connection, Run, TrajectoryStep
from agents.recipes import literature
from annotations.models import Dataset
from evaluation import tasks
from evaluation.models import Study
from evaluation.studies.connecting import Through
from tests import factories
from tests.agents.llm_server import serve
from tests.signed_in import client_of
from tests.tiny_models import tiny_cross_encoder

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine where nothing is set, and a small ranker was trained."""
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    (tmp_path / "starter-cross-encoder").mkdir()
    (tmp_path / "starter-cross-encoder" / "config.json").write_text("{}")


@pytest.fixture
def dataset() -> Dataset:
    found = factories.make_dataset()
    factories.make_conversation(dataset=found, split="train", turns=2, steps=3)
    return found


@pytest.fixture
def client(dataset: Dataset) -> Client:
    return client_of(factories.make_user("admin", dataset.project))


def make_connection(name: str = "mine", **fields) -> Connection:
    told = {"base_url": "http://127.0.0.1:9/v1", "model": "m-1", "private": True} | fields
    return Connection.objects.create(name=name, **told)


@pytest.mark.slow
def test_the_form_offers_connections_and_the_small_model(client: Client) -> None:
    page = client.get("/studies/new/").content.decode()
    assert SMOLLM2 in page
    assert 'name="encoder"' not in page, "there is none to choose"
    make_connection()
    make_connection("vectors", kind=Connection.Kind.EMBEDDING)
    page = client.get("/studies/new/").content.decode()
    chosen = page.partition('name="connection"')[2].partition("</select>")[0]
    assert re.findall(r'value="([^"]*)"', chosen) == ["", "mine", SMOLLM2]
    assert re.findall(r'value="([^"]*)"', page.partition('name="encoder"')[2].partition("</select>")[0])[1:] == [
        "vectors"
    ]


def test_recipes_that_ask_a_model_ask_the_chosen_one_and_the_others_run_as_they_do(dataset, client) -> None:
    make_connection()
    changed = Through("mine").settings_of(literature.get("synapse"))
    assert changed == {"plan.backend": "endpoint", "plan.model": "mine"}
    assert Through("mine").settings_of(literature.get("mindact")) == changed
    assert Through("mine").settings_of(literature.get("grounded")) == {}
    trained = literature.override(literature.get("mindact"), {"plan.model": "trained-here"})
    assert Through("mine").settings_of(trained) == {}, "weights that were trained for it are its own"
    sent = {"dataset": dataset.name, "recipes": ["synapse", "grounded"], "connection": "mine", "seed": "0"}
    assert client.post("/studies/new/", sent).status_code == 302
    models = {run.recipe_name: run.recipe["plan"]["model"] for run in Run.objects.all()}
    assert models == {"synapse": "mine", "grounded": ""}


@pytest.mark.slow
def test_a_study_from_the_form_asks_the_chosen_connection_with_its_key_until_it_ends(dataset, client, tmp_path) -> None:
    tiny_cross_encoder(tmp_path / "starter-cross-encoder", ["Book the red room", "a button"], width=16, layers=1)
    with serve(lambda body: "CLICK [1]") as server:
        own = Connection(name="mine", base_url=server.url, model="m-1", private=True)
        own.key = "s3cret"
        own.save()
        sent = {"dataset": dataset.name, "recipes": ["bare"], "connection": "mine", "seed": "0"}
        assert client.post("/studies/new/", sent).status_code == 302
        study, run = Study.objects.get(), Run.objects.get()
        for shard in run.shards.all():
            tasks.run_shard(shard.pk)
    run.refresh_from_db()
    assert (run.error, run.state) == ("", "done")
    steps = TrajectoryStep.objects.filter(run=run)
    assert steps.count() == 6 == len(server.requests)
    assert {one["model"] for one in server.requests} == {"m-1"}
    assert {one["authorization"] for one in server.headers} == {"Bearer s3cret"}
    study.refresh_from_db()
    assert study.spent_tokens > 0
    assert run.scores.filter(metric="step_success").exists()


@pytest.mark.slow
def test_a_choice_that_would_change_nothing_is_refused(dataset, client) -> None:
    make_connection()
    sent = {"dataset": dataset.name, "recipes": ["grounded"], "connection": "mine", "seed": "0"}
    assert "None of the chosen recipes asks a language model" in client.post("/studies/new/", sent).content.decode()
    asked = {"dataset": dataset.name, "recipes": ["grounded"], "connection": "mine"}
    refused = client.post("/api/studies/", asked, content_type="application/json")
    assert (refused.status_code, "asks a language model" in refused.json()["detail"]) == (400, True)
    assert not Study.objects.exists()
    gone = client.post("/studies/new/", sent | {"recipes": ["synapse"], "connection": "gone"}).content.decode()
    assert "gone is not one of the available choices" in gone


@pytest.mark.slow
@pytest.mark.parametrize("overruling", ["plan.model=other", "plan.backend=local"])
def test_a_connection_beside_a_setting_that_overrules_it_is_refused(dataset, client, overruling: str) -> None:
    make_connection()
    said = f"{overruling} and the connection mine contradict each other: leave one of them out."
    sent = {"dataset": dataset.name, "recipes": ["synapse"], "connection": "mine", "seed": "0"}
    assert said in client.post("/studies/new/", sent | {"overrides": overruling}).content.decode()
    asked = {"dataset": dataset.name, "recipes": ["synapse"], "connection": "mine"}
    asked["overrides"] = dict([overruling.split("=")])
    refused = client.post("/api/studies/", asked, content_type="application/json")
    assert (refused.status_code, said in refused.json()["detail"]) == (400, True)
    assert not Study.objects.exists()


@pytest.mark.slow
def test_the_forecast_tells_of_the_chosen_connection(dataset, client) -> None:
    make_connection(price_prompt=1.0, price_completion=2.0)
    page = client.get(f"/studies/new/?dataset={dataset.name}&recipes=synapse&connection=mine").content.decode()
    assert "Calls of mine cost" in page
    asked = {"dataset": dataset.name, "recipes": ["synapse"], "connection": "mine"}
    told = client.post("/api/studies/forecast/", asked, content_type="application/json").json()
    assert any("Calls of mine cost" in one for one in told["sentences"])
    told = client.post("/api/studies/forecast/", asked | {"connection": ""}, content_type="application/json").json()
    assert not any("mine" in one for one in told["sentences"])


def test_an_encoder_is_named_for_recipes_that_recall(dataset) -> None:
    make_connection("vectors", kind=Connection.Kind.EMBEDDING)
    changed = Through(encoder="vectors").settings_of(literature.get("self-map"))
    assert changed == {"recall.encoder": "endpoint:vectors"}
    assert Through(encoder="vectors").faults([literature.get("mindact")]).keys() == {"encoder"}


@pytest.mark.slow
def test_the_model_in_the_worker_says_something_and_how_long_it_took() -> None:
    client = client_of(factories.make_superuser())
    assert 'action="/embedded-model/test/"' in client.get("/connections/").content.decode()
    try:
        page = client.post("/embedded-model/test/", follow=True).content.decode()
        assert re.search(r"The model in the worker said in [^,]+, after [^:]+ of loading it: “\w+", page)
        page = client.post("/embedded-model/test/", follow=True).content.decode()
        assert re.search(r"The model in the worker said in [^,]+ \(it was loaded already\): “\w+", page)
    finally:
        end_tried()


@pytest.mark.slow
def test_the_tried_model_ends_with_who_started_it() -> None:
    asked = "from agents.llm import trying; print(trying.tried()['reply'])"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout.strip()
    until = time.monotonic() + 30
    while trying._place(SMOLLM2).exists():
        assert time.monotonic() < until, "it is still there"
        time.sleep(0.2)


def end_tried() -> None:
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # another that has ended
            if "agents.llm.trying" in child.cmdline():
                child.kill()
                child.wait()


def test_a_model_that_is_not_there_is_said_in_a_sentence() -> None:
    found = trying.tried("embedded:none")
    assert found["error"].startswith("there is no embedded model 'embedded:none'")


def test_only_superusers_may_test_it(dataset, client) -> None:
    assert client.post("/embedded-model/test/").status_code == 403
