"""A page that holds too much is refused with its reason before it is parsed, whichever way it comes in."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agents.weblinx.pages import parse_page
from annotations.corpus.importing import ImportReport, import_files
from annotations.corpus.storable import MAX_WORDING, check
from annotations.datasets import writer
from annotations.datasets.records import StepRecord, TurnRecord
from annotations.dom import limits
from annotations.dom.limits import MAX_ATTRIBUTES, MAX_TAGS, PageError, check_size
from annotations.dom.tree import parse
from tests.annotations.small_files import conversation, record, write
from tests.annotations.test_weblinx_chat import CLEAN
from tests.annotations.test_weblinx_chat import row as chat_row
from tests.annotations.weblinx_folder import PAGE as RECORDING
from tests.annotations.weblinx_folder import write_demo
from tests.factories import make_dataset

MANY = "<a/>" * MAX_TAGS
TOO_MANY = "at most 1,000,000 are read"


def page(content: str) -> str:
    return f'<html backend_node_id="1">{content}</html>'


def test_tags_attributes_and_characters_are_limited(monkeypatch) -> None:
    with pytest.raises(PageError, match=r"the page has 1,000,002 tags, at most 1,000,000 are read"):
        parse(page(MANY))
    with pytest.raises(PageError, match=r"attributes, at most 2,000,000 are read"):
        check_size(f"<a {'b=' * MAX_ATTRIBUTES} c=''/>")
    monkeypatch.setattr(limits, "MAX_PAGE_CHARS", 20)
    with pytest.raises(PageError, match=r"at most 20 are read"):
        check_size("<a>" + "x" * 20)


def test_pages_that_are_read_as_html_have_the_same_limits() -> None:
    with pytest.raises(PageError, match=TOO_MANY):
        parse_page(page(MANY))


def _mind2web(folder: Path, **fields: str) -> str:
    whole = conversation("bad")
    whole["turns"][0]["actions"][0].update(fields)
    write(folder / "train.json", [conversation("good"), whole])
    return "mt-mind2web"


def _tasks(folder: Path, html: str) -> str:
    tasks = []
    for name in ("good", "bad"):
        whole = conversation(name, turns=1)
        turn = whole.pop("turns")[0] | {"annotation_id": name}
        whole.pop("task_id")
        tasks.append(whole | turn)
    tasks[1]["actions"][0]["cleaned_html"] = html
    write(folder / "train_0.json", tasks)
    return "mind2web"


def _own(folder: Path, html: str) -> str:
    with (folder / "a.jsonl").open("wb") as out:
        writer("jsonl")([record("good"), record("bad", html=html)], out)
    return "jsonl"


def _recording(folder: Path, html: str) -> str:
    write_demo(folder, "hijklmn")
    demo = write_demo(folder)
    (demo / "pages" / "page-0-0.html").write_text(RECORDING.replace("<h1>", html + "<h1>"), "utf-8")
    return "weblinx"


def _chat(folder: Path, html: str) -> str:
    rows = [chat_row("good", 1, "scroll(x=0, y=2)"), chat_row("bad", 1, "scroll(x=0, y=2)", clean_html=html)]
    (folder / "train.jsonl").write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return "weblinx"


WAYS = {
    "mt-mind2web": lambda folder: _mind2web(folder, cleaned_html=page(MANY)),
    "recorded beside it": lambda folder: _mind2web(folder, raw_html=page(MANY)),
    "seen after it": lambda folder: _mind2web(folder, html_after=page(MANY)),
    "mind2web": lambda folder: _tasks(folder, page(MANY)),
    "jsonl": lambda folder: _own(folder, page(MANY)),
    "weblinx demonstration": lambda folder: _recording(folder, MANY),
    "weblinx chat": lambda folder: _chat(folder, CLEAN.replace("(h1", "(b)" * MAX_TAGS + "(h1")),
}


def _imported(folder: Path, name: str) -> ImportReport:
    return import_files(name, folder, make_dataset(source_format=name))


@pytest.mark.django_db
@pytest.mark.parametrize("way", WAYS)
def test_an_import_names_the_page_and_keeps_the_rest(way, tmp_path) -> None:
    report = _imported(tmp_path, WAYS[way](tmp_path))
    assert report.conversations == 1
    assert [error for error in report.errors if TOO_MANY in error["message"]], report.errors


@pytest.mark.django_db
@pytest.mark.parametrize("field", ["instruction", "value", "action_repr"])
def test_words_that_a_tokenizer_would_read_for_minutes_are_refused(field, tmp_path) -> None:
    whole, words = record("bad"), "a " * (MAX_WORDING // 2 + 1)
    (turn,), step = whole.turns, whole.turns[0].steps[0]
    if field == "instruction":
        turn = TurnRecord(turn.source_id, words, turn.steps)
    else:
        turn = TurnRecord(turn.source_id, turn.instruction, (replace(step, **{field: words}),))
    with (tmp_path / "a.jsonl").open("wb") as out:
        writer("jsonl")([record("good"), replace(whole, turns=(turn,))], out)
    report = _imported(tmp_path, "jsonl")
    assert (report.conversations, report.error_count) == (1, 1)
    assert report.errors[0]["field"].endswith(field)
    assert report.errors[0]["message"] == "expected at most 1,000,000 characters, found 1,000,002"


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.timed
def test_ids_of_a_conversation_with_many_steps_are_compared_in_one_pass() -> None:
    from time import process_time

    steps = tuple(StepRecord(f"s{number}", "CLICK") for number in range(40_000))
    begun = process_time()
    check(replace(record("a"), turns=(TurnRecord("t", "Find it", steps),)), "train")
    assert process_time() - begun < 5
