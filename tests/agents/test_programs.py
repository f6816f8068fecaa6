"""Programs that models write: what they may do, and what hostile ones do not get."""

import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.programs import confined, inside
from agents.programs.confined import ProgramCall, ProgramFailed, calls_of, observation_of
from agents.programs.inside import MOST_CALLS
from agents.recipes.literature import RECIPES
from agents.stages.plan.program import WrittenProgram
from tests.quick import first_is_quick


def written(calls: confined.ProgramCalls) -> list[tuple[str, str]]:
    return [(call.method, call.text) for call in calls.calls]


def test_calls_are_written_down_in_order() -> None:
    done = calls_of(
        "for word in 'two words'.split():\n    agent.type(word)\n"
        'agent.press("enter")\nagent.click_xpath(\'//*[@id="a"]\')'
    )
    assert done.error == ""
    assert written(done) == [("type", "two"), ("type", "words"), ("press", "enter"), ("click_xpath", '//*[@id="a"]')]


def test_what_was_done_before_an_error_counts() -> None:
    done = calls_of("agent.type('a')\n1 / 0\nagent.type('b')")
    assert (done.calls, done.error) == ((ProgramCall("type", "a"),), "ZeroDivisionError: division by zero")


def test_an_observation_is_made_of_the_state() -> None:
    code = "import re\nfrom collections import Counter\nobs = Counter(re.findall('[ab]', state)).most_common(1)[0][0]"
    assert observation_of(code, "<abb>") == "b"
    assert observation_of("def f(x):\n    return [y.upper() for y in x]\nobs = ''.join(f(state))", "äß") == "ÄSS"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x = 1", "it set no text `obs`"),
        ("obs = 5", "it set no text `obs`"),
        ("obs = agent", "name 'agent' is not defined"),
        ("obs = (", "SyntaxError"),
        ("obs = state[9999]", "IndexError"),
        ("obs = 'x' * 10**10", "more memory"),
        ("def f():\n    f()\nf()", "RecursionError"),
        ("obs = '(' * 2", None),
    ],
)
def test_what_fails_says_why(code: str, said: str | None) -> None:
    if said is None:
        assert observation_of(code, "state") == "(("
        return
    with pytest.raises(ProgramFailed, match=said):
        observation_of(code, "state")


@pytest.mark.parametrize(
    "code",
    [
        "import os",
        "import re, sys",
        "from os import path",
        "import os.path",
        "from . import confined",
        "__import__('os')",
        "open('/etc/passwd')",
        "eval('1')",
        "exec('1')",
        "getattr(agent, 'type')",
        "globals()",
        "vars()",
        "breakpoint()",
        "agent.type.__globals__",
        "().__class__.__base__.__subclasses__()",
        "(lambda: 0).__code__",
        "(x for x in ()).gi_frame.f_back",
        "import re\nre.enum",
        "import re\nre.sys.modules",
        "import collections\ncollections._sys",
        "import json\njson.codecs",
        "import operator\noperator.attrgetter('__class__')(agent)",
        "import string\nstring.Formatter().get_field('0.__class__', (agent,), {})",
        "import functools\nfunctools.update_wrapper(agent, agent.type, ('__globals__',), ())",
        "match agent.type:\n    case object(__globals__=x): pass",
        "match agent:\n    case agent(__class__=x): agent.type('out')",
        "try:\n    1 / 0\nexcept Exception as e:\n    e.__traceback__.tb_frame",
        "class A: pass",
        "from re import __class__ as namespace",
        "from re import __reduce_ex__",
        "from json import _default_encoder",
        "import re as __builtins__",
        "agent.__class__ = 1",
    ],
)
def test_names_lead_nowhere(code: str) -> None:
    """The last statement of each is what would lead out; a call behind it is never heard."""
    done = calls_of(f"{code}\nagent.type('out')")
    assert done.error
    assert done.calls == ()


def test_nothing_of_a_program_is_there_for_the_next() -> None:
    observation_of("import re\nre.findall = None\nstr = None\nobs = state", "a")
    assert observation_of("import re\nobs = str(len(re.findall('a', state)))", "aa") == "2"


def test_more_calls_than_any_task_needs_end_it() -> None:
    done = calls_of("while True:\n    try:\n        agent.type('a')\n    except Exception:\n        pass")
    assert len(done.calls) == MOST_CALLS
    assert "more than 100 calls" in done.error


@pytest.mark.slow
@first_is_quick(
    "code",
    [
        "while True:\n    pass",
        "10 ** 10 ** 10",
        "import re\nre.match('(a+)+$', 'a' * 40 + 'b')",
        "while True:\n    try:\n        while True: pass\n    except Exception:\n        pass",
    ],
)
def test_what_takes_too_long_is_killed(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "SECONDS", 1.0)
    begun = time.monotonic()
    done = calls_of(f"agent.type('a')\n{code}")
    assert time.monotonic() - begun < 5
    assert (done.calls, done.error) == ((), "it took longer than 1 s")
    assert calls_of("agent.type('a')").calls == (ProgramCall("type", "a"),), "the next one runs"


@pytest.mark.slow
def test_syntax_that_breaks_the_parser_costs_its_own_process_only() -> None:
    for code in ("(" * 5000, "-" * 50_000 + "1", "x = " + "[" * 90 + "]" * 90, "\0", "\ud800"):
        calls_of(code)
    assert calls_of("x" * 200_000).error.startswith("it is longer than")
    assert calls_of("agent.type('a')").calls == (ProgramCall("type", "a"),)


