"""Home, studies, runs and recipes: progress, tables of scores, where a run fails."""

import json
import re
import uuid
from dataclasses import asdict
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Run, TrajectoryStep
from agents.recipes import literature
from agents.types import Action, Branch
from annotations.models.jobs.worker_leases import owner_name
from evaluation.models import Score, Shard, Study
from evaluation.scores import failures, tables
from evaluation.scores.breakdowns import RunBreakdown
from evaluation.scores.overruled import Overruled
from evaluation.scores.scoring import RunScores
from tests import factories
from tests.signed_in import client_of
from tests.web.reading import source
from webnav_site.workers import registry

pytestmark = pytest.mark.django_db


def study_client(study: Study, role: str = "reader", **fields) -> Client:
    return client_of(factories.make_user(role, study.project, **fields))


RECIPE = literature.to_dict(literature.get("grounded"))


def make_study(split: str = "train", **run_fields) -> tuple[Study, Run]:
    """A study of one run over one conversation: two turns of three steps, of which the third is right."""
    conversation = factories.make_conversation(turns=2, steps=3, split=split)
    fields = {"step_count": 6, "state": "done", "recipe": RECIPE} | run_fields
    run = factories.make_run(conversation.dataset, split=split, **fields)
    factories.make_trajectory(run, conversation)
    return factories.make_study(conversation.dataset.project, [run]), run


def add_scores(run: Run, preset: str = "corrected", **values: float) -> None:
    for metric, value in values.items():
        factories.make_score(run, preset=preset, metric=metric, value=value, low=value - 0.1, high=value + 0.1)


def test_a_running_study_shows_steps_rate_time_left_and_worker() -> None:
    study, run = make_study()
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(state="running", step_count=12, started_at=now - timedelta(seconds=3))
    factories.make_shard(
        run,
        state="running",
        lease_owner="gpu-1:7",
        step_count=100,
        heartbeat_at=now - timedelta(seconds=2),
        is_loaded=True,
        phase="deciding, 32 steps at a time",
    )
    state = study_client(study).get(f"/studies/{study.pk}/state/").json()
    assert state["fields"]["headline"] == "6 of 12 steps"
    told = r"\d\.\d steps/s · about \d+ s left · gpu-1:7, last heard \d+ s ago"
    assert re.fullmatch(told, state["fields"]["detail"])
    assert state["bar"] == [0.5, 0.0, 0.5]
    assert (state["running"], state["fields"]["state"]) == (True, "running")


def test_what_a_worker_does_before_it_decides_is_said_and_is_no_part_of_the_bar() -> None:
    study, run = make_study()
    Run.objects.filter(pk=run.pk).update(state="running", step_count=12, started_at=timezone.now())
    shard = factories.make_shard(run, state="running", step_count=6, phase="embedding what is recalled")
    for rows, says in ((run.steps.all(), r"embedding what is recalled · [\d.]+ steps/s · .*"), (None, "embedding .*")):
        state = study_client(study).get(f"/studies/{study.pk}/state/").json()
        assert re.match(says, state["fields"]["detail"])
        assert state["bar"][2] == 0.0
        if rows is not None:
            rows.delete()
    type(shard).objects.update(is_loaded=True, phase="deciding, 32 steps at a time")
    state = study_client(study).get(f"/studies/{study.pk}/state/").json()
    assert (state["fields"]["headline"], state["bar"][2]) == ("0 of 12 steps", 0.5)
    assert state["fields"]["detail"].startswith("deciding, 32 steps at a time")


def test_the_time_left_follows_from_the_pace_that_is_shown_beside_it() -> None:
    study, quick = make_study()
    slow = factories.make_run(quick.dataset, split="train", state="queued", step_count=570, recipe=RECIPE)
    study.runs.add(slow)
    now = timezone.now()
    Run.objects.filter(pk=quick.pk).update(state="running", step_count=6, started_at=now - timedelta(seconds=20))
    for step in quick.trajectories.get().recorded_steps()[:1]:
        factories.make_trajectory_step(factories.make_trajectory(slow, stored=0), step, 0, milliseconds=1)
    factories.make_shard(slow, state="running")
    fields = study.progress().fields
    assert fields["headline"] == "7 of 576 steps"
    assert re.search(r"0\.3[45] steps/s · about (26|27|28) min left", fields["detail"]), fields["detail"]


