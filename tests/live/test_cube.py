"""CUBE both ways, with the real packages: its tasks for our agents, our recipe as an agent of its tasks."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from agents.environments.browser import find
from agents.environments.harnesses.cube_tasks import NotInCube, cube_actions
from agents.environments.harnesses.told_markup import told_page
from agents.environments.process import EnvironmentProcess
from agents.environments.protocol import NoSuchTask
from agents.environments.task_sets import TASKS
from agents.live.elsewhere import EpisodesElsewhere
from agents.types import Action, Decision, Observation
from tests import factories
from tests.evaluation.workers import environment
from tests.live.other_pythons import CUBE, CUBE_HARNESS, python
from tests.live.test_environment import are_gone, browsers_of, node

ROOT = Path(__file__).resolve().parents[2]
EPISODES = """
import json, sys
from importlib.resources import files
from pathlib import Path
sys.path.append({folder!r})
from cube.testing import run_debug_episode
from cube_agent import WebNavAgent
from cube_browser_playwright import PlaywrightSessionConfig
from cube_browser_tool import PlaywrightConfig
from miniwob_cube.benchmark import MiniWobBenchmarkConfig

browser = PlaywrightSessionConfig(headless=True, viewport={{"width": 332, "height": 214}},
    pw_extra_kwargs={{"executable_path": {chromium!r}}})
tool = PlaywrightConfig(browser=browser, use_html=True, use_screenshot=False)
pages = (Path(str(files("miniwob"))) / "html" / "miniwob").as_uri()
tasks = {{one.metadata.id: one for one in MiniWobBenchmarkConfig(tool_config=tool).get_task_configs()}}
for name in {tasks!r}:
    agent = WebNavAgent({python!r}, {manage!r}, "grounded")
    found = run_debug_episode(tasks[name].model_copy(update={{"base_url": pages}}).make(), agent, max_steps=4)
    agent.close()
    print(json.dumps({{"said": agent.said, "left": agent.process.poll()}} | {{
        key: found[key] for key in ("task_id", "reward", "done", "steps", "error")}}))
"""


@pytest.fixture(scope="session")
def cube_python(has_chromium, tmp_path_factory) -> str:
    return python("CUBE_PYTHON", CUBE, tmp_path_factory.mktemp("cube"), (3, 12))


@pytest.fixture
def cube(cube_python, monkeypatch) -> Iterator[EnvironmentProcess]:
    monkeypatch.setenv("CUBE_PYTHON", cube_python)
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


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_recipe_is_an_agent_of_its_tasks(cube_python) -> None:
    factories.make_project()
    given = {"folder": str(ROOT / "docs" / "examples"), "chromium": find(), "tasks": ["click-test", "click-button"]}
    given |= {"python": sys.executable, "manage": str(ROOT / "manage.py")}
    command = [cube_python, "-I", "-c", EPISODES.format(**given)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    first, second = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"said"')]
    assert (first["task_id"], first["error"], first["reward"], first["done"]) == ("click-test", None, 1.0, True)
    assert first["said"] == "[button]  Click Me! -> CLICK"
    assert (second["error"], second["done"]) == (None, True), "it is done as CUBE knows it, right or wrong"
    assert [first["left"], second["left"]] == [0, 0], "no process of an agent is left"


EXPERIMENT = """
import json, sys
from pathlib import Path
sys.path.append({folder!r})
from cube_agent import WebNavAgentConfig
from cube_browser_playwright import PlaywrightSessionConfig
from cube_browser_tool import PlaywrightConfig
from cube_harness.exp_runner import run_sequentially
from cube_harness.experiment import Experiment
from miniwob_cube.benchmark import MiniWobBenchmarkConfig

browser = PlaywrightSessionConfig(headless=True, viewport={{"width": 332, "height": 214}},
    pw_extra_kwargs={{"executable_path": {chromium!r}}})
