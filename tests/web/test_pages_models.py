"""Pages and API of trained models: who sees them, what they show, how they follow a training."""

import re

import pytest
from django.test import Client

from agents.models import TrainedModel
from agents.training.trained.plots import PLOT_HEIGHT, PLOT_WIDTH, plots
from annotations.models import Job
from tests import factories, signed_in

pytestmark = pytest.mark.django_db

CURVE = [{"step": s, "epoch": s / 10, "loss": 2.0 / s, "learning_rate": 0.1} for s in range(1, 10)]
CURVE.append({"step": 10, "epoch": 1.0, "loss": 0.1, "learning_rate": 0.0, "recall@1": 0.75})


@pytest.fixture(autouse=True)
def model_root(tmp_path, settings, monkeypatch):
    settings.MODEL_ROOT = tmp_path
    monkeypatch.setenv("MODEL_ROOT", str(tmp_path))
    return tmp_path


def make_model(project=None, **fields) -> TrainedModel:
    dataset = factories.make_dataset(project)
    job = factories.make_job(
        dataset.project,
        kind=Job.Kind.TRAIN,
        dataset=dataset,
        state="running",
        params={"name": "ranker", "kind": "cross_encoder", "split": "train", "limit": None, "changes": {"epochs": 2}},
        progress={"phase": "epoch 0.5, loss 0.2", "done": 5, "total": 10, "unit": "steps"},
    )
    fields = {"name": "ranker", "kind": "cross_encoder", "base": "microsoft/deberta-v3-base", "job": job} | fields
    return TrainedModel.objects.create(
        project=dataset.project, dataset=dataset, dataset_name=dataset.name, curve=CURVE, **fields
    )


def client_of(model: TrainedModel, role: str = "reader") -> Client:
    return signed_in.client_of(factories.make_user(role, model.project))


def finish(model: TrainedModel) -> None:
    Job.objects.filter(pk=model.job_id).update(
        state="done", report={"said": "Trained ranker", "seconds": 60}, finished_at=model.created_at
    )
    model.ready, model.metrics, model.config = True, {"dev_recall@1": 0.75}, {"epochs": 2, "batch_size": 32}
    model.save()
    model.folder.mkdir(parents=True)
    (model.folder / "README.md").write_text("# ranker\n\n<b>not markup</b>\n")


def test_the_list_names_kind_base_dataset_state_and_headline() -> None:
    model = make_model()
    assert "steps" not in client_of(model).get("/models/").content.decode().split("<table")[0]
    finish(model)
    text = client_of(model).get("/models/").content.decode()
    for word in ("ranker", "cross encoder", "microsoft/deberta-v3-base", model.dataset_name, "done", "0.750"):
        assert word in text


def test_without_models_the_list_says_how_to_train_one() -> None:
    client = Client()
    client.force_login(factories.make_user("admin", factories.make_project()))
    assert "manage.py train_ranker" in client.get("/models/").content.decode()


def test_a_running_model_shows_its_progress_and_curves() -> None:
    model = make_model()
    text = client_of(model).get("/models/ranker/").content.decode()
    assert "5 of 10 steps" in text
    assert "<polyline points=" in text
    assert "loss from 2.0000" in text
    assert "style=" not in text.split("<main")[1]  # the content security policy forbids it
    state = client_of(model).get("/models/ranker/state/").json()
    assert state["running"]
    assert state["version"].endswith(" 10")


def test_a_curve_has_marks_on_its_axes_its_table_and_its_csv() -> None:
    model = make_model()
    client = client_of(model)
    text = client.get("/models/ranker/").content.decode()
    assert text.count('class="grid"') >= 5
    assert '<text x="640.0"' in text
    assert text.count("<summary>Table</summary>") == text.count("<polyline")
    answer = client.get("/models/ranker/curve.csv")
    lines = answer.content.decode().splitlines()
    assert sorted(lines[0].split(",")) == ["epoch", "learning_rate", "loss", "recall@1", "step"]
    assert len(lines) == 1 + len(model.curve)
    assert 'href="/models/ranker/curve.csv"' in text
    flat = plots([{"step": 1, "loss": 0.5}, {"step": 2, "loss": 0.5}])[0]
    assert flat.y_ticks == [(180, "0.5")]
    assert [step for _, step in flat.x_ticks] == [0, 1, 2]


def test_a_finished_model_shows_card_settings_metrics_and_use() -> None:
    model = make_model()
    finish(model)
    text = client_of(model).get("/models/ranker/").content.decode()
    assert "--set rank.kind=cross_encoder rank.model=ranker" in text
    assert "&lt;b&gt;not markup&lt;/b&gt;" in text
    assert "dev_recall@1" in text
    assert "batch_size" in text
    assert "Trained ranker" in text


def test_settings_of_a_model_are_said_in_words() -> None:
    model = make_model()
    finish(model)
    model.config = {"tf32": False, "seeds": [1, 2], "limit": None, "learning_rate": 0.00003}
    model.save()
    text = client_of(model).get("/models/ranker/").content.decode().split("<h2>Settings</h2>")[1]
    shown = dict(re.findall(r'<td class="mono">(.*?)</td>\s*<td class="n tall">(.*?)</td>', text))
    assert shown == {"tf32": "no", "seeds": "1, 2", "limit": "none", "learning_rate": "3e-05"}


def test_a_job_page_of_a_training_opens() -> None:
    model = make_model()
    assert "raining ranker" in client_of(model).get(f"/jobs/{model.job_id}/").content.decode()
    finish(model)
    assert "Trained ranker" in client_of(model).get(f"/jobs/{model.job_id}/").content.decode()
    assert client_of(model).get("/jobs/").status_code == 200


def test_models_of_other_projects_do_not_exist() -> None:
    model = make_model()
    stranger = client_of(make_model(factories.make_project(), name="other"))
    assert "/models/ranker/" not in stranger.get("/models/").content.decode()
    for path in ("/models/ranker/", "/models/ranker/state/", f"/api/models/{model.pk}/"):
        assert stranger.get(path).status_code == 404
    assert [row["name"] for row in stranger.get("/api/models/").json()["results"]] == ["other"]


def test_the_api_gives_the_curve_in_the_detail_only() -> None:
    model = make_model()
    client = client_of(model)
    (row,) = client.get("/api/models/?kind=cross_encoder").json()["results"]
    assert "curve" not in row
    assert client.get("/api/models/?kind=causal").json()["results"] == []
    assert client.get(f"/api/models/{model.pk}/").json()["curve"] == CURVE
    assert client.post("/api/models/", {}).status_code in (403, 405)


def test_plots_fill_their_box() -> None:
    (loss,) = plots(CURVE)  # recall has one point only
    assert (loss.name, loss.first, loss.last, loss.low, loss.high) == ("loss", 2.0, 0.1, 0.1, 2.0)
    points = [tuple(map(float, pair.split(","))) for pair in re.split(" ", loss.points)]
    assert points[0] == (PLOT_WIDTH / 10, 0.0)
    assert points[-1] == (PLOT_WIDTH, PLOT_HEIGHT)
    assert plots([]) == plots(CURVE[:1]) == []
