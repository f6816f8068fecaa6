"""Over REST: what a study would be, the points of its plots, and where a run fails."""

import pytest

from agents.encoders.weights import MINILM
from annotations.access.api_rules import ForecastThrottle
from tests import factories
from tests.signed_in import client_of
from tests.web.test_pages_studies import add_scores, make_study

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_a_forecast_says_what_the_form_says_and_starts_nothing() -> None:
    study, run = make_study(recipe_name="grounded")
    client = client_of(factories.make_user("admin", study.project))
    asked = {"dataset": run.dataset.name, "recipes": ["grounded"], "splits": ["train"], "seeds": [0, 1]}
    found = client.post("/api/studies/forecast/", asked, content_type="application/json").json()
    assert (found["runs"], found["steps"], found["unit"]) == (2, 12, "step")
    assert found["seconds"] == pytest.approx(12 * 0.0125)
    assert found["recipes"][0]["recipe"] == "grounded"
    assert found["sentences"][0] == "2 runs of 12 steps in all."
    assert (found["unknown"], found["waiting"], found["waiting_jobs"], found["waiting_seconds"]) == ([], 0, 0, 0)
    factories.make_run(run.dataset, recipe_name="grounded", state="queued", step_count=80)
    more = client.post(
        "/api/studies/forecast/", asked | {"recipes": ["grounded", "deberta"]}, content_type="application/json"
    ).json()
    assert (more["unknown"], more["waiting"]) == (["deberta"], 1)
    assert more["waiting_seconds"] == pytest.approx(80 * 0.0125)
    assert study.project.studies.count() == 1
    reader = client_of(factories.make_user("reader", study.project))
    assert reader.post("/api/studies/forecast/", asked, content_type="application/json").status_code in (403, 404, 400)
    unknown = client.post("/api/studies/forecast/", asked | {"recipes": ["none"]}, content_type="application/json")
    assert unknown.status_code == 400


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"overrides": {"prompts.pack": "nobodys"}}, "there is no prompt pack nobodys"),
        (
            {"overrides": {"recall.encoder": "nobodys"}, "recipes": ["synapse"]},
            "recall.encoder: there is no model 'nobodys'",
        ),
        ({"overrides": {"recall.k": "many"}}, "recall.k must be int"),
        ({"overrides": {"compose.shots": "99"}}, "compose.shots=99: the prompt pack"),
        ({"overrides": {"plan.programs": "2"}}, "plan.programs would change nothing"),
        ({"connection": "nobodys", "recipes": ["grounded"]}, "None of the chosen recipes asks a language model"),
    ],
)
def test_a_forecast_refuses_what_a_study_refuses_in_the_same_words(asked, said, monkeypatch) -> None:
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LLM_MODEL", "some-model")
    study, run = make_study(recipe_name="grounded")
    client = client_of(factories.make_user("admin", study.project))
    sent = {"dataset": run.dataset.name, "recipes": ["self-map"], "splits": ["train"], "limit": 1} | asked
    ready = {"rank.model": MINILM, "rank.kind": "dual_encoder", "plan.backend": "endpoint"}
    if sent["recipes"] == ["self-map"]:
        sent["overrides"] = ready | sent.get("overrides", {})
    answers = [
        client.post(url, sent, content_type="application/json") for url in ("/api/studies/", "/api/studies/forecast/")
    ]
    assert [answer.status_code for answer in answers] == [400, 400]
    assert answers[0].json() == answers[1].json()
    assert said in answers[0].json()["detail"]
    assert study.project.studies.count() == 1


@pytest.mark.slow
def test_forecasts_are_limited_by_themselves(monkeypatch) -> None:
    monkeypatch.setattr(ForecastThrottle, "THROTTLE_RATES", {"forecasts": "2/min"})
    study, run = make_study(recipe_name="grounded")
    client, other = (client_of(factories.make_user("admin", study.project)) for _ in range(2))
    asked = {"dataset": run.dataset.name, "recipes": ["grounded"], "splits": ["train"]}
    url = "/api/studies/forecast/"
    codes = [client.post(url, asked, content_type="application/json").status_code for _ in range(3)]
    assert codes == [200, 200, 429]
    assert other.post(url, asked, content_type="application/json").status_code == 200
    assert client.post("/api/studies/", asked, content_type="application/json").status_code == 202, (
        "that is counted apart"
    )


@pytest.mark.slow
def test_the_points_of_plots_and_the_failures_of_a_run_can_be_read() -> None:
    study, run = make_study(split="test_task")
    add_scores(run, turn_success=0.25, **{"recall@1": 0.5})
    seeing = client_of(factories.make_user("reader", study.project, sees_test_gold=True))
    plots = {plot["name"]: plot["points"] for plot in seeing.get(f"/api/studies/{study.pk}/plots/").json()}
    assert plots["recall"][0] | {"n": 0} == {
        "split": "test_task",
        "recipe": "grounded",
        "x": "1",
        "value": 0.5,
        "low": 0.4,
        "high": 0.6,
        "n": 0,
    }
    failures = seeing.get(f"/api/runs/{run.pk}/failures/").json()
    assert len(failures["steps"]) == run.steps.failed().count() > 0
    assert sum(reason["count"] for reason in failures["reasons"]) == len(failures["steps"])
    key = next(reason["key"] for reason in failures["reasons"] if reason["count"])
    of_one = seeing.get(f"/api/runs/{run.pk}/failures/?reason={key}").json()["steps"]
    assert 0 < len(of_one) <= len(failures["steps"])
    blind = client_of(factories.make_user("reader", study.project))
    assert blind.get(f"/api/runs/{run.pk}/failures/").json()["steps"] == []