def test_the_time_left_of_what_goes_on_later_is_with_what_comes_before_it() -> None:
    study, run = make_study(recipe_name="grounded")
    before = factories.make_run(run.dataset, split="train", state="running", step_count=4000, recipe_name="grounded")
    now = timezone.now()
    Run.objects.filter(pk=before.pk).update(created_at=run.created_at - timedelta(seconds=1))
    Run.objects.filter(pk=run.pk).update(state="running", step_count=12, started_at=now - timedelta(seconds=6))
    shard = factories.make_shard(run, heartbeat_at=now)
    assert "about 56 s left · waits to go on, last worked on" in study.progress().fields["detail"]
    type(shard).objects.update(state="running")
    assert re.search("about [67] s left", study.progress().fields["detail"])


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (["queued", "queued"], "queued"),
        (["done", "queued"], "queued"),
        (["done", "queued", "running"], "running"),
        (["done", "done"], "done"),
        (["done", "failed"], "failed"),
        (["cancelled", "done_with_errors"], "cancelled"),
    ],
)
def test_the_state_of_a_study_follows_from_its_runs(states: list[str], expected: str) -> None:
    dataset = factories.make_dataset()
    study = factories.make_study(dataset.project, [factories.make_run(dataset, state=state) for state in states])
    assert study_client(study).get(f"/studies/{study.pk}/state/").json()["fields"]["state"] == expected


def test_a_study_between_two_shards_waits_since_its_last_work_not_since_its_start() -> None:
    study, run = make_study()
    began = timezone.now() - timedelta(minutes=8)
    Run.objects.filter(pk=run.pk).update(state="running", step_count=12, started_at=began)
    ended = timezone.now() - timedelta(seconds=95)
    factories.make_shard(run, state="done", heartbeat_at=ended, finished_at=ended)
    waiting = factories.make_shard(run, index=1)
    Shard.objects.filter(run=run).update(created_at=began)
    said = study.progress().fields["detail"]
    assert re.match(r"waits to go on, last worked on 1 min ago: ", said), said
    assert "waiting for" not in said
    Shard.objects.filter(pk=waiting.pk).update(created_at=timezone.now() - timedelta(seconds=40))
    assert study.progress().fields["detail"].startswith("waiting for 40 s"), "it was queued again since"


def test_a_study_of_which_nothing_runs_waits_and_says_for_what() -> None:
    study, run = make_study(recipe_name="grounded")
    waiting = factories.make_run(run.dataset, split="train", state="queued", step_count=6, recipe_name="grounded")
    factories.make_shard(waiting)
    study.runs.add(waiting)
    fields = study.progress().fields
    assert (fields["headline"], fields["state_label"]) == ("6 of 12 steps", "waiting")
    assert "first" not in fields["detail"]
    other = factories.make_run(run.dataset, split="train", state="queued", step_count=80, recipe_name="grounded")
    Run.objects.filter(pk=other.pk).update(created_at=run.created_at)
    said = study.progress().fields["detail"]
    assert said.endswith("its turn comes in about 1 s: 1 run first"), said
    until = timezone.now() + timedelta(minutes=1)
    factories.make_shard(other, state="running", lease_until=until, lease_owner=owner_name())
    registry.tell("gpu@here", ("gpu",), 1)
    Shard.objects.filter(run=waiting).update(created_at=timezone.now() - timedelta(seconds=95))
    said = study.progress().fields["detail"]
    assert re.fullmatch(r"waiting for 1 min 3\d s · its turn comes in about 1 s: 1 run first", said), said
    Run.objects.filter(pk=waiting.pk).update(state="running", started_at=timezone.now())
    Shard.objects.filter(run=waiting).update(state="running", heartbeat_at=timezone.now())
    assert study.progress().fields["state_label"] == "running"


def test_a_study_that_grows_counts_what_is_still_to_come_and_says_how_long_all_of_it_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_EMBEDDED"):
        monkeypatch.delenv(name, raising=False)
    study, run = make_study(recipe_name="grounded")
    study.expect(["awm", "mims", "synapse", "deberta"])
    live = study.progress()
    assert (live.running, live.fields["state_label"], live.fields["headline"]) == (True, "waiting", "6 of 30 steps")
    said = "waits for 4 more agents, one after the other, about 20 s to 3 min of work: awm, mims, synapse and 1 more"
    assert live.fields["detail"] == said
    assert live.bar[0] == pytest.approx(0.2)
    shown = source(study_client(study, "admin").get(f"/studies/{study.pk}/"))
    assert said in shown
    assert "Replay <kbd>w</kbd>" in shown
    Run.objects.filter(pk=run.pk).update(state="running", started_at=timezone.now(), step_count=12)
    said = study.progress().fields["detail"]
    assert re.search(r"about \d+ s left of grounded · .*4 more agents, one after the other, about", said), said
    Run.objects.filter(pk=run.pk).update(state="done", finished_at=timezone.now(), step_count=6)
    study.ask_to_cancel()
    live = study.progress()
    assert (live.running, live.fields["headline"]) == (False, "6 of 6 steps")


