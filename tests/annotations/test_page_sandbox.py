"""Foreign pages are read by processes that may be killed: what overruns is one bad page, and the next one is read."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from annotations.datasets.mind2web import read
from annotations.datasets.records import BadRecord, ConversationRecord
from annotations.dom.generated import list_page
from annotations.dom.limits import PageError
from annotations.dom.marks import Mark
from annotations.dom.render import render_page
from annotations.dom.tree import node_ids, parse
from annotations.sandbox import deadline, page_questions, processes
from annotations.sandbox.deadline import page_deadline
from annotations.sandbox.processes import PagesBusy, PageTooHeavy, Pool
from annotations.sandbox.reading import FUNCTIONS

PAGE = '<html backend_node_id="1"><body backend_node_id="2"><text backend_node_id="3">Hello</text></body></html>'


@pytest.fixture
def pool():
    made = Pool(processes=1, seconds=0.7, memory_mb=700)
    made.call("outline", PAGE.encode())  # started
    yield made
    made.close()


# Takes minutes: nearly two thousand candidates around many texts, all of which are read anew for each.
HANGS = "<div backend_node_id='1'>" * 1900 + "<text>word word</text>" * 30_000 + "</div>" * 1900
VIEW = {"tab": "page", "gold": [], "candidates": ["1"]}


HANGS_IN_C = """
import hashlib, sys
from annotations.sandbox import deadline
deadline.GRACE = 0.3
if sys.argv[1] == "worker":
    deadline.end_what_hangs()
with deadline.page_deadline(30):
    pass
with deadline.page_deadline(0.3):
    hashlib.pbkdf2_hmac("sha256", b"", b"", int(sys.argv[2]))  # one call, which looks at no signal
