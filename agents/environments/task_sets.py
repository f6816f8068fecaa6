"""The tasks of each environment, and named sets of them, told without a browser. Core."""

from collections.abc import Callable, Sequence

from agents.environments import miniwob
from agents.environments.harnesses import browsergym_tasks, cube_tasks, webarena_tasks
from agents.environments.open_web import environment as open_web
from annotations.sample.build import SITES
from annotations.sample.goals import conversations

# Synapse (Zheng et al. 2024), section 4.1: those with exemplars of their own, and those that take another task's.
SYNAPSE_EXEMPLARS = tuple(
    """
    book-flight choose-date click-button-sequence click-button click-checkboxes-large click-checkboxes-soft
    click-collapsible-2 click-collapsible click-color click-dialog-2 click-dialog click-link click-menu click-pie
    click-scroll-list click-shades click-shape click-tab-2 click-tab click-widget copy-paste-2 count-shape
    email-inbox-nl-turk enter-date enter-password enter-text-dynamic enter-time find-word focus-text-2 focus-text
    grid-coordinate guess-number identify-shape login-user-popup multi-layouts navigate-tree read-table search-engine
    simple-algebra social-media-all social-media-some social-media terminal text-transform tic-tac-toe use-autocomplete
    use-slider use-spinner
    """.split()
)
SYNAPSE = (
    *SYNAPSE_EXEMPLARS,
    *"""
    choose-list click-checkboxes click-checkboxes-transfer click-option click-tab-2-hard click-test click-test-2
    copy-paste email-inbox email-inbox-forward-nl email-inbox-forward-nl-turk enter-text login-user multi-orderings
    simple-arithmetic unicode-test
    """.split(),
)
TASK_SETS: dict[str, dict[str, tuple[str, ...]]] = {
    "miniwob": {"synapse": SYNAPSE},
    "sample-sites": {},
    "sample-sites-asking": {},
    "browsergym": {},
    cube_tasks.NAME: {},
    webarena_tasks.NAME: {},
    open_web.NAME: {},
}
TASKS: dict[str, Callable[[], Sequence[str]]] = {
    "miniwob": miniwob.task_names,
    "sample-sites": lambda: tuple(conversations()),
    "sample-sites-asking": lambda: tuple(conversations()),
    "browsergym": browsergym_tasks.task_names,
    cube_tasks.NAME: cube_tasks.task_names,
    webarena_tasks.NAME: webarena_tasks.task_names,
    open_web.NAME: lambda: open_web.with_words(()),
}
"""Environment -> the names of its tasks, in order; raises NoSuchTask where its pages, or its harness, are missing."""

FREE: dict[str, Callable[[], Sequence[str]]] = {
    "sample-sites-free": lambda: tuple(sorted(SITES)),
    open_web.NAME: open_web.task_names,
}
"""The same of those that have no goals of their own: people say what is to be done, and when it is done."""

OPEN = frozenset({open_web.NAME})
"""Environments with more tasks than anybody can name."""


MINIWOB = {"miniwob": "", "browsergym": "miniwob.", cube_tasks.NAME: "miniwob."}
"""Environment -> what stands before the name of a task where it is one of MiniWoB++."""


def miniwob_task(environment: str, task: str) -> str | None:
    """The name that MiniWoB++ itself gives a task of an environment, None where the task is none of it."""
    before = MINIWOB.get(environment)
    return task.removeprefix(before) if before is not None and task.startswith(before) else None


def tasks_among(environment: str, said: Sequence[str]) -> Sequence[str]:
    """The tasks of an environment, so that those said can be looked for. Raises NoSuchTask, and ValueError."""
    return open_web.with_words(said) if environment in OPEN else TASKS[environment]()


TALKING = frozenset({"sample-sites", "sample-sites-asking"})
"""Environments whose episodes are conversations of several turns."""


RAW_REWARDS = frozenset({"miniwob", cube_tasks.NAME})
"""Environments whose failures may cost something: MiniWoB++ gives -1 for some of them."""


def least_reward(environment: str) -> float:
    """The smallest reward of an episode of this environment."""
    return -1.0 if environment in RAW_REWARDS else 0.0


def episode_steps(environment: str) -> int:
    """The most steps of an episode of this environment, unless a run sets another number."""
    return 200 if environment in TALKING else 20
