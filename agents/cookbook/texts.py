"""The texts that a recipe's models are given: of which pack, and whether they are those that it was planned with."""

from agents.models import PromptPack
from agents.prompts.packs import NoSuchText, Pack
from agents.recipes import literature
from agents.recipes.literature import Recipe
from agents.stages.kind import CannotRun
from agents.stages.registry import texts_of, unfit
from annotations.models import Dataset


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
