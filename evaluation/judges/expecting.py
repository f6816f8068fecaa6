"""Says before a judging what it will ask, how long that takes and what it costs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from django.db.models import Count, Q

from agents.llm.connection import prices
from agents.llm.usage import Prices
from agents.models import Run, TrajectoryStep
from annotations.shown_progress import span_text
from annotations.text.amounts import amount
from evaluation.judges.definition import AskedModel, Demand, TrajectoryJudge
from evaluation.judges.judging import Judging
from evaluation.models import JudgeVerdict

LOOKED_AT = 200  # of the last verdicts of the judge
CHARACTERS = 3  # of a token, rather few, so that a limit is rather high


@dataclass(frozen=True)
class JudgingForecast:
    """What a judging will take; None: not known."""

    waiting: int  # trajectories
    requests: int  # at most
    is_free: bool  # it asks nobody, or somebody who takes no money
    seconds: float | None
    cost: float | None
    most_cost: float | None  # were all that it reads as long as it may be
    verdicts: int  # by which time and money are foretold

    @classmethod
    def of(cls, judging: Judging, runs: Sequence[Run], connection: str = "") -> Self:
        """The forecast of a judging of these runs."""
        waiting = [one.pk for run in runs for one in judging.waiting(run)]
        demand = _demand(judging.judge, waiting)
        price = prices(connection) if judging.panel else Prices(0, 0)
        pace = _JudgingPace(judging, runs[0].dataset.project_id)
        return cls(
            waiting=len(waiting),
            requests=demand.requests,
            is_free=price is not None and not price.prompt and not price.completion,
            seconds=pace.seconds * demand.requests if pace.requests else None,
            cost=price.cost(pace.read * demand.requests, pace.written * demand.requests)
            if price and pace.requests
            else None,
            most_cost=price.cost(demand.characters / CHARACTERS, demand.requests * AskedModel.MAX_TOKENS)
            if price
            else None,
            verdicts=pace.verdicts,
        )

    def sentences(self) -> list[str]:
        if not self.waiting:
            return ["Nothing is left to judge: it has said its verdict on every trajectory that is done."]
        said = [f"{amount(self.waiting, 'trajectory', 'trajectories')} to judge."]
        if not self.requests:
            return [*said, "It asks no language model, so it costs nothing and takes seconds."]
        said.append(f"At most {amount(self.requests, 'request')}.")
        if self.seconds is None:
            said.append("How long that takes is not known yet: this judge has not asked this model before.")
        else:
            said.append(f"About {span_text(self.seconds)}, as {amount(self.verdicts, 'earlier verdict')} took.")
        if self.is_free:
            return [*said, "The model takes no money."]
        if self.most_cost is None:
            return [*said, "What it costs is not known: the connection has no prices."]
        if self.cost is not None:
            said.append(f"About {self.cost:.4f} in money, as these cost.")
        return [*said, f"At most about {self.most_cost:.4f} in money, were every page as long as a judge reads."]


class _JudgingPace:
    """What a request of a judge took, by its last verdicts in a project that were not known before: seconds, and tokens
    that were read and written."""

    def __init__(self, judging: Judging, project_id: int) -> None:
        rows = JudgeVerdict.objects.by(judging.name, judging.asked_with).filter(prompt_tokens__gt=0, error="")
        last = list(rows.filter(trajectory__run__dataset__project=project_id).order_by("-pk")[:LOOKED_AT])
        self.verdicts = len(last)
        self.requests = _demand(judging.judge, [one.trajectory_id for one in last]).requests
        each = max(self.requests, 1)
        self.seconds = sum(one.seconds for one in last) / each
        self.read = sum(one.prompt_tokens for one in last) / each
        self.written = sum(one.completion_tokens for one in last) / each


def _demand(judge: TrajectoryJudge, trajectories: Sequence[int]) -> Demand:
    """What a judge asks of these trajectories, given by key, at most."""
    rows = TrajectoryStep.objects.filter(trajectory__in=trajectories)
    seen = Count("pk", filter=Q(snapshot__isnull=False) | Q(step__snapshot__isnull=False))
    pages = dict(rows.order_by().values_list("trajectory").annotate(seen=seen))
    return _sum(judge.demand(pages.get(one, 0)) for one in trajectories)


def _sum(demands: Iterable[Demand]) -> Demand:
    found = list(demands)
    return Demand(sum(one.requests for one in found), sum(one.characters for one in found))
