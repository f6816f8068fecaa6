"""Live episodes in a row on one worker: `make soak`, or `python -m tests.load.soak --episodes 2000 --kills 20`.

Starts one worker on a database of its own, and lets a recipe act in MiniWoB++, ranking by hashed words unless `--model`
asks for its own. Meanwhile browsers are killed, at times drawn by chance. Data lie in $WEBNAV_VAR, else in var/soak,
which an app or a test that starts meanwhile would close to this database. Prints a table, and exits with 1 unless at
the end

- every episode has its outcome and none counts as lost, though its browser was killed: it was run again, and it alone,
- the worker, and a browser that has all the pages open that it keeps, hold no more than 10 % more memory than after the
  first 200 episodes,
- no process and no folder of a browser is left.
"""

import argparse
import json
import os
import random
import re
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from agents.environments.miniwob import KEPT_PAGES

ROOT = Path(__file__).resolve().parents[2]
VAR = Path(os.environ.get("WEBNAV_VAR") or ROOT / "var" / "soak")
BEFORE = 200  # episodes after which memory must not grow
MOST_GROWTH = 0.10
LOOK, WEIGH = 0.2, 3.0  # seconds between two looks at the run, and at the memory
GONE_SECONDS = 30
IN_TURN = 4  # episodes of a task before the next has its turn
# More than a browser keeps pages of, so that pages are opened and closed all the time.
TASKS = """
    click-test click-test-2 click-button click-link click-checkboxes click-option click-tab click-dialog enter-text
    enter-password login-user focus-text choose-list navigate-tree click-widget grid-coordinate
""".split()
LOST = re.compile(r"(\S+-\d+) of run \d+ is lost")


@dataclass(frozen=True)
class Weight:
    """The memory of a worker and of all browsers that it has, in MiB, when so many episodes were done. `browser`: of
    one of them, on average over those that have all the pages open that they keep; 0 where none has. A browser grows
    until then, and every shard, and every kill, brings a new one: only of such it can be said whether they grow."""

    done: int
    worker: float
    browsers: float
    browser: float


@dataclass
class Watch:
    """What was seen of one worker while it played a run."""

    weights: list[Weight] = field(default_factory=list)
    kills: int = 0
    again: int = 0  # episodes that began anew, by what the worker says
    seconds: float = 0.0


