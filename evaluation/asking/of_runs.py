"""Asks of what is stored of runs, a piece at a time: each answer is kept as soon as it is there, so that asking goes on
where it stopped."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, ClassVar, Generic, Self, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from agents.llm.budget import Budget
from agents.llm.errors import BadReply, LlmError, RequestRefused
from agents.llm.usage import Usage
from agents.memory.jobs import endpoint
from agents.models import Connection, PromptPack, Run
from agents.prompts.packs import PACKAGED
from annotations.access import rules
from annotations.jobs import running
from annotations.models import Job, Project
from annotations.models.accounts.projects import Account
from annotations.models.jobs.jobs import ASKS_NOBODY
from evaluation.asking.budget import AskingBudget
from evaluation.asking.definition import AskedModel, Demand, storable
from evaluation.models.asked import AnswerRow

ADVICE = "Start it again with a higher limit: what is answered stays."
Heard = TypeVar("Heard")


class AskingOfRuns(Generic[AnswerRow]):
    """An asker with the model and the prompt pack by which it asks, within a budget. ValueError says what it lacks.
    Without `texts` it asks nobody: its rules answer."""

    kind: ClassVar[str]  # of its jobs
    asker: ClassVar[str]  # what is asked by, as their `params` call it
    noun: ClassVar[tuple[str, str]]  # of a piece, one and many
    verb: ClassVar[str]  # what is done with it
    doing: ClassVar[str]  # that it is being done
    done: ClassVar[str]  # that it is done, before their number
    nothing_left: ClassVar[str]  # as a sentence

    def __init__(
        self,
        name: str,
        project: Project,
        *,
        connection: str = "",
        pack: str = PACKAGED,
        budget: Budget | None = None,
    ) -> None:
        self.name, self.project, texts = name, project, self.find(name)
        self.panel: AskedModel | None = None
        self.is_stopped = False
        self.asked_with = {"model": "", "pack": "", "pack_sha256": ""}
        if not texts:
            if connection:
                raise ValueError(f"{name} asks no language model; leave the connection out")
            return
        if connection and Connection.objects.answering(Connection.Kind.LLM, connection) is None:
            raise ValueError(f"there is no connection {connection!r} to a language model")
        held = PromptPack.objects.holding(pack, project, *texts)
        self.panel = AskedModel(endpoint(connection, budget, ADVICE), held)
        self.asked_with = {
            "model": self.panel.llm.info.model[:200],
            "pack": f"{held.name}@{held.version}",
            "pack_sha256": held.sha256,
        }

    @classmethod
    def start(
        cls,
        name: str,
        *,
        user: Account,
        runs: Sequence[Run],
        connection: str = "",
        pack: str = PACKAGED,
        max_cost: float | None = None,
    ) -> Job:
        """A queued job that asks of runs of one project, or the one that does so already. Raises ValidationError."""
        for run in runs:
            rules.require(user, cls.kind, run.dataset.project)
        dataset = runs[0].dataset
        project = dataset.project
        params: dict[str, Any] = {"name": dataset.name, cls.asker: name, "connection": connection, "prompts": pack}
        params |= {"max_cost": max_cost, "runs": sorted({run.pk for run in runs})}
        errors: dict[str, str] = {}
        try:
            asking = cls(name, project, connection=connection, pack=pack, budget=AskingBudget(max_cost))
            params |= {ASKS_NOBODY: True} if asking.panel is None else {}
        except ValueError as error:
            errors["__all__"] = f"{str(error)[:1].upper()}{str(error)[1:]}."
        unfinished = Job.objects.unfinished().filter(kind=cls.kind, project=project, cancel_requested=False)
        if found := unfinished.filter(params=params).first():
            return found
        running.check_quota(user, errors)
        if errors:
            raise ValidationError(errors)
        of_one = {run.dataset_id for run in runs} == {dataset.pk}
        where: dict[str, Any] = {"project": project, "dataset": dataset if of_one else None}
        return running.queue(Job(kind=cls.kind, created_by=user, params=params, **where))

    def find(self, name: str) -> Sequence[str]:
        """Take what is asked by of that name; the texts of a pack that it needs. ValueError where there is none."""
        raise NotImplementedError

    @classmethod
    def of_job(cls, job: Job, budget: Budget) -> Self:
        """The asker that a job names."""
        asked = {"connection": job.params["connection"], "pack": job.params["prompts"]}
        return cls(job.params[cls.asker], job.project, budget=budget, **asked)

    def count(self, runs: Sequence[Run]) -> int:
        """How many pieces these runs have, answered or not."""
        raise NotImplementedError

    def waiting(self, run: Run, since: datetime | None = None) -> list[int]:
        """The run's pieces without an answer, by key. `since`: without those that were asked about after it, whatever
        came of that."""
        raise NotImplementedError

    def go_through(self, run: Run, since: datetime | None = None) -> Iterator[AnswerRow]:
        """Ask of the pieces that wait for it; gives each answer when it is stored. It ends early where the model cannot
        be reached, or may not be asked more."""
        raise NotImplementedError

    def demand(self, pieces: Sequence[int]) -> Demand:
        """What it asks of these pieces at most."""
        raise NotImplementedError

    def answered(self) -> QuerySet[AnswerRow]:
        """What it has answered by these texts, in any run."""
        raise NotImplementedError

    def of_runs(self, runs: Sequence[Run]) -> QuerySet[AnswerRow]:
        """Those that count of these runs, with the conversations that they are of."""
        raise NotImplementedError

    def piece_of(self, row: AnswerRow) -> int:
        """The key of the piece that an answer is of."""
        raise NotImplementedError

    def said(self, question: Callable[[], Heard], failed: Callable[[Usage, str], Heard]) -> Heard:
        """What a question gives; `failed` makes of usage and error what stands for it where the model does not
        answer."""
        if self.panel is not None:
            self.panel.usage = Usage()
        try:
            return question()
        except LlmError as error:
            # Who cannot be reached, or may not spend more, is not asked of the next piece either.
            self.is_stopped = not isinstance(error, BadReply | RequestRefused)
            return failed(self.panel.usage if self.panel else Usage(), storable(str(error)))
