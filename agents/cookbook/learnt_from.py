"""Which settings of a recipe decide what a model that is trained for it learns from. Core.

That follows from the kinds of the stages that make a training's samples, and from the settings of the training that
the recipe decides.
"""

import dataclasses
from collections.abc import Collection, Iterator

from agents.cookbook.checking import either, read_by
from agents.recipes.declaring import value_of
from agents.recipes.literature import Recipe, override
from agents.stages.rank.kinds import WEBLINX_TEXT
from agents.stages.registry import (
    MODELS,
    planner_named,
    planner_of,
    predicts_objective,
    ranker_embeds,
    recipe_kinds,
    stage_served,
    trained_for,
    training_of,
)

STAGES_BEFORE = ("rank", "recall", "simplify", "compose")
COMPOSING = ("quirks.q18_gold_in_top_k",)  # that a kind of `plan` names, as it is judged by it too
# told by itself; decides whether a model is asked; what another model was trained from; how it writes its answer
UNSEEN = ("prompts.pack", "quirks.q7_single_candidate_fails", "rank.base", "plan.constrained")
OF_RUNS = {"recall.induction", "recall.induction_style"}  # a training recalls what is stored, and writes nothing itself
TRAINERS = {"rank": "manage.py train_ranker", "plan": "manage.py train_planner"}
RUNS = "manage.py evaluate"


@dataclasses.dataclass(frozen=True)
class Learning:
    """The training of a kind of model for a recipe. `paradigm`: what answers look like, "" of what writes none;
    `followed`: the settings of the training that follow from the recipe; `of_turns`: it reads recorded WebLINX turns.
    """

    recipe: Recipe
    kind: str
    paradigm: str
    followed: frozenset[str]
    of_turns: bool

    @classmethod
    def of(cls, recipe: Recipe, kind: str, of_turns: bool) -> "Learning":
        """The training as the recipe alone decides it."""
        told = training_of(recipe, kind)[1]
        return cls(recipe, kind, str(told.get("paradigm", "")), frozenset(told), of_turns)

    def check(self, parent: Recipe, given: Collection[str]) -> None:
        """ValueError for the first of the `given` settings in which the recipe differs from its parent and that the
        training does not read, with what reads it. A model that is no longer named makes way for the one that is
        trained."""
        for name in given:
            now, before = value_of(self.recipe, name), value_of(parent, name)
            makes_way = name in ("rank.model", "plan.model") and not now
            if now != before and not makes_way and not self.reads(name, before):
                wants = either([*self._wants(name, before)])
                what = f"on {self.paradigm}" if self._is_of_transitions() else f"of kind={self.kind}"
                said = f"{name} would change nothing in a training {what} for {self.recipe.name}"
                raise ValueError(f"{said}: it needs {wants}")

    def reads(self, name: str, before: object) -> bool:
        """Whether what is learnt differs by a setting's value from what was learnt with its value `before`."""
        if name in self._read():
            return True
        if stage_served(self.kind) == "rank":  # what follows from the recipe is how WebLINX turns are written
            return False
        other = override(self.recipe, {name: str(before)}, are_stored=True)
        told, was = (training_of(recipe, self.kind)[1] for recipe in (self.recipe, other))
        return any(told.get(followed) != was.get(followed) for followed in self.followed)

    def _read(self) -> frozenset[str]:
        if stage_served(self.kind) == "rank":
            written = read_by(self.recipe).intersection(WEBLINX_TEXT) if self.of_turns else frozenset()
            return written | {"rank.kind", "rank.base"}
        if self._is_of_transitions():
            return frozenset({"plan.base", "prompts.pack"})
        chosen = frozenset({"plan.kind", "plan.base"})
        return chosen | learnt_by_planner(self.recipe) if planner_of(self.recipe).asks else chosen

    def _is_of_transitions(self) -> bool:
        """Whether it is a world model, or a value function: these read prompts of their own."""
        return bool(self.paradigm) and planner_named(self.paradigm) is None

    def _wants(self, name: str, before: object) -> Iterator[str]:
        """What reads a setting of the recipe, in words: other data, other commands."""
        if not self.of_turns and dataclasses.replace(self, of_turns=True).reads(name, before):
            yield "recorded WebLINX turns"
        for stage, kinds in MODELS.items():
            kind = trained_for(self.recipe, kinds)
            if kind and Learning.of(self.recipe, kind, self.of_turns).reads(name, before):
                yield TRAINERS[stage]
        yield RUNS


def learnt_by_planner(recipe: Recipe) -> frozenset[str]:
    """The settings that decide what a planner that is trained for a recipe reads."""
    found = {name for name in if_asked(recipe) - OF_RUNS if composes(name, recipe)}
    shown = any("prompts.pack" in kind.reads for kind in recipe_kinds(recipe) if kind.stage in STAGES_BEFORE)
    return frozenset(found) | embedding_memory(recipe, recipe) | ({"prompts.pack"} if shown else set())


def if_asked(recipe: Recipe) -> frozenset[str]:
    """The settings that count in a recipe whose model is asked at every step: which steps are failed unasked (Q27)
    changes nothing that it reads."""
    quirks = dataclasses.replace(recipe.quirks, q27_fails_unasked=False)
    return read_by(dataclasses.replace(recipe, quirks=quirks))


def embedding_memory(before: Recipe, now: Recipe) -> frozenset[str]:
    """The settings of `rank` that say by which vectors earlier steps, exemplars and workflows are found, where a
    ranking model embeds them in training or in use: other ones are found by other vectors."""
    by_ranker = [ranker_embeds(recipe) for recipe in (before, now)]
    if not any(by_ranker) or not any(kind.embeds for recipe in (before, now) for kind in recipe_kinds(recipe)):
        return frozenset()
    return frozenset({"rank.kind", *(["rank.model"] if all(by_ranker) else [])})


def composes(name: str, recipe: Recipe) -> bool:
    """Whether a setting changes what a model reads. Samples of page groups show elements that no ranker chose, so
    settings of a ranking do not count there, unless what is recalled depends on the elements that are ranked first."""
    if name in UNSEEN:
        return False
    reading = [kind for kind in recipe_kinds(recipe) if kind.stage in STAGES_BEFORE and name in kind.reads]
    if planner_of(recipe).form:
        if name.startswith("rank."):
            recalls_by_page = recipe.recall.state_in_query or predicts_objective(recipe)
            return recalls_by_page and name in ("rank.kind", "rank.model")
        if reading and all(kind.stage == "rank" for kind in reading):
            return False
    return name.partition(".")[0] in STAGES_BEFORE or bool(reading) or name in COMPOSING
