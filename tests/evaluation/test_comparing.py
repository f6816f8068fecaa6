"""Runs side by side: aligned by step, first divergence, paired differences, prompts, and gold hidden from strangers."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from agents.models import Run, Trajectory
from agents.recipes import literature
from annotations.models import Conversation, Role, Step
from evaluation.comparing.prompts import PromptLine, prompt_changes
from evaluation.comparing.steps import RunDifferences, places
from evaluation.models import ReviewedRun
from tests import factories
from tests.web.replay_world import ReplayWorld, make_replay


@pytest.fixture
def first(db) -> ReplayWorld:
    """Wrong at 4 and 7 of 8 steps."""
    return make_replay()


@pytest.fixture
def second(first) -> Trajectory:
    """Another run: wrong at 1 and 7, of other elements."""
    run = factories.make_run(first.trajectory.run.dataset, split="train", state="done", seed=2)
    trajectory = factories.make_trajectory(run, first.trajectory.conversation, stored=0, state="done")
    for seq, step in enumerate(first.steps):
        gold = step.targets.get().node_id
        wrong = seq in (1, 7)
        factories.make_trajectory_step(
            trajectory,
            step,
            seq,
            operation=step.operation,
            value=step.value,
            node_id="22" if wrong else gold,
            success=not wrong,
            element_correct=not wrong,
            trace={"act": {"representation": "button X → CLICK"}, "compose": {"prompt": f"line\nstep {seq}"}},
        )
    return trajectory


def test_steps_are_aligned_and_their_differences_marked(first, second) -> None:
    rows = places([first.trajectory, second])
    assert [row.seq for row in rows] == list(range(8))
    assert [row.seq for row in rows if row.differs] == [1, 4, 7]
    assert [row.seq for row in rows if row.splits] == [1, 4]
    assert [row.begins_turn for row in rows] == [True, False, False, True, False, True, False, False]
    assert [cell.verdict for cell in rows[4].cells] == ["bad", "ok"]


def test_what_one_run_has_not_decided_is_no_difference(first, second) -> None:
    second.steps.filter(seq__gte=3).delete()
    rows = places([first.trajectory, second, None])
    assert [row.seq for row in rows if row.differs] == [1]
    assert [cell.verdict for cell in rows[5].cells] == ["ok", "pending", "pending"]
    assert rows[5].cells[1].action == "not decided"


def test_the_difference_is_of_the_steps_that_all_decided(first, second) -> None:
    found = RunDifferences([first.trajectory.run, second.run])
    (row,) = found.conversations()
    assert (row.steps, row.right, row.differing, row.splitting) == (8, (6, 6), 3, 2)
    (paired,) = found.paired()
    assert (paired.value, paired.only_first, paired.only_this, paired.steps) == (0.0, 1, 1, 8)
    assert (paired.low, paired.high) == (-1.0, 1.0), "one conversation says nothing of another"
    second.steps.filter(seq__gt=3).delete()
    (paired,) = RunDifferences([first.trajectory.run, second.run]).paired()
    assert (paired.value, paired.steps) == (-0.25, 4)
    second.steps.all().delete()
    assert RunDifferences([first.trajectory.run, second.run]).paired() == []


def test_beside_a_run_that_only_ranks_right_elements_are_compared(first, second) -> None:
    ranks = literature.to_dict(literature.get("deberta"))
    Run.objects.filter(pk=second.run_id).update(recipe=ranks)
    second.steps.filter(seq=4).update(operation="", success=True)
    first.trajectory.steps.filter(seq=4).update(element_correct=True)  # of another operation than gold
    runs = [Run.objects.get(pk=pk) for pk in (first.trajectory.run_id, second.run_id)]
    (paired,) = RunDifferences(runs).paired()
    assert (paired.only_first, paired.only_this) == (1, 0)
    page = " ".join(client().get(f"/compare/{address(*runs)}").content.decode().split())
    assert "Right elements against A" in page


@pytest.mark.slow
def test_the_interval_of_a_clear_difference_leaves_out_zero(db) -> None:
    dataset = factories.make_dataset()
    conversations = [factories.make_conversation(turns=1, steps=4, dataset=dataset, split="train") for _ in range(12)]
    runs = [factories.make_run(dataset, split="train", state="done", seed=seed) for seed in (1, 2)]
    for place, conversation in enumerate(conversations):
        for run in runs:
            trajectory = factories.make_trajectory(run, conversation, stored=0)
            for seq, step in enumerate(trajectory.recorded_steps()):
                right = run == runs[1] or (place + seq) % 2 == 0
                factories.make_trajectory_step(trajectory, step, seq, success=right)
    (paired,) = RunDifferences(runs).paired()
    assert paired.value == 0.5
    assert 0 < paired.low <= 0.5 <= paired.high
    assert (paired.only_first, paired.only_this, paired.conversations) == (0, 24, 12)


@pytest.mark.slow
def test_gains_and_losses_are_told_by_website_and_by_operation(db) -> None:
    dataset, runs = factories.make_dataset(), []
    made = [factories.make_conversation(turns=1, steps=4, dataset=dataset, split="train") for _ in range(3)]
    lost, gained = made[0], made[1]
    for place, conversation in enumerate(made):
        steps = list(Step.objects.filter(turn__conversation=conversation).order_by("index"))
        Step.objects.filter(pk__in=[one.pk for one in steps]).update(operation="CLICK")
        Step.objects.filter(pk=steps[0].pk).update(operation="TYPE")
        conversation.website = factories.make_website(dataset, name=f"site-{place}")
        conversation.save()
    runs = [factories.make_run(dataset, split="train", state="done", seed=seed) for seed in (1, 2)]
    for conversation in made:
        for run in runs:
            trajectory = factories.make_trajectory(run, conversation, stored=0)
            for seq, step in enumerate(trajectory.recorded_steps()):
                right = {(lost, runs[0]): True, (gained, runs[1]): seq == 0}.get((conversation, run), False)
                factories.make_trajectory_step(trajectory, step, seq, success=right)
    told = {(one.kind, one.name): one for one in RunDifferences(runs).slices()}
    assert list(told) == [
        ("website", "site-0"),
        ("website", "site-1"),
        ("website", "site-2"),
        ("operation", "CLICK"),
        ("operation", "TYPE"),
    ], "where most changes comes first"
    site = told["website", "site-0"]
    assert (site.right_first, site.right_this, site.paired.value, site.paired.only_first) == (4, 0, -1.0, 4)
    assert (told["website", "site-1"].paired.only_this, told["website", "site-2"].paired.value) == (1, 0.0)
    typed = told["operation", "TYPE"]
    assert (typed.paired.steps, typed.paired.conversations, typed.paired.value) == (3, 3, 0.0)
    assert (typed.paired.only_first, typed.paired.only_this) == (1, 1)
    assert told["operation", "CLICK"].paired.low < told["operation", "CLICK"].paired.value == -3 / 9
    page = client(Role.ADMIN, dataset.project).get(f"/compare/{address(*runs)}")
    assert [title for title, _ in page.context["slices"]] == ["Website", "Operation of gold"]
    assert "site-2" in page.content.decode()


def test_prompts_differ_line_by_line() -> None:
    before, after = "a\nb\nc\nd\ne\nf\ng", "a\nb\nc\nd\nE\nf\ng\nh"
    assert prompt_changes(before, after) == [
        PromptLine("fold", "2 lines alike"),
        PromptLine("same", "c"),
        PromptLine("same", "d"),
        PromptLine("del", "e"),
        PromptLine("ins", "E"),
        PromptLine("same", "f"),
        PromptLine("same", "g"),
        PromptLine("ins", "h"),
    ]
    assert prompt_changes("a\nb", "a\nb") == []
    with pytest.raises(ValueError, match="at most 3,000"):
        prompt_changes("a\n" * 3001, "b")


def client(role: str = "", project=None) -> Client:
    found = Client()
    user = factories.make_user(role, project) if role else factories.make_superuser()
    found.force_login(user)
    return found


def address(*runs: Run) -> str:
    return "?runs=" + ",".join(str(run.pk) for run in runs)


@pytest.mark.slow
def test_pages_lead_from_runs_to_the_first_difference(first, second) -> None:
    browser, runs = client(), (first.trajectory.run, second.run)
    page = browser.get(f"/compare/{address(*runs)}").content.decode()
    conversation = first.trajectory.conversation
    assert f"/compare/conversations/{conversation.pk}/?runs={runs[0].pk},{runs[1].pk}" in page
    runs[0].recipe["batch_size"] = 1
    runs[0].save()
    page = browser.get(f"/compare/conversations/{conversation.pk}/{address(*runs)}")
    assert page.content.decode().count("on average, of up to 32 decided together") == 1, "one run decides step by step"
    assert page.context["place"].seq == 1
    assert page.context["links"]["next_difference"].endswith("step=4")
    text = page.content.decode()
    assert "3 differ, " in text
    frame = page.context["frames"][0]["data"]
    assert [mark["label"] for mark in frame["marks"]] == ["gold = A", "B"]
    for step in ("7", "99", "-1", "x", "9" * 30):
        assert browser.get(f"/compare/conversations/{conversation.pk}/{address(*runs)}&step={step}").status_code == 200


@pytest.mark.slow
def test_the_page_is_shown_as_it_was_recorded_where_that_is_kept(first, second) -> None:
    path = f"/compare/conversations/{first.trajectory.conversation_id}/{address(first.trajectory.run, second.run)}"
    step = first.steps[1]
    cleaned = client().get(path).context["frames"][0]["data"]
    assert cleaned["snapshot"] == step.snapshot.sha256
    recorded = factories.make_snapshot(
        "<html backend_node_id='1'><body style='color: red' backend_node_id='2'/></html>"
    )
    Step.objects.filter(pk=step.pk).update(raw_snapshot=recorded)
    styled = client().get(path).context["frames"][0]["data"]
    assert styled["snapshot"] == recorded.sha256
    assert styled["marks"] == cleaned["marks"]


def test_without_runs_the_newest_two_are_shown(first, second) -> None:
    page = client().get(f"/compare/conversations/{first.trajectory.conversation_id}/")
    assert [row["run"].pk for row in page.context["runs"]] == [first.trajectory.run_id, second.run_id]


@pytest.mark.parametrize("query", ["", "?runs=", "?runs=1", "?runs=a,b", "?runs=999999,999998", "?runs=" + "9," * 500])
def test_odd_choices_are_answered(first, query) -> None:
    assert client().get(f"/compare/{query}").status_code == 200


def test_what_is_not_found_is_told_and_not_dropped_without_a_word(first, second) -> None:
    runs = address(first.trajectory.run, second.run)
    asked = f"{runs},999999,nonsense"
    said = "No run 999999, nonsense is here that you may see."
    for page in (f"/compare/{asked}", f"/compare/conversations/{first.trajectory.conversation_id}/{asked}"):
        assert said in client().get(page).content.decode(), page
        assert "left-out" not in client().get(page.removesuffix(",999999,nonsense")).content.decode()
    answer = client().get(f"/api/runs/compare/{asked}")
    assert (answer.status_code, answer.json()) == (400, {"runs": [said]})
    more = [factories.make_run(first.trajectory.run.dataset) for _ in range(3)]
    page = client().get(f"/compare/{address(first.trajectory.run, second.run, *more)}")
    assert f"4 runs are the most at once: {more[-1].pk} is left out." in page.content.decode()


def test_runs_on_different_datasets_are_not_compared(first) -> None:
    other = factories.make_run()
    page = client().get(f"/compare/{address(first.trajectory.run, other)}").content.decode()
    assert "on different datasets" in page


def test_runs_of_other_projects_are_not_there(first, second) -> None:
    stranger = client(Role.ADMIN, factories.make_project())
    page = stranger.get(f"/compare/{address(first.trajectory.run, second.run)}")
    assert page.context["runs"] == []
    assert stranger.get(f"/compare/conversations/{first.trajectory.conversation_id}/").status_code == 404


def test_test_splits_are_hidden_with_their_gold(first, second) -> None:
    Conversation.objects.update(split="test_task")
    Run.objects.update(split="test_task")
    project = first.trajectory.run.dataset.project
    query = address(first.trajectory.run, second.run)
    for role, hidden in ((Role.READER, True), (Role.ADMIN, False)):
        browser = client(role, project)
        overview = browser.get(f"/compare/{query}")
        page = browser.get(f"/compare/conversations/{first.trajectory.conversation_id}/{query}")
        assert ("hidden from you" in page.content.decode()) == hidden
        assert ("places" in page.context) == (not hidden)
        assert ("paired" in overview.context and overview.context["paired"] == []) == hidden
        assert not (hidden and overview.context["slices"])


def test_episodes_are_compared_with_a_page_each(db) -> None:
    from datetime import UTC, datetime

    from agents.runs.episodes import ActionOutcome, Episode, Seen
    from agents.types import Action, Decision

    dataset = factories.make_dataset(live={"environment": "miniwob", "steps": 5, "seconds": 9})
    conversation = factories.make_conversation(dataset=dataset, turns=1, steps=0, split="dev")
    html = '<html backend_node_id="1"><body backend_node_id="2"><button backend_node_id="{}">Go</button></body></html>'
    for node, steps in (("3", 1), ("4", 2)):
        run = factories.make_run(dataset, state="done")
        row = Trajectory.objects.create(run=run, conversation=conversation, state="done", step_count=0)
        for _ in range(steps):
            seen = Seen(html.format(node), "file:///x", 3, datetime(2026, 1, 1, tzinfo=UTC))
            Episode(row, conversation.turns.get()).store(seen, Decision((Action("CLICK", node),)), [ActionOutcome(0.0)])
    page = client().get(f"/compare/conversations/{conversation.pk}/")
    assert [frame["letter"] for frame in page.context["frames"]] == ["A", "B"]
    assert [row.differs for row in page.context["places"]] == [True, False]


@pytest.mark.django_db
def test_two_studies_are_compared_on_the_command_line() -> None:
    conversation = factories.make_conversation(split="test_task")
    runs = [factories.make_run(conversation.dataset, split="test_task") for _ in range(2)]
    for place, run in enumerate(runs):
        trajectory = factories.make_trajectory(run, conversation)
        trajectory.steps.update(success=False)
        trajectory.steps.filter(seq__lte=place).update(success=True)
    studies = [factories.make_study(conversation.dataset.project, [run]) for run in runs]
    out = StringIO()
    call_command("compare_runs", studies[0].pk, studies[1].pk, json=True, stdout=out)
    found = json.loads(out.getvalue())
    assert (found["only_this"], found["only_first"], found["value"]) == (1, 0, 1 / found["steps"])
    by_operation = [one["paired"] for one in found["where"] if one["kind"] == "operation"]
    assert next(one["only_this"] + one["only_first"] for one in by_operation) == 1
    assert sum(one["steps"] for one in by_operation) == found["steps"]
    out = StringIO()
    call_command("compare_runs", studies[0].pk, studies[1].pk, stdout=out)
    assert f"website {conversation.website.name}" in out.getvalue()
    with pytest.raises(CommandError, match="no study"):
        call_command("compare_runs", studies[0].pk, 10**6)


def two_runs(first_settings: dict[str, str], second_settings: dict[str, str]) -> list[Run]:
    """Two finished runs of mindact-icl that decided the same steps, each with its settings changed."""
    conversation, runs = factories.make_conversation(split="train"), []
    for settings in (first_settings, second_settings):
        recipe = literature.override(literature.get("mindact-icl"), settings)
        stored = {"recipe_name": recipe.name, "recipe": literature.to_dict(recipe)}
        runs.append(factories.make_run(conversation.dataset, split="train", state="done", **stored))
        factories.make_trajectory(runs[-1], conversation)
    return runs


def told(runs: list[Run], **options) -> str:
    studies = [factories.make_study(run.dataset.project, [run]) for run in runs]
    out = StringIO()
    call_command("compare_runs", studies[0].pk, studies[1].pk, stdout=out, **options)
    return out.getvalue()


@pytest.mark.django_db
def test_two_runs_of_one_recipe_are_told_apart_by_their_settings() -> None:
    runs = two_runs({}, {"compose.shots": "1", "simplify.group_size": "3"})
    named = "mindact-icl (simplify.group_size=3, compose.shots=1) less mindact-icl on"
    assert told(runs).startswith(named)
    assert "the same settings" not in told(runs)
    found = json.loads(told(runs, json=True))
    changed = {"compose.shots": "1", "simplify.group_size": "3"}
    assert (found["recipes"], found["settings"]) == (["mindact-icl"] * 2, [{}, changed])
    page = client().get(f"/compare/{address(*runs)}").content.decode()
    assert "compose.shots=1" in page
    rest = client().get(f"/api/runs/compare/{address(*runs)}").json()
    assert [row["settings"] for row in rest["runs"]] == [{}, changed]


@pytest.mark.django_db
def test_of_runs_with_the_same_settings_seeds_and_texts_are_told() -> None:
    runs = two_runs({}, {})
    Run.objects.filter(pk=runs[1].pk).update(seed=5)
    assert f"  the same settings, seeds {runs[0].seed} and 5, the same texts of prompts\n" in told(runs)
    recipe = runs[1].recipe
    recipe["prompts"]["sha256"] = "0" * 64
    Run.objects.filter(pk=runs[1].pk).update(recipe=recipe)
    assert "seeds 0 and 5, other texts of prompts\n" in told(runs)


@pytest.mark.django_db
def test_the_page_says_which_gold_its_numbers_use(client: Client, first, second) -> None:
    run = first.trajectory.run
    client.force_login(factories.make_user(Role.READER, run.dataset.project))
    address = f"/compare/?runs={run.pk},{second.run_id}"
    page = " ".join(client.get(address).content.decode().split())
    assert "All numbers and verdicts here are by the gold of the run, as it was when the run decided." in page
    assert "judge otherwise" not in page
    ReviewedRun.objects.create(run=second.run, accepted=1, corrected=2, left_out=4)
    page = " ".join(client.get(address).content.decode().split())
    assert f"judge otherwise: run {second.run_id} in 3 steps, 4 left out; scores by that gold are on the study" in page
    ReviewedRun.objects.create(run=run)  # reviewed, and nothing is judged otherwise
    assert f"run {run.pk} in 0 steps" not in client.get(address).content.decode()
    conversation = f"/compare/conversations/{first.trajectory.conversation_id}/?runs={run.pk},{second.run_id}"
    page = " ".join(client.get(conversation).content.decode().split())
    assert "All numbers and verdicts here are by the gold of the run" in page
    assert f"judge otherwise: run {second.run_id} in 3 steps, 4 left out" in page
    told = client.get(f"/api/runs/compare/?runs={run.pk},{second.run_id}").json()
    assert told["reviewed"] == [{"run": second.run_id, "accepted": 1, "left_out": 4, "corrected": 2}]
    Conversation.objects.update(split="test_task")
    Run.objects.update(split="test_task")
    assert client.get(f"/api/runs/compare/?runs={run.pk},{second.run_id}").json()["reviewed"] == []
    assert "judge otherwise" not in client.get(conversation).content.decode()
