"""The sample in WebLINX's format: what its demonstrations hold, and that they are imported and measured."""

import json
import struct
import zlib
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import weblinx
from django.contrib.auth import authenticate, get_user_model

from annotations.corpus.exporting import export_dataset
from annotations.corpus.importing import import_files
from annotations.corpus.statistics import dataset_stats
from annotations.corpus.weblinx_turns import replay_turns
from annotations.datasets.weblinx.turns import active_turns, page_name, uid_of, viewport_of
from annotations.dom.weblinx_page import candidates
from annotations.models import Dataset, Job, Project, Step, Target
from annotations.releases.datasheet import statistics_table
from annotations.sample.build import SCRIPTS, SITES, build_website
from annotations.sample.project import DEMO_ACCOUNTS, DEMO_FOUND, demo_passwords, order_sample, parts
from annotations.sample.script import read_script
from annotations.sample.weblinx import DEMONSTRATIONS, HEIGHT, WIDTH, build
from annotations.tasks import run_job
from tests import factories
from tests.annotations import weblinx_folder as demo

CHOSEN = "willowclinic-low-ferritin"


pytestmark = pytest.mark.slow  # the demonstrations are built twice


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demonstrations of two websites."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("out")
    for website in ("willowclinic", "nordline"):
        build_website(website, source)
    assert build(source, out)["demonstrations"] == 5
    return out


@pytest.fixture(scope="module")
def turns(folder: Path) -> dict[str, list[weblinx.Turn]]:
    """The turns of every demonstration as the published package reads them."""
    found = weblinx.list_demonstrations(str(folder), valid_only=True)
    return {item.name: list(weblinx.Replay.from_demonstration(item)) for item in found}


def test_every_demonstration_is_a_conversation_of_the_sample() -> None:
    sites = {item.name: site for site in SITES for item in read_script(SCRIPTS / f"{site}.txt")}
    assert set(DEMONSTRATIONS) <= set(sites)
    train = {sites[name] for name, split in DEMONSTRATIONS.items() if split == "train"}
    for name, split in DEMONSTRATIONS.items():
        if split in ("test_web", "test_geo", "test_cat"):
            assert sites[name] not in train
    assert set(DEMONSTRATIONS.values()) == {
        "train",
        "valid",
        "test_iid",
        "test_web",
        "test_cat",
        "test_geo",
        "test_vis",
    }


def test_it_has_chat_clicks_texts_changes_loads_and_scrolls(turns: dict[str, list[weblinx.Turn]]) -> None:
    intents = {turn.intent for found in turns.values() for turn in found}
    assert intents == {None, "click", "textInput", "change", "load", "scroll"}
    for found in turns.values():
        assert [turn.get("speaker") for turn in found[:3]] == ["instructor", "navigator", "instructor"]
        assert found[-1]["speaker"] == "navigator"
        times = [turn.timestamp for turn in found]
        assert times == sorted(set(times))
        assert all(turn.validate() for turn in found)


def test_every_target_is_in_the_window_under_the_mouse(turns: dict[str, list[weblinx.Turn]]) -> None:
    checked = scrolled = 0
    for turn in (turn for found in turns.values() for turn in found if uid_of(turn)):
        box = turn.bboxes[uid_of(turn)]
        assert turn.element["bbox"] == box
        assert box["left"] <= turn.mouse_x <= box["right"]
        assert box["top"] <= turn.mouse_y <= box["bottom"]
        assert 0 <= turn.mouse_y <= HEIGHT
        assert viewport_of(turn) == (WIDTH, HEIGHT)
        kept = list(candidates(turn.bboxes, turn.bboxes, viewport_of(turn)))
        assert uid_of(turn) in kept
        assert len(kept) < len(turn.bboxes)  # the filter leaves something out
        assert turn.get_xpaths_dict()[uid_of(turn)] == turn.element["xpath"]
        scrolled += any(other["y"] < 0 for other in turn.bboxes.values())
        checked += 1
    assert checked > 40
    assert scrolled > 3


