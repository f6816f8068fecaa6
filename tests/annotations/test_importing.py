"""Imports: idempotent, resumable, and one bad record never costs a good one."""

from dataclasses import replace
from pathlib import Path

import pytest
from django.db import IntegrityError, OperationalError, transaction

from annotations.corpus import importing
from annotations.corpus.importing import ImportProgress, ImportReport, Position, StopImport, import_files
from annotations.corpus.store import ConversationStore, content_sha256, marked_target
from annotations.models import Conversation, Dataset, Snapshot, Step, Target, Turn, Website
from annotations.pages.store import MAX_PAGE_BYTES
from tests import factories
from tests.annotations.small_files import PAGE, contents, conversation, counts, record, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files in two splits: seven conversations."""
    write(tmp_path / "data/train/a.json", [conversation(f"a{n}") for n in range(3)])
    write(tmp_path / "data/train/b.json", [conversation(f"b{n}") for n in range(2)])
    write(tmp_path / "data/test_task/c.json", [conversation(f"c{n}") for n in range(2)])
    return tmp_path / "data"


def run(path: Path, dataset: Dataset, **options) -> ImportReport:
    return import_files("mt-mind2web", path, dataset, **options)


def totals(report: ImportReport) -> dict:
    """A report without what differs from run to run."""
    return report.to_dict() | {"seconds": 0, "dataset": ""}


def test_an_import_counts_what_it_stored(folder: Path) -> None:
    dataset = factories.make_dataset()
    report = run(folder, dataset)
    assert counts(dataset) == {"conversations": 7, "turns": 14, "steps": 28}
    assert (report.conversations, report.turns, report.steps, report.snapshots) == (7, 14, 28, 28)
    assert (report.records, report.skipped, report.errors, report.warnings) == (7, 0, [], [])


@pytest.mark.slow
def test_an_import_does_not_tell_whether_a_page_was_there(folder: Path) -> None:
    """Else who imports a guess into a project of their own would learn which pages another project hides."""
    first, again = (run(folder, factories.make_dataset()) for _ in range(2))
    assert totals(first) == totals(again)
    assert first.snapshots > 0


def test_folders_name_the_split(folder: Path) -> None:
    dataset = factories.make_dataset()
    run(folder, dataset)
    assert set(dataset.conversations.values_list("source_id", "split")) >= {("a0", "train"), ("c1", "test_task")}


def test_the_order_of_the_source_is_kept(folder: Path) -> None:
    dataset = factories.make_dataset()
    run(folder, dataset)
    assert list(dataset.conversations.values_list("source_id", flat=True)) == ["c0", "c1", "a0", "a1", "a2", "b0", "b1"]


def test_a_second_import_adds_nothing_and_says_so(folder: Path) -> None:
    dataset = factories.make_dataset()
    run(folder, dataset)
    before, pages = contents(dataset), Snapshot.objects.count()
    again = run(folder, dataset)
    assert (again.conversations, again.turns, again.steps, again.snapshots) == (0, 0, 0, 0)
    assert (again.unchanged, again.skipped) == (7, 7)
    assert again.reasons == {"already imported, unchanged": 7}
    assert contents(dataset) == before
    assert Snapshot.objects.count() == pages


@pytest.mark.slow
@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_a_stopped_import_goes_on_to_the_same_rows_and_totals(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stop_after: int
) -> None:
    undisturbed = factories.make_dataset()
    whole = run(folder, undisturbed)
    monkeypatch.setattr(importing, "BATCH", 2)
    dataset, told = factories.make_dataset(), []

    def stop(progress: ImportProgress) -> None:
        told.append((progress.position, progress.report.to_dict()))
        if len(told) == stop_after:
            raise StopImport

    with pytest.raises(StopImport):
        run(folder, dataset, progress=stop)
    assert dataset.conversations.count() == 2 * stop_after
    position, stored = told[-1]
    report = run(folder, dataset, start=position, report=ImportReport.from_dict(stored))
    assert contents(dataset) == contents(undisturbed)
    assert totals(report) == totals(whole)  # the pages were there already, of which nothing is told


def test_progress_written_in_a_batch_is_taken_back_with_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    dataset = factories.make_dataset()

    def crash(progress: ImportProgress) -> None:
        Dataset.objects.filter(pk=dataset.pk).update(description=f"{progress.report.records} records")
        if progress.report.records == 4:
            raise RuntimeError("the worker dies here")

    with pytest.raises(RuntimeError):
        run(folder, dataset, progress=crash)
    dataset.refresh_from_db()
    assert (dataset.description, dataset.conversations.count()) == ("2 records", 2)


def test_progress_is_told_when_everything_is_skipped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = factories.make_dataset()
    run(folder, dataset)
    monkeypatch.setattr(importing, "BATCH", 2)
    told: list[int] = []
    run(folder, dataset, progress=lambda progress: told.append(progress.report.records))
    assert told == [2, 4, 6, 7]


def test_a_limit_counts_records_over_all_files(folder: Path) -> None:
    dataset = factories.make_dataset()
    report = run(folder, dataset, limit=4)
    assert report.records == 4
    assert list(dataset.conversations.values_list("source_id", flat=True)) == ["c0", "c1", "a0", "a1"]


def test_a_limit_counts_bad_records_too(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", [conversation("good"), {"task_id": "bad"}, conversation("later")])
    report = run(path, factories.make_dataset(), limit=2)
    assert (report.records, report.conversations) == (2, 1)
    assert {error["record"] for error in report.errors} == {"[1]"}


def test_a_limit_holds_over_slices(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    dataset, report = factories.make_dataset(), ImportReport("x")
    places: list[Position] = []

    def stop(progress: ImportProgress) -> None:
        places.append(progress.position)
        raise StopImport

    with pytest.raises(StopImport):
        run(folder, dataset, limit=3, report=report, progress=stop)
    assert run(folder, dataset, limit=3, start=places[0], report=report).records == 3
    assert dataset.conversations.count() == 3


def test_the_split_option_overrides_the_folders(folder: Path) -> None:
    dataset = factories.make_dataset()
    run(folder, dataset, split="dev")
    assert set(dataset.conversations.values_list("split", flat=True)) == {"dev"}


def test_conversations_without_any_split_are_train_with_a_warning(tmp_path: Path) -> None:
    dataset = factories.make_dataset()
    report = run(write(tmp_path / "plain.json", [conversation("one"), conversation("two")]), dataset)
    assert set(dataset.conversations.values_list("split", flat=True)) == {"train"}
    assert report.warnings == ["2 conversations lie in no split folder and no --split was given: stored as train"]


def test_broken_split_rules_are_warnings(tmp_path: Path) -> None:
    write(tmp_path / "train/a.json", [conversation("a")])
    write(tmp_path / "test_website/b.json", [conversation("b")])
    report = run(tmp_path, factories.make_dataset())
    assert (report.conversations, report.warnings) == (2, ["test_website holds websites that train has too: shop"])


def test_one_bad_record_of_several_is_named_and_the_others_land(tmp_path: Path) -> None:
    bad = conversation("bad")
    bad["turns"][1]["actions"][0]["cleaned_html"] = "<html>"
    path = write(tmp_path / "data/train/deep/x.json", [conversation("one"), bad, conversation("two")])
    dataset = factories.make_dataset()
    report = run(tmp_path / "data", dataset)
    assert set(dataset.conversations.values_list("source_id", flat=True)) == {"one", "two"}
    (error,) = report.errors
    assert error["file"] == path.relative_to(tmp_path / "data").as_posix() == "train/deep/x.json"
    assert (error["record"], error["field"]) == ("[1].turns[1].actions[0]", "cleaned_html")
    assert "expected well-formed XML" in error["message"]


def test_a_damaged_file_does_not_stop_the_others(tmp_path: Path) -> None:
    write(tmp_path / "a.json", [conversation("a")])
    (tmp_path / "b.json.gz").write_bytes(b"\x1f\x8b broken")
    write(tmp_path / "c.json", [conversation("c")])
    report = run(tmp_path, factories.make_dataset())
    assert report.conversations == 2
    assert [error["file"] for error in report.errors] == ["b.json.gz"]


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"source_id": "x" * 201}, "source_id", "expected at most 200 characters, found 201"),
        ({"website": "w" * 300}, "website", "expected at most 200 characters, found 300"),
        ({"split": "tests"}, "split", "found 'tests'"),
    ],
)
def test_what_no_column_holds_is_refused_with_its_field(change: dict, field: str, message: str) -> None:
    store = ConversationStore(factories.make_dataset())
    bad = replace(record("x"), **change)
    with pytest.raises(ValueError, match=message) as caught:
        store.store([(bad, store.sha256(bad))])
    assert caught.value.field == field


def test_a_fault_found_while_storing_names_file_record_and_field(tmp_path: Path) -> None:
    bad = conversation("bad")
    bad["turns"][1]["actions"][1]["pos_candidates"][0]["backend_node_id"] = "9" * 65
    write(tmp_path / "train/x.json", [conversation("one"), bad, conversation("two")])
    dataset = factories.make_dataset()
    report = run(tmp_path, dataset)
    assert dataset.conversations.count() == 2
    assert report.errors == [
        {
            "file": "train/x.json",
            "record": "bad",
            "field": "turns[1].steps[1].positives[0].node_id",
            "message": "expected at most 64 characters, found 65",
        }
    ]


def test_a_page_above_the_limit_is_a_fault_of_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_PAGE_BYTES == 64 * 1024 * 1024
    monkeypatch.setattr("annotations.pages.store.MAX_PAGE_BYTES", 1000)
    bad = conversation("bad")
    bad["turns"][0]["actions"][0]["cleaned_html"] = PAGE.format(title="x" * 1000)
    report = run(write(tmp_path / "x.json", [conversation("good"), bad]), factories.make_dataset())
    assert report.conversations == 1
    assert "at most 1,000 are stored" in report.errors[0]["message"]


def test_a_failing_database_is_no_fault_of_the_records(folder: Path) -> None:
    """The trigger raises what a server does when it runs out of something; the records must not be called bad."""
    from django.db import connection

    dataset = factories.make_dataset()
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE 'disk full' USING ERRCODE = '53100'; END $$ "
            "LANGUAGE plpgsql; CREATE TRIGGER refuse BEFORE INSERT ON annotations_turn "
            "FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
    with pytest.raises(OperationalError, match="disk full"), transaction.atomic():
        run(folder, dataset)


def test_a_changed_conversation_is_replaced_in_its_place(tmp_path: Path) -> None:
    dataset = factories.make_dataset()
    path = write(tmp_path / "x.json", [conversation("one"), conversation("two")])
    run(path, dataset)
    write(path, [conversation("one", turns=3), conversation("two")])
    report = run(path, dataset)
    assert (report.conversations, report.unchanged) == (1, 1)
    assert counts(dataset) == {"conversations": 2, "turns": 5, "steps": 10}
    assert list(dataset.conversations.values_list("source_id", flat=True)) == ["one", "two"]


@pytest.mark.parametrize("use", [factories.make_trajectory, "session"])
def test_a_changed_conversation_that_is_in_use_is_kept(tmp_path: Path, use) -> None:
    dataset = factories.make_dataset()
    path = write(tmp_path / "x.json", [conversation("one"), conversation("two")])
    run(path, dataset)
    stored = dataset.conversations.get(source_id="one")
    if use == "session":
        session = factories.make_session(factories.make_campaign(source=dataset), tasks=0)
        session.tasks.create(campaign=session.campaign, conversation=stored, position=0)
    else:
        use(factories.make_run(dataset), stored)
    before = contents(dataset)
    write(path, [conversation("one", turns=3), conversation("two")])
    report = run(path, dataset)
    assert contents(dataset) == before
    assert (report.unchanged, report.error_count) == (1, 1)
    assert report.errors[0]["record"] == "one"
    assert "differs from the stored conversation" in report.errors[0]["message"]


def test_an_id_repeated_in_another_file_with_other_content_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "a.json", [conversation("same", say="First")])
    write(tmp_path / "b.json", [conversation("same", say="Second"), conversation("other")])
    dataset = factories.make_dataset()
    report = run(tmp_path, dataset)
    assert dataset.conversations.count() == 2
    assert Turn.objects.filter(conversation__source_id="same", instruction__startswith="First").count() == 2
    (error,) = report.errors
    assert (error["file"], error["record"], error["field"]) == ("b.json", "same", "source_id")
    assert "other content" in error["message"]


def test_an_id_repeated_with_the_same_content_is_skipped(tmp_path: Path) -> None:
    write(tmp_path / "a.json", [conversation("same")])
    write(tmp_path / "b.json", [conversation("same")])
    report = run(tmp_path, factories.make_dataset())
    assert (report.conversations, report.errors, report.reasons) == (1, [], {"repeated in this import": 1})


def test_a_repeated_id_is_found_over_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 1)
    write(tmp_path / "a.json", [conversation("same", say="First")])
    write(tmp_path / "b.json", [conversation("same", say="Second")])
    dataset, report, places = factories.make_dataset(), ImportReport("x"), []

    def stop(progress: ImportProgress) -> None:
        places.append(progress.position)
        raise StopImport

    with pytest.raises(StopImport):
        run(tmp_path, dataset, report=report, progress=stop)
    report = run(tmp_path, dataset, start=places[0], report=report)
    assert (report.conversations, report.error_count) == (1, 1)


def test_content_is_the_same_whether_the_split_was_told_by_folder_option_or_default() -> None:
    told, untold = record("x", split="train"), record("x")
    assert content_sha256(told, "train") == content_sha256(untold, "train")
    assert content_sha256(told, "dev") != content_sha256(told, "train")


def test_the_page_after_a_step_is_the_next_page_of_the_turn(folder: Path) -> None:
    dataset = factories.make_dataset()
    run(folder, dataset)
    first, last = Turn.objects.get(source_id="a0_0").steps.order_by("index")
    assert first.snapshot_after == last.snapshot
    assert (last.snapshot_after, first.keeps_page_after) == (None, False)


def test_targets_are_in_the_page_or_recorded_as_pruned(tmp_path: Path) -> None:
    item = conversation("x", turns=1, steps=2)
    item["turns"][0]["actions"][1]["pos_candidates"][0]["backend_node_id"] = "77"
    run(write(tmp_path / "x.json", [item]), factories.make_dataset())
    targets = Target.objects.order_by("step__index").values_list("node_id", "node_order", "pruned")
    assert list(targets) == [("4", 4, False), ("77", None, True)]


def test_the_recorded_target_of_a_step_without_positives_is_kept_as_pruned(tmp_path: Path) -> None:
    item = conversation("x", turns=1, steps=1)
    action = item["turns"][0]["actions"][0]
    action["pos_candidates"] = []
    action["raw_html"] = '<html><b backend_node_id="31" data_pw_testid_buckeye="x_0_0">Go</b></html>'
    run(write(tmp_path / "x.json", [item]), factories.make_dataset())
    assert list(Target.objects.values_list("node_id", "pruned")) == [("31", True)]


def test_no_recorded_target_is_found_where_nothing_is_marked() -> None:
    assert marked_target('<b backend_node_id="1">Go</b>', "uid") is None


def test_mind2web_tasks_are_source_tasks_of_their_conversation(tmp_path: Path) -> None:
    action = conversation("t")["turns"][0]["actions"][0]
    task = {
        "annotation_id": "t",
        "website": "shop",
        "domain": "Shopping",
        "subdomain": "Fashion",
        "confirmed_task": "Buy a gift",
        "action_reprs": ["[button] Search -> CLICK"],
        "actions": [action],
    }
    dataset = factories.make_dataset(source_format="mind2web")
    import_files("mind2web", write(tmp_path / "train/train_0.json", [task]), dataset)
    turn = Turn.objects.get(conversation__dataset=dataset)
    assert (turn.source_task.source_id, turn.source_task.instruction) == ("t", "Buy a gift")


def _refused(create) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        create()


def test_the_database_refuses_targets_that_are_neither_in_the_page_nor_pruned() -> None:
    step = factories.make_step()
    for values in ({"node_order": None, "pruned": False}, {"node_order": 3, "pruned": True}):
        _refused(lambda values=values: Target.objects.create(step=step, node_id="99", position=7, **values))


def test_the_database_refuses_unknown_operations_and_splits() -> None:
    step = factories.make_step()
    _refused(lambda: Step.objects.filter(pk=step.pk).update(operation="JUMP"))
    _refused(lambda: Conversation.objects.update(split="tests"))


def test_the_database_refuses_a_kept_page_that_does_not_exist() -> None:
    step = factories.make_step()
    _refused(lambda: Step.objects.filter(pk=step.pk).update(keeps_page_after=True))


def test_names_are_unique_within_their_parent_only() -> None:
    one, other = factories.make_conversation(), factories.make_conversation()
    assert one.turns.first().source_id == other.turns.first().source_id
    website = one.website
    copies = [
        lambda: factories.make_conversation(dataset=one.dataset, source_id=one.source_id),
        lambda: factories.make_turn(one, index=0, source_id="new"),
        lambda: factories.make_turn(one, index=9, source_id=one.turns.first().source_id),
        lambda: factories.make_step(one.turns.first(), index=0, source_id="new"),
        lambda: factories.make_step(one.turns.first(), index=9, source_id="step-0"),
        lambda: Website.objects.create(
            dataset=website.dataset, name=website.name, domain=website.domain, subdomain=website.subdomain
        ),
        lambda: Dataset.objects.create(project=one.dataset.project, name=one.dataset.name),
    ]
    for copy in copies:
        _refused(copy)
    target = Target.objects.filter(step__turn__conversation=one).first()
    _refused(lambda: Target.objects.create(step=target.step, node_id=target.node_id, position=9, node_order=1))
    _refused(lambda: Target.objects.create(step=target.step, node_id="other", position=target.position, node_order=1))
