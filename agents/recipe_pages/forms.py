"""The form that derives a recipe: every setting of the parent, of which those that change are stored."""

from collections.abc import Collection, Iterator
from typing import Any

from django import forms
from django.db.models import QuerySet

from agents.cookbook import checking, saved, sentences
from agents.models import PromptPack, SavedRecipe
from agents.recipes.declaring import Declared, settings_of
from agents.recipes.literature import RECIPES, Recipe
from agents.recipes.settings import PRESETS
from agents.types import STAGES
from annotations.forms import offer_projects
from annotations.models import Project
from annotations.models.accounts.projects import User

QUIRK_CHOICES = (("", "as the preset says"), ("true", "on"), ("false", "off"))


class DeriveForm(forms.Form):
    """The name, preset and settings of a derived recipe. An emptied text field sets the empty text; it does not keep
    the parent's."""

    name = forms.SlugField(max_length=100, help_text="Letters, digits, hyphens and underscores.")
    description = forms.CharField(max_length=300, required=False, help_text="One sentence: what is different?")
    project = forms.ModelChoiceField(queryset=Project.objects.none(), help_text="Its members can see and use it.")
    preset = forms.ChoiceField(
        choices=[("", "as the parent"), *((preset, preset) for preset in PRESETS)],
        required=False,
        help_text=f"{settings_of(Recipe)['preset'].words.capitalize()}.",
    )

    def __init__(self, *args: Any, parent: Recipe, projects: QuerySet[Project], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.parent = parent
        offer_projects(self, projects)
        known = settings_of(type(parent))
        for name, value in sentences.flat(parent).items():
            self.fields[name] = _field(name, known[name], value)
        for quirk in sentences.quirks(parent):
            self.fields[f"quirks.{quirk.name}"] = forms.ChoiceField(
                choices=QUIRK_CHOICES, required=False, label=quirk.name, help_text=quirk.what
            )

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if name in RECIPES or SavedRecipe.objects.filter(name=name).exists():
            raise forms.ValidationError(f"There is a recipe {name} already.")
        return name

    def clean(self) -> dict[str, Any]:
        """Check the parent with the changed settings as one recipe; an error is shown at the setting that it names."""
        super().clean()
        data = self.cleaned_data
        if self.errors:
            return data
        changes = self.changes()
        if not changes:
            raise forms.ValidationError("Change at least one setting: this is the parent as it is.")
        try:
            found = saved.derive(self.parent, data["name"], data["description"], changes)
        except ValueError as error:
            named = str(error).split(" ", 1)[0].split("=", 1)[0]
            self.add_error(named if named in self.fields else None, str(error))
            return data
        if changes.keys() & {"prompts.pack", "compose.shots"}:
            self._check_pack(found, data["project"], changes)
        return data

    def _check_pack(self, recipe: Recipe, project: Project, changes: Collection[str]) -> None:
        wrong = "prompts.pack"
        try:
            pack = PromptPack.objects.pack(recipe.prompts.pack, project)
            checking.check_pack(recipe, pack)
            wrong = "compose.shots"
            checking.check_shots(recipe, pack, changes)
        except ValueError as error:
            self.add_error(wrong, str(error))

    def changes(self) -> dict[str, str]:
        """Dotted name -> value as text, of everything that differs from the parent."""
        data = self.cleaned_data
        found = {"preset": data["preset"]} if data["preset"] and data["preset"] != self.parent.preset else {}
        for name, value in sentences.flat(self.parent).items():
            if data[name] != value:
                found[name] = str(data[name])
        quirks = {name: data[name] for name in self.fields if name.startswith("quirks.") and data[name]}
        return found | quirks

    def save(self, user: User) -> SavedRecipe:
        """Store it; the form must be valid."""
        data = self.cleaned_data
        told = {"project": data["project"], "description": data["description"]}
        return SavedRecipe.objects.keep(data["name"], self.parent.name, self.changes(), by=user, **told)

    def stages(self) -> Iterator[tuple[str, list[forms.BoundField], bool]]:
        """(stage, its fields, whether one of them differs from the parent or is wrong) in order, for the template."""
        touched = {*self.changed_data, *self.errors} if self.is_bound else set()
        for stage in STAGES:
            names = sentences.names_of(self.parent, stage)
            yield stage, [self[name] for name in names], not touched.isdisjoint(names)

    def quirks(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith("quirks.")]

    def has_quirks(self) -> bool:
        """Whether a quirk was set, so that they must be shown."""
        return self.is_bound and any(field.value() for field in self.quirks())

    def refused(self) -> list[forms.BoundField]:
        """The settings that are wrong. They stand below one another by stage, mostly out of sight: what is wrong is
        said above all of them, too."""
        return [self[name] for name in self.errors if "." in name or name == "batch_size"]


def _field(name: str, declared: Declared, value: Any) -> forms.Field:
    """The field that takes values of the setting's kind. Bounds are told here and checked by the setting itself."""
    words = f"{declared.words}; {declared.bounds}" if declared.bounds else declared.words
    common: dict[str, Any] = {"initial": value, "label": name, "help_text": words}
    if declared.kind is bool:
        return forms.BooleanField(required=False, **common)
    if declared.kind is int:
        return forms.IntegerField(widget=forms.NumberInput(_limits(declared)), **common)
    if declared.kind is float:
        return forms.FloatField(widget=forms.NumberInput({"step": "any"} | _limits(declared)), **common)
    if declared.choices:
        return forms.ChoiceField(choices=[(choice, choice) for choice in declared.choices], **common)
    return forms.CharField(required=False, **common)


def _limits(declared: Declared) -> dict[str, Any]:
    """The limits that a browser's number field keeps to."""
    limits = {"min": declared.least, "max": declared.most}
    return {name: limit for name, limit in limits.items() if limit is not None}