def test_steps_in_which_the_agent_failed_are_told_apart_in_the_bar() -> None:
    study, run = make_study()
    TrajectoryStep.objects.filter(pk=run.steps.first().pk).update(error="no reply")
    state = study_client(study).get(f"/studies/{study.pk}/state/").json()
    assert state["bar"] == [pytest.approx(5 / 6), pytest.approx(1 / 6), 0.0]


@pytest.mark.slow
def test_both_metric_sets_can_be_shown_and_the_studys_own_comes_first() -> None:
    study, run = make_study()
    add_scores(run, turn_success=0.25)
    add_scores(run, preset="faithful", turn_success=0.75)
    client = study_client(study)
    assert "25.0<small>15.0–35.0" in client.get(f"/studies/{study.pk}/").content.decode()
    assert "75.0<small>65.0–85.0" in client.get(f"/studies/{study.pk}/?preset=faithful").content.decode()
    assert client.get(f"/studies/{study.pk}/?preset=nonsense").context["preset"] == "corrected"


def test_only_headlines_are_in_the_table() -> None:
    study, run = make_study()
    add_scores(run, turn_success=0.25)
    factories.make_score(run, metric="turn_success", grouping="turn", headline=False, value=0.9, low=0.9, high=0.9)
    assert "90.0" not in study_client(study).get(f"/studies/{study.pk}/").content.decode()


def scored_runs(*values: float) -> list[Run]:
    dataset = factories.make_dataset()
    runs = [factories.make_run(dataset, state="done") for _ in values]
    for run, value in zip(runs, values, strict=True):
        add_scores(run, turn_success=value)
    return runs


def test_rows_are_sorted_by_the_plotted_metric_and_plotted_on_one_scale() -> None:
    low, high = scored_runs(0.2, 0.6)
    (table,) = tables.tables([low, high], Score.objects.all(), tables.MAIN, "turn_success")
    assert [row.run for row in table.rows] == [high, low]
    first, second = (row.plot for row in table.rows)
    assert second.low < second.value < second.high < first.low < first.value < first.high
    assert [percent for _, percent in table.ticks] == [10, 30, 50, 70]
    assert second.low == table.ticks[0][0]
    assert first.high == table.ticks[-1][0]


@pytest.mark.parametrize(("more", "said"), [(None, ""), (1.0, ""), (1.4, "1.4"), (8.2, "8")])
def test_how_many_more_conversations_are_needed_is_said_where_it_is_more(more: float | None, said: str) -> None:
    assert tables.ScoreTable("test_task", [], more=more).times == said


@pytest.mark.slow
def test_what_intervals_do_not_tell_apart_lies_on_one_band_and_a_link_compares_it() -> None:
    study, best = make_study()
    close, far = (factories.make_run(best.dataset, split=best.split, recipe_name=name) for name in ("close", "far"))
    for run, value in ((best, 0.6), (close, 0.55), (far, 0.2)):
        add_scores(run, turn_success=value)
    study.runs.add(close, far)
    reader = study_client(study)
    page = " ".join(source(reader.get(f"/studies/{study.pk}/")).split())
    assert page.count('class="band"') == 2
    assert f"{best.recipe_name} cannot be told apart from 1 other on its band" in page
    assert "8 times as many conversations" in page
    assert f"?runs={best.pk},{close.pk}" in page
    study.runs.remove(close)
    assert 'class="band"' not in source(reader.get(f"/studies/{study.pk}/"))


def test_where_a_stand_in_ranks_it_is_said_how_seldom_the_gold_element_is_shown() -> None:
    recipe = literature.to_dict(literature.get("mindact"))
    weak = recipe | {"rank": recipe["rank"] | {"model": "starter-cross-encoder", "top_k": 10}}
    study, run = make_study(recipe_name="mindact", recipe=weak)
    add_scores(run, turn_success=0.0, **{"recall@10": 0.204})
    reader = study_client(study)
    said = "in 4 of 5 steps the gold element is not among the 10 it is shown (recall@10 of"
    for url in (f"/studies/{study.pk}/", "/recipes/mindact/"):
        assert said in " ".join(source(reader.get(url)).split())
    Score.objects.filter(metric="recall@10").update(value=0.8)
    assert "it is shown (recall" not in source(reader.get(f"/studies/{study.pk}/"))
    Score.objects.filter(metric="recall@10").update(value=0.204)
    Run.objects.filter(pk=run.pk).update(recipe=weak | {"rank": weak["rank"] | {"model": "own-ranker"}})
    assert "it is shown (recall" not in source(reader.get(f"/studies/{study.pk}/")), "somebody chose that one"


