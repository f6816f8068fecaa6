"""The study form says what a study would take before it starts, and folds away the recipes that cannot run."""

import dataclasses
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.cookbook import checking
from agents.cookbook.paces import MEASURED, NOBODY, work_of
from agents.llm.embedded import SMOLLM2
from agents.models import Connection, Run
from agents.recipes import literature
from annotations.models import Dataset
from annotations.shown_progress import between_text
from evaluation.studies import running
from evaluation.studies.connecting import Through
from evaluation.studies.expecting import Expected, Forecast, expected
from evaluation.studies.running import create_study
from tests import factories
from tests.signed_in import client_of
from tests.web.reading import source

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    """Two conversations of six steps in train, one in a test split."""
    found = factories.make_dataset()
    for split in ("train", "train", "test_task"):
        factories.make_conversation(dataset=found, split=split, turns=2, steps=3)
    return found


@pytest.fixture
def ran(dataset: Dataset) -> Run:
    """A run of `grounded` whose steps took half a second each."""
    run = factories.make_run(dataset, recipe_name="grounded", state="done")
    factories.make_trajectory(run, dataset.conversations.first())
    run.steps.update(milliseconds=500)
    return run


def of(dataset: Dataset, recipes: list[str], *splits: str, limit: int | None = None, **more: Any) -> Expected:
    user = factories.make_user("admin", dataset.project)
    return expected(user, dataset, [literature.get(name) for name in recipes], splits, limit, **more)


def test_steps_and_time_follow_from_the_last_run_of_a_recipe(dataset: Dataset, ran: Run) -> None:
    found = of(dataset, ["grounded"], "train")
    assert (found.runs, found.steps, found.seconds, found.cost) == (1, 12, 6.0, 0.0)
    assert of(dataset, ["grounded"]).seconds == 9.0
    assert of(dataset, ["grounded"], "train", "test_task").runs == 2
    factories.make_run(dataset, recipe_name="grounded", state="queued")
    assert of(dataset, ["grounded"], "train").seconds == 6.0, "one without a step tells nothing"


def ranked(dataset: Dataset, recipe: str, seconds: float, rank: float, model: str = "ours") -> None:
    """A run of the recipe whose steps took that long, ranking as a part of it."""
    settings = literature.to_dict(literature.override(literature.get(recipe), {"rank.model": model}))
    run = factories.make_run(dataset, recipe_name=recipe, recipe=settings, state="done")
    factories.make_trajectory(run, dataset.conversations.first())
    run.steps.update(milliseconds=seconds * 1000, trace={"seconds": {"rank": rank, "plan": seconds - rank}})


@pytest.mark.slow
def test_ranking_is_told_as_if_nobody_had_ranked_the_pages_before(dataset: Dataset, monkeypatch) -> None:
    monkeypatch.setattr(running, "unready", lambda recipe, dataset: "")
    ranked(dataset, "deberta", 4.0, 4.0)
    ranked(dataset, "deberta", 0.1, 0.1)
    ranked(dataset, "mindact", 2.1, 0.1)

    def told(*recipes: str, model: str = "ours") -> Expected:
        return of(dataset, [*recipes], "train", overrides={"rank.model": model})

    found = told("deberta", "mindact")
    assert (found.seconds, found.ranking) == (pytest.approx(12 * (4 + 6)), pytest.approx(12 * 8))
    assert "1 min 36 s of it at most are saved where the same pages were ranked before." in found.sentences()
    assert found.times(2).ranking == pytest.approx(2 * 12 * 8)
    ranked(dataset, "grounded", 2.0, 1.0)
    assert (told("grounded").seconds, told("grounded").ranking) == (24.0, 0.0), "a ranker of which nothing is kept"
    ranked(dataset, "deberta", 3.0, 3.0, "other")
    assert told("deberta", model="other").seconds == pytest.approx(12 * 3), "other weights rank at their own pace"
    ranked(factories.make_dataset(), "deberta", 9.0, 9.0)
    assert told("deberta").seconds == pytest.approx(12 * 4), "of other pages"


