"""JSON of recipes, what they lack, and what preparing them makes."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.recipes.schemas import recipe_schema
from annotations.models import Job


@extend_schema_field(recipe_schema())
class RecipeField(serializers.DictField):
    """A recipe with every setting of every stage: what each means, its default, its choices or bounds."""


class StandInSerializer(serializers.Serializer):
    stage = serializers.CharField()
    words = serializers.CharField()
    brief = serializers.CharField()


class RecipeSerializer(serializers.Serializer):
    name = serializers.CharField()
    can_run = serializers.BooleanField()
    missing = serializers.ListField(child=serializers.CharField(), help_text="What is needed and not configured.")
    stands_in = StandInSerializer(
        many=True, help_text="Small models and limits used here in the place of what its paper used."
    )
    recipe = RecipeField(help_text="Every setting of every stage.")


class IngredientSerializer(serializers.Serializer):
    """One thing that a recipe lacks."""

    part = serializers.CharField(source="key")
    what = serializers.CharField(source="says")
    seconds = serializers.IntegerField(help_text="Making it takes about so long on two cores.")
    job = serializers.IntegerField(source="job.pk", default=None, allow_null=True, help_text="What makes it.")
    state = serializers.ChoiceField(choices=Job.State.choices, source="job.state", default=None, allow_null=True)


class PreparationSerializer(serializers.Serializer):
    """What makes a recipe ready here."""

    recipe = serializers.CharField()
    missing = serializers.ListField(child=serializers.CharField(), help_text="As in the recipe; empty: it can run.")
    seconds = serializers.IntegerField(help_text="Of what nobody makes yet, in all.")
    running_seconds = serializers.IntegerField(help_text="Until what is being made is there.")
    parts = IngredientSerializer(many=True)
