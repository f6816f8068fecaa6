"""Goals that a person shows from the first page on: made without a browser, as the person waits for its page."""

import secrets
from dataclasses import dataclass
from functools import cache

from agents.environments.open_web import environment as open_web
from agents.environments.task_sets import FREE, OPEN, TASKS
from agents.live.goals import SECONDS, new_goals, source_id
from annotations.corpus.store import ConversationStore
from annotations.datasets.records import ConversationRecord, TurnRecord
from annotations.forms import MOST
from annotations.models import Conversation, Project, Split
from annotations.sample.build import SCRIPTS, SITES
from annotations.sample.goals import conversations
from annotations.sample.script import read_script

WHERE = {
    "miniwob": "a task of MiniWoB++",
    "sample-sites": "a conversation on a sample website",
    "sample-sites-free": "a sample website, with a goal of your own",
    open_web.NAME: "any other website that is listed, with a goal of your own",
}
"""Environment -> what is shown in it."""
TALKED_SECONDS = 7_200  # of an agent that somebody talks with
MOST_SHOWN = 2_000  # steps of an episode; nobody counts a person's
LONGEST_GOAL = 2_000  # characters
EXAMPLES = frozenset(
    """
    brightrail-watch-a-train brightrail-the-other-way casaverde-two-with-a-pool casaverde-family-in-the-clouds
    fernandfell-rain-jacket fernandfell-boot-fitting harbourcity-brown-bin harbourcity-pothole
    nordline-with-an-old-dog nordline-a-better-berth willowclinic-lucias-rash willowclinic-two-medicines
    """.split()
)
"""Conversations whose first turn the planner reaches that is trained on the sample's train split (docs/live.md)."""


def shown_tasks(environment: str) -> list[str]:
    """What can be shown in an environment. ValueError where there is no such environment, or its pages are missing."""
    if environment not in WHERE:
        raise ValueError(f"There is no environment {environment!r}; choose one of {', '.join(WHERE)}.")
    return list((TASKS | FREE)[environment]())


@cache
def example_goals() -> dict[str, list[str]]:
    """Website of the sample -> what is asked there first in some of its conversations, which name what there is."""
    scripts = {site: read_script(SCRIPTS / f"{site}.txt") for site in sorted(SITES)}
    return {
        site: [one.turns[0].instruction for one in found if one.name in EXAMPLES] for site, found in scripts.items()
    }


@dataclass(frozen=True)
class ShownGoal:
    """What a person wants to show; `words`: where they say themselves what is to be done, "" for later."""

    environment: str
    task: str
    seed: int | None = None  # None: one by chance
    words: str = ""
    typed: bool = False  # the goal is the first thing that a person says to an agent, who types the rest as well

    def check(self) -> None:
        """ValueError, in a sentence, for what there is not."""
        if self.environment in OPEN:
            self._check_address()
        elif self.task not in shown_tasks(self.environment):
            raise ValueError(f"There is no task {self.task!r} in {self.environment}.")
        if self.typed and (not self.words.strip() or self.environment not in FREE):
            raise ValueError("Say what the agent is to do first, on one of the sample's websites.")
        if self.words and self.environment not in FREE:
            raise ValueError(f"The goals of {self.environment} have their words: leave this empty.")
        if len(self.words) > LONGEST_GOAL or (self.seed is not None and not 0 <= self.seed <= MOST):
            raise ValueError(f"A goal has at most {LONGEST_GOAL:,} characters, and its seed lies in 0 to {MOST:,}.")

    def _check_address(self) -> None:
        _, words = open_web.told_task(self.task)
        if words:
            raise ValueError("An address has no spaces.")

    @property
    def split(self) -> str:
        """The split that its pages belong to: that of a recorded conversation, else train, as it is shown to teach."""
        return conversations()[self.task].split if self.environment == "sample-sites" else Split.TRAIN

    def kept(self, project: Project) -> Conversation:
        """The stored goal, made where it is not there yet. Raises ValueError."""
        name = f"{project.slug}-{'typed' if self.typed else self.environment}"
        seconds = TALKED_SECONDS if self.typed else SECONDS
        dataset = new_goals(project, name, self.environment, MOST_SHOWN, seconds)
        record = self.record()
        found = dataset.conversations.filter(source_id=record.source_id).first()
        if found is None:
            store = ConversationStore(dataset)
            store.store([(record, store.sha256(record))])
            found = dataset.conversations.get(source_id=record.source_id)
        return found

    def record(self) -> ConversationRecord:
        """The goal as a conversation without steps; its words are those of the page that a browser opens, where nobody
        has said any."""
        seed = self.seed if self.seed is not None else self._chance()
        place = {"task": self.task, "seed": seed, **({"typed": True} if self.typed else {})}
        name, where = source_id(self.task, seed), (self.task, self.environment, self.environment)
        said = [" ".join(self.words.split())]
        if self.environment in OPEN:
            host = open_web.host_of(self.task)
            name, where = f"{host}-{secrets.token_hex(4)}", (host, self.environment, self.environment)
        elif self.environment in FREE:
            site, name = SITES[self.task], f"{name}-{secrets.token_hex(4)}"
            where = (site.NAME, site.DOMAIN, site.SUBDOMAIN)
        elif self.environment == "sample-sites":
            goals = conversations()[self.task]
            site, said = SITES[goals.website], [turn.instruction for turn in goals.turns]
            where = (site.NAME, site.DOMAIN, site.SUBDOMAIN)
        names = [name, *(f"{name}-{index}" for index in range(1, len(said)))]
        turns = tuple(TurnRecord(source_id=own, instruction=text) for own, text in zip(names, said, strict=True))
        return ConversationRecord(name, *where, turns, split=self.split, extra=place)

    def _chance(self) -> int:
        """The seed of the episode: a random one for tasks of MiniWoB++, which look different each time, and 0 for
        websites, which are shown as they were recorded."""
        return secrets.randbelow(1_000_000) if self.environment == "miniwob" else 0