@pytest.mark.slow
def test_the_first_conversations_count_as_the_study_takes_them(dataset: Dataset, ran: Run) -> None:
    factories.make_conversation(dataset=dataset, split="train", turns=1, steps=1, position=0)
    assert of(dataset, ["grounded"], "train", limit=1).steps == 1
    assert of(dataset, ["grounded"], limit=2).steps == 7, "the first two of the dataset, not of each split"
    assert of(dataset, ["grounded"], "train", "test_task", limit=1).steps == 7
    admin = factories.make_user("admin", dataset.project)
    for splits, limit in ((["train"], 2), ([""], 3), (["train", "test_task"], None)):
        study = create_study(
            user=admin, dataset=dataset, recipes=["grounded"], splits=splits, limit=limit, publish=False
        )
        told = of(dataset, ["grounded"], *filter(None, splits), limit=limit)
        assert (told.runs, told.steps) == (study.runs.count(), sum(run.step_count for run in study.runs.all()))


def test_the_conversations_on_some_websites_count_alone(dataset: Dataset, ran: Run) -> None:
    site = dataset.conversations.first().website
    steps = 6 * dataset.conversations.filter(website=site).count()
    assert of(dataset, ["grounded"], websites=[site.name]).steps == steps
    page = form(dataset, f"?dataset={dataset.name}&recipes=grounded&websites={site.name}")
    assert f"1 run of {steps} steps in all." in page


def asking(dataset: Dataset, recipe: str, model: str, seconds: float) -> Run:
    """A run of the recipe whose prompts that model answered, and whose steps took so long."""
    settings = literature.override(literature.get(recipe), {"plan.backend": "endpoint", "plan.model": model})
    run = factories.make_run(dataset, recipe_name=recipe, recipe=literature.to_dict(settings), state="done")
    factories.make_trajectory(run, dataset.conversations.first())
    run.steps.update(milliseconds=1000 * seconds)
    return run


def test_a_recipe_that_nobody_has_run_takes_what_was_measured_of_those_that_ask_the_same(
    dataset: Dataset, ran: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "unready", lambda recipe, dataset: "")
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(name, raising=False)
    found = of(dataset, ["mindact"], "train")
    least, most = MEASURED[SMOLLM2]
    (told,) = found.recipes
    assert (told.seconds, told.most) == (12 * least, 12 * most)
    assert found.times(2).most_seconds == 2 * found.most_seconds
    said = [sentence for sentence in found.sentences() if "mindact" in sentence or "worker" in sentence]
    assert said == [
        f"mindact has not run here yet: agents that ask {SMOLLM2} take 1 to 9 s a step.",
        f"{between_text(12 * least, 12 * most).capitalize()} on one worker.",
    ], "said once, with a time"
    assert of(dataset, ["dmr-minilm"], "train").recipes[0].most == 12 * MEASURED[NOBODY][1]


def test_agents_that_ask_the_same_model_widen_what_was_measured_of_it(
    dataset: Dataset, ran: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "unready", lambda recipe, dataset: "")
    monkeypatch.delenv("LLM_EMBEDDED", raising=False)
    asking(dataset, "synapse", SMOLLM2, 20.0)
    found = of(dataset, ["grounded", "mindact"], "train")
    assert (found.recipes[1].seconds, found.recipes[1].most) == (12 * MEASURED[SMOLLM2][0], 12 * 20.0)
    assert found.unknown == []
    assert [one for one in found.sentences() if "worker" in one] == ["About 20 s to 4 min on one worker."]
    asking(dataset, "mindact", SMOLLM2, 3.0)
    assert (of(dataset, ["mindact"], "train").seconds, of(dataset, ["mindact"], "train").recipes[0].most) == (36, None)


