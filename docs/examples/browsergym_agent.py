"""An agent for experiments of BrowserGym (those of AgentLab take the same) that does what a recipe decides.

Run by their Python; imports nothing of this project, and may be copied. It starts `manage.py decide RECIPE` by the
Python of this project, and asks it for one action after the other:

    from browsergym_agent import WebNavAgentArgs
    from browsergym.experiments import EnvArgs, ExpArgs

    agent = WebNavAgentArgs(python="~/webnav/.venv/bin/python", manage="~/webnav/manage.py", recipe="grounded")
    ExpArgs(agent_args=agent, env_args=EnvArgs(task_name="miniwob.click-test", task_seed=0)).run()
"""

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.experiments.agent import Agent
from browsergym.experiments.loop import AbstractAgentArgs


@dataclass
class WebNavAgentArgs(AbstractAgentArgs):
    """Which recipe decides. `settings`: of the recipe, as "rank.top_k=20"."""

    python: str = ""
    manage: str = ""
    recipe: str = "grounded"
    settings: list = field(default_factory=list)

    def __post_init__(self):
        self.agent_name = f"WebNav-{self.recipe}"

    def set_benchmark(self, benchmark, demo_mode):
        """Asked by AgentLab; nothing here depends on it."""

    def set_reproducibility_mode(self):
        """Asked by AgentLab; a recipe's seed is a setting of the recipe."""

    def make_agent(self):
        command = [Path(self.python).expanduser(), Path(self.manage).expanduser(), "decide", self.recipe]
        return WebNavAgent([*map(str, command), *(["--set", *self.settings] if self.settings else [])])


class WebNavAgent(Agent):
    """One episode: its process begins with it, and ends when the agent is forgotten."""

    action_set = HighLevelActionSet(subsets=["chat", "infeas", "bid", "coord", "nav", "tab"], multiaction=True)

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.begun = False
        self._heard()

    def obs_preprocessor(self, obs):
        # In one: of each text by itself the experiment would count tokens, and fetch what counts them.
        return {"seen": {name: obs[name] for name in ("dom_object", "url", "goal", "last_action_error")}}

    def get_action(self, obs):
        seen = obs["seen"]
        told = {name: seen[name] for name in ("dom_object", "url") + (() if self.begun else ("goal",))}
        self.begun = True
        self.process.stdin.write(json.dumps(told) + "\n")
        self.process.stdin.flush()
        heard = self._heard()
        return heard["action"], {"think": heard["said"], "stats": {}}  # an AgentInfo could not be told of an error

    def _heard(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.process.args)} ended with {self.process.wait()}")
        return json.loads(line)

    def __del__(self):
        if hasattr(self, "process"):
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()