def test_all_navigator_turns_are_active(turns: dict[str, list[weblinx.Turn]]) -> None:
    """Those after the first screenshot: action models have something to learn from."""
    for found in turns.values():
        navigator = [i for i, turn in enumerate(found) if turn.get("speaker") != "instructor"]
        assert list(active_turns(found)) == navigator[1:]  # the greeting precedes every screenshot


def test_screenshots_show_the_boxes(turns: dict[str, list[weblinx.Turn]]) -> None:
    turn = next(turn for turn in turns[CHOSEN] if turn.intent == "click")
    width, height, rows = grey_image(Path(turn.get_screenshot_path()).read_bytes())
    assert (width, height) == (WIDTH // 4, HEIGHT // 4)
    box = turn.element["bbox"]
    left, right, top = round(box["left"] / 4), round(box["right"] / 4), round(box["top"] / 4)
    assert set(rows[top][left : right + 1]) == {0x50}  # the upper edge of the element that is clicked
    assert {0xFF, 0xC8} <= {pixel for row in rows for pixel in row}


def grey_image(png: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and rows of a grey PNG of one data chunk without filters."""
    width, height, depth, colour = struct.unpack(">IIBB", png[16:26])
    assert (depth, colour) == (8, 0)
    (length,) = struct.unpack(">I", png[33:37])
    assert png[37:41] == b"IDAT"
    data = zlib.decompress(png[41 : 41 + length])
    lines = [data[i : i + width + 1] for i in range(0, len(data), width + 1)]
    assert {line[0] for line in lines} == {0}
    return width, height, [line[1:] for line in lines]


def test_the_same_sources_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    build_website("nordline", tmp_path / "source")
    build(tmp_path / "source", tmp_path / "out")
    again = demo.tree(tmp_path / "out")
    again.pop("splits.json")
    before = demo.tree(folder)
    assert again == {path: data for path, data in before.items() if path.startswith("nordline")}
    splits = json.loads((folder / "splits.json").read_text())
    assert (splits["dev"], splits["test_iid"]) == (["willowclinic-polish-speaking", CHOSEN], [CHOSEN])


@pytest.mark.django_db
def test_it_is_imported_measured_and_exported(folder: Path, tmp_path: Path) -> None:
    dataset = factories.make_dataset(source_format="weblinx")
    report = import_files("weblinx", folder, dataset)
    assert (report.errors, report.conversations) == ([], 5)
    assert not Target.objects.filter(pruned=True).exists()
    conversation = dataset.conversations.get(source_id=CHOSEN)
    assert (conversation.website.name, conversation.split) == ("willowclinic", "test_iid")
    replay = replay_turns(conversation)
    for step in Step.objects.filter(turn__conversation=conversation).prefetch_related("targets"):
        turn = replay[step.source_index]
        assert [target.node_id for target in step.targets.all()] == list(filter(None, [uid_of(turn)]))
        assert bool(step.snapshot) == bool(page_name(turn))
    stats = dataset_stats(dataset)["splits"]["test_iid"]
    instructor = [turn["utterance"] for turn in replay if turn.get("speaker") == "instructor"]
    assert stats["instructor_turns"] == len(instructor)
    assert stats["navigator_turns"] == len(replay) - len(instructor) == stats["steps"]
    assert stats["active_turns"] == len(list(active_turns(replay)))
    assert stats["seconds_per_conversation"] == round(replay[-1]["timestamp"] - replay[0]["timestamp"], 2)
    said = [turn["utterance"] for turn in replay if turn.get("speaker") == "navigator"]
    assert stats["turns_of_both_per_conversation"] == len(replay)
    assert stats["instructor_turns_per_conversation"] == len(instructor)
    assert stats["navigator_utterances_per_conversation"] == len(said) < stats["navigator_turns"]
    assert stats["instructor_utterance_characters"] == round(fmean(map(len, instructor)), 2)
    assert stats["navigator_utterance_characters"] == round(fmean(map(len, said)), 2)
    shown = dict(statistics_table({"splits": {"test_iid": stats}})[1])
    assert shown["Navigator utterance, characters"] == [f"{stats['navigator_utterance_characters']:,}"]
    assert shown["Turns of both speakers / conversation"] == [f"{len(replay):,}.0"]
    assert 3 < stats["instructor_utterance_tokens"] < 40
    assert 3 < stats["navigator_utterance_tokens"] < 10
    export_dataset(dataset, "weblinx", tmp_path / "out")
    assert demo.tree(tmp_path / "out") == demo.tree(folder)


@pytest.mark.django_db
def test_statistics_of_chat_rows_leave_out_what_they_do_not_tell() -> None:
    dataset = factories.make_dataset(source_format="weblinx")
    factories.make_conversation(dataset=dataset, split="valid")
    stats = dataset_stats(dataset)["splits"]["valid"]
    unknown = (
        *("active_turns", "instructor_turns", "instructor_utterance_tokens", "seconds_per_conversation"),
        *("instructor_utterance_characters", "turns_of_both_per_conversation", "instructor_turns_per_conversation"),
    )
    assert {stats[name] for name in unknown} == {None}
    other = dataset_stats(factories.make_conversation(split="train").dataset)["splits"]["train"]
    assert "active_turns" not in other


@pytest.mark.django_db
def test_the_sample_is_ordered_once_and_built_by_a_worker(tmp_path: Path, settings: Any) -> None:
    settings.VAR_DIR = tmp_path
    for other in set(parts()) - {"sample-weblinx"}:  # an installation that has the other parts already
        (tmp_path / f"{other}-loaded").touch()
    job = order_sample()
    assert job is not None
    assert (job.kind, job.queue_of(job.kind), Dataset.objects.count()) == ("sample", "io", 0)
    assert order_sample() is None
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.live().fields["headline"]) == (Job.State.DONE, "The sample is ready")
    (loaded,) = Project.objects.get(slug="sample").datasets.all()
    assert (loaded.name, loaded.source_format) == ("sample-weblinx", "weblinx")
    assert dict(loaded.conversations.values_list("source_id", "split")) == DEMONSTRATIONS
    loaded.conversations.all().delete()
    loaded.delete()
    assert order_sample() is None  # deleted by people: it does not come back


@pytest.mark.django_db
def test_the_demo_accounts_are_there_before_the_sample_is(tmp_path: Path, settings: Any) -> None:
    """Who opens the first page signs in while the datasets are built."""
    settings.VAR_DIR = tmp_path
    assert order_sample() is not None
    passwords = json.loads((tmp_path / "secrets" / DEMO_ACCOUNTS).read_text())
    assert set(passwords) == {"admin", "annotator", "reviewer"}
    assert all(authenticate(username=name, password=password) for name, password in passwords.items())
    for marker in tmp_path.glob("*-loaded"):  # a start that was killed before it noted what it had ordered
        marker.unlink()
    order_sample()
    assert json.loads((tmp_path / "secrets" / DEMO_ACCOUNTS).read_text()) == passwords


@pytest.mark.django_db
def test_demo_passwords_that_are_told_at_each_start_are_compared_once(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR_DIR = tmp_path
    assert demo_passwords() == {}
    order_sample()
    made = json.loads((tmp_path / "secrets" / DEMO_ACCOUNTS).read_text())
    assert demo_passwords() == made
    assert not [path for path in (tmp_path / "secrets").iterdir() if path.stat().st_mode & 0o077]
    with monkeypatch.context() as nothing_is_compared:
        nothing_is_compared.setattr(get_user_model(), "check_password", None)
        assert demo_passwords() == made
    reviewer = get_user_model().objects.get(username="reviewer")
    reviewer.set_password("one of their own")
    reviewer.save()
    assert demo_passwords() == {name: made[name] for name in ("admin", "annotator")}
    (tmp_path / "secrets" / DEMO_FOUND).write_text('{"admin": ')  # a disk that was full
    get_user_model().objects.get(username="annotator").delete()
    assert demo_passwords() == {"admin": made["admin"]}
