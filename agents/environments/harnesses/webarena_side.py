"""The side of `webarena-verified`, run by the Python that $WEBARENA_PYTHON names; imports nothing of this project.

Answers lines of JSON on its standard input, a socket, until that ends: what a task asks for, and what a recorded run
is worth. Called with "tasks", it prints the numbers of all tasks. $WA_SHOPPING and the like: where the sites stand.
"""

import json
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SITES = ("shopping", "shopping_admin", "reddit", "gitlab", "wikipedia", "map", "homepage")
ArenaAnswer = dict[str, Any]


def setting(site: str) -> str:
    return f"WA_{site.upper()}"


class Benchmark:
    """The audited tasks of WebArena, with their evaluators."""

    def __init__(self) -> None:
        from webarena_verified.api import WebArenaVerified
        from webarena_verified.types.config import WebArenaVerifiedConfig

        places = {f"__{site.upper()}__": os.environ.get(setting(site), "").rstrip("/") for site in SITES}
        stand = {name: {"urls": [url]} for name, url in places.items() if url}
        self.config = WebArenaVerifiedConfig.model_validate({"environments": stand or None})
        self.package = WebArenaVerified(config=self.config)

    def tasks(self) -> list[str]:
        return [str(task.task_id) for task in self.package.get_tasks()]

    def task(self, task: str) -> ArenaAnswer:
        """What a task asks for. Where a site of it stands nowhere, the settings that say where."""
        found = self.package.get_task(int(task))
        sites = [site.value for site in found.sites]
        lacking = [setting(site) for site in sites if not os.environ.get(setting(site))]
        start = [] if lacking else [self.config.render_url(url, found.sites) for url in found.start_urls]
        return {"goal": found.intent, "sites": sites, "lacking": lacking, "start": start}

    def score(self, task: str, response: ArenaAnswer, har: str) -> ArenaAnswer:
        """What a run is worth, by its answer and what its browser has asked for, with the reasons."""
        came = self.package.evaluate_task(task_id=int(task), agent_response=response, network_trace=Path(har))
        parts = [f"{one.evaluator_name}: {one.status}" for one in came.evaluators_results]
        return {"score": float(came.score), "said": "; ".join([*parts, *filter(None, [came.error_msg])])}


def answer(asked: Mapping[str, Any], name: str, given: ArenaAnswer) -> list[Any]:
    """What is sent back: the kind of answer, and what it says."""
    try:
        return ["answer", asked[name](**given)]
    except Exception as error:  # whatever the package finds wrong is told to whoever asked
        return ["error", f"{type(error).__name__}: {error}".partition("\n")[0]]


def main() -> None:
    benchmark = Benchmark()
    if sys.argv[1:] == ["tasks"]:
        sys.stdout.write(json.dumps(benchmark.tasks()))
        return
    lines = socket.socket(fileno=0).makefile("rw", encoding="utf-8", newline="\n")
    asked = {"task": benchmark.task, "score": benchmark.score}
    for line in lines:
        lines.write(json.dumps(answer(asked, *json.loads(line))) + "\n")
        lines.flush()


if __name__ == "__main__":
    main()