def test_the_tables_of_two_splits_have_one_axis() -> None:
    dataset = factories.make_dataset()
    runs = [factories.make_run(dataset, state="done", split=split) for split in ("train", "test_task")]
    add_scores(runs[0], turn_success=0.2)
    add_scores(runs[1], turn_success=0.6)
    scores = list(Score.objects.filter(run__in=runs))
    one, other = tables.tables(runs, scores, tables.MAIN, "turn_success")
    assert one.ticks == other.ticks
    assert [percent for _, percent in one.ticks] == [10, 30, 50, 70]


def test_an_interval_without_width_can_be_plotted() -> None:
    run = factories.make_run()
    factories.make_score(run, metric="turn_success", value=0.0, low=0.0, high=0.0)
    (table,) = tables.tables([run], Score.objects.all(), tables.MAIN, "turn_success")
    assert [percent for _, percent in table.ticks] == [0, 10]


def test_every_split_has_its_own_table_which_names_its_groupings() -> None:
    dataset = factories.make_dataset()
    runs = [factories.make_run(dataset, split=split) for split in ("test_website", "test_subdomain")]
    for run in runs:
        factories.make_score(run, metric="element_accuracy", grouping="turn", n=17)
        factories.make_score(run, metric="turn_success", grouping="conversation", n=3)
    found = tables.tables(runs, Score.objects.all(), ("element_accuracy", "turn_success"), "turn_success")
    assert [table.split for table in found] == ["test_subdomain", "test_website"]
    assert [column.grouping for column in found[0].columns] == ["turn", "conversation"]
    assert found[0].sizes == ["3 conversations", "17 turns"]


def test_a_study_that_waits_for_its_first_batch_says_so() -> None:
    study, run = make_study()
    run.steps.all().delete()
    Run.objects.filter(pk=run.pk).update(state="running", started_at=timezone.now())
    factories.make_shard(run, state="running", lease_owner="gpu-1:7", heartbeat_at=timezone.now())
    detail = study_client(study).get(f"/studies/{study.pk}/state/").json()["fields"]["detail"]
    assert detail.startswith("results come in batches · gpu-1:7")


def test_before_the_first_results_it_says_what_its_worker_is_at() -> None:
    study, run = make_study()
    run.steps.all().delete()
    Run.objects.filter(pk=run.pk).update(state="running", started_at=timezone.now())
    shard = factories.make_shard(run, state="running", lease_owner="gpu-1:7", lease_token=uuid.uuid4())
    shard.tell("loading models")
    type(shard)(pk=shard.pk, lease_token=uuid.uuid4()).tell("what another worker would say")
    detail = study_client(study).get(f"/studies/{study.pk}/state/").json()["fields"]["detail"]
    assert detail.startswith("loading models")


@pytest.mark.slow
def test_watch_opens_the_replay_of_what_is_being_decided() -> None:
    study, run = make_study()
    client, address = study_client(study), f"/studies/{study.pk}/"
    page = client.get(address).content.decode()
    assert f'href="/trajectories/{run.trajectories.get().pk}/"' in page
    assert "Replay" in page
    Run.objects.filter(pk=run.pk).update(state="running")
    later = factories.make_trajectory(run, stored=1)
    page = client.get(address).content.decode()
    assert f'href="/trajectories/{later.pk}/"' in page
    assert "Watch" in page


@pytest.mark.slow
def test_settings_that_differ_from_the_recipe_are_named() -> None:

    changed = literature.override(literature.get("grounded"), {"rank.top_k": "20"})
    study, run = make_study(recipe=literature.to_dict(changed))
    add_scores(run, turn_success=0.5)
    assert "rank.top_k=20" in study_client(study).get(f"/studies/{study.pk}/").content.decode()
    assert "rank.top_k" in study_client(study).get(f"/runs/{run.pk}/").content.decode()


