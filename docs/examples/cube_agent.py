"""An agent for CUBE's tasks that does what a recipe decides.

Run by their Python; imports nothing of this project, and may be copied. It starts `manage.py decide RECIPE` by the
Python of this project, and asks it for one action after the other. Its tasks need a tool that tells pages as HTML:

    from cube.testing import run_debug_episode
    from cube_agent import WebNavAgent
    from cube_browser_tool import PlaywrightConfig
    from miniwob_cube.benchmark import MiniWobBenchmarkConfig

    tasks = MiniWobBenchmarkConfig(tool_config=PlaywrightConfig(use_html=True, use_screenshot=False)).get_task_configs()
    agent = WebNavAgent(python="~/webnav/.venv/bin/python", manage="~/webnav/manage.py", recipe="grounded")
    print(run_debug_episode(next(tasks).make(), agent))

Where `cube-harness` is installed, its experiments take `WebNavAgentConfig(python=…, manage=…, recipe="grounded")`.
"""

import json
import subprocess
from pathlib import Path

from cube.core import Action

PAGE = ("html", "pruned_html")
STOP = "final_step"


class WebNavAgent:
    """One episode: its process begins with it, and ends when the agent is closed or forgotten."""

    def __init__(self, python, manage, recipe="grounded", settings=()):
        command = [Path(python).expanduser(), Path(manage).expanduser(), "decide", recipe, "--harness", "cube"]
        command = [*map(str, command), *(["--set", *settings] if settings else [])]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.begun = False
        self.said = ""  # what it did last, in words
        self.waiting = []  # actions of its last decision that are to be done next
        self._heard()

    def __call__(self, obs, action_set):
        """The next action, as CUBE asks agents for one."""
        if obs.error is not None:
            self.waiting = []  # what followed from an action that failed is not done
        return self.waiting.pop(0) if self.waiting else self.decided(obs)[0]

    def decided(self, obs):
        """The actions that the recipe decides on for what is observed; the others than the first wait."""
        told = {"html": next((one.data for one in obs.contents if one.name in PAGE), None)}
        if told["html"] is None:
            raise ValueError("the tool tells no HTML: set use_html of its configuration")
        if not self.begun:
            told["goal"] = " ".join(one.data for one in obs.contents if one.name is None and isinstance(one.data, str))
        self.begun = True
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()
        heard = self._heard()
        self.said = heard["said"]
        actions = [Action(**one) for one in heard["action"] or [{"name": STOP}]]
        self.waiting = actions[1:]
        return actions

    def _heard(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.process.args)} ended with {self.process.wait()}")
        return json.loads(line)

    def close(self):
        if self.process.stdin.closed:
            return
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def __del__(self):
        if hasattr(self, "process"):
            self.close()


try:
    from cube_harness.agent import Agent, AgentConfig
    from cube_harness.core import AgentOutput
except ImportError:  # the standard alone is installed
    pass
else:

    class WebNavAgentConfig(AgentConfig):
        """Which recipe decides. `settings`: of the recipe, as "rank.top_k=20"."""

        python: str
        manage: str
        recipe: str = "grounded"
        settings: list[str] = []

        @property
        def agent_name(self):
            return f"WebNav-{self.recipe}"

        def make(self, action_set=None, **kwargs):
            return WebNavHarnessAgent(self)

    class WebNavHarnessAgent(Agent):
        """The same for experiments of cube-harness, which carry out the actions of a decision one after another."""

        name = "WebNav"
        description = "does what a recipe of WebNav decides"
        input_content_types = ["text"]
        output_content_types = ["action"]

        def __init__(self, config):
            super().__init__(config)
            self.asked = WebNavAgent(config.python, config.manage, config.recipe, config.settings)

        def step(self, obs):
            return AgentOutput(actions=self.asked.decided(obs))
