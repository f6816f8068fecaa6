"""An environment in a process of its own, for callers that use the ORM, fork or are killed. Core.

It takes as long as its browser, never longer than its deadline: one that does not answer is killed, and the caller is
told with `EnvironmentLost`. A step can be told to many environments before the first is heard (`tell_step`).
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from base64 import b64decode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from agents.environments.browser import NoBrowser
from agents.environments.messages import receive, send
from agents.environments.protocol import (
    ActionEffect,
    EnvironmentLost,
    EpisodeStart,
    NoSuchTask,
    PageField,
    PageView,
    TurnEnd,
    WindowPicture,
    WindowView,
)
from agents.types import Action

ROOT = Path(__file__).resolve().parents[2]
STARTING, ANSWERING = 60.0, 45.0  # seconds
# What the browser's process sees of the environment: no secret of the app's.
KEPT_ENVIRONMENT = """
    PATH LD_LIBRARY_PATH HOME LANG LC_ALL TZ TMPDIR PYTHONPATH PYTHONDONTWRITEBYTECODE VIRTUAL_ENV CHROMIUM
    PLAYWRIGHT_BROWSERS_PATH BROWSERGYM_PYTHON BROWSERGYM_SUITES MINIWOB_URL
    OPEN_WEB_HOSTS OPEN_WEB_SECONDS CUBE_PYTHON WEBARENA_PYTHON WA_STATES
    WA_SHOPPING WA_SHOPPING_ADMIN WA_REDDIT WA_GITLAB WA_WIKIPEDIA WA_MAP WA_HOMEPAGE
""".split()
FOLDERS = "webnav-browser-"  # how what a browser writes is called in the folder for temporary files
ENDED = "the process of the browser has ended"
ERRORS = {error.__name__: error for error in (NoBrowser, NoSuchTask, ValueError)}


class EnvironmentProcess:
    """An `Environment` over a socket. Raises NoBrowser when it starts; every call may raise EnvironmentLost."""

    def __init__(self, name: str) -> None:
        self._socket, theirs = socket.socketpair()
        self._draws = False  # a picture was asked for, and not heard yet
        self._picture: WindowPicture | None = None
        self._folder = Path(tempfile.mkdtemp(prefix=FOLDERS))
        environment = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
        with theirs:
            # A session of its own: Ctrl-C in the terminal is the app's business, and it is ended with what it started.
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "agents.environments.worker", name, str(self._folder)],
                cwd=ROOT,
                env=environment,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._hear(STARTING)
        # Whether its process and its browser run, as can be seen without asking them.
        self.is_alive = partial(_all_run, _that_have_started_others(self._popen.pid))

    @property
    def pid(self) -> int:
        return self._popen.pid

    def tasks(self) -> Sequence[str]:
        """The names of its tasks, in order."""
        self._tell("tasks", {})
        return tuple(self._hear())

    def reset(self, task: str, seed: int) -> EpisodeStart:
        """Begin an episode; raises NoSuchTask."""
        self.tell_reset(task, seed)
        return self.hear_reset()

    def tell_reset(self, task: str, seed: int) -> None:
        """Ask for a new episode without waiting for it, so that others can begin meanwhile; `hear_reset` gives the
        answer."""
        self._tell("reset", {"task": task, "seed": seed})
        self._picture = None

    def hear_reset(self) -> EpisodeStart:
        """What the episode asked for by `tell_reset` begins with."""
        answer = self._hear()
        site = tuple(answer["site"]) if answer["site"] else None
        return EpisodeStart(answer["instruction"], _view(answer["view"]), site, tuple(answer["later"]), answer["split"])

    def observe(self) -> PageView:
        """The page as it is now."""
        self._tell("observe", {})
        return _view(self._hear())

    def window(self) -> WindowView:
        """The window as it looks, with its fields, for a person who acts in it."""
        self._tell("window", {})
        answer = self._hear()
        fields = tuple(PageField(**one) for one in answer["fields"])
        return WindowView(b64decode(answer["picture"]), answer["width"], answer["height"], fields)

    def picture(self) -> WindowPicture | None:
        """The window as it is now, small."""
        self.tell_picture()
        return self.hear_picture()

    def tell_picture(self) -> None:
        """Have the window drawn as it is now, while others decide. Whatever is asked next waits until that is done."""
        self._tell("picture", {})
        self._draws, self._picture = True, None

    def hear_picture(self) -> WindowPicture | None:
        """The picture that was asked for last in this episode; None where there is none."""
        if self._draws:
            self._draws = False
            drawn = self._hear()
            self._picture = WindowPicture(**drawn | {"data": b64decode(drawn["data"])}) if drawn else None
        return self._picture

    def at(self, x: float, y: float) -> str | None:
        """The element at a point of the window."""
        self._tell("at", {"x": x, "y": y})
        found: str | None = self._hear()
        return found

    def step(self, action: Action) -> ActionEffect:
        """Do an action; what came of it."""
        self.tell_step(action)
        return self.hear_step()

    def tell_step(self, action: Action) -> None:
        """Ask for an action without waiting for it, so that others can act meanwhile; `hear_step` gives the answer."""
        self._tell("step", asdict(action))

    def hear_step(self) -> ActionEffect:
        """What came of the action asked for by `tell_step`."""
        return _effect(self._hear())

    def _tell(self, asked: str, given: dict[str, Any]) -> None:
        self.hear_picture()
        try:
            self._socket.settimeout(ANSWERING)
            send(self._socket, [asked, given])
        except OSError as error:
            raise self._lost(ENDED) from error

    def _hear(self, seconds: float = ANSWERING) -> Any:
        try:
            said = receive(self._socket, time.monotonic() + seconds)
        except TimeoutError as error:
            raise self._lost(f"the browser did not answer within {seconds:g} s") from error
        except OSError as error:
            raise self._lost(ENDED) from error
        if said is None:
            raise self._lost(ENDED)
        kind, answer = said
        if kind == "answer":
            return answer
        if kind in ERRORS:
            raise ERRORS[kind](answer)
        raise self._lost(answer)

    def _lost(self, words: str) -> EnvironmentLost:
        self.kill()
        return EnvironmentLost(words)

    def kill(self) -> None:
        """Kill the process and everything that it started."""
        self._socket.close()
        try:
            started = psutil.Process(self._popen.pid).children(recursive=True)  # the browser has a group of its own
            os.killpg(self._popen.pid, signal.SIGKILL)
        except (psutil.NoSuchProcess, ProcessLookupError):
            started = []
        for one in started:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        self._popen.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Close the socket; the process then closes its browser and ends."""
        self._socket.close()
        try:
            self._popen.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


def _that_have_started_others(pid: int) -> list[psutil.Process]:
    """A process and those below it that have started further ones: a browser is among them, pages in it are not."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        started = process.children(recursive=True)
        parents = {one.ppid() for one in started}
        return [process, *(one for one in started if one.pid in parents)]
    return []


def _all_run(processes: Sequence[psutil.Process]) -> bool:
    with suppress(psutil.NoSuchProcess):
        return all(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes)
    return False


def _view(answer: dict[str, Any]) -> PageView:
    return PageView(answer["html"], answer["url"], answer["elements"], answer["names"], answer["markup"])


def _effect(answer: dict[str, Any]) -> ActionEffect:
    ended = answer["turn"]
    turn = TurnEnd(**ended | {"side_effects": tuple(ended["side_effects"])}) if ended else None
    return ActionEffect(answer["words"], answer["reward"], answer["done"], _view(answer["view"]), answer["said"], turn)
