"""Scripts in other virtual environments, asked over a socket; and actions and pages in BrowserGym's words."""

import json
import sys
from pathlib import Path

import psutil
import pytest

from agents.environments.harnesses.bridge import Bridge, BridgedPage, HarnessError, listed, python_of
from agents.environments.harnesses.browsergym_tasks import NamedElement, Unsayable, action_text
from agents.environments.harnesses.snapshots import recorded_page
from agents.environments.protocol import EnvironmentLost, NoSuchTask
from agents.environments.task_sets import TASKS
from agents.types import Action

DATA = Path(__file__).resolve().parents[1] / "data"
SIDE = """
import json, os, socket, sys
if sys.argv[1:] == ["tasks"]:
    print("a library says hello")
    print(json.dumps(["one", os.environ["SUITE"], *(name for name in os.environ if "SECRET" in name)]))
    sys.exit()
for line in (lines := socket.socket(fileno=0).makefile("rw", encoding="utf-8", newline="\\n")):
    name, given = json.loads(line)
    print("what a library prints is no answer")
    if name == "die":
        os._exit(9)
    told = ["error", "ValueError: no"] if name == "fail" else ["answer", {"value": [name, given], "url": "http://x/"}]
    lines.write(json.dumps(told) + "\\n")
    lines.flush()
"""


@pytest.fixture
def side(tmp_path: Path) -> str:
    script = tmp_path / "side.py"
    script.write_text(SIDE)
    return str(script)


def test_a_script_answers_question_by_question_until_the_socket_ends(side) -> None:
    bridge = Bridge(sys.executable, side, {})
    process = psutil.Process(bridge._popen.pid)
    said = "line one\nline twö " * 50_000
    assert bridge.ask("reset", goal=said)["value"] == ["reset", {"goal": said}]
    with pytest.raises(HarnessError, match="ValueError: no"):
        bridge.ask("fail")
    page = BridgedPage(bridge)
    assert page.evaluate("() => 1", [2]) == ["evaluate", {"script": "() => 1", "argument": [2]}], "it goes on"
    assert page.url == "http://x/"
    bridge.close()
    assert not process.is_running()


def test_a_script_that_dies_is_lost(side) -> None:
    bridge = Bridge(sys.executable, side, {})
    with pytest.raises(EnvironmentLost, match="has ended"):
        bridge.ask("die")
    bridge.close()


def test_tasks_are_told_without_a_browser_or_why_not(side, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "x")
    found = listed(sys.executable, side, frozenset({("SUITE", "two")}))
    assert found == ("one", "two"), "and it sees no secret of the app's"
    with pytest.raises(NoSuchTask, match=r"does not tell its tasks: KeyError: 'SUITE'"):
        listed(sys.executable, side, frozenset())
    monkeypatch.delenv("BROWSERGYM_PYTHON", raising=False)
    with pytest.raises(NoSuchTask, match="BROWSERGYM_PYTHON names the Python of a virtual environment"):
        TASKS["browsergym"]()
    monkeypatch.setenv("BROWSERGYM_PYTHON", str(tmp_path / "none"))
    with pytest.raises(NoSuchTask, match="is no program"):
        python_of("BROWSERGYM_PYTHON", "browsergym")
    monkeypatch.setenv("BROWSERGYM_PYTHON", sys.executable)
    with pytest.raises(NoSuchTask, match="No module named 'gymnasium'"):
        TASKS["browsergym"]()


BUTTON = NamedElement(bid="12", option=None, isList=False, point={"x": 8.0, "y": 9.6})
SHAPE = BUTTON | {"bid": None}
OPTION = NamedElement(bid="5", option='Jo "B"', isList=True, point=None)