def test_scores_are_downloaded_as_csv_and_json() -> None:
    study, run = make_study()
    add_scores(run, turn_success=0.5)
    add_scores(run, preset="faithful", turn_success=0.4)
    client = study_client(study)
    rows = json.loads(client.get(f"/studies/{study.pk}/scores.json").content)
    assert [(row["preset"], row["value"]) for row in rows] == [("corrected", 0.5), ("faithful", 0.4)]
    table = client.get(f"/studies/{study.pk}/scores.csv")
    assert table["Content-Disposition"].startswith("attachment")
    assert len(table.content.decode().splitlines()) == 3
    assert client.get(f"/studies/{study.pk}/scores.xml").status_code == 404


def outcomes_of(run: Run, *changes: dict) -> None:
    """Overwrite the run's first steps (gold: TYPE, SELECT, CLICK, TYPE, …)."""
    for step, change in zip(run.steps.order_by("seq"), changes, strict=False):
        TrajectoryStep.objects.filter(pk=step.pk).update(**{"success": False} | change)


def counts(run: Run) -> dict[str, int]:
    return {reason.key: count for reason, count in failures.counted(run.steps.failed(), run.top_k)}


def test_every_failed_step_has_exactly_one_reason() -> None:
    _, run = make_study(
        recipe=literature.to_dict(literature.override(literature.get("grounded"), {"rank.top_k": "20"}))
    )
    outcomes_of(
        run,
        {"error": "no reply", "gold_rank": None},
        {"element_correct": False, "gold_rank": None},
        {"element_correct": False, "gold_rank": 20},
        {"element_correct": False, "gold_rank": 4},
        {"element_correct": False, "gold_rank": 5},
        {"element_correct": True, "gold_rank": 0, "operation": "TYPE"},
    )
    once = ("error", "absent", "below-k", "near", "far", "operation")
    assert counts(run) == dict.fromkeys(once, 1) | {"no-element": 0, "value": 0}
    outcomes_of(run, {"error": "", "element_correct": True, "gold_rank": 0, "operation": "TYPE"})
    assert counts(run)["value"] == 1


def test_a_gold_action_without_element_is_not_a_ranking_that_missed() -> None:
    _, run = make_study()
    outcomes_of(run, *[{"element_correct": False, "gold_rank": None}] * 6)
    run.steps.order_by("seq").first().step.targets.all().delete()
    assert counts(run) == dict.fromkeys(counts(run), 0) | {"no-element": 1, "absent": 5}


def test_slices_count_turns_that_succeeded_whole() -> None:
    _, run = make_study()
    TrajectoryStep.objects.filter(run=run, step__turn__index=0).update(success=True)
    first, second = failures.by_turn(RunScores(run).outcomes("corrected"), "corrected")
    assert (first.name, first.steps, first.turns) == ("1", 3, 1)
    assert (first.step_success.value, first.turn_success.value) == (1.0, 1.0)
    assert (second.step_success.value, second.turn_success.value) == (pytest.approx(1 / 3), 0.0)
    (site,) = failures.by_website(RunScores(run).outcomes("corrected"), "corrected")
    assert site.is_single  # an interval over one conversation would say nothing
    assert (site.turns, site.turn_success.value) == (2, 0.5)


def test_late_turns_share_one_slice() -> None:
    conversation = factories.make_conversation(turns=8, steps=1)
    run = factories.make_run(conversation.dataset, recipe=RECIPE)
    factories.make_trajectory(run, conversation)
    rows = failures.by_turn(RunScores(run).outcomes("corrected"), "corrected")
    assert [(row.name, row.turns) for row in rows][-2:] == [("5", 1), ("6+", 3)]


@pytest.mark.slow
def test_failed_steps_can_be_listed_by_reason_and_lead_to_their_replay() -> None:
    study, run = make_study()
    client = study_client(study)
    page = client.get(f"/studies/{study.pk}/failures/?run={run.pk}&reason=near")
    assert [row.seq for row in page.context["page"]] == [0, 1, 3, 4]
    assert f"/trajectories/{run.trajectories.get().pk}/steps/1/" in page.content.decode()
    assert list(client.get(f"/studies/{study.pk}/failures/?run={run.pk}&reason=value").context["page"]) == []


@pytest.mark.parametrize("query", ["?run=nonsense", "?reason=nonsense", "?website=%00", "?page=x"])
def test_nonsense_in_the_address_of_the_failures_is_ignored(query: str) -> None:
    study, _ = make_study()
    page = study_client(study).get(f"/studies/{study.pk}/failures/{query}")
    assert page.context["page"].paginator.count == 4


