"""The encoder and the form of text by which a recipe compares memory. Loaded weights stay loaded."""

from functools import lru_cache

from agents.encoders import weights
from agents.encoders.embedding import CachedEncoder, load_encoder
from agents.memory.build import SnippetForm
from agents.recipes.literature import Recipe
from agents.stages.models import KEPT_MODELS, loaded
from agents.stages.registry import ranker_embeds


@lru_cache(maxsize=KEPT_MODELS)
def encoder_named(name: str) -> CachedEncoder:
    """The encoder of that name, loaded once per process."""
    return load_encoder(name)


def snippet_form(recipe: Recipe) -> SnippetForm:
    """The form of snippets that a recipe compares. Where the ranking model embeds memory itself, it is the published
    one."""
    if ranker_embeds(recipe):
        return SnippetForm()
    return SnippetForm(recipe.quirks.q11_item_without_trajectory, recipe.recall.state_in_query)


def memory_encoder(recipe: Recipe) -> CachedEncoder:
    """The encoder of snippets, exemplars and workflows for a recipe."""
    name = recipe.rank.model if ranker_embeds(recipe) else recipe.recall.encoder or weights.MINILM
    encoder: CachedEncoder = loaded("recall.encoder", name, encoder_named)
    return encoder
