"""Datasets of goals: conversations without recorded steps, each an episode of a task with a seed."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any
from urllib.parse import urlsplit

from agents.environments.protocol import Environment, EpisodeStart
from agents.live.chosen_users import ChosenUser
from annotations.corpus.store import ConversationStore
from annotations.datasets.records import ConversationRecord, TurnRecord
from annotations.models import Conversation, Dataset, Project, Split

FORMAT = "live"
STEPS, SECONDS = 20, 300  # of an episode, at most
MOST_STEPS, MOST_SECONDS = 10_000, 86_400  # that anybody may ask for
STORED_AT_ONCE = 50
CHANGED_AT_ONCE = 500
MOST_GOALS = 20_000


def new_goals(
    project: Project,
    name: str,
    environment: str,
    steps: int = STEPS,
    seconds: int = SECONDS,
    talker: ChosenUser | None = None,
) -> Dataset:
    """A stored dataset without goals, or the one of that name. ValueError where that one is of another kind, or another
    project's, of which nothing else is told; and for a name that no page can have. `talker`: the user, where it is a
    language model."""
    if not re.fullmatch("[-a-zA-Z0-9_]+", name):
        raise ValueError(f"the name of a dataset has letters, digits, hyphens and underscores alone, not {name!r}")
    user = talker.kept(environment, project) if talker else None
    limits = goal_fields(environment, steps, seconds, user)
    fields: dict[str, Any] = {"project": project, "source_format": FORMAT, **limits}
    dataset, _ = Dataset.objects.get_or_create(name=name, defaults=fields)
    if dataset.project_id != project.pk:
        raise ValueError(f"the dataset {name} belongs to another project")
    if differs := dataset.differs_from(fields["live"]):
        raise ValueError(differs)
    return dataset


def goal_fields(
    environment: str, steps: int = STEPS, seconds: int = SECONDS, user: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The fields of a dataset row that make it a dataset of live goals. ValueError for limits that no episode keeps.
    `user`: a language model, as `ChosenUser.kept` gives it."""
    if steps < 1 or seconds < 1:
        raise ValueError("an episode takes at least one step and one second")
    if steps > MOST_STEPS or seconds > MOST_SECONDS:
        raise ValueError(f"an episode takes at most {MOST_STEPS:,} steps and {MOST_SECONDS:,} seconds")
    said = f"Goals in {environment}, each of a task and a seed. Agents act in a browser: there are no recorded steps."
    live: dict[str, Any] = {"environment": environment, "steps": steps, "seconds": seconds}
    if user:
        live["user"] = user
        said += f" Their user is the language model {user['connection']}."
    return {"live": live, "description": said}


class TaskSplits:
    """Moves goals to the splits that their tasks belong to. Runs and their scores stay as they are."""

    def __init__(self, splits: Mapping[str, str]) -> None:
        self._splits = splits

    def misplaced(self, dataset: Dataset) -> list[Conversation]:
        """Goals of a dataset that lie in another split than their task."""
        return [goal for goal in dataset.conversations.all() if self._of(goal) != goal.split]

    def put_right(self, goals: list[Conversation]) -> None:
        for goal in goals:
            goal.split = self._of(goal)
        Conversation.objects.bulk_update(goals, ["split"], batch_size=CHANGED_AT_ONCE)

    def _of(self, goal: Conversation) -> str:
        return self._splits.get(goal.extra.get("task", ""), goal.split)


class LiveGoals:
    """The goals of a dataset, each a conversation whose instructions the environment gives."""

    def __init__(self, dataset: Dataset, environment: Environment) -> None:
        self.dataset, self.environment = dataset, environment
        self._store = ConversationStore(dataset)

    def add(
        self,
        tasks: Sequence[str],
        seeds: Sequence[int],
        tell: Callable[[int], Any] = lambda done: None,
        split: str = Split.DEV,
    ) -> int:
        """Add the goals of these tasks and seeds that are not there yet; how many there are then. `tell` is called with
        that number whenever some are stored, and may raise. Raises NoSuchTask, EnvironmentLost, and ValueError where
        there would be too many."""
        check_number(tasks, seeds)
        there = set(self.dataset.conversations.values_list("source_id", flat=True))
        if (more := len({source_id(*one) for one in product(tasks, seeds)} | there)) > MOST_GOALS:
            raise ValueError(f"it would hold {more:,} goals; a dataset holds at most {MOST_GOALS:,}")
        waiting: list[ConversationRecord] = []
        done = len(there)
        for task, seed in product(tasks, seeds):
            if source_id(task, seed) in there:
                continue
            start = self.environment.reset(task, seed)
            waiting.append(self._record(task, seed, start, split))
            done += 1
            if len(waiting) == STORED_AT_ONCE:
                self._keep(waiting)
                tell(done)
        if waiting:
            self._keep(waiting)
            tell(done)
        return done

    def _keep(self, records: list[ConversationRecord]) -> None:
        self._store.store([(record, self._store.sha256(record)) for record in records])
        records.clear()

    def _record(self, task: str, seed: int, start: EpisodeStart, split: str) -> ConversationRecord:
        """A goal as a conversation without steps. It tells no gold itself; but where it repeats a recorded
        conversation, what agents do towards it tells the gold of that one, so it gets that conversation's split."""
        name, where = source_id(task, seed), self.dataset.live["environment"]
        said = (start.instruction, *start.later)
        names = [name, *(f"{name}-{index}" for index in range(1, len(said)))]
        turns = tuple(TurnRecord(source_id=own, instruction=text) for own, text in zip(names, said, strict=True))
        place = {"task": task, "seed": seed}
        website, domain, subdomain = start.site or (task, where, where)
        return ConversationRecord(name, website, domain, subdomain, turns, split=start.split or split, extra=place)


def check_number(tasks: Sequence[str], seeds: Sequence[int]) -> None:
    """ValueError for more goals than a dataset holds, before a name is made for each."""
    if (wanted := len(tasks) * len(seeds)) > MOST_GOALS:
        raise ValueError(f"{wanted:,} goals; a dataset holds at most {MOST_GOALS:,}")


def source_id(task: str, seed: int) -> str:
    """The source id of the conversation that is the goal of a task with a seed."""
    return f"{task}-{seed}"


def goals_name(environment: str, said: str, seeds: Sequence[int], talker: ChosenUser | None = None) -> str:
    """ "miniwob-all-0-49", of an address "open-web-example-org-0-9": what such goals are called where nobody chooses a
    name, in what the address of a page can have."""
    host = urlsplit(said.split()[0]).netloc
    by = f"-user-{_plain(talker.connection)}" if talker else ""
    return _plain(f"{environment}-{host or said}-{seeds[0]}-{seeds[-1]}{by}")


def _plain(text: str) -> str:
    return re.sub("[^a-z0-9_]+", "-", text.casefold()).strip("-")


def told_tasks(known: Iterable[str], said: Sequence[str], sets: Mapping[str, Sequence[str]]) -> list[str]:
    """The tasks that somebody names, one by one, by a set or by "all", each once. ValueError for one unknown."""
    known = list(known)
    chosen: dict[str, None] = {}
    for name in said:
        several = known if name == "all" else sets.get(name, [name])
        if unknown := sorted(set(several) - set(known)):
            offered = ", ".join(["all", *filter(None, sets)])
            raise ValueError(f"there is no task {unknown[0]!r}; choose {offered}, or tasks by name")
        chosen |= dict.fromkeys(several)
    return list(chosen)