"""


def hang(kind: str, size: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HANGS_IN_C, kind, str(size)]
    return subprocess.run(command, cwd=processes.ROOT, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.slow
def test_a_worker_that_hangs_where_no_signal_is_seen_is_ended_and_says_where() -> None:
    ended = hang("worker", 2_000_000_000)  # many minutes
    assert ended.returncode == 1
    assert ended.stderr.startswith("Timeout (0:00:00.6")
    assert 'File "<string>", line 10 in <module>' in ended.stderr


@pytest.mark.slow
def test_other_processes_are_not_ended_and_the_page_fails_when_the_call_returns() -> None:
    ended = hang("command", 4_000_000)
    assert "PageTooHeavy: the page was given up: it took longer than 0.3 s" in ended.stderr
    assert "Timeout" not in ended.stderr


def test_every_worker_process_asks_for_that() -> None:
    from celery.signals import worker_process_init

    from webnav_site import celery

    assert celery.end_pages_that_hang in [receiver() for _, receiver in worker_process_init.receivers]


def test_answers_are_those_of_the_functions_themselves() -> None:
    html, ids = list_page(300)
    assert page_questions.outline(html) == node_ids(parse(html))
    document = FUNCTIONS["render"](html.encode(), marks=[[ids[0], "gold", ""]])
    assert page_questions.rendered(html, marks=[Mark(ids[0], "gold")]) == document
    assert page_questions.tags(PAGE) == {"1": "html", "2": "body", "3": "text"}
    assert "Hello" in render_page(PAGE)


def test_a_malformed_page_is_an_error_with_its_reason() -> None:
    with pytest.raises(PageError, match="not well-formed XML"):
        page_questions.outline("<a>")
    assert page_questions.outline(PAGE) == ["1", "2", "3"]


def test_many_small_pages_are_asked_about_at_once() -> None:
    pages = [f'<a backend_node_id="{number}"><b backend_node_id="x"/></a>' for number in range(50)]
    calls = processes.pool._free[0].calls
    page_questions.prepare([*pages, "<not xml"])
    assert [page_questions.outline(page) for page in pages] == [[str(number), "x"] for number in range(50)]
    assert processes.pool._free[0].calls == calls + 1
    with pytest.raises(PageError):
        page_questions.outline("<not xml")


@pytest.mark.slow
@pytest.mark.timed
def test_a_page_that_takes_too_long_is_given_up_and_the_next_one_is_read(pool) -> None:
    begun = time.monotonic()
    with pytest.raises(PageTooHeavy, match="took longer"):
        pool.call("step_view", HANGS.encode(), **VIEW)
    assert time.monotonic() - begun < 10
    assert pool.call("outline", PAGE.encode()) == b'["1","2","3"]'


@pytest.mark.slow
@pytest.mark.timed
def test_a_page_that_overran_is_not_tried_again_at_once(pool) -> None:
    for _ in range(2):
        begun = time.monotonic()
        with pytest.raises(PageTooHeavy):
            pool.call("step_view", HANGS.encode(), **VIEW)
    assert time.monotonic() - begun < 0.5


@pytest.mark.slow
def test_a_page_that_takes_too_much_memory_is_given_up_and_the_next_one_is_read(pool) -> None:
    pool.seconds = 20
    with pytest.raises(PageError):
        pool.call("outline", b"<a>" + b"<b c='d'/>" * 4_000_000 + b"</a>")
    assert pool.call("outline", PAGE.encode()) == b'["1","2","3"]'


def test_a_process_that_was_killed_is_replaced(pool) -> None:
    os.kill(pool._free[0]._popen.pid, signal.SIGKILL)
    with pytest.raises(PageTooHeavy, match="came to its end"):
        pool.call("outline", b"<a/>")
    assert pool.call("outline", PAGE.encode()) == b'["1","2","3"]'


def test_a_reader_waits_for_a_process_and_is_told_when_none_comes_free(pool) -> None:
    pool.seconds = 0.1
    assert pool._slots.acquire()
    with pytest.raises(PagesBusy, match="try again"):
        pool.call("outline", PAGE.encode())
    pool._slots.release()


def test_many_threads_get_their_own_answers() -> None:
    found = {}

    def ask(number: int) -> None:
        found[number] = page_questions.outline(f'<a backend_node_id="{number}"/>')

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [str(number)] for number in range(20)}


def test_the_processes_see_no_secret_and_end_with_the_app(tmp_path) -> None:
    code = (
        "import os, sys; os.environ['SECRET_KEY'] = 'x'\n"
        "from annotations.sandbox import page_questions, processes as sandbox\n"
        "page_questions.outline('<a/>')\n"
        "pid = sandbox.pool._free[0]._popen.pid\n"
        "print(pid, 'SECRET_KEY' in open(f'/proc/{pid}/environ').read(), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=processes.ROOT
    ).stdout.split()
    assert told[1] == "False"
    ends = time.monotonic() + 10
    while Path(f"/proc/{told[0]}").exists() and time.monotonic() < ends:
        time.sleep(0.05)
    assert not Path(f"/proc/{told[0]}").exists()


@pytest.mark.slow
def test_a_forked_child_leaves_the_processes_of_its_parent_alone() -> None:
    page_questions.outline("<a/>")
    if (child := os.fork()) == 0:
        answered = page_questions.outline('<b backend_node_id="9"/>') == ["9"]
        processes.pool.close()
        os._exit(0 if answered else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert page_questions.outline('<c backend_node_id="8"/>') == ["8"]


@pytest.mark.slow
def test_an_import_reports_the_page_that_overruns_and_lands_the_others(tmp_path, monkeypatch) -> None:
    import json

    heavy = "<a>" + "<b/>" * 3_000_000 + "</a>"
    tasks = [_task("first", PAGE), _task("heavy", heavy), _task("last", PAGE)]
    file = tmp_path / "train_0.json"
    file.write_text(json.dumps(tasks))
    tight = Pool(processes=1, seconds=20, memory_mb=400)
    monkeypatch.setattr(processes, "pool", tight)
    records = list(read(file))
    tight.close()
    assert [type(record) for record in records] == [ConversationRecord, BadRecord, ConversationRecord]
    assert records[1].field == "actions[0].cleaned_html" or "cleaned_html" in records[1].field


def _task(name: str, html: str) -> dict:
    candidate = {"tag": "body", "backend_node_id": "2", "attributes": "{}"}
    action = {
        "action_uid": name,
        "raw_html": "",
        "cleaned_html": html,
        "operation": {"op": "CLICK", "value": ""},
        "pos_candidates": [candidate],
        "neg_candidates": [],
    }
    return {
        "annotation_id": name,
        "website": "a",
        "domain": "b",
        "subdomain": "c",
        "confirmed_task": "Do it",
        "action_reprs": ["x"],
        "actions": [action],
    }


class _Finalized:
    """Its finalizer takes a second; what is raised there is only written down by Python."""

    def __del__(self) -> None:
        time.sleep(1)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_limit_that_is_reached_in_a_finalizer_is_told_again(monkeypatch) -> None:
    monkeypatch.setattr(deadline, "AGAIN", 0.1)

    def hang() -> None:
        [_Finalized()].clear()
        time.sleep(3)

    with pytest.raises(PageTooHeavy, match="took longer"), page_deadline(0.2):
        hang()


@pytest.mark.timed
def test_a_worker_gives_a_page_up_in_its_own_process_too() -> None:
    begun = time.monotonic()
    with pytest.raises(PageTooHeavy, match="took longer"), page_deadline(0.2), page_deadline(99):
        time.sleep(9)
    assert time.monotonic() - begun < 5
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_limit_that_is_reached_in_the_last_finalizer_is_not_forgotten() -> None:
    with pytest.raises(PageError, match="took longer"), page_deadline(0.02):
        [_Finalized()].clear()


def test_a_step_whose_page_overruns_fails_alone(monkeypatch) -> None:
    from agents.words.trajectory_page import page_text

    html, ids = list_page(20_000)
    monkeypatch.setattr(deadline, "SECONDS", 0.02)
    with pytest.raises(PageError, match="took longer"):
        page_text(html, ids)
