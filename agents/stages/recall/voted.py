"""`recall.exemplars=voted` and `own`: the exemplar set that a program is written after (Synapse on MiniWoB++). Core."""

from collections.abc import Sequence

from agents.recipes.literature import Recipe
from agents.stages.kind import CannotRun, Parts, StageKind
from agents.stages.state import StepState
from agents.words.exemplar_sets import first_seen, own_exemplar, specifier, vote
from agents.words.markup import markup_of
from annotations.dom.limits import PageError


class VotedSet(StageKind):
    """The exemplar set that most of the keys nearest to the task and to the episode's first page belong to; of sets
    with equally many, that of the nearest key."""

    stage = "recall"
    reads = frozenset({"recall.encoder", "recall.exemplar_k"})
    gives = frozenset({"exemplar_set"})
    embeds = True

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        if parts.sets is None:
            raise CannotRun(f"recall.exemplars={self.recipe.recall.exemplars} takes exemplar sets, and none were given")
        self.sets = parts.sets

    @classmethod
    def hands_on(cls, recipe: Recipe) -> str:
        return "1 exemplar set"

    @classmethod
    def unsuited(cls, recipe: Recipe) -> str:
        votes = "recall.exemplar_k" not in cls.reads or recipe.recall.exemplar_k
        said = f"recall.exemplars={recipe.recall.exemplars} does not go with recall.exemplar_k=0"
        return "" if votes else f"{said}: as many of the nearest keys vote; it takes at least 1"

    @classmethod
    def lacking(cls, recipe: Recipe) -> list[str]:
        return ["recall.exemplar_k of at least 1, as so many of the nearest keys vote"] if cls.unsuited(recipe) else []

    @classmethod
    def searches(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"exemplar_sets"})

    @classmethod
    def told(cls, recipe: Recipe) -> frozenset[str]:
        return frozenset({"history"})

    def prepare(self, conversation_ids: Sequence[int]) -> None:
        self.sets.prepare(self.embeds)

    def run(self, states: Sequence[StepState]) -> None:
        for state, name in zip(states, self.names(states), strict=True):
            if not state.open:
                continue
            state.exemplar_set = self.sets.find(name)
            state.note("recall", exemplar_set=name)
            if state.exemplar_set is None:
                state.fail(f"there is no exemplar set {name!r}")

    def names(self, states: Sequence[StepState]) -> list[str]:
        """The name of each state's set; "" for a state whose page cannot be read."""
        keys: list[str] = []
        for state in states:
            first = first_seen(state.observation)
            try:
                keys.append(specifier(first.instruction, markup_of(first)))
            except PageError as error:
                state.fail(f"the page cannot be read: {error}")
                keys.append("")
        vectors = self.parts.the_encoder().encode(keys)
        near = [self.sets.nearest(vector, self.recipe.recall.exemplar_k) for vector in vectors]
        for state, names in zip(states, near, strict=True):
            state.note("recall", nearest=names)
        return [vote(names) if state.open else "" for state, names in zip(states, near, strict=True)]


class OwnSet(VotedSet):
    """The exemplar set of the task itself or of a related task, chosen without looking at the page: the paper's
    ablation of the memory."""

    reads = frozenset()
    embeds = False

    def names(self, states: Sequence[StepState]) -> list[str]:
        return [own_exemplar(state.observation.website) for state in states]
