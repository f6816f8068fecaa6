"""Recipes into pipelines: endpoint, memory and encoder put together. Loaded weights stay in the process."""

from functools import lru_cache

from agents.encoders import weights
from agents.encoders.embedding import CachedEncoder, load_encoder
from agents.llm.protocol import Llm
from agents.memory.build import SnippetForm
from agents.memory.rationales import RationaleWriter
from agents.memory.retrieve import DatasetMemory
from agents.memory.transitions import PastTransitions
from agents.models import GuardRule, PromptPack, Run
from agents.pipeline import Pipeline
from agents.prompts.packs import NoSuchText, Pack
from agents.recipes import literature
from agents.recipes.lacking import missing
from agents.recipes.literature import Recipe
from agents.stages.kind import CannotRun, Parts
from agents.stages.models import KEPT_MODELS, loaded
from agents.stages.registry import predicts_objective, ranking_of, texts_of, unfit
from agents.words.generator import Generator
from annotations.models import Dataset

__all__ = [
    "CannotRun",
    "build_pipeline",
    "build_training",
    "encoder_named",
    "memory_encoder",
    "pack_of",
    "planned",
    "snippet_form",
]


@lru_cache(maxsize=KEPT_MODELS)
def encoder_named(name: str) -> CachedEncoder:
    """The encoder of that name, loaded once per process."""
    return load_encoder(name)


def build_pipeline(run: Run, llm: Llm | None = None) -> Pipeline:
    """The pipeline of a run. `llm`: what answers prompts to endpoints. CannotRun says what is missing."""
    recipe = literature.from_dict(run.recipe)
    if lacking := missing(recipe):
        raise CannotRun(f"{recipe.name} cannot run: it needs {'; '.join(lacking)}")
    encoder = memory_encoder(recipe)
    online = recipe.recall.induction == "online"
    form, key = snippet_form(recipe), recipe.recall.exemplar_key
    memory = DatasetMemory(run.dataset, encoder, form, run.seed, run if online else None, exemplar_key=key)
    pack = pack_of(recipe, run.dataset)
    writer = RationaleWriter(llm, pack=pack)
    remembered = PastTransitions(run.dataset, encoder)
    policy = GuardRule.objects.policy(run.dataset.project_id)
    parts = Parts(recipe, run.seed, llm, memory, encoder, writer, pack=pack, remembered=remembered, policy=policy)
    return Pipeline.of(parts)


def build_training(
    recipe: Recipe, dataset: Dataset, seed: int = 0, llm: Llm | None = None, generator: Generator | None = None
) -> Pipeline:
    """A recipe for a training: all of its stages where a `generator` stands in for what will be trained, else those
    that recall. A step of the train split never recalls its own conversation as an exemplar. CannotRun says what is
    missing."""
    encoder = memory_encoder(recipe)
    form, key = snippet_form(recipe), recipe.recall.exemplar_key
    memory = DatasetMemory(dataset, encoder, form, seed, others_only=True, exemplar_key=key)
    pack = pack_of(recipe, dataset)
    writer = RationaleWriter(llm, pack=pack)
    parts = Parts(recipe, seed, llm, memory, encoder, writer, generator=generator, pack=pack)
    if generator is not None:
        return Pipeline.of(parts)
    ranks = recipe.recall.state_in_query or predicts_objective(recipe)
    stages = ("observe", "rank", "recall") if ranks else ("observe", "recall")
    return Pipeline.of(parts, stages)


def planned(recipe: Recipe, dataset: Dataset) -> Recipe:
    """The recipe with the texts that its models are given today, where they are given any. CannotRun says which text is
    missing, or that there is no such pack."""
    if not texts_of(recipe):
        return recipe
    pack = pack_of(recipe, dataset)
    if said := unfit(recipe, pack):
        raise CannotRun(said)
    return literature.with_pack(recipe, pack)


def pack_of(recipe: Recipe, dataset: Dataset) -> Pack:
    """The prompt pack that a recipe names, of the dataset's project. CannotRun where there is none, or where its texts
    are not those that the recipe was planned with."""
    try:
        pack = PromptPack.objects.pack(recipe.prompts.pack, dataset.project)
    except NoSuchText as error:
        raise CannotRun(str(error)) from error
    if recipe.prompts.sha256 not in ("", pack.sha256):
        raise CannotRun(f"the texts of {pack.reference} have changed since {recipe.name} was planned; start it anew")
    return pack


def snippet_form(recipe: Recipe) -> SnippetForm:
    """The form of memory that a recipe compares with. A ranking that embeds memory itself keeps the published one."""
    if _embeds_memory(recipe):
        return SnippetForm()
    return SnippetForm(recipe.quirks.q11_item_without_trajectory, recipe.recall.state_in_query)


def memory_encoder(recipe: Recipe) -> CachedEncoder:
    """What embeds memory, exemplars and workflows."""
    name = recipe.rank.model if _embeds_memory(recipe) else recipe.recall.encoder or weights.MINILM
    encoder: CachedEncoder = loaded("recall.encoder", name, encoder_named)
    return encoder


def _embeds_memory(recipe: Recipe) -> bool:
    kind = ranking_of(recipe)
    return kind is not None and kind.embeds_memory
