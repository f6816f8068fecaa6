"""What reaches a model, and which steps it is asked about, as in the published code."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.cookbook.of_splits import chosen_for
from agents.memory.workflows.induce import online_examples
from agents.models import PromptPack, Run, SavedRecipe
from agents.observations import RecordedConversation
from agents.prompts.packs import Pack, webnav
from agents.recipes import literature, published
from agents.stages.registry import texts_of
from annotations.models import Dataset, Split, Target
from evaluation.metrics.scores import headlines, score
from evaluation.reports.tables import report
from evaluation.scores.scoring import RunScores
from evaluation.studies import running
from tests import factories
from tests.agents.llm_server import LlmServer, prompt_text, serve
from tests.evaluation.recipe_world import make_workflows, reply, tiny_weights
from tests.quick import first_is_quick

pytestmark = pytest.mark.django_db
LOST = '<div backend_node_id="70"><button backend_node_id="77" type="submit"><text>Pay now</text></button></div></body>'


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return tiny_weights(tmp_path_factory.mktemp("weights"))


@pytest.fixture
def dataset(db: None, hash_encoder: None) -> Dataset:
    """A train conversation, whose first targets cleaning has lost, and one of a test split."""
    dataset = factories.make_dataset()
    for split in (Split.TRAIN, Split.TEST_TASK):
        factories.make_conversation(turns=2, steps=3, split=split, dataset=dataset)
    return dataset


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    with serve(reply) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.url)
        monkeypatch.setenv("LLM_MODEL", "test-model")
        yield server


def run(name: str, dataset: Dataset, weights: dict[str, Path], **changes: str) -> Run:
    overrides = {"rank.model": str(weights["cross_encoder"]), "batch_size": "4", **changes}
    study = running.create_study(
        user=None, dataset=dataset, recipes=[name], splits=[Split.TEST_TASK], overrides=overrides, publish=False
    )
    running.run_inline(study)
    found = study.runs.get()
    assert (found.state, found.error) == (Run.State.DONE, "")
    return found


def lose_targets(dataset: Dataset, *, recorded: bool) -> int:
    """Cleaning has lost the targets of the train split; `recorded`: the data hold the pages before it."""
    lost = Target.objects.filter(step__turn__conversation__in=dataset.conversations.filter(split=Split.TRAIN))
    for target in lost.select_related("step__snapshot"):
        step = target.step
        if recorded:
            step.raw_snapshot = factories.make_snapshot(step.snapshot.html.replace("</body>", LOST))
            step.save()
    return lost.update(pruned=True, node_id="77", node_order=None)


@pytest.mark.slow
def test_a_lost_target_is_shown_from_the_page_as_recorded(dataset, weights, endpoint) -> None:
    assert lose_targets(dataset, recorded=True) == 6
    run("synapse", dataset, weights)
    asked = [prompt_text(request) for request in endpoint.requests]
    assert asked
    for text in asked:
        assert not re.findall(r"(CLICK|TYPE|SELECT) \[\]", text), "an action without an element teaches nothing"
        assert "<button id=77 submit>Pay now</button> </html>`" in text
        assert "Action: `CLICK [77]`" in text


@pytest.mark.slow
def test_without_the_page_as_recorded_the_action_still_names_its_element(dataset, weights, endpoint) -> None:
    lose_targets(dataset, recorded=False)
    run("synapse", dataset, weights)
    asked = [prompt_text(request) for request in endpoint.requests]
    assert all("Action: `CLICK [77]`" in text and "Pay now" not in text for text in asked)


def test_pages_as_recorded_are_read_for_lost_targets_only(dataset, django_assert_num_queries) -> None:
    recorded = RecordedConversation(dataset.conversations.get(split=Split.TEST_TASK).pk)
    step = recorded.steps[0]
    recorded.recorded(recorded.steps[1])  # what is read once for all steps
    with django_assert_num_queries(1):
        assert recorded.recorded(step).raw_html == ""
    lose_targets(dataset, recorded=True)
    lost = RecordedConversation(dataset.conversations.get(split=Split.TRAIN).pk)
    assert "Pay now" in lost.recorded(lost.steps[0]).raw_html
    assert lost.recorded(lost.steps[0], page=False).raw_html == ""


@pytest.mark.slow
@first_is_quick("name", ["bare", "mindact-icl"])
def test_a_step_without_gold_in_reach_is_failed_unasked_as_published(name, dataset, weights, endpoint) -> None:
    result = run(name, dataset, weights, **{"rank.top_k": "2"})
    out = [row for row in result.steps.all() if row.gold_rank is None or row.gold_rank >= 2]
    assert 0 < len(out) < result.step_count
    assert set(out) == set(result.steps.not_asked())
    for row in out:
        assert (row.calls, row.operation, row.success, row.operation_f1, row.error) == (0, "", False, 0.0, "")
        assert set(row.trace) >= {"observe", "rank", "recall", "plan", "act", "seconds"}
        assert "prompt" not in row.trace.get("compose", {})
        assert row.verdict(list(row.step.targets.all()), 5)[0] == "not asked, as published"
    assert all(row.calls for row in result.steps.exclude(pk__in=[row.pk for row in out]))
    spared = len(endpoint.requests)
    stored = {"rank.top_k": "2", "quirks.q27_fails_unasked": "false"}  # refused together where top_k counts for no more
    SavedRecipe.objects.create(name="asks", parent=name, changes=stored, project=dataset.project)
    asked = run("asks", dataset, weights)
    assert not asked.steps.not_asked().exists()
    assert all(row.calls for row in asked.steps.all())
    assert len(endpoint.requests) - spared > spared
    faithful, same = (headlines(score(RunScores(found).outcomes("faithful"), "faithful")) for found in (result, asked))
    assert faithful == same, "these steps fail in the published metrics either way"


@pytest.mark.slow
def test_a_report_says_how_many_steps_were_not_asked_about(dataset, weights, endpoint) -> None:
    result = run("bare", dataset, weights, **{"rank.top_k": "2"})
    count = result.steps.not_asked().count()
    (faithful,), (corrected,) = (report([result.studies.get()], preset) for preset in ("faithful", "corrected"))
    said = f"(quirks.q27_fails_unasked): test_task {count} of 6"
    assert any(note.endswith(f"{said}.") for note in faithful.notes)
    assert any(note.endswith(f"{said}; here they count as wrong in every metric.") for note in corrected.notes)
    assert report([result.studies.get()], "faithful", sees=lambda run: False)[0].notes == []


@pytest.mark.slow
def test_online_induction_does_not_see_steps_that_were_not_asked_about(dataset, weights, endpoint) -> None:
    result = run("awm-online", dataset, weights, **{"rank.top_k": "2"})
    of_run = online_examples(result, list(result.trajectories.values_list("conversation_id", flat=True)))
    assert sum(len(calls) for _, calls in of_run) == 6 - result.steps.not_asked().count() < 6


@pytest.mark.slow
def test_the_objective_is_predicted_from_the_pages_and_actions_so_far(dataset, weights, endpoint) -> None:
    make_workflows(dataset)
    run("mims", dataset, weights, **{"quirks.q27_fails_unasked": "false"})
    asked = [prompt_text(request) for request in endpoint.requests]
    objectives = [text for text in asked if "You guide a person" in text]
    actions = [text for text in asked if "You guide a person" not in text]
    assert len(objectives) == len(actions) == 6
    for objective in objectives:
        trajectory = objective.rpartition("Trajectory:\n")[2]
        past = trajectory.count("\nAction: `")
        assert trajectory.count("Observation: `<html") == past + 1, "each past action with its page, then this page"
    assert {text.rpartition("Trajectory:\n")[2].count("\nAction: `") for text in objectives} == {0, 1, 2}
    third = next(text for text in objectives if text.rpartition("Trajectory:\n")[2].count("\nAction: `") == 2)
    first_page = third.rpartition("Trajectory:\n")[2].partition("\nAction:")[0]
    assert any(first_page in action for action in actions), "shown as the planner is shown it"


@pytest.mark.slow
@pytest.mark.parametrize("leaks", ["true", "false"])
def test_the_objective_is_predicted_from_the_page_that_the_action_is_planned_from(
    leaks: str, dataset, weights, endpoint
) -> None:
    """The observation of a step is one, whether the gold element is on it by its rank or by the leak of quirk Q18."""
    make_workflows(dataset)
    changes = {"quirks.q27_fails_unasked": "false", "quirks.q18_gold_in_top_k": leaks, "simplify.page_elements": "2"}
    run("mims", dataset, weights, **changes)
    pages: dict[bool, set[str]] = {True: set(), False: set()}
    for text in map(prompt_text, endpoint.requests):
        pages["You guide a person" in text].add(text.rpartition("Observation: `")[2].partition("`")[0])
    assert pages[True] == pages[False] != set()


@pytest.mark.slow
def test_mims_finds_exemplars_by_their_task_and_synapse_by_their_site_too(dataset, weights, endpoint) -> None:
    def keys() -> set[str]:
        return set(dataset.exemplars.values_list("key_text", flat=True))

    make_workflows(dataset)
    train = dataset.conversations.filter(split=Split.TRAIN)
    run("mims", dataset, weights)
    tasks = keys()
    assert tasks == set(train.values_list("turns__instruction", flat=True))
    run("synapse", dataset, weights)
    assert {key.partition(": ")[0] for key in keys() - tasks} == {"Website"}


def test_mims_shows_as_many_workflows_as_its_paper_chose_for_the_split(dataset, weights, endpoint) -> None:
    def planned(**changes: str) -> list[int]:
        study = running.create_study(
            user=None,
            dataset=dataset,
            recipes=["mims"],
            splits=["test_task", "test_website", "test_domain", "train"],
            overrides={"rank.model": str(weights["cross_encoder"]), **changes},
            publish=False,
        )
        return [found.recipe["recall"]["workflow_k"] for found in study.runs.order_by("pk")]

    for split in (Split.TEST_WEBSITE, Split.TEST_DOMAIN):
        factories.make_conversation(turns=1, steps=1, split=split, dataset=dataset)
    make_workflows(dataset)
    assert planned() == [13, 2, 89, 13]
    assert planned(**{"recall.workflow_k": "5"}) == [5, 5, 5, 5], "what somebody sets stands"


def test_a_pack_is_read_once_for_all_splits_whose_runs_are_given_its_texts(dataset, weights, endpoint) -> None:
    for split in (Split.TEST_WEBSITE, Split.TEST_DOMAIN):
        factories.make_conversation(turns=1, steps=1, split=split, dataset=dataset)
    make_workflows(dataset)
    own = PromptPack.objects.add(dataset.project, Pack("own", 1, webnav().texts))

    def read(*splits: str) -> int:
        changes = {"rank.model": str(weights["cross_encoder"]), "prompts.pack": "own"}
        with CaptureQueriesContext(connection) as asked:
            study = running.create_study(
                user=None, dataset=dataset, recipes=["mims"], splits=list(splits), overrides=changes, publish=False
            )
        planned_with = [found.recipe["prompts"] for found in study.runs.all()]
        assert planned_with == [{"pack": "own@1", "sha256": own.sha256}] * len(splits)
        return sum(PromptPack._meta.db_table in query["sql"] for query in asked)

    assert read("test_task", "test_website", "test_domain") == read("test_task")


@pytest.mark.parametrize(
    ("name", "split"), [(name, split) for name, of in published.SETTINGS_OF_SPLITS.items() for split in of]
)
def test_what_a_paper_chose_for_a_split_changes_no_texts(name: str, split: str) -> None:
    """So that the pack that a study was planned with is right for each of its splits."""
    recipe = literature.get(name)
    chosen = chosen_for(recipe, split)
    assert chosen
    assert texts_of(literature.override(recipe, chosen)) == texts_of(recipe)
