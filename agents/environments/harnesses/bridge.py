"""A script that another Python runs, asked over a socket: a line of JSON each way. Core.

Whoever starts it may be killed: the socket ends, and the script with it. How long an answer may take is the business of
whoever waits for the environment (`process.py`).
"""

import json
import os
import shutil
import socket
import subprocess
from base64 import b64decode
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from agents.environments import browser
from agents.environments.process import KEPT_ENVIRONMENT
from agents.environments.protocol import EnvironmentLost, EpisodeStart, NoSuchTask, PageField, PageView, WindowView
from agents.environments.sight import PAGE_SCRIPT, page_view

HERE = Path(__file__).parent
LISTING_SECONDS = 60


class HarnessError(ValueError):
    """What a harness says it cannot do."""


def python_of(setting: str, package: str) -> str:
    """The Python that a setting names. Raises NoSuchTask where there is none."""
    named = os.environ.get(setting, "")
    found = shutil.which(named) if named else None
    if found is None:
        said = f"{named!r} is no program" if named else "it is empty"
        raise NoSuchTask(f"{setting} names the Python of a virtual environment that has {package}: {said}")
    return found


class Bridge:
    """The script of a harness, running."""

    def __init__(self, python: str, script: str, more: Mapping[str, str]) -> None:
        """Start it, with `more` in its environment. Raises EnvironmentLost where it ends at once."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._popen = subprocess.Popen(
                [python, "-I", str(HERE / script)],  # isolated, so that it sees no module of this folder
                env=_environment(more),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        self._lines = ours.makefile("rw", encoding="utf-8", newline="\n")
        ours.close()

    def ask(self, name: str, **given: object) -> dict[str, Any]:
        """What the script answers. Raises HarnessError with what it says went wrong, EnvironmentLost where it is
        gone."""
        try:
            self._lines.write(json.dumps([name, given]) + "\n")
            self._lines.flush()
            line = self._lines.readline()
        except OSError as error:
            raise EnvironmentLost("the process of the harness has ended") from error
        if not line:
            raise EnvironmentLost("the process of the harness has ended")
        kind, answer = json.loads(line)
        if kind != "answer":
            raise HarnessError(answer)
        return dict(answer)

    def close(self) -> None:
        """End the socket; the script then closes its browser and ends."""
        self._lines.close()
        try:
            self._popen.wait(10)
        except subprocess.TimeoutExpired:
            self._popen.kill()


@lru_cache(maxsize=8)
def listed(python: str, script: str, more: frozenset[tuple[str, str]]) -> tuple[str, ...]:
    """The names of all tasks that the script knows. Raises NoSuchTask with what it says instead."""
    try:
        done = subprocess.run(
            [python, "-I", str(HERE / script), "tasks"],
            env=_environment(dict(more)),
            capture_output=True,
            text=True,
            timeout=LISTING_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoSuchTask(f"{python} does not tell its tasks: {error}") from error
    if done.returncode:
        words = done.stderr.strip().rpartition("\n")[2]
        raise NoSuchTask(f"{python} does not tell its tasks: {words or f'it ended with {done.returncode}'}")
    return tuple(json.loads(done.stdout.strip().rpartition("\n")[2]))


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """What the script sees of the environment: no secret of the app's."""
    return {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ} | dict(more)


class BridgedPage:
    """The page of a harness's browser, in the words of a Playwright page."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    @property
    def url(self) -> str:
        return str(self._asked("() => null")["url"])

    def evaluate(self, expression: str, arg: object = None) -> object:
        return self._asked(expression, arg)["value"]

    def _asked(self, script: str, argument: object = None) -> dict[str, Any]:
        return self._bridge.ask("evaluate", script=script, argument=argument)

    def look(self) -> WindowView:
        """The window as it is, with the fields of a page that has run `PAGE_SCRIPT`."""
        looked, fields = self._bridge.ask("window"), self._asked("() => window.webnavPage.fields()")["value"]
        shown = tuple(PageField(**one) for one in fields)
        return WindowView(b64decode(looked["picture"]), looked["width"], looked["height"], shown)

    def tell(self, script: str, argument: object = None) -> dict[str, Any] | None:
        """What a script that gives an object, or none, says of the page."""
        told: dict[str, Any] | None = self._asked(script, argument)["value"]
        return told


class BridgedEnvironment(browser.PeoplesWindow):
    """The tasks of a harness, one at a time, in the browser that it opens for each episode. Its script answers `reset`
    with a goal, and `evaluate` and `window` of its page."""

    def __init__(self, python: str, script: str, more: Mapping[str, str]) -> None:
        """Start the script. Raises NoBrowser."""
        self._bridge = Bridge(python, script, {"CHROMIUM": chromium(), **more})
        self._page = BridgedPage(self._bridge)
        self._begun = False

    def begin(self, task: str, **given: object) -> EpisodeStart:
        """Begin an episode as the harness does; raises EnvironmentLost."""
        try:
            start = self._bridge.ask("reset", task=task, **given)
        except HarnessError as error:
            raise EnvironmentLost(f"{task} does not begin: {error}") from error
        self._begun = True
        return EpisodeStart(" ".join(start["goal"].split()), self.observe())

    def _current(self) -> BridgedPage:
        if not self._begun:
            raise ValueError("no episode has begun")
        self._page.evaluate(PAGE_SCRIPT)  # a page that was just opened does not have it
        return self._page

    def observe(self) -> PageView:
        return page_view(self._current())

    def window(self) -> WindowView:
        """The window as a person sees it."""
        return self._current().look()

    def close(self) -> None:
        self._bridge.close()


def chromium() -> str:
    """The Chromium that the harness opens. Raises NoBrowser where there is none."""
    found = browser.find()
    if found is None:
        raise browser.NoBrowser("there is no Chromium here: `make chromium` installs one")
    return found