def test_failed_steps_of_test_splits_are_hidden_where_gold_is() -> None:
    study, _ = make_study(split="test_task")
    url = f"/studies/{study.pk}/failures/"
    assert study_client(study).get(url).context["page"].paginator.count == 0
    assert study_client(study, sees_test_gold=True).get(url).context["page"].paginator.count == 4


def study_form(**fields) -> dict:
    return {"recipes": ["grounded"], "seed": "0", "limit": "", "overrides": "", "preset": "", "name": ""} | fields


def test_the_form_lists_recipes_that_cannot_run_with_what_they_lack() -> None:
    dataset = factories.make_conversation().dataset
    page = source(client_of(factories.make_user("admin", dataset.project)).get("/studies/new/"))
    assert 'name="recipes" value="grounded" checked>' in page
    assert 'name="recipes" value="mindact">' in page, "a changed setting can name its weights"
    assert "Needs rank.model, plan.model." in page
    assert "rank.model: train one from microsoft/deberta-v3-base" in page
    assert 'name="recipes" value="synapse-miniwob">' in page, "its sets may be imported meanwhile"


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"recipes": ["mindact"]}, "recipes", "cannot run yet"),
        ({"recipes": []}, "recipes", "Choose at least one recipe."),
        ({"overrides": "rank.top_k 20"}, "overrides", "Line 1 takes key=value"),
        ({"overrides": "rank.top_k=2\n\nrank.top_k = 3"}, "overrides", "Line 3 gives rank.top_k twice"),
        ({"overrides": "\nrank.nonsense=1"}, "overrides", "there is no setting"),
        ({"overrides": "rank.top_k=0"}, "overrides", "at least 1"),
        ({"overrides": "compose.shots=3"}, "overrides", "compose.shots would change nothing in grounded"),
        ({"splits": ["dev"]}, "splits", "dev is not one of"),
        ({"websites": ["elsewhere"]}, "websites", "elsewhere is not one of"),
        ({"dataset": "\0"}, "dataset", "not one of"),
    ],
)
def test_mistakes_in_the_form_are_told_at_their_field(fields: dict, field: str, message: str) -> None:
    dataset = factories.make_conversation().dataset
    client = client_of(factories.make_user("admin", dataset.project))
    values = study_form(dataset=dataset.name, name="kept") | fields
    response = client.post("/studies/new/", values)
    assert message in " ".join(response.context["form"].errors[field])
    assert 'value="kept"' in response.content.decode()
    assert not Study.objects.exists()


@pytest.mark.slow
def test_what_few_studies_change_is_folded_away_until_something_of_it_is_filled_in() -> None:
    dataset = factories.make_conversation().dataset
    client = client_of(factories.make_user("admin", dataset.project))
    values = study_form(dataset=dataset.name, recipes=[])
    pages = [client.get("/studies/new/"), client.post("/studies/new/", values)]
    pages.append(client.post("/studies/new/", values | {"overrides": "rank.top_k=20"}))
    found = [re.findall(r'<details class="form"\s*(open)?', source(page)) for page in pages]
    assert found == [[""], [""], ["open"]]


def test_a_study_is_started_from_the_form() -> None:
    dataset = factories.make_conversation(split="dev").dataset
    factories.make_conversation(dataset=dataset)
    client = client_of(factories.make_user("admin", dataset.project))
    values = {"splits": ["dev"], "seed": "3", "limit": "5", "overrides": "recall.k = 5", "name": "N"}
    response = client.post("/studies/new/", study_form(dataset=dataset.name, **values))
    study = Study.objects.get()
    run = study.runs.get()
    assert response.url == f"/studies/{study.pk}/"
    assert (study.name, run.recipe_name, run.split, run.seed, run.limit) == ("N", "grounded", "dev", 3, 5)
    assert run.recipe["recall"]["k"] == 5


def test_a_study_of_some_websites_is_started_from_the_form() -> None:
    """A run has the conversations on these and no others."""
    chosen = factories.make_conversation(split="dev")
    factories.make_conversation(dataset=chosen.dataset, split="dev")
    client = client_of(factories.make_user("admin", chosen.dataset.project))
    client.post("/studies/new/", study_form(dataset=chosen.dataset.name, websites=[chosen.website.name]))
    run = Study.objects.get().runs.get()
    assert run.websites == [chosen.website.name]
    assert [row.conversation for row in run.trajectories.all()] == [chosen]


def test_a_study_without_anything_to_do_says_so_in_the_form() -> None:
    dataset = factories.make_conversation(turns=1, steps=0).dataset
    client = client_of(factories.make_user("admin", dataset.project))
    page = client.post("/studies/new/", study_form(dataset=dataset.name)).content.decode()
    assert "has no conversation with steps" in page


