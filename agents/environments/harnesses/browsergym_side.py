"""BrowserGym's side of the bridge, run by the Python that $BROWSERGYM_PYTHON names; imports nothing of this project.

Answers lines of JSON on its standard input, a socket, until that ends. Called with "tasks", it prints the names of all
tasks. $BROWSERGYM_SUITES: the packages of tasks to offer, "miniwob" where nothing is said, as some fetch data when they
are imported.
"""

import base64
import json
import os
import socket
import sys
from collections.abc import Mapping
from functools import partialmethod
from importlib import import_module
from typing import Any
from unittest import mock

PREFIX = "browsergym/"
SUITES = {
    "miniwob": "browsergym.miniwob",
    "webarena": "browsergym.webarena",
    "webarena_verified": "browsergym.webarena_verified",
    "visualwebarena": "browsergym.visualwebarena",
    "workarena": "browsergym.workarena",
    "assistantbench": "browsergym.assistantbench",
}
Told = dict[str, Any]  # of JSON


class NullChat:
    """BrowserGym's chat without the second browser that shows it to people."""

    def __init__(self, *given: object, **named: object) -> None:
        self.messages: list[Told] = []
        self.recording_start_time = None

    def add_message(self, role: str, msg: str) -> None:
        self.messages.append({"role": role, "timestamp": 0.0, "message": msg})

    def wait_for_user_message(self) -> None:
        pass

    def close(self) -> None:
        pass


def suites() -> list[str]:
    """Import the packages of tasks, which makes gymnasium know them; the names of all tasks."""
    import gymnasium

    for suite in os.environ.get("BROWSERGYM_SUITES", "miniwob").split():
        import_module(SUITES[suite])
    names = (name.removeprefix(PREFIX) for name in gymnasium.registry if name.startswith(PREFIX))
    return sorted(name for name in names if name != "openended")


def patch() -> None:
    """Let every browser of BrowserGym be the one that is installed here."""
    from browsergym.core import env
    from playwright.sync_api import BrowserType

    ours = partialmethod(BrowserType.launch, executable_path=os.environ["CHROMIUM"])
    mock.patch.object(BrowserType, "launch", ours).start()
    env.Chat = NullChat


class GymTask:
    """One task of BrowserGym at a time."""

    def __init__(self) -> None:
        self.env: Any = None
        self.task = ""

    def reset(self, task: str, seed: int) -> Told:
        import gymnasium
        from browsergym.core.action.highlevel import HighLevelActionSet

        if task != self.task:
            self.close()
            actions = HighLevelActionSet(subsets=["chat", "infeas", "bid", "coord", "nav", "tab"], multiaction=False)
            self.env = gymnasium.make(PREFIX + task, action_mapping=actions.to_python_code, disable_env_checker=True)
            self.task = task
        observed, _ = self.env.reset(seed=seed)
        return {"goal": observed["goal"]}

    def step(self, action: str) -> Told:
        before = len(self.env.unwrapped.chat.messages)
        observed, reward, terminated, truncated, _ = self.env.step(action)
        said = [one for one in self.env.unwrapped.chat.messages[before:] if one["role"] == "user"]
        return {
            "error": observed["last_action_error"],
            "reward": float(reward),
            "done": bool(terminated or truncated),
            "said": "\n".join(one["message"] for one in said),
        }

    def evaluate(self, script: str, argument: object) -> Told:
        page = self.env.unwrapped.page
        return {"value": page.evaluate(script, argument), "url": page.url}

    def window(self) -> Told:
        page = self.env.unwrapped.page
        picture = page.screenshot(type="jpeg", quality=85, animations="disabled")
        return {"picture": base64.b64encode(picture).decode(), **page.viewport_size}

    def close(self) -> None:
        if self.env is not None:
            self.env.close()
            self.env = None


def answer(asked: Mapping[str, Any], name: str, given: Told) -> list[Any]:
    """What is sent back: the kind of answer, and what it says."""
    try:
        return ["answer", asked[name](**given)]
    except Exception as error:  # whatever a page or a task brings about is told to whoever asked
        return ["error", f"{type(error).__name__}: {error}".partition("\n")[0]]


def main() -> None:
    if sys.argv[1:] == ["tasks"]:
        sys.stdout.write(json.dumps(suites()))
        return
    lines = socket.socket(fileno=0).makefile("rw", encoding="utf-8", newline="\n")
    suites()
    patch()
    task = GymTask()
    asked = {"reset": task.reset, "step": task.step, "evaluate": task.evaluate, "window": task.window}
    for line in lines:
        lines.write(json.dumps(answer(asked, *json.loads(line))) + "\n")
        lines.flush()
    task.close()


if __name__ == "__main__":
    main()
