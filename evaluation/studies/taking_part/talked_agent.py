"""How the agent is set up that somebody talks with: by which planner it decides, whether it asks, what it holds."""

from dataclasses import dataclass

from agents.recipes.literature import Recipe
from agents.stages.registry import planner_of
from annotations.access.rules import User
from evaluation.studies.taking_part.planners import naming, planners_for

# What a planner must tell for the agent to see that two readings are close.
SEVERAL = {"plan.samples": "5"}
# Of one that tells each action once, by its scores: untrained these lie close together, trained they are probabilities.
UNTRAINED, TRAINED = {"plan.temperature": "0.03"}, {"plan.temperature": "1"}


@dataclass(frozen=True)
class TalkedAgent:
    """What is chosen of an agent beside its recipe. `model`: a trained planner by name, "" for the one that the recipe
    has, None for the best that is here; None of the others: as the recipe has it."""

    model: str | None = None
    asks: bool | None = None
    holds: bool | None = None

    def changes(self, user: User, recipe: Recipe) -> dict[str, str]:
        """The settings of the recipe that differ. ValueError for a planner that is not among the recipe's."""
        planner = self._planner(user, recipe)
        return planner | self._asking(recipe, planner.get("plan.model", recipe.plan.model)) | self._holding(recipe)

    def _planner(self, user: User, recipe: Recipe) -> dict[str, str]:
        if self.model == "" or (self.model is None and recipe.plan.model):
            return {}
        names = [model.name for model in planners_for(user, recipe)]
        if self.model is None:
            return naming(recipe, names[0]) if names else {}
        if self.model not in names:
            known = f"there are {', '.join(names)}" if names else "there is none"
            raise ValueError(f"{self.model} is no trained planner that goes with {recipe.name}: {known}.")
        return naming(recipe, self.model)

    def _asking(self, recipe: Recipe, model: str) -> dict[str, str]:
        if self.asks is None or self.asks == asks(recipe):
            return {}
        if not self.asks:
            return {"act.ask": "none"}
        if not may_ask(recipe):
            raise ValueError(f"{recipe.name} tells one reading of what is said, so it cannot see when to ask.")
        drawn = SEVERAL if recipe.plan.samples == 1 else {}
        if drawn and not planner_of(recipe).repeats:
            drawn = drawn | (TRAINED if model else UNTRAINED)
        return {"act.ask": "close"} | drawn

    def _holding(self, recipe: Recipe) -> dict[str, str]:
        if self.holds is None or self.holds == holds(recipe):
            return {}
        return {"act.guard": "policy" if self.holds else "none"}


def may_ask(recipe: Recipe) -> bool:
    """Whether its planner tells several readings, so that the agent sees where they are close."""
    return planner_of(recipe).draws


def asks(recipe: Recipe) -> bool:
    return recipe.act.ask != "none"


def holds(recipe: Recipe) -> bool:
    """Whether risky actions wait for a person."""
    return recipe.act.guard != "none"