@pytest.mark.slow
def test_a_study_is_cancelled_and_resumed_from_its_page() -> None:
    dataset = factories.make_conversation().dataset
    client = client_of(factories.make_user("admin", dataset.project))
    client.post("/studies/new/", study_form(dataset=dataset.name))
    study = Study.objects.get()
    assert "/cancel/" in client.get(f"/studies/{study.pk}/").content.decode()
    client.post(f"/studies/{study.pk}/cancel/")
    page = client.get(f"/studies/{study.pk}/").content.decode()
    assert "/resume/" in page
    assert "Resume it to decide the missing steps" in page
    client.post(f"/studies/{study.pk}/resume/")
    assert study.runs.get().state == "queued"


@pytest.mark.slow
def test_the_budget_of_a_study_that_asks_an_endpoint_is_shown_and_changed() -> None:
    study, _ = make_study(recipe=literature.to_dict(literature.get("bare")))
    client = study_client(study, "admin")
    assert "0 tokens" in source(client.get(f"/studies/{study.pk}/"))
    client.post(f"/studies/{study.pk}/budget/", {"budget_tokens": "5000", "budget_cost": "", "budget_seconds": ""})
    study.refresh_from_db()
    assert (study.budget_tokens, study.budget_cost, study.budget_seconds) == (5000, None, None)
    page = client.post(f"/studies/{study.pk}/budget/", {"budget_tokens": "-1"}, follow=True).content.decode()
    assert "Tokens: Ensure this value is greater than or equal to 1. Leave it empty for no limit." in page
    study.refresh_from_db()
    assert study.budget_tokens == 5000
    for role in ("annotator", "reader"):
        assert study_client(study, role).post(f"/studies/{study.pk}/budget/", {}).status_code == 403


@pytest.mark.slow
def test_resuming_a_complete_study_says_that_nothing_is_left() -> None:
    study, _ = make_study()
    client = study_client(study, "admin")
    assert "complete" in client.post(f"/studies/{study.pk}/resume/", follow=True).content.decode()


@pytest.mark.parametrize("role", ["annotator", "reviewer", "reader"])
def test_only_admins_start_studies(role: str) -> None:
    client = client_of(factories.make_user(role))
    assert client.get("/studies/new/").status_code == 403
    assert client.post("/studies/new/", study_form()).status_code == 403


def test_a_study_on_a_foreign_dataset_is_refused() -> None:
    foreign = factories.make_conversation().dataset
    response = client_of(factories.make_user("admin")).post("/studies/new/", study_form(dataset=foreign.name))
    assert "dataset" in response.context["form"].errors


@pytest.mark.parametrize("verb", ["cancel", "resume"])
def test_a_reader_cannot_stop_or_resume_a_study(verb: str) -> None:
    study, _ = make_study()
    client = study_client(study)
    assert client.post(f"/studies/{study.pk}/{verb}/").status_code == 403
    assert client.get(f"/studies/{study.pk}/{verb}/").status_code == 405


def test_studies_and_runs_of_another_project_do_not_exist() -> None:
    study, run = make_study()
    client = client_of(factories.make_user("admin"))
    for path in ("", "state/", "scores.csv", "failures/"):
        assert client.get(f"/studies/{study.pk}/{path}").status_code == 404
    for path in ("cancel/", "resume/"):
        assert client.post(f"/studies/{study.pk}/{path}").status_code == 404
    for path in ("", "state/"):
        assert client.get(f"/runs/{run.pk}/{path}").status_code == 404
    assert study.name not in client.get("/studies/").content.decode()


def test_a_run_lists_its_trajectories_with_accuracies_and_first_failure() -> None:
    study, run = make_study()
    (row,) = study_client(study).get(f"/runs/{run.pk}/").context["page"]
    assert (row.done, row.step_count, row.right_elements, row.right_steps, row.first_failure) == (6, 6, 2, 2, 0)
    assert row.operation_f1 == pytest.approx(1 / 3)


@pytest.mark.slow
def test_what_was_right_at_single_steps_is_hidden_where_gold_is() -> None:
    study, run = make_study(split="test_task")
    assert "gold hidden" in study_client(study).get(f"/runs/{run.pk}/").content.decode()
    assert study_client(study).get(f"/runs/{run.pk}/?order=worst").context["order"] == "conversation"
    page = study_client(study, sees_test_gold=True).get(f"/runs/{run.pk}/").content.decode()
    assert f"/trajectories/{run.trajectories.get().pk}/steps/0/" in page


