"""What pages and the API say of numbers that rest on little, and of agents that only rank."""

import pytest

from agents.models import Run
from agents.recipes import literature
from annotations.models import Dataset
from evaluation.models import Score, Study
from evaluation.scores import exporting, tables
from evaluation.scores.plots import RunPlots
from evaluation.scores.scoring import RunScores
from tests import factories
from tests.signed_in import client_of
from tests.web.reading import source

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    """Three conversations of the test split."""
    found = factories.make_dataset()
    for _ in range(3):
        factories.make_conversation(dataset=found, split="test_task", turns=1, steps=3)
    return found


def decided(dataset: Dataset, recipe: str, **fields: int) -> Run:
    """A run that is over and scored."""
    stored = literature.to_dict(literature.get(recipe))
    run = factories.make_run(dataset, recipe_name=recipe, recipe=stored, split="test_task", state="done", **fields)
    for conversation in dataset.conversations.all():
        factories.make_trajectory(run, conversation)
    RunScores(run).store()
    return run


def study_of(*runs: Run) -> Study:
    return factories.make_study(runs[0].dataset.project, list(runs))


@pytest.mark.slow
def test_an_agent_that_only_ranks_has_no_score_that_asks_for_an_operation(dataset: Dataset) -> None:
    ranks, plans = decided(dataset, "deberta"), decided(dataset, "grounded")
    kept = set(Score.objects.filter(run=ranks).values_list("metric", flat=True))
    assert kept & {"turn_success", "step_success", "operation_f1", "conversation_success"} == set()
    assert {"element_accuracy", "recall@1"} <= kept
    study = study_of(ranks, plans)
    client = client_of(factories.make_user("admin", dataset.project))
    page = source(client.get(f"/studies/{study.pk}/"))
    assert "ranks only" in page
    assert page.count('class="ci') == 1, "no row of it in the plot"
    home = " ".join(source(client.get("/")).split())
    assert "deberta ranks elements and plans nothing" in home
    plots = RunPlots(list(study.runs_with_progress()), "corrected").all(lambda split: True)
    drawn = {data.name: {point.recipe for point in data.points} for data in plots}
    assert drawn["by_turn"] == drawn["by_website"] == {"grounded"}
    assert drawn["recall"] == {"grounded", "deberta"}


def test_steps_of_an_agent_that_only_ranks_are_right_by_their_element(dataset: Dataset) -> None:
    ranks = decided(dataset, "deberta")
    ranks.steps.filter(element_correct=True).update(operation="", success=True)
    RunScores(ranks).store()
    client = client_of(factories.make_user("admin", dataset.project))
    study = source(client.get(f"/studies/{study_of(ranks).pk}/"))
    failed = ranks.steps.filter(element_correct=False).count()
    assert f"{failed} failed steps" in " ".join(study.split())
    assert study.count('<td class="n faint" colspan="2">ranks only</td>') == 4, "one place of turns and three websites"
    run = source(client.get(f"/runs/{ranks.pk}/"))
    assert run.count('<span title="It ranks elements and plans no operation.">–</span>') == 3


@pytest.mark.slow
def test_a_study_of_agents_that_only_rank_compares_the_elements(dataset: Dataset) -> None:
    run = decided(dataset, "deberta")
    study_of(run)
    assert tables.main_metrics([run]) == tables.RANKED
    client = client_of(factories.make_user("admin", dataset.project))
    assert "Element accuracy, percent, with its 95 % interval" in " ".join(source(client.get("/")).split())


@pytest.mark.slow
def test_an_interval_of_few_conversations_is_told_so_in_table_drawing_and_api(dataset: Dataset) -> None:
    run, other = decided(dataset, "grounded"), decided(dataset, "grounded", seed=1)
    study = study_of(run)
    client = client_of(factories.make_user("admin", dataset.project))
    said = "3 conversations only: too few for an interval to trust"
    page = source(client.get(f"/studies/{study.pk}/"))
    assert f'<p class="caution">{said}' in page
    assert "n=3" in page
    assert 'class="ci few"' in page
    assert f"<title>{said}</title>" in page, "in the name of the drawing"
    home = source(client.get("/"))
    assert said in home
    assert 'class="few"' in home
    assert {row["caution"] for row in client.get(f"/api/studies/{study.pk}/metrics/").json()} == {said}
    assert {row["caution"] for row in client.get(f"/api/scores/?run={run.pk}").json()["results"]} == {said}
    assert said in client.get(f"/studies/{study.pk}/scores.csv").content.decode()
    assert said in source(client.get("/recipes/grounded/"))
    assert said in source(client.get(f"/compare/?runs={run.pk},{other.pk}"))


@pytest.mark.slow
def test_ten_conversations_are_enough_also_where_all_of_them_agree(dataset: Dataset) -> None:
    for _ in range(7):
        factories.make_conversation(dataset=dataset, split="test_task", turns=1, steps=3)
    run = decided(dataset, "grounded")
    study = study_of(run)
    client = client_of(factories.make_user("admin", dataset.project))
    page = source(client.get(f"/studies/{study.pk}/"))
    assert "caution" not in page
    assert "0.0<small>0.0–30.8" in "".join(page.split()), "no turn of the ten is right: fewer than a third may be"
    rows = exporting.metric_rows(Score.objects.all())
    assert {row["caution"] for row in rows} == {""}
    assert all(row["low"] < row["high"] for row in rows)
    answer = client.get(f"/api/scores/?run={run.pk}&metric=turn_success&headline=true").json()["results"]
    assert {round(row["high"], 3) for row in answer} == {0.308}
    Score.objects.filter(run=run).update(value=0.0, low=0.0, high=0.0)  # as they were stored before
    said = "an interval without a width says only that these 10 conversations agree"
    assert said.capitalize() in source(client.get(f"/studies/{study.pk}/"))


@pytest.mark.slow
def test_the_csv_of_the_first_page_has_what_is_drawn_there(dataset: Dataset) -> None:
    study = study_of(decided(dataset, "grounded"))
    client = client_of(factories.make_user("admin", dataset.project))
    address = f"/studies/{study.pk}/scores.csv?metric=turn_success&amp;preset={study.preset}"
    assert f'"{address}"' in source(client.get("/"))
    lines = client.get(address.replace("&amp;", "&")).content.decode().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("run,recipe,settings,")
