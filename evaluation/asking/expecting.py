"""Says before a job that asks what it will ask, how long that takes and what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from agents.llm.connection import prices
from agents.llm.usage import Prices
from agents.models import Run
from annotations.shown_progress import span_text
from annotations.text.amounts import amount
from evaluation.asking.definition import AskedModel
from evaluation.asking.of_runs import AskingOfRuns

LOOKED_AT = 200  # of the last answers of the asker
CHARACTERS = 3  # of a token, rather few, so that a limit is rather high


@dataclass(frozen=True)
class AskingForecast:
    """What asking will take; None: not known."""

    asking: AskingOfRuns[Any]
    waiting: int  # pieces
    requests: int  # at most
    is_free: bool  # it asks nobody, or somebody who takes no money
    seconds: float | None
    cost: float | None
    most_cost: float | None  # were all that it reads as long as it may be
    answers: int  # by which time and money are foretold

    @classmethod
    def of(cls, asking: AskingOfRuns[Any], runs: Sequence[Run], connection: str = "") -> Self:
        """The forecast for these runs."""
        waiting = [key for run in runs for key in asking.waiting(run)]
        demand = asking.demand(waiting)
        price = prices(connection) if asking.panel else Prices(0, 0)
        pace = _AskingPace(asking)
        return cls(
            asking=asking,
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
            answers=pace.answers,
        )

    def sentences(self) -> list[str]:
        if not self.waiting:
            return [self.asking.nothing_left]
        said = [f"{amount(self.waiting, *self.asking.noun)} to {self.asking.verb}."]
        if not self.requests:
            return [*said, "It asks no language model, so it costs nothing and takes seconds."]
        said.append(f"At most {amount(self.requests, 'request')}.")
        if self.seconds is None:
            said.append("How long that takes is not known yet: this model has not been asked like that before.")
        else:
            said.append(f"About {span_text(self.seconds)}, as {amount(self.answers, 'earlier answer')} took.")
        if self.is_free:
            return [*said, "The model takes no money."]
        if self.most_cost is None:
            return [*said, "What it costs is not known: the connection has no prices."]
        if self.cost is not None:
            said.append(f"About {self.cost:.4f} in money, as these cost.")
        return [*said, f"At most about {self.most_cost:.4f} in money, were every page as long as it reads."]


class _AskingPace:
    """What a request of an asker took, by its last answers in a project that were not known before: seconds, and tokens
    that were read and written."""

    def __init__(self, asking: AskingOfRuns[Any]) -> None:
        last = list(asking.answered().filter(prompt_tokens__gt=0, error="").order_by("-pk")[:LOOKED_AT])
        self.answers = len(last)
        self.requests = asking.demand([asking.piece_of(one) for one in last]).requests
        each = max(self.requests, 1)
        self.seconds = sum(one.seconds for one in last) / each
        self.read = sum(one.prompt_tokens for one in last) / each
        self.written = sum(one.completion_tokens for one in last) / each
