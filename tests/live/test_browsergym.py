"""BrowserGym both ways, with the real package: its tasks for our agents, our recipe as an agent of its experiments."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from agents.environments.browser import find
from agents.environments.miniwob import html_folder
from agents.environments.process import EnvironmentProcess
from agents.environments.protocol import EnvironmentLost, NoSuchTask
from agents.live.goals import LiveGoals, new_goals
from agents.types import Action
from evaluation.scores.live import episodes_of
from evaluation.studies.running import create_study, run_inline
from tests import factories
from tests.evaluation.workers import environment
from tests.hosts.machines import wait
from tests.live.other_pythons import BROWSERGYM, python
from tests.live.test_environment import are_gone, browsers_of, node

pytestmark = [pytest.mark.slow, pytest.mark.browser]
ROOT = Path(__file__).resolve().parents[2]
EXPERIMENT = """
import json, sys
from pathlib import Path
from playwright.sync_api import BrowserType
sys.path.append({folder!r})
from browsergym_agent import WebNavAgentArgs
from browsergym.experiments import EnvArgs, ExpArgs

launch = BrowserType.launch
BrowserType.launch = lambda self, **given: launch(self, **{{"executable_path": {chromium!r}, **given}})
agent = WebNavAgentArgs(python={python!r}, manage={manage!r}, recipe="grounded")
experiment = ExpArgs(agent_args=agent, env_args=EnvArgs(task_name="miniwob.click-test", task_seed=3, max_steps=4))
experiment.prepare(Path({out!r}))
experiment.run()
print(json.dumps([json.loads((experiment.exp_dir / "summary_info.json").read_text()), str(experiment.exp_dir)]))
"""


@pytest.fixture(scope="session")
def gym_python(has_chromium, tmp_path_factory: pytest.TempPathFactory) -> str:
    return python("BROWSERGYM_PYTHON", BROWSERGYM, tmp_path_factory.mktemp("gym"))


@pytest.fixture
def gym(gym_python, monkeypatch: pytest.MonkeyPatch) -> Iterator[EnvironmentProcess]:
    monkeypatch.setenv("BROWSERGYM_PYTHON", gym_python)
    process = EnvironmentProcess("browsergym")
    yield process
    process.close()


def test_its_tasks_are_played_to_their_reward_on_the_same_seeds(gym, miniwob) -> None:
    assert "miniwob.login-user" in gym.tasks()
    with pytest.raises(NoSuchTask, match="BrowserGym has no task"):
        gym.reset("miniwob.no-such", 0)
    for seed in (0, 7):
        start, ours = gym.reset("miniwob.login-user", seed), miniwob.reset("login-user", seed)
        assert start.instruction == ours.instruction
        assert list(start.view.names.values()) == list(ours.view.names.values())
    name, password = start.instruction.split('"')[1::2]
    gym.step(Action("TYPE", node(start, "[textbox]  Username"), name))
    missed = gym.step(Action("CLICK", "999"))
    assert (missed.words, missed.done) == ("not done: element 999 is not on the page any more", False)
    gym.step(Action("TYPE", node(start, "[textbox]  Password"), password))
    window = gym.window()
    field = next(one for one in window.fields if one.value == name)
    assert gym.at(field.left + 2, field.top + 2) == field.node_id
    end = gym.step(Action("CLICK", node(start, "[button]  Login")))
    assert (end.done, end.reward) == (True, 1.0)


def test_nothing_of_it_is_left_when_whoever_started_it_is_killed(gym) -> None:
    gym.reset("miniwob.click-test", 0)
    started = browsers_of(gym.pid)
    assert any("browsergym_side" in " ".join(one.cmdline()) for one in started)
    psutil.Process(gym.pid).kill()
    with pytest.raises(EnvironmentLost):
        gym.observe()
    wait(lambda: are_gone(started), 30, "end of the browser")


@pytest.mark.django_db(transaction=True)
def test_a_study_runs_over_its_tasks(gym, hash_encoder) -> None:
    goals = new_goals(factories.make_project(), "gym", "browsergym", steps=2)
    LiveGoals(goals, gym).add(["miniwob.click-test"], range(2))
    study = create_study(user=None, dataset=goals, recipes=["grounded"], publish=False)
    run_inline(study)
    run = study.runs.get()
    assert [(one.task, one.reward) for one in episodes_of(run.trajectories.all())] == [("miniwob.click-test", 1.0)] * 2
    assert [step.outcome.partition(";")[0][:6] for step in run.steps.all()] == ["click("] * 2


@pytest.mark.django_db(transaction=True)
def test_a_recipe_is_an_agent_of_its_experiments(gym_python, tmp_path) -> None:
    factories.make_project()
    given = {"folder": str(ROOT / "docs" / "examples"), "chromium": find(), "out": str(tmp_path)}
    given |= {"python": sys.executable, "manage": str(ROOT / "manage.py")}
    told = environment() | {"MINIWOB_URL": f"{html_folder().as_uri()}/"}
    command = [gym_python, "-I", "-c", EXPERIMENT.format(**given)]
    done = subprocess.run(command, env=told, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    summary, folder = json.loads(done.stdout.strip().rpartition("\n")[2])
    assert (summary["err_msg"], summary["cum_reward"], summary["n_steps"]) == (None, 1.0, 1)
    assert "click(" in (Path(folder) / "experiment.log").read_text()
