"""Text that others wrote is read in time that grows as it does. `tests/test_patterns.py` tries the patterns by
themselves; here are the functions around them, on the texts that once took minutes."""

import time

import pytest

from agents.learned.history import read_history
from agents.types import PastAction
from annotations.datasets.weblinx.chat import _newest, parse_call
from annotations.dom.limits import PageError
from annotations.dom.tree import parse
from annotations.dom.weblinx_page import parse_html
from annotations.work.decompose.cuts import face_of

MANY = 200_000
SAY = 'say(speaker="instructor", utterance="'


def _parse(html: str) -> None:
    with pytest.raises(PageError):
        parse(html)


def _history(text: str) -> None:
    read_history([PastAction("1", "CLICK", "", text)])


HOSTILE = {
    "a page of spaces before a declaration": (_parse, "<?xml" + " " * MANY + "<"),
    "a page of declarations": (_parse, "<?xml " * MANY),
    "a recording of spaces": (parse_html, " " * MANY + "<p>a</p>"),
    "a recording of declarations": (parse_html, "<?xml " * MANY),
    "an utterance of spaces": (lambda text: _newest("", text), "[00:01] a" + " " * MANY + "b"),
    "calls without an end": (lambda text: _newest(text, ""), SAY * 20_000),
    "a call of quotes": (parse_call, "click(" + 'a="' * MANY + ")"),
    "a call of names": (parse_call, "click(" + "a=" * MANY + '")'),
    "an action of spaces": (_history, "[a]" + " " * MANY + "b"),
    "titles without an end": (face_of, "<title" * MANY),
}


@pytest.mark.timed
@pytest.mark.parametrize(("function", "text"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_read_at_once(function, text) -> None:
    begun = time.thread_time()
    function(text)
    assert time.thread_time() - begun < 1.5


def test_messages_and_arguments_are_read_as_published() -> None:
    assert _newest("", "[00:01] Hello ;  [-00:02]  find a; train ; ") == "find a; train"
    assert _newest(f'{SAY}one", timestamp="1") {SAY}two "and" three")', "[00:01] x") == 'two "and" three'
    assert parse_call('textinput(text="say "hi", x=", uid="a-b", n= 3 )') == (
        "textInput",
        {"text": 'say "hi', "x": ', uid="a-b', "n": "3"},
    )
