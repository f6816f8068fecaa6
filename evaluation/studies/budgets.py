"""The language model that a run's prompts are sent to, within the budget of its study."""

from agents.cookbook.lacking import asks_endpoint
from agents.llm.budget import BudgetedLlm
from agents.llm.cache import CachedLlm
from agents.llm.connection import connected
from agents.llm.protocol import Llm
from agents.llm.stored import DatabaseStore
from agents.models import Run
from agents.recipes import literature
from agents.recipes.literature import Recipe


def unlimited_llm(recipe: Recipe) -> Llm | None:
    """What answers the recipe's prompts where no study limits it, behind the cache of replies; None for recipes that
    ask none."""
    return CachedLlm(connected(literature.asked_model(recipe)), DatabaseStore()) if asks_endpoint(recipe) else None


def llm_of(run: Run) -> Llm | None:
    """The model that answers a run's prompts: the endpoint or embedded model of its recipe, within the budget of its
    study, behind the cache of replies. None for recipes that ask none. Raises NotConfigured where settings are missing.
    """
    recipe = literature.from_dict(run.recipe)
    if not asks_endpoint(recipe):
        return None
    llm = connected(literature.asked_model(recipe))
    study = run.studies.order_by("pk").first()
    if study is not None:
        advice = f"Raise the budget of study {study.pk} and resume it; what was answered is kept."
        llm = BudgetedLlm(llm, study, advice)
    return CachedLlm(llm, DatabaseStore())
