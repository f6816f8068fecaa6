"""Studies: planned completely, run exactly once, cancelled and resumed without a trace in the numbers."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied

from agents.models import Run, Trajectory
from agents.types import Spent
from annotations.models import Conversation, Snapshot, Step
from evaluation.models import Shard, Study
from evaluation.scores.reviewed import store_all_scores
from evaluation.studies import running
from tests import factories
from tests.evaluation.study_rows import make_study, numbers, rows, undisturbed
from tests.quick import first_is_quick

# Planning


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recipes": ["groundhog"]}, "there is no recipe 'groundhog'; choose one of grounded, mindact"),
        ({"recipes": []}, "choose at least one recipe"),
        ({"splits": ["half"]}, "unknown split 'half'; choose one of train"),
        ({"splits": ["test_domain"]}, r"split test_domain of .* has no conversation with steps"),
        ({"overrides": {"rank.depth": "3"}}, r"there is no setting 'rank.depth'; here one may set: .*top_k"),
        ({"overrides": {"rank.top_k": "many"}}, "rank.top_k must be int, got 'many'"),
        ({"overrides": {"rank.top_k": "0"}}, "rank.top_k must be at least 1, got 0"),
        ({"overrides": {"compose.shots": "3"}}, "compose.shots would change nothing in grounded: it needs plan.kind="),
        ({"preset": "kind"}, "unknown preset 'kind'; choose one of faithful, corrected"),
        ({"preset": "faithful", "overrides": {"preset": "corrected"}}, "the preset is said twice: corrected among"),
        ({"limit": 0}, "limit must be at least 1, got 0"),
        ({"seeds": [0, -1]}, r"seed must lie in 0\.\.2147483647, got -1"),
    ],
)
def test_a_study_that_cannot_be_is_refused_with_a_readable_message(dataset, options, message) -> None:
    with pytest.raises(ValueError, match=message):
        make_study(dataset, **options)
    assert not Study.objects.exists()
    assert not Run.objects.exists()


def test_a_recipe_that_cannot_run_says_everything_that_is_missing(dataset) -> None:
    with pytest.raises(ValueError, match=r"self-map cannot run yet: it needs rank\.model: train one") as caught:
        make_study(dataset, recipes=["self-map"])
    assert "LLM_BASE_URL" in str(caught.value)
    assert "plan.model: train one from google/flan-t5-base" in str(caught.value)
    assert str(caught.value).endswith("small models: manage.py prepare self-map, or Prepare on its page")


def test_small_models_are_offered_only_where_they_can_be_made(dataset) -> None:
    dataset.conversations.update(split="dev")
    with pytest.raises(ValueError, match=r"self-map cannot run yet: it needs rank\.model: train one") as caught:
        make_study(dataset, recipes=["self-map"], splits=["dev"])
    assert "prepare" not in str(caught.value)


def test_only_people_who_may_evaluate_start_a_study(dataset) -> None:
    reader = factories.make_user("reader", dataset.project)
    for user in (reader, AnonymousUser()):
        with pytest.raises(PermissionDenied):
            make_study(dataset, user=user)


def test_a_study_has_a_run_per_recipe_split_and_seed(dataset) -> None:
    factories.make_conversation(split="dev", dataset=dataset)
    study = make_study(dataset, splits=["train", "dev"], seeds=[0, 7])
    plans = sorted(study.runs.values_list("recipe_name", "split", "seed", "step_count"))
    assert plans == [
        ("grounded", "dev", 0, 4),
        ("grounded", "dev", 7, 4),
        ("grounded", "train", 0, 30),
        ("grounded", "train", 7, 30),
    ]


def test_shards_cover_every_conversation_exactly_once(dataset, small_shards) -> None:
    factories.make_conversation(turns=3, steps=4, dataset=dataset)  # larger than a shard
    factories.make_conversation(turns=0, dataset=dataset)  # nothing to decide
    run = make_study(dataset).runs.get()
    shards = list(run.shards.order_by("index"))
    covered = [pk for shard in shards for pk in shard.conversation_ids]
    expected = Conversation.objects.filter(dataset=dataset, turns__steps__isnull=False).distinct()
    assert covered == list(expected.order_by("position").values_list("pk", flat=True))
    assert [shard.index for shard in shards] == list(range(6))
    assert [shard.step_count for shard in shards] == [6, 6, 6, 6, 6, 12]
    assert run.step_count == 42


def test_limit_takes_the_first_conversations_of_the_split(dataset) -> None:
    run = make_study(dataset, limit=2).runs.get()
    first = Conversation.objects.filter(dataset=dataset).order_by("position")[:2]
    assert set(run.trajectories.values_list("conversation_id", flat=True)) == {c.pk for c in first}
    assert run.step_count == 12


# Running


@pytest.mark.slow
def test_an_inline_run_stores_a_row_for_every_step_and_scores_them(dataset, hash_encoder) -> None:
    run = undisturbed(dataset)
    assert run.state == Run.State.DONE
    gold = Step.objects.filter(turn__conversation__dataset=dataset)
    assert {row["step_id"] for row in rows(run)} == set(gold.values_list("pk", flat=True))
    for trajectory in run.trajectories.all():
        assert trajectory.state == Trajectory.State.DONE
        assert list(trajectory.steps.order_by("seq").values_list("seq", flat=True)) == [0, 1, 2, 3, 4, 5]
        order = list(trajectory.steps.order_by("seq").values_list("step__turn__index", "step__index"))
        assert order == sorted(order)
    assert set(run.shards.values_list("state", flat=True)) == {Shard.State.DONE}
    assert set(run.scores.values_list("preset", flat=True)) == {"faithful", "corrected"}


@pytest.mark.slow
def test_two_runs_of_the_same_study_give_the_same_rows_and_numbers(dataset, hash_encoder) -> None:
    first, second = undisturbed(dataset), undisturbed(dataset)
    assert rows(first) == rows(second)
    assert numbers(first) == numbers(second)


@pytest.mark.slow
def test_a_page_that_cannot_be_read_gives_an_error_row_that_counts_as_a_failure(dataset, hash_encoder) -> None:
    step = Step.objects.filter(turn__conversation__dataset=dataset).order_by("id")[7]
    Step.objects.filter(pk=step.pk).update(snapshot=broken_page())
    run = undisturbed(dataset)
    assert run.state == Run.State.DONE
    assert run.steps.count() == 30
    failed = run.steps.exclude(error="").get()
    assert failed.step_id == step.pk
    assert "not well-formed" in failed.error
    assert (failed.operation, failed.success, failed.operation_f1, failed.gold_rank) == ("", False, 0.0, None)
    by_step = run.scores.get(preset="corrected", metric="step_success", grouping="step")
    assert by_step.value == pytest.approx(run.steps.filter(success=True).count() / 30)


@pytest.mark.slow
def test_a_step_without_a_page_is_an_error_row_too(dataset, hash_encoder) -> None:
    step = Step.objects.filter(turn__conversation__dataset=dataset).first()
    Step.objects.filter(pk=step.pk).update(snapshot=None)
    assert undisturbed(dataset).steps.exclude(error="").get().step_id == step.pk


def broken_page() -> Snapshot:
    data = b"<html><body>never closed"
    compressed = factories.compress(data)
    return Snapshot.objects.create(
        sha256=factories.digest(data), raw_size=len(data), stored_size=len(compressed), data=compressed, node_count=0
    )


def test_a_model_that_cannot_be_loaded_ends_the_run_with_the_reason_at_once(dataset, tmp_path) -> None:
    (tmp_path / "config.json").write_text("{}")
    study = make_study(dataset, overrides={"rank.model": str(tmp_path)})
    running.run_inline(study)
    run = study.runs.get()
    assert run.state == Run.State.FAILED
    assert f"{str(tmp_path)!r} could not be loaded" in run.error
    assert run.shards.get().attempt == 1, "trying again would not help"
    assert not run.scores.exists()


@pytest.mark.slow
def test_an_unexpected_error_is_tried_three_times_and_kept_on_the_row(dataset, hash_encoder, monkeypatch) -> None:
    def broken(texts):
        raise RuntimeError("the device is gone")

    monkeypatch.setattr(hash_encoder, "encode", broken)
    study = make_study(dataset)
    running.run_inline(study)
    run = study.runs.get()
    assert (run.state, run.error) == (Run.State.FAILED, "RuntimeError: the device is gone")
    assert run.shards.get().attempt == 3


# Cancelling and resuming


@pytest.mark.slow
def test_cancel_in_the_middle_stops_within_one_batch_and_scores_what_is_stored(
    dataset, hash_encoder, small_shards
) -> None:
    study = make_study(dataset)
    stored: list[int] = []

    def cancel_after_ten() -> None:
        stored.append(study.runs.get().steps.count())
        if len(stored) == 3:  # batches of 4 and 2
            study.cancel(store_all_scores)

    running.run_inline(study, cancel_after_ten)
    run = study.runs.get()
    assert run.state == Run.State.CANCELLED
    assert run.steps.count() == stored[-1] == 10, "nothing was stored after the cancel"
    assert len(stored) == 3
    assert run.scores.get(preset="corrected", metric="element_accuracy", grouping="step").n == 10
    assert not run.shards.filter(state__in=[Shard.State.QUEUED, Shard.State.RUNNING]).exists()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_cancel_from_another_process_stops_the_worker_at_its_next_write(dataset, hash_encoder, in_thread) -> None:
    study = make_study(dataset)

    def cancel_elsewhere() -> None:
        if not study.runs.filter(state=Run.State.CANCELLED).exists():
            in_thread(lambda: study.cancel(store_all_scores))

    running.run_inline(study, cancel_elsewhere)
    run = study.runs.get()
    assert run.state == Run.State.CANCELLED
    assert run.steps.count() == 4
    assert not run.shards.end_run(run, store_all_scores), "a cancelled run has ended"


@pytest.mark.slow
@first_is_quick("batches", [1, 2, 4])
def test_a_resumed_run_has_the_rows_and_numbers_of_an_undisturbed_one(
    dataset, hash_encoder, small_shards, batches
) -> None:
    study = make_study(dataset)
    seen: list[int] = []

    def cancel() -> None:
        seen.append(1)
        if len(seen) == batches:
            study.cancel(store_all_scores)

    running.run_inline(study, cancel)
    partial = study.runs.get().steps.count()
    running.resume_study(study)
    running.run_inline(study)
    run, reference = study.runs.get(), undisturbed(dataset)
    assert 0 < partial < 30
    assert run.state == Run.State.DONE
    assert rows(run) == rows(reference)
    assert numbers(run) == numbers(reference)
    assert set(run.trajectories.values_list("state", flat=True)) == {Trajectory.State.DONE}


@pytest.mark.slow
def test_resuming_decides_only_the_steps_without_a_result(dataset, hash_encoder) -> None:
    study = make_study(dataset)
    running.run_inline(study, lambda: study.runs.get().steps.count() == 20 and study.cancel(store_all_scores))
    kept = set(study.runs.get().steps.values_list("pk", flat=True))
    assert len(kept) == 20
    running.resume_study(study)
    batches: list[int] = []
    running.run_inline(study, lambda: batches.append(study.runs.get().steps.count()))
    assert batches == [24, 28, 30]
    assert kept < set(study.runs.get().steps.values_list("pk", flat=True))


@pytest.mark.slow
def test_a_complete_study_cannot_be_resumed(dataset, hash_encoder) -> None:
    study = make_study(dataset)
    running.run_inline(study)
    with pytest.raises(ValueError, match="complete or still under way"):
        running.resume_study(study)


@pytest.mark.slow
def test_a_long_shard_goes_on_in_another_task_without_using_up_its_attempts(dataset, hash_encoder, monkeypatch) -> None:
    monkeypatch.setattr(running, "SLICE_SECONDS", 0)
    told = []
    monkeypatch.setattr("evaluation.tasks.run_shard.delay", told.append)
    study = make_study(dataset)
    run = study.runs.get()
    shard = run.shards.get()
    slices = 0
    while not Run.objects.get(pk=run.pk).is_over:
        assert run.steps.count() < run.step_count, "with its last batch the run is over"
        running.work(Shard.objects.claim(shard.pk))
        slices += 1
    assert slices > 3
    assert told == [shard.pk] * (slices - 1)
    assert run.steps.count() == run.step_count


def test_a_study_books_what_its_limits_allow_in_one_statement(dataset, django_assert_num_queries) -> None:
    study = make_study(dataset)
    study.set_budget(tokens=10, seconds=5)
    with django_assert_num_queries(1):
        assert study.book(Spent(tokens=10, cost=0.5, seconds=4.5))
    assert not study.book(Spent(tokens=1))
    assert not study.book(Spent(seconds=0.5))  # time is over when the limit is reached
    assert study.spent() == Spent(10, 0.5, 4.5)
    study.add(Spent(tokens=-1))
    assert study.book(Spent(tokens=1))
