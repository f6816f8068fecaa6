"""The share of a user that is a language model in a forecast: what its calls cost, and whose time holds its waiting."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import Count, Q, Sum

from agents.llm import connection, embedded
from agents.models import Trajectory, UserLedger
from agents.models.runs import MODEL_USER, RunQuerySet
from annotations.models import Dataset


@dataclass(frozen=True)
class UserShare:
    """What the user of a study's conversations takes. `cost`: None where it is not known, and `because` says why;
    `unheard`: recipes that have not talked with it, whose time is without its waiting."""

    connection: str
    cost: float | None = 0.0
    because: str = ""
    unheard: tuple[str, ...] = ()

    @classmethod
    def of(cls, runs: RunQuerySet, dataset: Dataset, recipes: Sequence[str], episodes: int) -> "UserShare | None":
        """The share in so many episodes of each recipe, by those of earlier `runs` that had the same user. None where
        the user is no language model."""
        name = dataset.model_user
        if not name:
            return None
        talked = runs.filter(**{MODEL_USER: name})
        heard = set(talked.filter(recipe_name__in=recipes).values_list("recipe_name", flat=True))
        share = cls(name, unheard=tuple(recipe for recipe in recipes if recipe not in heard))
        if embedded.is_embedded(name):
            return share
        prices = connection.prices(name)
        if prices is None:
            return replace(share, cost=None, because="it has no prices")
        if not prices.prompt and not prices.completion:
            return share
        ledgers = UserLedger.objects.filter(run__in=talked.filter(trajectories__state=Trajectory.State.DONE))
        paid = ledgers.filter(spent_cost__gt=0, run__dataset__live__user__words=dataset.live["user"]["words"])
        told = paid.aggregate(cost=Sum("spent_cost"))
        done = talked.filter(user_ledger__in=paid).aggregate(
            n=Count("trajectories", filter=Q(trajectories__state=Trajectory.State.DONE))
        )
        if not done["n"]:
            return replace(share, cost=None, because="it has ended no conversation here yet")
        return replace(share, cost=len(recipes) * episodes * told["cost"] / done["n"])

    def times(self, seeds: int) -> "UserShare":
        return replace(self, cost=self.cost and self.cost * seeds)

    def sentences(self, can_run: Sequence[str]) -> list[str]:
        """What is said of it beside the time and the money of the recipes that can run."""
        said, unheard = [], [name for name in self.unheard if name in can_run]
        if self.cost is None:
            said.append(f"What calls of the user, {self.connection}, cost is not in it: {self.because}.")
        elif self.cost:
            said.append(f"Of it about {self.cost:.2g} is for the user, {self.connection}, as it took in earlier runs.")
        if unheard:
            said.append(f"The time of {', '.join(unheard)} is without waiting for the user, {self.connection}.")
        return said