def test_trajectories_can_be_ordered_by_fewest_right_steps() -> None:
    study, run = make_study()
    worse = factories.make_conversation(dataset=run.dataset)
    factories.make_trajectory(run, worse)
    page = study_client(study).get(f"/runs/{run.pk}/?order=worst").context["page"]
    assert page[0].conversation == worse


def test_recipes_are_listed_by_paper_with_what_they_lack() -> None:
    page = client_of(factories.make_user("reader")).get("/recipes/").content.decode()
    assert '<span class="tag done">ready</span>' in page
    assert "Agent Workflow Memory" in page


@pytest.mark.slow
def test_home_shows_what_is_ones_own() -> None:
    study, _ = make_study()
    factories.make_job(study.project, params={"format": "jsonl", "name": "ours"})
    other, _ = make_study()
    page = study_client(study).get("/").content.decode()
    assert study.name in page
    assert "ours" in page
    assert other.name not in page


@pytest.mark.slow
def test_an_empty_home_names_the_next_action_of_the_role() -> None:
    assert "import some" in client_of(factories.make_user("admin")).get("/").content.decode()
    assert "Ask an admin" in client_of(factories.make_user()).get("/").content.decode()


@pytest.mark.slow
def test_pages_count_where_another_action_was_done_than_was_chosen_by_value() -> None:
    study, run = make_study()
    recipe = literature.override(literature.get("wma"), {"imagine.loop": "mind2web"})
    run.recipe = literature.to_dict(literature.with_preset(recipe, "faithful"))
    run.save(update_fields=["recipe"])
    run.steps.update(success=False, branches=[])
    rows = list(run.steps.order_by("seq").select_related("step"))
    done = asdict(Branch(Action("HOVER", "1"), value=0.1, chosen=True))
    for row, right in ((rows[1], True), (rows[4], False)):
        gold = row.step.reachable_gold()[0] if right else "nowhere"
        chosen = Branch(Action(row.step.operation, gold, row.step.value), value=0.9, by_value=True)
        row.branches = [asdict(chosen), done]
        row.success = not right
        row.save(update_fields=["branches", "success"])
    found = Overruled.in_run(run)
    assert found is not None
    assert (found.steps, found.of, found.done_right, found.chosen_right) == (2, 6, 1, 1)
    assert [seq for _, seq in found.first] == [1, 4]
    client = study_client(study)
    assert "In 2 of 6 steps" in source(client.get(f"/studies/{study.pk}/?run={run.pk}"))
    assert client.get(f"/runs/{run.pk}/").context["overruled"] == 2
    RunBreakdown(run, "corrected").store(RunScores(run).outcomes("corrected"))
    run.steps.update(branches=[])  # kept, so that nothing is counted anew
    kept = RunBreakdown(Run.objects.with_progress().get(pk=run.pk), "corrected").stored()["overruled"]
    assert kept == found
    run.recipe = literature.to_dict(literature.with_preset(recipe, "corrected"))
    run.save(update_fields=["recipe"])
    assert Overruled.in_run(run) is None
    assert client.get(f"/runs/{run.pk}/").context["overruled"] is None


def test_a_run_leads_to_the_one_that_it_varies_and_says_what_the_guard_would_hold() -> None:
    study, run = make_study()
    recipe = literature.override(literature.get("grounded-world-model"), {"act.guard": "policy"})
    run.recipe, run.recipe_name, run.state = literature.to_dict(recipe), recipe.name, Run.State.DONE
    run.save(update_fields=["recipe", "recipe_name", "state"])
    client = study_client(study)
    page = client.get(f"/runs/{run.pk}/")
    assert (page.context["varied"], page.context["would_hold"]) == (None, 0)
    assert "would hold 0 of" in source(page)
    step = run.steps.order_by("seq").first()
    step.trace = {"act": {"held": {"kind": "pay", "why": "says Pay", "by": "page", "sure": 1.0}}}
    step.save(update_fields=["trace"])
    others = [
        factories.make_run(run.dataset, recipe_name="grounded", split=split) for split in (run.split, "elsewhere")
    ]
    Run.objects.filter(pk__in=[one.pk for one in others]).update(state=Run.State.DONE, limit=run.limit)
    page = client.get(f"/runs/{run.pk}/")
    assert (page.context["varied"], page.context["would_hold"]) == (others[0], 1)
    assert f"?runs={others[0].pk},{run.pk}" in source(page)
    assert page.status_code == client.get(f"/compare/?runs={others[0].pk},{run.pk}").status_code == 200
