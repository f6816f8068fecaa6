"""The connections that a study's recipes use: one for recipes that ask a language model, one for those that embed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents.cookbook.checking import read_by
from agents.encoders.embedding import FROM_ENDPOINT
from agents.llm import connection as llm_connection
from agents.llm import embedded
from agents.models import Connection
from agents.recipes.literature import Recipe
from agents.stages.registry import planner_of

NO_MODEL = "None of the chosen recipes asks a language model of its choice: leave the connection as it is."
ENCODER = ("recall.encoder",)
NO_ENCODER = "None of the chosen recipes embeds what it recalls: leave the encoder as it is."


Choices = list[tuple[str, str]]


def offered() -> tuple[Choices, Choices]:
    """The choices for a study: what may answer prompts (the connections, and the model in the worker), and what may
    embed."""
    known = Connection.objects.values_list("kind", "name")
    answering, embedding = (
        [(name, name) for kind, name in known if kind == wanted]
        for wanted in (Connection.Kind.LLM, Connection.Kind.EMBEDDING)
    )
    if llm_connection.may_be_embedded():
        answering.append((embedded.SMOLLM2, "the small model in the worker"))
    return answering, embedding


@dataclass(frozen=True)
class Through:
    """The connections of a study by name; "" leaves what each recipe says."""

    connection: str = ""
    encoder: str = ""

    def settings_of(self, recipe: Recipe) -> dict[str, str]:
        """The settings of a recipe that the connections change. None of a recipe that asks nobody, or names weights
        that were trained for it."""
        changes: dict[str, str] = {}
        if self.connection and planner_of(recipe).asks and (recipe.plan.backend == "endpoint" or not recipe.plan.model):
            changes |= {"plan.backend": "endpoint", "plan.model": self.connection}
        if self.encoder and "recall.encoder" in read_by(recipe):
            changes["recall.encoder"] = f"{FROM_ENDPOINT}{self.encoder}"
        return changes

    def pairs(
        self, recipes: Sequence[Recipe], settings: Sequence[dict[str, str]]
    ) -> list[tuple[Recipe, dict[str, str]]]:
        """Every recipe with each of the settings, which win over those of the connections. ValueError where a
        connection would change no recipe."""
        if faults := self.faults(recipes, settings):
            raise ValueError(" ".join(faults.values()))
        return [(recipe, self.settings_of(recipe) | each) for recipe in recipes for each in settings]

    def faults(self, recipes: Iterable[Recipe], settings: Iterable[dict[str, str]] = ()) -> dict[str, str]:
        """Field -> error, for each connection that would change none of the recipes, or that one of the settings would
        overrule."""
        told = set[str]().union(*(self.settings_of(recipe) for recipe in recipes))
        found: dict[str, str] = {}
        if self.connection and "plan.model" not in told:
            found["connection"] = NO_MODEL
        if self.encoder and "recall.encoder" not in told:
            found["encoder"] = NO_ENCODER
        mine = {"connection": (self.connection, ("plan.model", "plan.backend")), "encoder": (self.encoder, ENCODER)}
        for field, (name, overruling) in mine.items():
            taken = [(one, each[one]) for each in settings for one in overruling if name and one in told & each.keys()]
            if taken and field not in found:
                setting, value = taken[0]
                found[field] = f"{setting}={value} and the {field} {name} contradict each other: leave one of them out."
        return found
