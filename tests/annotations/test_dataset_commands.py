"""The commands import_dataset, export_dataset and dataset_stats: their words, their JSON and their exit status."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotations.models import Dataset, Project, Release
from tests import factories
from tests.annotations.small_files import conversation, write

pytestmark = pytest.mark.django_db
CONTRACT = {"dataset", "conversations", "turns", "steps", "snapshots", "skipped", "errors", "seconds"}


@pytest.fixture
def run() -> Callable[..., tuple[str, str]]:
    """Run a command; (standard output, standard error)."""

    def call(*args: object, **options: object) -> tuple[str, str]:
        out, err = io.StringIO(), io.StringIO()
        call_command(*map(str, args), stdout=out, stderr=err, no_color=True, **options)
        return out.getvalue(), err.getvalue()

    return call


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return write(tmp_path / "train/x.json", [conversation("one"), conversation("two")])


def test_json_is_one_line_with_the_keys_of_the_contract(run, good: Path) -> None:
    out, err = run("import_dataset", "mt-mind2web", good, "--name", "new", "--json")
    assert out.count("\n") == 1
    report = json.loads(out)
    assert report.keys() >= CONTRACT
    assert (report["dataset"], report["conversations"], report["turns"], report["steps"]) == ("new", 2, 4, 8)
    assert (report["snapshots"], report["skipped"], report["errors"]) == (8, 0, [])
    assert "2 records, 2 new conversations" in err


def test_the_report_is_told_in_words(run, good: Path) -> None:
    out, _ = run("import_dataset", "mt-mind2web", good, "--name", "new")
    assert out.startswith("new: 2 conversations, 4 turns, 8 steps, 8 new pages in ")
    out, _ = run("import_dataset", "mt-mind2web", good, "--name", "new")
    assert "skipped 2: already imported, unchanged" in out


def test_bad_records_are_told_and_the_good_ones_make_it_a_success(run, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", [conversation("one"), {"task_id": "bad"}])
    out, _ = run("import_dataset", "mt-mind2web", path, "--name", "new", "--json")
    errors = json.loads(out)["errors"]
    assert {error["file"] for error in errors} == {"x.json"}
    assert {"website", "turns"} <= {error["field"] for error in errors}
    assert all(error.keys() == {"file", "record", "field", "message"} for error in errors)
    assert Dataset.objects.get(name="new").conversations.count() == 1
    out, _ = run("import_dataset", "mt-mind2web", path, "--name", "new")
    assert "x.json [1] website: expected a string, but the field is missing" in out


def test_the_exit_status_is_1_when_no_record_landed(run, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", [{"task_id": "bad"}, 7])
    with pytest.raises(SystemExit) as caught:
        run("import_dataset", "mt-mind2web", path, "--name", "new")
    assert caught.value.code == 1
    assert not Dataset.objects.exists()


def test_a_dataset_that_was_there_stays_when_no_record_landed(run, tmp_path: Path) -> None:
    Dataset.objects.create(project=factories.make_project(), name="new")
    with pytest.raises(SystemExit):
        run("import_dataset", "mt-mind2web", write(tmp_path / "x.json", []), "--name", "new")
    assert Dataset.objects.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--name", "new", "--limit", "0"], "--limit must be at least 1"),
        (["--name", "not a slug"], "--name not a slug: Enter a valid"),
        (["--name", "n" * 101], "at most 100 characters"),
        (["--name", "new", "--project", "nowhere"], "there is no project 'nowhere'"),
    ],
)
def test_wrong_options_are_explained_and_leave_no_dataset(run, good: Path, options: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run("import_dataset", "mt-mind2web", good, *options)
    assert not Dataset.objects.exists()


def test_a_path_without_data_is_explained_and_leaves_no_dataset(run, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="holds no mt-mind2web files"):
        run("import_dataset", "mt-mind2web", tmp_path, "--name", "new")
    with pytest.raises(CommandError, match="does not exist"):
        run("import_dataset", "mt-mind2web", tmp_path / "nothing", "--name", "new")
    assert not Dataset.objects.exists()


def test_a_new_dataset_belongs_to_the_named_project(run, good: Path) -> None:
    factories.make_project()
    project = factories.make_project()
    run("import_dataset", "mt-mind2web", good, "--name", "new", "--project", project.slug)
    assert Dataset.objects.get(name="new").project == project


def test_the_first_import_makes_a_project(run, good: Path) -> None:
    run("import_dataset", "mt-mind2web", good, "--name", "new")
    assert Dataset.objects.get(name="new").project == Project.objects.get(slug="default")


def test_limit_and_split_reach_the_import(run, good: Path) -> None:
    run("import_dataset", "mt-mind2web", good, "--name", "new", "--limit", "1", "--split", "dev")
    assert list(Dataset.objects.get(name="new").conversations.values_list("source_id", "split")) == [("one", "dev")]


def test_an_export_names_its_files_and_counts(run, good: Path, tmp_path: Path) -> None:
    run("import_dataset", "mt-mind2web", good, "--name", "new")
    out, _ = run("export_dataset", "new", "mt-mind2web", tmp_path / "out")
    path = tmp_path / "out/train/new.json"
    assert out == f"{path}: 2 conversations\n"
    assert [item["task_id"] for item in json.loads(path.read_text("utf-8"))] == ["one", "two"]


def test_an_export_of_one_split_leaves_the_others_out(run, tmp_path: Path) -> None:
    dataset = factories.make_dataset()
    factories.make_conversation(dataset=dataset)
    wanted = factories.make_conversation(dataset=dataset, split="test_task")
    run("export_dataset", dataset.name, "jsonl", tmp_path / "out.jsonl", "--split", "test_task")
    (line,) = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["source_id"] == wanted.source_id


def test_an_export_of_an_unknown_dataset_names_the_known_ones(run, tmp_path: Path) -> None:
    factories.make_dataset(name="known")
    with pytest.raises(CommandError, match="there is no dataset 'x'; there are: known"):
        run("export_dataset", "x", "jsonl", tmp_path / "out")


def test_an_export_of_an_unknown_release_names_those_of_its_dataset(run, tmp_path: Path) -> None:
    dataset, other = factories.make_dataset(name="known"), factories.make_dataset(name="other")
    for of, version in ((dataset, "1.0"), (dataset, "1.1"), (other, "9.0")):
        Release.objects.create(dataset=of, version=version)
    with pytest.raises(CommandError, match=r"there is no release '9.0' of known; there are: 1.1, 1.0$"):
        run("export_dataset", "known", "jsonl", tmp_path / "out", "--release", "9.0")
    with pytest.raises(CommandError, match=r"there is no release '9.0' of empty; there are: none yet"):
        run("export_dataset", factories.make_dataset(name="empty").name, "jsonl", tmp_path / "out", "--release", "9.0")


def test_an_export_that_cannot_be_is_explained(run, tmp_path: Path) -> None:
    dataset = factories.make_conversation(turns=2).dataset
    with pytest.raises(CommandError, match="a Mind2Web task has one"):
        run("export_dataset", dataset.name, "mind2web", tmp_path / "out")


def test_statistics_as_json_are_one_line(run, good: Path) -> None:
    run("import_dataset", "mt-mind2web", good, "--name", "new")
    out, _ = run("dataset_stats", "new", "--json")
    assert out.count("\n") == 1
    stats = json.loads(out)
    assert (stats["dataset"], stats["splits"]["train"]["conversations"]) == ("new", 2)
    assert stats["bytes"]["pages"] == 8
    assert stats["bytes"]["ratio"] == round(stats["bytes"]["raw"] / stats["bytes"]["stored"], 2)
    assert stats["tokenizer"]


def test_statistics_in_words_name_the_tokenizer_and_the_ratio(run, good: Path) -> None:
    run("import_dataset", "mt-mind2web", good, "--name", "new")
    out, _ = run("dataset_stats", "new", "--all-pages")
    assert "turns per conversation     2.0" in out
    assert "pages: 8 (8 distinct), raw " in out
    assert "lengths in tokens of regex" in out


def test_statistics_of_an_unknown_dataset_are_an_error(run) -> None:
    with pytest.raises(CommandError, match="there is no dataset 'x'"):
        run("dataset_stats", "x")