tool = PlaywrightConfig(browser=browser, use_html=True, use_screenshot=False)
tasks = MiniWobBenchmarkConfig(tool_config=tool, port={port})
tasks = tasks.subset_from_list(["click-test"], benchmark_name_suffix="one")
agent = WebNavAgentConfig(python={python!r}, manage={manage!r}, recipe="grounded")
experiment = Experiment(name="one", output_dir=Path({out!r}), agent_config=agent, benchmark_config=tasks, max_steps=4)
found = run_sequentially(experiment)
print("FOUND", json.dumps(list(found.failures.values())))
"""


def _free_port() -> int:
    """For the server of its pages, which takes one of its own otherwise."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_recipe_is_an_agent_of_its_experiments(has_chromium, tmp_path_factory) -> None:
    """In an experiment of cube-harness, which carries out what an agent decides, and judges by CUBE's reward."""
    theirs = python("CUBE_HARNESS_PYTHON", CUBE_HARNESS, tmp_path_factory.mktemp("harness"), (3, 12))
    factories.make_project()
    out = tmp_path_factory.mktemp("experiment") / "out"
    given = {"folder": str(ROOT / "docs" / "examples"), "chromium": find(), "out": str(out), "port": _free_port()}
    given |= {"python": sys.executable, "manage": str(ROOT / "manage.py")}
    command = [theirs, "-I", "-c", EXPERIMENT.format(**given)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300, cwd=out.parent)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "FOUND []" in done.stdout, "no episode has failed"
    assert "Episode completed, reward: 1.0" in done.stderr


SHOP = """
<head><title>Shop</title></head>
<div id="query">Find the red one.</div>
<div id="area">
  <p>Two <b>kinds</b> of hats</p>
  <button>Red</button> <button type="button">Blue</button>
  <div style="display: none"><button>Secret</button><a id="help">Help</a></div> <a id="help">Help</a>
  <input type="hidden" value="token"/><input id="who" type="text" value="ada"/>
  <select><option value="s">Small</option><option>Large</option></select>
</div>
"""


def test_a_page_that_is_told_as_html_is_read_and_its_elements_have_selectors() -> None:
    page = told_page(SHOP, "http://shop.example/")
    named = {name: page.elements[node] for node, name in page.view.names.items()}
    assert named["[button]  Blue"].selector == '[id="area"] > button:nth-of-type(2)'
    assert named["[textbox]  who"].selector == '[id="who"]'
    assert named["[link]  Help"].selector == '[id="area"] > a:nth-of-type(1)', "its id is there twice"
    chosen = named["[option]  Small"]
    assert (chosen.selector, chosen.option, chosen.is_list) == ('[id="area"] > select:nth-of-type(1)', "s", True)
    assert named["[option]  Large"].option == "Large", "an option without a value has its words for one"
    assert "Secret" not in page.view.html
    assert "token" not in page.view.html
    assert "bounding_box_rect" not in page.view.html, "nothing is known of layout"
    assert "Two" in page.view.html
    assert "of hats" in page.view.html
    assert page.view.url == "http://shop.example/"
    for nothing in ("", "<body></body>", "<script>1</script>"):
        with pytest.raises(ValueError, match="the page shows nothing"):
            told_page(nothing, "")


class Saying:
    """Decides on these actions, one decision after the other."""

    def __init__(self, *decisions: Decision) -> None:
        self.decisions, self.seen = list(decisions), list[Observation]()

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        self.seen += observations
        return [self.decisions.pop(0)]


def test_what_a_recipe_does_on_a_told_page_is_said_in_cubes_actions() -> None:
    page = told_page(SHOP, "")
    at = {name: node for node, name in page.view.names.items()}
    field, large = at["[textbox]  who"], at["[option]  Large"]
    agent = Saying(
        Decision((Action("TYPE", field, "eve"), Action("CLICK", large))),
        Decision((Action("CLICK", "999"),)),
        Decision((Action("STOP"),)),
    )
    episodes = EpisodesElsewhere(agent, harness="cube")
    told = episodes.answer({"html": SHOP, "goal": "Say who\n you are."})
    assert [one["name"] for one in told["action"]] == [
        *("browser_click", "browser_press_key", "browser_type", "browser_select_option"),
    ]
    assert told["action"][2]["arguments"] == {"selector": '[id="who"]', "text": "eve"}
    assert told["action"][3]["arguments"]["value"] == "Large"
    missed = episodes.answer({"html": SHOP})
    assert (missed["action"], "not done" in missed["said"]) == (None, True)
    assert episodes.answer({"html": SHOP})["action"] is None
    assert [(seen.instruction, seen.website, len(seen.turn_actions)) for seen in agent.seen] == [
        ("Say who you are.", "cube", 0),
        ("Say who you are.", "cube", 2),
        ("Say who you are.", "cube", 3),
    ]


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
