"""Recipes into pipelines: endpoint, memory and encoder put together."""

from agents.cookbook.lacking import missing
from agents.cookbook.texts import pack_of
from agents.llm.protocol import Llm
from agents.llm.vectors import COMPUTED
from agents.memory.encoding import memory_encoder, snippet_form
from agents.memory.exemplar_sets import ProjectExemplarSets
from agents.memory.rationales import RationaleWriter
from agents.memory.retrieve import DatasetMemory
from agents.memory.transitions import PastTransitions
from agents.models import GuardRule, Run
from agents.pipeline import BEFORE, ROUNDS, Pipeline
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.stages.kind import CannotRun, Parts
from agents.stages.registry import induces_online, predicts_objective
from agents.words.generator import Generator
from annotations.models import Dataset


def build_pipeline(run: Run, llm: Llm | None = None) -> Pipeline:
    """The pipeline of a run. `llm`: what answers prompts to endpoints. CannotRun says what is missing."""
    recipe = literature.from_dict(run.recipe)
    if lacking := missing(recipe):
        raise CannotRun(f"{recipe.name} cannot run: it needs {'; '.join(lacking)}")
    encoder = memory_encoder(recipe)
    online = induces_online(recipe)
    form, key = snippet_form(recipe), recipe.recall.exemplar_key
    memory = DatasetMemory(run.dataset, encoder, form, run.seed, run if online else None, exemplar_key=key)
    pack = pack_of(recipe, run.dataset)
    writer = RationaleWriter(llm, pack=pack)
    remembered = PastTransitions(run.dataset, encoder)
    policy = GuardRule.objects.policy(run.dataset.project_id)
    parts = Parts(recipe, run.seed, llm, memory, encoder, writer, pack=pack, remembered=remembered, policy=policy)
    parts.sets, parts.vectors = ProjectExemplarSets(run.dataset.project, encoder), COMPUTED
    return Pipeline.of(parts)


def build_training(
    recipe: Recipe, dataset: Dataset, seed: int = 0, llm: Llm | None = None, generator: Generator | None = None
) -> Pipeline:
    """The pipeline that makes a training's samples. With a `generator`, which stands in for the model that is to be
    trained, it has the stages up to `plan`; without one, those up to `recall`. A step of the train split never recalls
    its own conversation as an exemplar. CannotRun says what is missing."""
    encoder = memory_encoder(recipe)
    form, key = snippet_form(recipe), recipe.recall.exemplar_key
    memory = DatasetMemory(dataset, encoder, form, seed, others_only=True, exemplar_key=key)
    pack = pack_of(recipe, dataset)
    writer = RationaleWriter(llm, pack=pack)
    parts = Parts(recipe, seed, llm, memory, encoder, writer, generator=generator, pack=pack)
    parts.sets, parts.vectors = ProjectExemplarSets(dataset.project, encoder), COMPUTED
    if generator is not None:
        return Pipeline.of(parts, (*BEFORE, *ROUNDS))
    ranks = recipe.recall.state_in_query or predicts_objective(recipe)
    stages = ("observe", "rank", "recall") if ranks else ("observe", "recall")
    return Pipeline.of(parts, stages)