def test_another_endpoint_is_told_by_what_others_took_that_asked_it(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "unready", lambda recipe, dataset: "")
    Connection.objects.create(name="fake", base_url="https://llm.example/v1", model="large")
    through = Through("fake", "")
    assert of(dataset, ["mindact"], through=through).unknown == ["mindact"], "nobody has asked it"
    asking(dataset, "synapse", "fake", 2.0)
    found = of(dataset, ["mindact"], "train", through=through)
    assert (found.recipes[0].seconds, found.recipes[0].most) == (24.0, 24.0)
    assert "mindact has not run here yet: agents that ask fake take 2 s a step." in found.recipes[0].because


def test_work_that_is_to_come_goes_by_what_plans_alike(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(name, raising=False)
    least, most = (sum(pair) for pair in zip(MEASURED[NOBODY], MEASURED[SMOLLM2], strict=True))
    assert work_of(["deberta", "mindact-task"], 10) == pytest.approx((10 * least, 10 * most))
    asking(dataset, "mindact", SMOLLM2, 3.0)
    asking(dataset, "synapse", SMOLLM2, 5.0)
    assert work_of(["mindact-task", "awm"], 10) == pytest.approx((80, 80))
    asking(dataset, "awm", SMOLLM2, 7.0)
    assert work_of(["mindact-task", "awm"], 10) == pytest.approx((100, 100)), "its own runs tell first"
    asking(dataset, "mindact", "another", 3.0)
    with monkeypatch.context() as told:
        told.setenv("LLM_MODEL", "a-third")
        assert work_of(["synapse-miniwob"], 10) is None, "nobody has asked that"


def test_rough_times_are_as_short_as_they_are_true() -> None:
    assert [between_text(*pair) for pair in ((42, 378), (0.4, 42), (130, 610), (100, 110), (1900, 20000))] == [
        "about 40 s to 6 min",
        "at most 40 s",
        "about 2 to 10 min",
        "about 2 min",
        "about 32 min to 6 h",
    ]


def test_loading_of_models_is_in_the_time_once_as_it_took_here(dataset: Dataset, ran: Run) -> None:
    now = timezone.now()
    ran.steps.update(created_at=now)
    Run.objects.filter(pk=ran.pk).update(started_at=now - timedelta(seconds=20 + ran.steps.count() * 0.5))
    warm = factories.make_run(dataset, recipe_name="grounded", state="done", started_at=now)
    factories.make_trajectory(warm, dataset.conversations.first())
    warm.steps.update(milliseconds=500, created_at=now + timedelta(seconds=3))
    found = of(dataset, ["grounded"], "train")
    assert (found.seconds, found.loading) == (26.0, 20.0), "that of the run that had to load them"
    assert found.times(2).seconds == 32.0, "once, however many seeds"
    said = found.sentences()
    assert (
        "About 26 s on one worker, 20 s of it to load models and embed what is recalled, as earlier runs took." in said
    )
    Run.objects.update(started_at=now + timedelta(seconds=60))
    assert of(dataset, ["grounded"], "train").loading is None, "begun again since: its first steps are older"


def test_a_run_of_another_project_says_nothing(dataset: Dataset) -> None:
    other = factories.make_run(factories.make_dataset(), recipe_name="grounded", state="done")
    factories.make_trajectory(other)
    other.steps.update(milliseconds=50_000)
    measured = [18 * seconds for seconds in MEASURED[NOBODY]]
    said = "grounded has not run here yet: agents that ask no model take up to 2 s a step."
    assert of(dataset, ["grounded"]).recipes == [Forecast("grounded", measured[0], 0.0, said, most=measured[1])]


def test_a_recipe_that_plans_alike_tells_of_one_that_nobody_has_run(dataset: Dataset, ran: Run) -> None:
    recipe = dataclasses.replace(literature.get("grounded"), name="mine", parent="grounded")
    (found,) = expected(factories.make_user("admin", dataset.project), dataset, [recipe], ["train"]).recipes
    assert (found.seconds, found.kin) == (6.0, "grounded")


@pytest.mark.slow
def test_changed_settings_are_asked_of_and_what_is_wrong_is_said(dataset: Dataset, ran: Run) -> None:
    changed = of(dataset, ["grounded"], "train", overrides={"recall.k": "1"})
    assert changed.recipes[0].differs == ("recall.k",)
    assert "Earlier runs had other settings, so it may be more or less: recall.k." in changed.sentences()
    slow = factories.make_run(
        dataset,
        recipe_name="grounded",
        state="running",
        recipe=literature.to_dict(checking.vary(literature.get("grounded"), {"recall.k": "1"})),
    )
    factories.make_trajectory(slow, dataset.conversations.first())
    slow.steps.update(milliseconds=2000)
    assert of(dataset, ["grounded"], "train", overrides={"recall.k": "1"}).seconds == 24.0
    assert of(dataset, ["grounded"], "train").seconds == 6.0, "the one with the same settings, not the last"
    wrong = of(dataset, ["grounded"], overrides={"recall.kk": "1"})
    assert wrong.recipes[0].because.startswith("grounded cannot run so: ")
    page = form(dataset, f"?dataset={dataset.name}&recipes=grounded&overrides=recall.kk%3D1")
    assert "grounded cannot run so" in page


@pytest.fixture
def paid(dataset: Dataset) -> dict[str, str]:
    """Settings by which a connection answers whose calls cost money; nobody has asked it yet."""
    Connection.objects.create(
        name="fake", base_url="https://llm.example/v1", model="large", price_prompt=1.0, price_completion=2.0
    )
    return {"plan.model": "fake", "rank.kind": "score_file", "rank.model": __file__}


def test_an_endpoint_that_a_setting_names_costs_what_its_connection_says(
    dataset: Dataset, paid: dict[str, str]
) -> None:
    (unknown,) = of(dataset, ["bare"], "train", overrides=paid).recipes
    assert unknown.cost is None
    assert "Calls of fake cost 1 and 2 for a million tokens read and written" in unknown.because
    assert "No call that costs money." not in of(dataset, ["bare"], overrides=paid).sentences()
    run = factories.make_run(
        dataset,
        recipe_name="bare",
        state="done",
        recipe=literature.to_dict(checking.vary(literature.get("bare"), paid)),
    )
    factories.make_trajectory(run, dataset.conversations.first())
    run.steps.update(milliseconds=100, prompt_tokens=1000, completion_tokens=500)
    found = of(dataset, ["bare"], "train", overrides=paid)
    assert found.cost == pytest.approx(12 * 0.002)
    assert "Model calls for about 0.024, at the prices of today." in found.sentences()
    longer = of(dataset, ["bare"], "train", overrides=paid | {"rank.top_k": "50"})
    assert longer.recipes[0].cost is None, "what is asked otherwise may read a hundred times as many tokens"
    said = "how many tokens is not known, as earlier runs of bare had other settings (rank.top_k)."
    assert any(one.endswith(said) for one in longer.sentences())
    assert not any(one.startswith("Model calls for about") for one in longer.sentences())


def test_what_waits_before_it_is_counted(dataset: Dataset, ran: Run) -> None:
    factories.make_run(dataset, recipe_name="never-run", state="queued")
    assert "It begins when its turn comes: 1 run came before it." in of(dataset, ["grounded"]).sentences()
    factories.make_run(dataset, recipe_name="grounded", state="queued", step_count=20)
    factories.make_job(dataset.project, kind="train", params={"name": "mine"}, state="queued")
    said = "It begins when its turn comes, in more than 10 s: 2 runs and 1 job came before it."
    assert said in of(dataset, ["grounded"]).sentences()


def test_recipes_that_cannot_run_are_named_once_beside_the_time_of_the_others(dataset: Dataset, ran: Run) -> None:
    found = of(dataset, ["grounded", "mindact"], "train")
    assert (found.seconds, found.unknown) == (6.0, ["mindact"])
    said = found.sentences()
    assert "About 6 s on one worker (without mindact) with its models loaded, as earlier runs took." in said
    assert not [one for one in said if "not known" in one]


def form(dataset: Dataset, query: str = "") -> str:
    client: Client = client_of(factories.make_user("admin", dataset.project))
    return source(client.get(f"/studies/new/{query}"))


@pytest.mark.slow
def test_the_form_says_it_for_what_is_chosen(dataset: Dataset, ran: Run) -> None:
    page = form(dataset, f"?dataset={dataset.name}&recipes=grounded&splits=train")
    assert "1 run of 12 steps in all." in page
    assert "About 6 s on one worker with its models loaded, as earlier runs took." in page
    assert "12 steps" not in form(dataset, "?dataset=none&recipes=grounded")
    assert "1 run of 18 steps in all." in form(dataset), "the dataset at hand and grounded are chosen"
    assert "steps in all" not in form(dataset, f"?dataset={dataset.name}&recipe="), "no recipe is chosen"


@pytest.mark.parametrize("limit", ["-1", "0", "1.5", "99999999999", "three"])
def test_a_number_that_is_none_is_said_where_the_forecast_stands(dataset: Dataset, limit: str) -> None:
    page = form(dataset, f"?dataset={dataset.name}&recipes=grounded&limit={limit}")
    assert "Conversations: a whole number from 1 to" in page
    assert "steps in all" not in page
    assert "1 run of 6 steps in all" in form(dataset, f"?dataset={dataset.name}&recipes=grounded&limit=1")


def test_recipes_that_lack_something_are_folded_away(dataset: Dataset) -> None:
    ready, _, folded = form(dataset).partition("<b>Not yet</b>")
    assert 'value="grounded"' in ready
    assert 'value="mindact"' not in ready
    assert 'value="mindact"' in folded


def test_recipes_stand_below_their_paper_and_what_is_chosen_is_open(dataset: Dataset) -> None:
    page = form(dataset, "?recipe=deberta")
    families = page.partition("<legend>Recipes</legend>")[2].partition("</fieldset>")[0].split("<details")[1:]
    named = {part.partition("<b>")[2].partition("</b>")[0]: part for part in families}
    assert 'value="grounded"' in named["Comes with WebNav"]
    assert 'value="deberta"' in named["Mind2Web (2023)"]
    opened = [name for name, part in named.items() if part.partition(">")[0].strip() == "open"]
    assert opened == ["Comes with WebNav", "Mind2Web (2023)"], "the first and what is chosen"


def test_workflows_for_which_whole_pages_leave_no_room_are_told_before_a_study(dataset: Dataset, monkeypatch) -> None:
    monkeypatch.setattr(running, "unready", lambda recipe, dataset: "")
    beside = {"recall.workflows": "environment", "plan.model": "mine"}
    words = "mindact: Workflows stand before recalled pages, and a prompt of more than 2,048 tokens is cut"
    assert any(said.startswith(words) for said in of(dataset, ["mindact"], "train", overrides=beside).sentences())
    for other in ({"plan.model": "mine"}, beside | {"simplify.memory_pages": "simplified"}):
        told = of(dataset, ["mindact"], "train", overrides=other).sentences()
        assert not any("is cut at its beginning" in said for said in told)


def test_a_dataset_on_which_no_study_can_run_is_neither_offered_nor_preselected(dataset: Dataset, ran: Run) -> None:
    live = {"environment": "sample-sites", "steps": 3, "seconds": 9}
    typed, goals = (
        factories.make_dataset(project=dataset.project, name=name, live=live) for name in ("talks", "goals")
    )
    talk = factories.make_conversation(dataset=typed, turns=1, steps=0, extra={"typed": True})
    factories.make_conversation(dataset=goals, turns=1, steps=0, extra={"task": "nordline"})
    factories.make_dataset(project=dataset.project, name="empty")
    factories.make_trajectory(factories.make_run(typed, recipe_name="grounded"), talk)
    page = form(dataset)
    assert f'<option value="{dataset.name}" selected>' in page
    assert '<option value="goals">' in page
    assert 'value="talks"' not in page
    assert 'value="empty"' not in page
    factories.make_conversation(dataset=typed, turns=1, steps=0, extra={"task": "nordline"})
    assert '<option value="talks" selected>' in form(dataset), "what was run last, as some of it can run"
