"""What the cases of `make test` cost, so that it stays within five minutes on two cores while the product grows.

Seconds of a processor are counted, of a case and of what it starts and ends, as those of a clock depend on who else
uses the machine; what is left to CI (`slow`) counts nothing, nor do servers and browsers that served many cases. A
whole run, which is CI's, fails when one case uses more than `ONE` or all together more than `ALL`. Machines of one kind
differ by half and more from hour to hour, and so do the seconds that the same work uses: they are divided by how much
longer than `USUAL` a fixed piece of work took between the cases of the same run.
"""

import os
import resource
import time
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.contention import USUAL, fixed_work

ALL, ONE = 600.0, 12.0  # some 300 by `make test` of a quiet machine; CI tries properties on more examples
EVERY = 100  # cases between two looks at how fast the machine is
HANDED_OVER = "quick_suite"  # by a process of xdist at its end
LEFT_OUT = ("slow", "gpu", "live")


class QuickSuite:
    """Counts in the process that runs the cases; tells in the one that prints the closing line."""

    def __init__(self, together: float = ALL, each: float = ONE) -> None:
        self.together, self.each = together, each
        self.costs: dict[str, float] = {}
        self.paces: list[float] = []  # how much longer than usual the fixed work took
        self.left_to_ci = 0
        self.ended = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.ended = 0.0
        began, before = time.monotonic(), used()
        done = yield
        if not item.get_closest_marker("slow"):
            cost = used() - before - self.ended
            possible = (time.monotonic() - began) * (os.cpu_count() or 1)  # an older process may have ended just now
            self.costs[item.nodeid] = min(cost, possible)
            if len(self.costs) % EVERY == 0:
                self.paces.append(fixed_work() / USUAL)
        return done

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Iterator[None]:
        """What ends with the last case that used it has worked for others, too."""
        before = used_by_ended()
        done = yield
        self.ended += used_by_ended() - before
        return done

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """What markers leave out is left to CI; what `-k` leaves out was not asked for."""
        if all(any(item.get_closest_marker(name) for name in LEFT_OUT) for item in items):
            self.left_to_ci += sum(item.get_closest_marker("slow") is not None for item in items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        costs, paces, left_to_ci = getattr(node, "workeroutput", {}).get(HANDED_OVER, ({}, [], 0))
        self.costs.update(costs)
        self.paces += paces
        self.left_to_ci = max(self.left_to_ci, left_to_ci)  # each process has collected all of them

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        config = session.config
        if hasattr(config, "workeroutput"):
            config.workeroutput[HANDED_OVER] = (self.costs, self.paces, self.left_to_ci)
        elif is_whole(config) and (why := too_much(self.on_a_usual_machine(), self.together, self.each)):
            report = pytest.TestReport("the quick suite", ("tests", None, ""), {}, "failed", why, "teardown")
            config.hook.pytest_runtest_logreport(report=report)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def on_a_usual_machine(self) -> dict[str, float]:
        slower = sum(self.paces) / len(self.paces) if self.paces else 1.0
        return {name: seconds / slower for name, seconds in self.costs.items()}

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.left_to_ci:
            terminalreporter.stats["left to CI (make test-all)"] = [SimpleNamespace() for _ in range(self.left_to_ci)]


def used() -> float:
    """Seconds of a processor that this process has used, and those that it has started and that have ended."""
    return time.process_time() + used_by_ended()


def used_by_ended() -> float:
    """Of this, what processes have used that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def is_whole(config: pytest.Config) -> bool:
    """Whether all cases run, in processes of their own: where there is one, the first case also makes the database."""
    chosen = config.option.keyword or "slow" in config.option.markexpr
    by_themselves = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return bool(by_themselves and not chosen and config.getoption("numprocesses", None))


def too_much(costs: dict[str, float], together: float = ALL, each: float = ONE) -> str:
    """What to do about quick cases that use more than they may; empty when they do not."""
    total = sum(costs.values())
    large = {name: seconds for name, seconds in costs.items() if seconds > each}
    if not large and total <= together:
        return ""
    first = (
        f"All quick cases used {total:.0f} of {together:.0f} seconds of a processor"
        if total > together
        else f"{len(large)} of the quick cases used more than {each:g} seconds of a processor"
    )
    return "\n".join([f"{first}: make the largest cheaper, or leave them to CI by the marker slow.", *largest(costs)])


def largest(costs: dict[str, float], count: int = 10) -> Iterable[str]:
    worst = sorted(costs, key=costs.__getitem__, reverse=True)[:count]
    return (f"{costs[name]:6.2f} s  {name}" for name in worst)