def watch(run: Any, worker: psutil.Process, kills: int, chance: random.Random) -> Watch:
    """Look at the worker until the run is over, and kill a browser of it now and then."""
    total, seen, begun = run.trajectories.count(), Watch(), time.monotonic()
    waiting = sorted(chance.sample(range(1, total * 9 // 10), kills))
    weighed = 0.0
    while not _is_over(run):
        done = run.trajectories.filter(state="done").count()
        if waiting and done >= waiting[0] and _kill_browser(worker, chance):
            waiting.pop(0)
            seen.kills += 1
        if time.monotonic() - weighed > WEIGH:
            weighed = time.monotonic()
            seen.weights.append(_weigh(worker, done))
        time.sleep(LOOK)
    seen.seconds = time.monotonic() - begun
    return seen


def _is_over(run: Any) -> bool:
    run.refresh_from_db(fields=["state"])
    return run.is_over


def _environments(worker: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return [one for one in worker.children(recursive=True) if "agents.environments.worker" in _words(one)]
    return []


def _words(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return process.cmdline()
    return []


def _kill_browser(worker: psutil.Process, chance: random.Random) -> bool:
    """Kill one browser, as the kernel would: its first process, and the shell that may have started it. Whether there
    was one."""
    environments = _environments(worker)
    chance.shuffle(environments)
    for environment in environments:
        own = [one for one in _below(environment) if _is_browser(one)]
        for one in own:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        if own:
            return True
    return False


def _is_browser(process: psutil.Process) -> bool:
    words = _words(process)
    return any("chrom" in word for word in words[:2]) and not any(word.startswith("--type=") for word in words)


def _weigh(worker: psutil.Process, done: int) -> Weight:
    browsers = [(root, *_below(root)) for root in _environments(worker)]
    own = {worker, *_below(worker)} - {one for browser in browsers for one in browser}
    held = [(_held(browser), is_full(browser)) for browser in browsers]
    full = [memory for memory, has_all in held if has_all]
    return Weight(done, _held(own), sum(memory for memory, _ in held), statistics.mean(full) if full else 0.0)


def is_full(browser: Iterable[psutil.Process]) -> bool:
    """Whether a browser has as many pages open as it keeps: each has a process of its own."""
    return sum("--type=renderer" in _words(one) for one in browser) >= KEPT_PAGES


def _below(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return process.children(recursive=True)
    return []


def _held(processes: Any) -> float:
    """What they hold in MiB; of what several share, each its part."""
    held = 0
    for one in processes:
        with suppress(psutil.Error):
            held += one.memory_full_info().pss
    return held / 2**20


@dataclass(frozen=True)
class Growth:
    """Medians of memory, in MiB: after the first episodes, and at the end."""

    first: float
    last: float

    @property
    def share(self) -> float:
        return self.last / self.first - 1


def growth(weights: Sequence[Weight], name: str, total: int) -> Growth | None:
    """Of the worker, or of a browser that has all its pages open, from the 200 episodes after the first 200 to the last
    200; None where the run was too short to tell. Times at which there was no browser count for nothing."""
    held = [(one.done, getattr(one, name)) for one in weights if one.browsers and getattr(one, name)]
    first = [value for done, value in held if BEFORE <= done < 2 * BEFORE]
    last = [value for done, value in held if done >= total - BEFORE]
    if total < 3 * BEFORE or not first or not last:
        return None
    return Growth(statistics.median(first), statistics.median(last))


def problems(run: Any, seen: Watch, log: str, folder: Path) -> list[str]:
    """What is not as it should be at the end of a run. `log`: the worker's; `folder`: where browsers write."""
    found = []
    total = run.trajectories.count()
    row = type(run).objects.with_progress().get(pk=run.pk)
    if (row.state, row.done, row.failed) != ("done", total, 0):
        found.append(f"the run is {row.state}, {row.done} of {total} episodes have ended, {row.failed} were lost")
    for name in ("worker", "browser"):
        grown = growth(seen.weights, name, total)
        if grown is None and total >= 3 * BEFORE:
            found.append(f"the {name} was not weighed often enough to tell whether it grows")
        if grown and grown.share > MOST_GROWTH:
            found.append(f"the {name} grew from {grown.first:.0f} to {grown.last:.0f} MiB")
    again = LOST.findall(log)
    seen.again = len(again)
    if seen.again > seen.kills:
        found.append(f"{len(again)} episodes began anew though {seen.kills} browsers were killed: {', '.join(again)}")
    if any(len(list(trajectory.steps.all())) != trajectory.step_count for trajectory in run.trajectories.all()):
        found.append("an episode has other steps than it counts")
    ends = time.monotonic() + GONE_SECONDS
    while (left := [*_left(folder)]) and time.monotonic() < ends:
        time.sleep(0.5)
    return [*found, *(f"left behind: {one}" for one in left)]


def _left(folder: Path) -> Iterator[str]:
    """Processes of browsers that write below this folder, and what they have written."""
    for one in psutil.process_iter():
        with suppress(psutil.Error):
            words = one.cmdline()
            is_browser = "agents.environments.worker" in words or "chrom" in one.name()
            is_here = any(str(folder) in word for word in words)
            if is_browser and is_here and one.status() != psutil.STATUS_ZOMBIE:
                yield f"process {one.pid} {one.name()}"
    yield from (str(path) for path in folder.glob("webnav-browser-*"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--recipe", default="grounded")
    parser.add_argument("--steps", type=int, default=3, help="of an episode, at most")
    parser.add_argument("--seed", type=int, default=0, help="of the times when browsers are killed")
    parser.add_argument("--model", action="store_true", help="rank as the recipe does")
    options = parser.parse_args()
    folder = VAR / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ |= {"WEBNAV_VAR": str(VAR), "DJANGO_SETTINGS_MODULE": "webnav_site.settings", "TMPDIR": str(folder)}
    os.environ["OMP_NUM_THREADS"] = "1"
    from webnav_site.embedded import services

    services.make_ready()
    services.read_settings()
    import django

    django.setup()
    services.migrate_if_needed()
    with _worker("webnav_site" if options.model else "tests.load.quick_worker") as (worker, log):
        run, seen = _soak(options, worker)
        code = _report(run, seen, problems(run, seen, log.read_text(errors="replace"), folder), options)
    sys.exit(code)


@contextmanager
def _worker(module: str) -> Iterator[tuple[psutil.Process, Path]]:
    """A worker of live runs, and its log."""
    said = VAR / "worker.log"
    command = [sys.executable, "-m", "celery", "--quiet", "-A", module, "worker", "-Q", "gpu", "-c", "1"]
    with said.open("w") as log:
        process = psutil.Popen([*command, "--loglevel", "info"], cwd=ROOT, stdout=log, stderr=log)
    try:
        yield process, said
    finally:
        process.terminate()
        process.wait(60)


def _soak(options: argparse.Namespace, worker: psutil.Process) -> tuple[Any, Watch]:
    from agents.environments.process import EnvironmentProcess
    from agents.live.goals import LiveGoals, new_goals
    from evaluation.studies.running import create_study
    from tests import factories

    name = f"soak-{int(time.time())}"
    dataset = new_goals(factories.make_project(name=name, slug=name), name, "miniwob", steps=options.steps)
    environment = EnvironmentProcess("miniwob")
    try:
        goals = LiveGoals(dataset, environment)
        for first in range(0, -(-options.episodes // len(TASKS)), IN_TURN):
            goals.add(TASKS, range(first, first + IN_TURN))
    finally:
        environment.close()
    study = create_study(user=None, dataset=dataset, recipes=[options.recipe], limit=options.episodes)
    run = study.runs.get()
    return run, watch(run, worker, options.kills, random.Random(options.seed))


def _report(run: Any, seen: Watch, found: Sequence[str], options: argparse.Namespace) -> int:
    """Print the table and what went wrong; the exit status."""
    total, steps = run.trajectories.count(), run.steps.count()
    print(f"{'memory, MiB':12} {'first':>8} {'last':>8} {'growth':>8}   (medians, without the first {BEFORE} episodes)")
    figures: dict[str, Any] = {
        "episodes": total,
        "steps": steps,
        "kills": seen.kills,
        "again": seen.again,
        "seconds": seen.seconds,
    }
    for name in ("worker", "browser"):
        if grown := growth(seen.weights, name, total):
            print(f"{name:12} {grown.first:8.0f} {grown.last:8.0f} {grown.share:8.1%}")
            figures[name] = {"first_mib": grown.first, "last_mib": grown.last, "growth": grown.share}
    print(
        f"{total:,} episodes of {options.recipe}, {steps:,} steps in {seen.seconds / 60:.0f} min; "
        f"{seen.kills} browsers killed, {seen.again} episodes run again; {len(found)} problems"
    )
    for problem in found[:20]:
        print("  ", problem)
    figures |= {"problems": list(found), "weights": [list(astuple(one)) for one in seen.weights]}
    (VAR / "soak.json").write_text(json.dumps(figures))
    return int(bool(found))


if __name__ == "__main__":
    main()
