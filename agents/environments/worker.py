"""The process that holds a browser: `python -m agents.environments.worker NAME FOLDER`, told over the socket on its
standard input until that ends. Core. When whoever started it is killed, the socket ends, and so do the browser and the
folder for what it writes.
"""

import os
import shutil
import socket
import sys
from base64 import b64encode
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from agents.environments.harnesses.browsergym_tasks import BrowserGymEnvironment
from agents.environments.harnesses.cube_tasks import CubeEnvironment
from agents.environments.harnesses.webarena_tasks import WebArenaEnvironment
from agents.environments.messages import BUSY_ERRORS, receive, send
from agents.environments.miniwob import MiniwobEnvironment
from agents.environments.open_web.environment import OpenWebEnvironment
from agents.environments.protocol import Environment
from agents.environments.sample_sites.environment import FreeVisits, SampleSitesEnvironment
from agents.types import Action

ENVIRONMENTS: dict[str, Callable[[], Environment]] = {
    "miniwob": MiniwobEnvironment,
    "browsergym": BrowserGymEnvironment,
    "open-web": OpenWebEnvironment,
    "webarena": WebArenaEnvironment,
    "cube": CubeEnvironment,
    "sample-sites": SampleSitesEnvironment,
    "sample-sites-asking": partial(SampleSitesEnvironment, asking=True),
    "sample-sites-free": FreeVisits,
}


def answer(environment: Environment, asked: str, given: dict[str, Any]) -> Any:
    """Call the method of the environment that a message names; its result in a form that JSON can hold."""
    if asked == "tasks":
        return list(environment.tasks())
    if asked == "reset":
        return asdict(environment.reset(given["task"], given["seed"]))
    if asked == "observe":
        return asdict(environment.observe())
    if asked == "window":
        window = environment.window()
        return asdict(window) | {"picture": b64encode(window.picture).decode()}
    if asked == "picture":
        drawn = environment.picture()
        return drawn and asdict(drawn) | {"data": b64encode(drawn.data).decode()}
    if asked == "at":
        return environment.at(given["x"], given["y"])
    return asdict(environment.step(Action(**given)))


def serve(connection: socket.socket, environment: Environment) -> None:
    """Answer messages until the other side is gone. An error is sent as its kind and message."""
    while (request := receive(connection)) is not None:
        asked, given = request
        try:
            send(connection, ["answer", answer(environment, asked, given)])
        except Exception as error:  # whatever a page or a browser brings about is told to whoever asked
            kind = type(error).__name__ if type(error).__name__ in BUSY_ERRORS else "EnvironmentLost"
            send(connection, [kind, f"{error}".partition("\n")[0]])


def main() -> None:
    connection = socket.socket(fileno=0)
    name, folder = sys.argv[1:]
    os.environ["TMPDIR"] = folder  # profiles of the browser
    try:
        _hold(connection, name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _hold(connection: socket.socket, name: str) -> None:
    """Open the environment's browser, say whether that worked, and answer messages until the other side is gone."""
    try:
        environment = ENVIRONMENTS[name]()
    except Exception as error:
        send(connection, [type(error).__name__, f"{error}".partition("\n")[0]])
        return
    send(connection, ["answer", "ready"])
    try:
        serve(connection, environment)
    finally:
        environment.close()


if __name__ == "__main__":
    main()
