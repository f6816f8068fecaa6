"""The form that starts a study."""

from typing import Any, Self

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils.html import format_html

from agents.cookbook import checking, saved, starters
from agents.encoders import weights
from agents.memory.searched import lacking_of
from agents.models import Run
from agents.models.spending import BudgetLimits
from agents.recipes.key_values import settings_given
from agents.recipes.literature import Recipe
from agents.stages.registry import searched
from agents.training.prepare import preparing
from agents.training.prepare.preparing import Offer, Preparing
from annotations.access import rules
from annotations.access.rules import User
from annotations.forms import MOST, MOST_BIG, choice_field
from annotations.models import Dataset
from annotations.models.accounts.projects import Account
from evaluation.models import Study
from evaluation.studies import connecting
from evaluation.studies.connecting import Through
from evaluation.studies.running import create_study

AS_SAID = ("", "as each recipe says")
NO_RECIPE = {"required": "Choose at least one recipe."}
LESS_OFTEN = ("seed", "preset", "overrides", "budget_tokens", "budget_cost", "budget_seconds", "name")


def settings_in(text: str) -> dict[str, str]:
    """Dotted name -> value as text, from lines of key=value. ValueError names the line that is none, and the key that
    comes twice."""
    lines = [(f"Line {number}", line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    return {key: value.strip() for key, value in settings_given(lines).items()}


NOTHING_TO_DECIDE = (
    "No study runs on %(value)s: it has no conversation with steps, people typed it, or it is not one of yours."
)


def at_hand(user: User, datasets: QuerySet[Dataset]) -> str:
    """The name of the dataset that is preselected: that of the last run the user may see, else the first imported; ""
    where there is none."""
    ran = (
        rules.visible(user, Run.objects.filter(dataset__in=datasets))
        .order_by("-pk")
        .values_list("dataset__name", flat=True)
    )
    return ran.first() or datasets.order_by("pk").values_list("name", flat=True).first() or ""


def _why_not(form: "StudyForm", recipe: Recipe, lacking: list[str], *, here: bool = False) -> str:
    """Why a recipe cannot run yet: what is being made for it, with a link to that, else what it lacks. `here`: it is
    the chosen dataset that lacks it."""
    coming = form.making.coming(recipe, lacking, form.cleaned_data["dataset"] if here else None)
    if coming is None or coming.job is None:
        what = f"on it yet: {'; '.join(lacking)}" if here else f"yet: it needs {', '.join(lacking)}"
        return f"{recipe.name} cannot run {what}."
    address, said = reverse("job", args=[coming.job.pk]), coming.running_text
    return format_html('{} cannot run yet: <a class="link" href="{}">{}</a>.', recipe.name, address, said)


class StudyForm(forms.Form):
    """Starts a study: recipes × splits on one dataset. Recipes that cannot run are listed, and refused with the
    reason."""

    dataset = forms.ChoiceField(error_messages={"invalid_choice": NOTHING_TO_DECIDE})
    recipes = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, error_messages=NO_RECIPE)
    splits = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, required=False, help_text="None chosen: all conversations in one table."
    )
    websites = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, required=False, help_text="None chosen: conversations on all of them."
    )
    limit = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST,
        label="Conversations",
        help_text="Only the first so many. Empty: all.",
    )
    connection = forms.ChoiceField(
        required=False,
        label="Answered by",
        help_text="For the recipes that ask a language model; the others run as they do.",
    )
    encoder = forms.ChoiceField(
        required=False, label="Embedded by", help_text="For the recipes that embed what they recall."
    )
    seed = forms.IntegerField(initial=0, min_value=0, max_value=2**31 - 1)
    preset = forms.ChoiceField(
        required=False,
        choices=[("", "as the recipe says"), *Study.Preset.choices],
        label="Preset",
        help_text="The recipes' quirks, and the metrics shown first; both metric sets are always computed.",
    )
    budget_tokens = forms.IntegerField(required=False, min_value=1, max_value=MOST_BIG, label="Tokens at most")
    budget_cost = forms.FloatField(required=False, min_value=0, label="Money at most")
    budget_seconds = forms.IntegerField(required=False, min_value=1, max_value=MOST, label="Seconds at most")
    overrides = forms.CharField(
        required=False,
        label="Changed settings",
        widget=forms.Textarea({"rows": 3, "placeholder": "recall.k=5", "spellcheck": "false"}),
        help_text="One key=value per line, for example recall.k=5; they apply to every chosen recipe.",
    )
    name = forms.CharField(required=False, max_length=200, help_text="Empty: named after the recipes and the dataset.")

    def __init__(self, *args, datasets: QuerySet[Dataset], offered: list[Recipe], making: Preparing, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.making = making
        self.offered = {recipe.name: recipe for recipe in offered}
        self.datasets = {dataset.name: dataset for dataset in datasets}
        choice_field(self, "dataset").choices = [("", "choose a dataset"), *((name, name) for name in self.datasets)]
        choice_field(self, "recipes").choices = [(name, name) for name in self.offered]
        answering, encoders = connecting.offered()
        choice_field(self, "connection").choices = [AS_SAID, *answering]
        choice_field(self, "encoder").choices = [AS_SAID, *encoders]
        if not encoders:
            del self.fields["encoder"]
        named = self.datasets.get(self["dataset"].value())
        self.split_counts = named.split_counts() if named else []
        choice_field(self, "splits").choices = [(split, split) for split, _ in self.split_counts]
        self.website_counts = named.website_counts() if named else []
        choice_field(self, "websites").choices = [(name, name) for name, _ in self.website_counts]

    @classmethod
    def offered_to(cls, user: User, sent: QueryDict | None, query: QueryDict) -> Self:
        """The form as a user is offered it, with the dataset and the recipes chosen that `query` names."""
        datasets = Dataset.objects.filter(project__in=rules.projects(user, "evaluate")).to_decide().order_by("name")
        offered = saved.listed(user)
        chosen = query.getlist("recipes") or [query.get("recipe", "grounded")]
        initial = {
            "dataset": query.get("dataset", at_hand(user, datasets)),
            "recipes": [recipe.name for recipe in offered if recipe.name in chosen],
        }
        return cls(sent, datasets=datasets, offered=offered, making=preparing.seen_by(user), initial=initial)

    def filled_in(self, query: QueryDict) -> QueryDict:
        """Its fields as a browser sends them, with what is chosen before anybody has touched it."""
        fields = (self.data if isinstance(self.data, QueryDict) else query).copy()  # unbound, it is none
        fields.setdefault("dataset", self.initial["dataset"])
        if not self.is_bound:
            fields.setlist("recipes", self.initial["recipes"])
        return fields

    @property
    def has_more(self) -> bool:
        """Whether a field that most studies leave as it is was filled in or is wrong, so that all must be shown."""
        return self.is_bound and not set(LESS_OFTEN).isdisjoint([*self.errors, *self.changed_data])

    def clean_dataset(self) -> Dataset:
        return self.datasets[self.cleaned_data["dataset"]]

    def clean_overrides(self) -> dict[str, str]:
        try:
            return settings_in(self.cleaned_data["overrides"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        """Every setting must exist in every chosen recipe, have a fitting value, and leave nothing missing."""
        super().clean()
        data = self.cleaned_data
        through = self._through()
        named = [self.offered[name] for name in data.get("recipes", [])]
        for field, said in through.faults(named, [data.get("overrides", {})]).items():
            self.add_error(field, said)
        for name in data.get("recipes", []):
            try:
                weights.require_open(data.get("overrides", {}))
                preset = {"preset": data["preset"]} if data.get("preset") else {}
                settings = through.settings_of(self.offered[name]) | preset | data.get("overrides", {})
                changed = checking.vary(self.offered[name], settings)
            except ValueError as error:
                self.add_error("overrides", f"{name}: {error}")
                continue
            if lacking := starters.missing(changed):
                self.add_error("recipes", _why_not(self, changed, lacking))
            elif data.get("dataset") and (lacking := lacking_of(data["dataset"], searched(changed))):
                self.add_error("recipes", _why_not(self, changed, lacking, here=True))
        return data

    def _through(self) -> Through:
        return Through(self.cleaned_data.get("connection", ""), self.cleaned_data.get("encoder", ""))

    def started(self, user: Account) -> Study | None:
        """The study, under way; None where it is refused, and the errors say why."""
        if not self.is_valid():
            return None
        try:
            return self.start(user)
        except ValueError as error:
            self.add_error(None, str(error))
        return None

    def start(self, user: Account) -> Study:
        """Create and start the study; ValueError says why it cannot start."""
        data = self.cleaned_data
        return create_study(
            user=user,
            dataset=data["dataset"],
            recipes=data["recipes"],
            splits=data["splits"] or [""],
            seeds=[data["seed"]],
            limit=data["limit"],
            websites=data["websites"],
            overrides=data["overrides"],
            preset=data["preset"] or None,
            name=data["name"],
            budget=budget_of(data),
            through=self._through(),
        )


def coming_of(form: StudyForm, recipe: Recipe, lacking: list[str]) -> Offer | None:
    """What is being made for a recipe that the form offers, where it has nothing else `lacking`; of one that is ticked,
    what the chosen dataset lacks for it counts, too."""
    dataset = form.datasets.get(form["dataset"].value())
    if dataset and not lacking and recipe.name in (form["recipes"].value() or ()):
        lacking = lacking_of(dataset, searched(recipe))
    return form.making.coming(recipe, lacking, dataset)


class BudgetForm(forms.Form):
    """Changes the limits of a study's budget: raises, lowers or lifts them."""

    budget_tokens = forms.IntegerField(required=False, min_value=1, max_value=MOST_BIG, label="Tokens")
    budget_cost = forms.FloatField(required=False, min_value=0, label="Money")
    budget_seconds = forms.IntegerField(required=False, min_value=1, max_value=MOST, label="Seconds")


def budget_of(values: dict[str, Any]) -> BudgetLimits:
    """Limits by unit from fields named budget_UNIT."""
    return BudgetLimits(
        tokens=values.get("budget_tokens"), cost=values.get("budget_cost"), seconds=values.get("budget_seconds")
    )
