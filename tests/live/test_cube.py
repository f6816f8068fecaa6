"""CUBE's tasks with the real packages."""

from collections.abc import Iterator

import pytest

from agents.environments.harnesses.cube_tasks import NotInCube, cube_actions
from agents.environments.process import EnvironmentProcess
from agents.environments.protocol import NoSuchTask
from agents.environments.task_sets import TASKS
from agents.types import Action
from tests.live.other_pythons import CUBE, python
from tests.live.test_environment import are_gone, browsers_of, node


@pytest.fixture
def cube(has_chromium, tmp_path_factory, monkeypatch) -> Iterator[EnvironmentProcess]:
    monkeypatch.setenv("CUBE_PYTHON", python("CUBE_PYTHON", CUBE, tmp_path_factory.mktemp("cube"), (3, 12)))
    process = EnvironmentProcess("cube")
    yield process
    process.close()


@pytest.mark.slow
@pytest.mark.browser
def test_its_tasks_are_played_to_their_reward(cube) -> None:
    assert "miniwob.login-user" in cube.tasks()
    with pytest.raises(NoSuchTask, match="CUBE has no task"):
        cube.reset("miniwob.no-such", 0)
    start = cube.reset("miniwob.login-user", 0)
    name, password = start.instruction.split('"')[1::2]
    field = node(start, "[textbox]  Username")
    for text in ("wrong", name):  # the second takes the place of the first
        cube.step(Action("TYPE", field, text))
    missed = cube.step(Action("CLICK", "999"))
    assert (missed.words, missed.done) == ("not done: element 999 is not on the page any more", False)
    cube.step(Action("TYPE", node(start, "[textbox]  Password"), password))
    shown = next(one for one in cube.window().fields if one.value == name)
    assert cube.at(shown.left + 2, shown.top + 2) == shown.node_id
    end = cube.step(Action("CLICK", node(start, "[button]  Login")))
    assert (end.done, end.reward) == (True, 1.0)
    start = cube.reset("miniwob.choose-list", 0)
    wanted = start.instruction.removeprefix("Select ").partition(" from")[0]
    cube.step(Action("CLICK", node(start, f"[option]  {wanted}")))
    assert cube.step(Action("CLICK", node(start, "[button]  Submit"))).reward == 1.0
    started = browsers_of(cube.pid)
    cube.close()
    assert are_gone(started)


def test_where_it_is_not_it_says_so(monkeypatch) -> None:
    monkeypatch.delenv("CUBE_PYTHON", raising=False)
    with pytest.raises(NoSuchTask, match="CUBE_PYTHON names the Python of a virtual environment that has miniwob-cube"):
        TASKS["cube"]()


AT = {"selector": '[data-webnav="7"]'}


@pytest.mark.parametrize(
    ("action", "is_list", "names"),
    [
        (Action("CLICK", "7"), False, [("browser_click", AT)]),
        (Action("CLICK", None, point=(3.6, 4.0)), False, [("browser_mouse_click_xy", {"x": 4, "y": 4})]),
        (Action("SELECT", "7", "x"), True, [("browser_select_option", AT | {"value": "x"})]),
        (
            Action("TYPE", "7", "x"),
            False,
            [
                ("browser_click", AT),
                ("browser_press_key", {"key": "Control+a"}),
                ("browser_type", AT | {"text": "x"}),
            ],
        ),
        (Action("HOVER", "7"), False, [("browser_hover", AT)]),
        (Action("PRESS", None, "Enter"), False, [("browser_press_key", {"key": "Enter"})]),
        (
            Action("DRAG", "7", "8"),
            False,
            [("browser_drag", {"from_selector": '[data-webnav="7"]', "to_selector": '[data-webnav="8"]'})],
        ),
        (Action("STOP"), False, [("final_step", {})]),
    ],
)
def test_actions_are_said_in_cubes(action, is_list, names) -> None:
    assert [(one["name"], one["arguments"]) for one in cube_actions(action, None, is_list)] == names


@pytest.mark.parametrize("action", [Action("CLICK"), Action("DRAG", "7", "4,5"), Action("COPY", "7")])
def test_what_cube_has_no_action_for_is_said(action) -> None:
    with pytest.raises(NotInCube):
        cube_actions(action)
