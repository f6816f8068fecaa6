"""Which texts of a prompt pack a model learned from, to tell when it is asked in others. Shell."""

import hashlib
from collections.abc import Collection
from typing import Any

from agents.cookbook.texts import pack_of
from agents.models import PromptPack
from agents.prompts.packs import PACKAGED, VERSIONS, NoSuchText, Pack, webnav
from agents.recipes.literature import Recipe
from agents.recipes.settings import PackSettings
from agents.stages.registry import planner_named, texts_of
from annotations.models import Dataset, Project

GivenTexts = dict[str, Any]  # as JSON: the pack with its version, and the SHA-256 of each text by its name


def given(recipe: Recipe | None, paradigm: str, dataset: Dataset) -> GivenTexts:
    """The texts that a training's samples hold; {} for a training whose samples hold none."""
    names = texts_asked(recipe) if recipe is not None and planner_named(paradigm) else [paradigm] if paradigm else []
    pack = pack_of(recipe, dataset) if recipe is not None else webnav()
    found = {name: _sha256(pack.texts[name]) for name in names if name in pack.texts}
    return {"pack": _of_version(pack), "sha256": found} if found else {}


def texts_asked(recipe: Recipe) -> list[str]:
    """The texts that decide what a recipe's planner reads."""
    return [name for name, kind in texts_of(recipe).items() if kind.stage != "imagine"]


def other_texts(
    trained: GivenTexts, before: PackSettings | None, recipe: Recipe, names: Collection[str], project: int
) -> tuple[str, str] | None:
    """The pack in training and the one of the recipe, each with its version, where texts of these names differ; None
    where none does. Of trainings that did not keep which texts they `trained` on, the whole packs are compared."""
    now, pack = recipe.prompts, _pack_as_planned(recipe, project)
    if trained and pack is not None:
        known: dict[str, str] = trained["sha256"]
        other = [name for name in names if name in known and known[name] != _sha256(pack.texts.get(name, ""))]
        return (trained["pack"], f"{_of_version(pack)} (other texts: {', '.join(sorted(other))})") if other else None
    if before is None or before.sha256 == now.sha256 != "" or before == now:
        return None
    if before.pack == now.pack and not (before.sha256 and now.sha256):
        return None
    return _told(before), _told(now)


def _pack_as_planned(recipe: Recipe, project: int) -> Pack | None:
    """The pack that a recipe was planned with; None where its texts are no longer those."""
    try:
        pack = PromptPack.objects.pack(recipe.prompts.pack, Project(pk=project))
    except NoSuchText:
        return None
    return pack if recipe.prompts.sha256 in ("", pack.sha256) else None


def _of_version(pack: Pack) -> str:
    return f"{pack.name}@{pack.version}"


def _told(pack: PackSettings) -> str:
    """A pack by name and version; one of no version that is known by the beginning of its hash."""
    version = next((number for number, sha256 in VERSIONS.items() if sha256 == pack.sha256), None)
    if pack.pack != PACKAGED or not pack.sha256:
        return pack.pack
    return f"{pack.pack}@{version}" if version else f"{pack.pack} ({pack.sha256[:8]})"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
