"""CUBE's side of the bridge, run by the Python that $CUBE_PYTHON names; imports nothing of this project.

Answers lines of JSON on its standard input, a socket, until that ends. Called with "tasks", it prints the names of all
tasks of `miniwob-cube`, the one benchmark that is known here.
"""

import base64
import json
import os
import socket
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cube.task import Task

PREFIX = "miniwob."
CubeAnswer = dict[str, Any]


class CubeTask:
    """One task at a time, in the browser that CUBE opens for it."""

    def __init__(self) -> None:
        from cube_browser_playwright import PlaywrightSessionConfig
        from cube_browser_tool import PlaywrightConfig
        from miniwob_cube.benchmark import MiniWobBenchmarkConfig

        browser = PlaywrightSessionConfig(
            headless=True,
            viewport={"width": 332, "height": 214},
            pw_extra_kwargs={"executable_path": os.environ.get("CHROMIUM", "")},
        )
        tool = PlaywrightConfig(browser=browser, use_html=False, use_screenshot=False)
        # From the file system: CUBE's own server of the pages would outlive whoever is killed.
        pages = Path(str(files("miniwob"))) / "html" / "miniwob"
        self.configs = {
            PREFIX + one.metadata.id: one.model_copy(update={"base_url": pages.as_uri()})
            for one in MiniWobBenchmarkConfig(tool_config=tool).get_task_configs()
        }
        self.is_open = False

    def reset(self, task: str) -> CubeAnswer:
        self.close()
        self.task: Task = self.configs[task].make()
        self.is_open = True
        _, info = self.task.reset()
        return {"goal": info["goal"]}

    def step(self, actions: list[CubeAnswer]) -> CubeAnswer:
        """Do what these actions of CUBE's say; an error of one is told, and ends nothing."""
        from cube.core import Action

        came = self.task.step([Action(name=one["name"], arguments=one["arguments"]) for one in actions])
        error = f"{came.error.exception_str}" if came.error else ""
        return {"error": error, "reward": float(came.reward), "done": bool(came.done or came.truncated)}

    def evaluate(self, script: str, argument: object) -> CubeAnswer:
        page = self.task.tool.page
        return {"value": page.evaluate(script, argument), "url": page.url}

    def window(self) -> CubeAnswer:
        page = self.task.tool.page
        picture = page.screenshot(type="jpeg", quality=85, animations="disabled")
        return {"picture": base64.b64encode(picture).decode(), **page.viewport_size}

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            self.task.close()


def answer(asked: Mapping[str, Any], name: str, given: CubeAnswer) -> list[Any]:
    """What is sent back: the kind of answer, and what it says."""
    try:
        return ["answer", asked[name](**given)]
    except Exception as error:  # whatever a page or a task brings about is told to whoever asked
        return ["error", f"{type(error).__name__}: {error}".partition("\n")[0]]


def main() -> None:
    task = CubeTask()
    if sys.argv[1:] == ["tasks"]:
        sys.stdout.write(json.dumps(sorted(task.configs)))
        return
    lines = socket.socket(fileno=0).makefile("rw", encoding="utf-8", newline="\n")
    asked = {"reset": task.reset, "step": task.step, "evaluate": task.evaluate, "window": task.window}
    for line in lines:
        lines.write(json.dumps(answer(asked, *json.loads(line))) + "\n")
        lines.flush()
    task.close()


if __name__ == "__main__":
    main()