def test_calls_take_texts_alone() -> None:
    assert "takes a text" in calls_of("agent.type(5)").error
    assert "takes a text" in calls_of("agent.type('a' * 10_001)").error


def broken_out(code: str, *, filtered: bool) -> str:
    """What Python with all its names says inside the limits. `filtered`: with the filter of system calls."""
    program = textwrap.dedent(f"""
        import os, signal, socket, sys, threading
        sys.path.insert(0, {str(Path(inside.__file__).parent)!r})
        import inside
        if not {filtered}:
            inside._filter_calls = lambda: False
        confined = inside.confine(1024, 5)
        try:
            {code}
            said = "GOT OUT"
        except BaseException as error:
            said = type(error).__name__ + str(error)
        os.write(0, f"{{confined}} {{said}}".encode())
        os._exit(0)
    """)
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-I", "-B", "-c", program],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        process.wait(20)
        said = ours.recv(10_000).decode()
    return said or f"died of {process.returncode}"


FILES = ["open('/etc/passwd')", "open('/tmp/out', 'w')", "socket.create_server(('127.0.0.1', 0))", "os.listdir('/')"]
OTHERS = [
    "os.kill(os.getppid(), 0)",
    "os.fork()",
    "os.execv('/bin/true', ['true'])",
    "os.unlink('/tmp/nothing-of-that-name')",
    "os.mkdir('/tmp/made-by-a-program')",
    "os.chmod('/tmp', 0o777)",
    "os.symlink('/etc', '/tmp/made-by-a-program')",
    "threading.Thread(target=print).start()",
    "os.nice(1)",
    "signal.raise_signal(signal.SIGSTOP)",
]


@pytest.mark.parametrize("code", FILES)
def test_no_file_and_no_socket_is_opened_even_without_the_filter(code: str) -> None:
    said = broken_out(code, filtered=False)
    assert said.startswith("False OSError[Errno 24]"), said


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux filters system calls")
@pytest.mark.parametrize("code", FILES + OTHERS)
def test_the_kernel_refuses_what_goes_beyond_memory_and_time(code: str) -> None:
    said = broken_out(code, filtered=True)
    assert said.startswith("True "), said
    assert "GOT OUT" not in said


def test_the_filter_is_on_where_programs_run() -> None:
    assert confined._answer("agent.type('a')", None)["confined"] is True


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux ends children with their parent")
def test_a_program_ends_with_whoever_started_it() -> None:
    """A worker that is killed leaves nothing behind, even where a program has the time of a minute."""
    code = "from agents.programs import confined\nconfined.SECONDS = 60.0\nconfined.calls_of('while True: pass')"
    worker = subprocess.Popen([sys.executable, "-c", code], cwd=Path(inside.__file__).parents[2])
    try:
        program = wait_for(lambda: next(iter(busy_children(worker.pid)), None))
    finally:
        worker.kill()
        worker.wait()
    assert program
    assert wait_for(lambda: not Path(f"/proc/{program}").exists() or None)


def busy_children(parent: int) -> list[int]:
    """Those that run a program already: the filter is on."""
    found = []
    for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        if "Seccomp:\t2" in Path(f"/proc/{child}/status").read_text():
            found.append(int(child))
    return found


def wait_for(look: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if (found := look()) is not None:
            return found
        time.sleep(0.02)
    return None


@pytest.fixture
def unfiltered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A system whose kernel filters no system calls."""
    source = Path(inside.__file__).read_text()
    without = source.replace("    return _filter_calls()", "    return False")
    assert without != source
    (tmp_path / "inside.py").write_text(without)
    monkeypatch.setattr(confined, "INSIDE", tmp_path / "inside.py")
    confined.lacking.cache_clear()
    yield
    confined.lacking.cache_clear()


@pytest.mark.slow
def test_without_the_filter_no_program_runs_unless_an_operator_says_so(unfiltered, monkeypatch) -> None:
    done = calls_of("agent.type('a')")
    assert done.calls == ()
    assert "does not filter their system calls" in done.error
    with pytest.raises(ProgramFailed, match="do not run here"):
        observation_of("obs = state", "a")
    monkeypatch.setattr(confined, "RUN_UNCONFINED", True)
    assert calls_of("agent.type('a')").calls == (ProgramCall("type", "a"),)


def test_a_recipe_that_runs_programs_says_so_before_it_runs(unfiltered, monkeypatch) -> None:
    (why,) = WrittenProgram.lacking(RECIPES["synapse-miniwob"])
    assert "PROGRAM_UNCONFINED=true" in why
    confined.lacking.cache_clear()
    monkeypatch.undo()
    assert WrittenProgram.lacking(RECIPES["synapse-miniwob"]) == []


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b"{",
        b'{"calls": [["shutdown", "a"]], "error": "", "obs": null}',
        b'{"calls": [["type", 5]], "error": "", "obs": null}',
        b'{"calls": [["type", "a"]], "error": 5, "obs": null}',
        b'{"calls": ' + b"[" * 100_000,
        b'{"calls": [' + b'["type", "a"],' * 101 + b'["type", "a"]], "error": "", "obs": null}',
    ],
)
def test_an_answer_that_no_program_gives_is_not_believed(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that broke out of its names can write what it likes to the app."""
    monkeypatch.setattr(confined, "_exchange", lambda request: answer)
    assert calls_of("").calls == ()
    assert calls_of("").error.startswith("its process")


def test_an_endless_answer_is_cut(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    endless = tmp_path / "inside.py"
    endless.write_text("import os\nwhile True: os.write(0, b'x' * 65536)")
    monkeypatch.setattr(confined, "INSIDE", endless)
    assert "answered more than" in calls_of("").error