@pytest.mark.parametrize(
    ("action", "element", "text"),
    [
        (Action("CLICK", "1"), BUTTON, 'click("12")'),
        (Action("CLICK", "1"), SHAPE, "mouse_click(8, 10)"),
        (Action("CLICK", "1", point=(3.2, 4.0)), BUTTON, "mouse_click(3, 4)"),
        (Action("CLICK", None, point=(3.2, 4.0)), None, "mouse_click(3, 4)"),
        (Action("CLICK", "1"), OPTION, 'select_option("5", "Jo \\"B\\"")'),
        (Action("TYPE", "1", 'a"\nb'), BUTTON, 'fill("12", "a\\"\\nb")'),
        (Action("TYPE", "1", "é"), OPTION | {"option": None}, 'select_option("5", "é")'),
        (Action("SELECT", "1", "x"), OPTION | {"option": None}, 'select_option("5", "x")'),
        (Action("PRESS", "1", "Enter"), BUTTON, 'press("12", "Enter")'),
        (Action("PRESS", None, "Enter"), None, 'keyboard_press("Enter")'),
        (Action("HOVER", "1"), BUTTON, 'hover("12")'),
        (Action("HOVER", "1"), SHAPE, "mouse_move(8, 10)"),
        (Action("DRAG", "1", "10,-4"), BUTTON, "mouse_drag_and_drop(8, 10, 18, 6)"),
        (Action("SCROLL", None, "40"), None, "scroll(0, 40)"),
        (Action("LOAD", None, "back"), None, "go_back()"),
        (Action("LOAD", None, "http://a.b/"), None, 'goto("http://a.b/")'),
        (Action("SAY", None, "which?"), None, 'send_msg_to_user("which?")'),
        (Action("STOP"), None, "noop(0)"),
    ],
)
def test_actions_are_said_in_browsergyms_words(action, element, text) -> None:
    assert action_text(action, element) == text


@pytest.mark.parametrize(
    ("action", "element", "words"),
    [
        (Action("CLICK"), None, "CLICK needs an element"),
        (Action("CLICK", "1"), SHAPE | {"point": None}, "something else covers it"),
        (Action("TYPE", "1", "x"), SHAPE, "TYPE cannot be done to this element"),
        (Action("SCROLL", None, "far"), None, "SCROLL takes pixels"),
        (Action("DRAG", "1", "a,b"), BUTTON, "DRAG takes an element, or pixels"),
        (Action("COPY", "1", "x"), BUTTON, "COPY cannot be done"),
    ],
)
def test_what_browsergym_has_no_action_for_is_said(action, element, words) -> None:
    with pytest.raises(Unsayable, match=words):
        action_text(action, element)


def test_a_drag_ends_on_an_element_by_its_name_or_its_place() -> None:
    other = NamedElement(bid="13", option=None, isList=False, point={"x": 1.0, "y": 2.0})
    assert action_text(Action("DRAG", "1", "2"), BUTTON, other) == 'drag_and_drop("12", "13")'
    assert action_text(Action("DRAG", "1", "2"), SHAPE, other) == "mouse_drag_and_drop(8, 10, 1, 2)"


def test_a_page_that_browsergym_has_recorded_reads_like_a_live_one() -> None:
    """Recorded with BrowserGym 0.14.3: the tasks login-user and choose-list, seed 0."""
    login, chosen = (json.loads((DATA / f"browsergym_{task}.json").read_text()) for task in ("login", "list"))
    page = recorded_page(login["dom_object"], login["url"])
    assert list(page.view.names.values()) == [
        *("[label]  Username", "[textbox]  Username", "[label]  Password", "[textbox]  Password", "[button]  Login"),
    ]
    field = next(node for node, name in page.view.names.items() if name == "[textbox]  Username")
    assert action_text(Action("TYPE", field, "ann"), page.elements[field]) == 'fill("16", "ann")'
    assert "input_value" not in page.view.html
    assert "query" not in page.view.html, "the task's own frame is no part of the page"
    page = recorded_page(chosen["dom_object"], chosen["url"])
    option = next(node for node, name in page.view.names.items() if name == "[option]  Aurie")
    assert action_text(Action("CLICK", option), page.elements[option]) == 'select_option("13", "Aurie")'
    for broken in ({}, {"strings": [], "documents": []}, {"strings": [], "documents": [{"nodes": {}, "layout": {}}]}):
        with pytest.raises(ValueError, match="no DOMSnapshot"):
            recorded_page(broken, "")
